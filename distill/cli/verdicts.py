"""How `distill verify` shows what it found."""

from pathlib import Path
from typing import TYPE_CHECKING

from distill.cli.output import console, print_json, print_table

if TYPE_CHECKING:
    from distill.jobs import Run
    from distill.jobs.counterexample import Counterexample
    from distill.jobs.exhaustive import Verification
    from distill.jobs.reach import GreedyPlan
    from distill.jobs.refinement import Round


def answer(
    run: "Run",
    done: "Verification",
    history: "list[Round]",
    certificate: Path | None,
    figure: Path | None,
    pddl: Path | None,
    as_json: bool,
) -> None:
    """Write the files that were asked for, and tell how a verification ended."""
    from distill.jobs.certificate import certificate_of, coverage, size_of, write_certificate
    from distill.jobs.counterexample import Counterexample
    from distill.jobs.run import checksum

    example = Counterexample(done, done.counterexample) if done.counterexample else None
    if certificate is not None:
        source = {"run": run.name, "model": checksum(run.folder / "model.json")}
        write_certificate(certificate_of(done, source), certificate)
    if example is not None:
        if figure is not None:
            example.draw(figure)
        if pddl is not None:
            example.write(pddl)
    if as_json:
        whole = {
            "run": run.name,
            "value": str(done.value),
            "holds": done.holds,
            "complete": done.complete,
            "covered": coverage(done),
            "aside": list(done.aside),
            **{name: done.total(name) for name in ("classes", "states", "steps", "dead_ends")},
            "wrong": done.wrong,
            "sizes": [size_of(size) for size in done.sizes],
            "counterexample": example.to_json() if example else None,
            "history": [one.to_json() for one in history],
        }
        print_json(whole)
        return
    if history:
        _show_history(history)
    _show(run, done)
    _say(coverage(done))
    dead = done.total("dead_ends")
    if dead:
        _say(f"From {dead} of the states no goal can be reached: V is not compared with V* there.")
    if example is not None:
        _show_counterexample(example)
    elif done.holds:
        _say(f"Verified: V = {done.value} is right in all {done.total('states')} states.")
    for what, file in (("certificate", certificate), ("figure", figure), ("PDDL", pddl)):
        if file is not None and file.exists():
            _say(f"{what}: {file}")


def _show(run: "Run", done: "Verification") -> None:
    rows = [
        [
            size.objects,
            len(size.records),
            size.instances,
            size.total("states"),
            size.total("classes"),
            size.max_v_star,
            *size.wrong.values(),
        ]
        for size in done.sizes
    ]
    columns = ["objects", "scenes", "instances", "states", "classes", "max V*", "V≠V*", "greedy", "goal"]
    caption = (
        "scenes: objects, facts and goal, up to isomorphism; instances: initial states in them;\n"
        "classes: states up to isomorphism; the last three count classes that are wrong"
    )
    print_table(f"{run.name} in all states", columns, rows, caption)


def _show_counterexample(example: "Counterexample") -> None:
    wrong = example.wrong
    shown = "none" if wrong.v_star < 0 else wrong.v_star
    _say(f"\nThe smallest state that is wrong has {len(wrong.scene.objects)} objects: V = {wrong.value:g}, "
         f"V* = {shown}; what does not hold: {', '.join(example.broken)}.")  # fmt: skip
    _say(f"  state: {' '.join(example.atoms)}")
    _say(f"  goal:  {' '.join(example.goal)}")
    steps = [[s.action, s.v_star, f"{s.value:g}", "least" if s.least else ""] for s in example.successors]
    print_table("Its successors", ["action", "V*", "V", ""], steps, names=True)
    beside = example.neighbour_atoms
    terms = [
        [f"{t.weight:g}", t.formula, f"{t.here:g}", "–" if t.there is None else f"{t.there:g}", "differs" if t.differs else ""]  # noqa: E501
        for t in example.terms
    ]  # fmt: skip
    caption = f"beside: one step away, where all is right: {' '.join(beside)}" if beside else ""
    print_table("What its terms add", ["weight", "term", "here", "beside", ""], terms, caption)
    _say(example.hint)


def _show_history(history: "list[Round]") -> None:
    rows = [
        [
            number,
            one.run.name,
            one.run.metrics["features"],
            one.run.metrics["formula_size"],
            one.added or "–",
            one.result,
        ]
        for number, one in enumerate(history)
    ]
    columns = ["round", "run", "features", "size", "states added", "result"]
    print_table("Refinement", columns, rows)


def show_plans(run: "Run", rows: "list[GreedyPlan]") -> None:
    """A table of greedy plans."""
    table = [
        [
            row.instance,
            row.objects,
            "–" if row.length is None else row.length,
            f"{row.promised:g}",
            "unknown" if row.optimal is None else row.optimal,
            row.by or "–",
            "yes" if row.validated else "NO",
            f"{row.seconds:.2f}",
        ]
        for row in rows
    ]
    columns = ["instance", "objects", "plan", "V", "optimal", "by", "validated", "seconds"]
    kept = sum(row.kept for row in rows)
    caption = (
        f"plan: length of the greedy plan; V: what was promised; optimal: length of a shortest plan.\n"
        f"{kept} of {len(rows)} plans are valid, as long as promised and not longer than is known to be best"
    )
    print_table(f"{run.name} beyond the splits", columns, table, caption, names=True)


def _say(sentence: str) -> None:
    console().print(sentence, highlight=False, markup=False, soft_wrap=True)
