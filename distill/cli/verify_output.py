"""The output of `distill verify`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from distill.cli.output import decimal, print_json, print_table, print_text

if TYPE_CHECKING:
    from distill.jobs import Round
    from distill.runs import Run
    from distill.verification import Counterexample, GreedyPlan, Verification


def report(
    run: "Run",
    done: "Verification",
    history: "list[Round]",
    certificate: Path | None,
    figure: Path | None,
    pddl: Path | None,
    as_json: bool,
) -> None:
    """Write the files of a verification, and print its result."""
    from distill.runs import checksum
    from distill.verification import Counterexample, certificate_of, coverage, size_of, write_certificate

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
        answer = {
            "run": run.name,
            "value": str(done.checker.value),
            "holds": done.holds,
            "complete": done.complete,
            "covered": coverage(done),
            "aside": list(done.checker.irrelevant_predicates),
            **{name: done.total(name) for name in ("classes", "states", "steps", "dead_ends")},
            "wrong": done.wrong,
            "sizes": [size_of(size) for size in done.sizes],
            "counterexample": example.to_json() if example else None,
            "history": [one.to_json() for one in history],
        }
        print_json(answer)
        return
    if history:
        _show_history(history)
    _show(run, done)
    print_text(coverage(done))
    dead = done.total("dead_ends")
    if dead:
        print_text(f"No goal can be reached from {dead} of the states; V is not compared with V* there.")
    if example is not None:
        _show_counterexample(example)
    elif done.holds:
        print_text(f"Verified: V = {done.checker.value} is right in all {done.total('states')} states.")
    for what, file in (("certificate", certificate), ("figure", figure), ("PDDL", pddl)):
        if file is not None and file.exists():
            print_text(f"{what}: {file}")


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
    columns = ["objects", "families", "instances", "states", "classes", "max V*", "V≠V*", "greedy", "goal"]
    caption = (
        "families: objects, facts and goal, up to isomorphism; instances: their initial states;\n"
        "classes: states up to isomorphism; the last three columns count wrong classes"
    )
    print_table(f"{run.name} in all states", columns, rows, caption)


def _show_counterexample(example: "Counterexample") -> None:
    wrong = example.wrong
    shown = "none" if wrong.v_star < 0 else wrong.v_star
    size = f"{len(wrong.family.objects)} objects"
    print_text(f"\nThe smallest counterexample has {size}: V = {wrong.value:g}, V* = {shown}.")
    print_text(f"  violated properties: {', '.join(example.broken)}")
    print_text(f"  state: {' '.join(example.atoms)}")
    print_text(f"  goal:  {' '.join(example.goal)}")
    steps = [[s.action, s.v_star, f"{s.value:g}", "least" if s.least else ""] for s in example.successors]
    print_table("Its successors", ["action", "V*", "V", ""], steps, names=True)
    neighbour = example.neighbour_atoms
    terms = [
        [f"{t.weight:g}", t.formula, f"{t.here:g}", decimal(t.there, "g"), "differs" if t.differs else ""]
        for t in example.terms
    ]
    caption = f"neighbour: a state one step away that is right: {' '.join(neighbour)}" if neighbour else ""
    print_table("Its terms", ["weight", "term", "here", "neighbour", ""], terms, caption)
    print_text(example.hint)


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


def show_recheck(summary: dict[str, Any]) -> None:
    """Print what the checker found, and what it did not check."""
    result = "right in all states" if summary["holds"] else "wrong in some states"
    whole = summary["rechecked"] == summary["instances"]
    what = "The certificate" if whole else "The part of the certificate that was rechecked"
    counts = f"{summary['rechecked']} of {summary['instances']} instances, {summary['states']} states"
    print_text(f"{what} is correct: the value function is {result} of these instances.")
    print_text(f"V = {summary['value']}")
    print_text(f"Rechecked: {counts}.")
    print_text("Not checked:")
    for entry, reason in summary["unchecked"].items():
        print_text(f"  {entry}: {reason}")


def show_plans(run: "Run", rows: "list[GreedyPlan]") -> None:
    """Print a table of greedy plans."""
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
    correct = sum(row.kept for row in rows)
    caption = (
        f"plan: length of the greedy plan; V: of the initial state; optimal: length of a shortest plan.\n"
        f"{correct} of {len(rows)} plans are valid, have length V and are not longer than an optimal plan"
    )
    print_table(f"{run.name} beyond the splits", columns, table, caption, names=True)
