"""`distill verify`: check a value function in every state of all small instances; and `distill recheck`."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from distill.cli import options
from distill.cli.output import Json, print_json, print_text, progress_bar, stage_bar
from distill.cli.verify_output import report, show_plans, show_recheck
from distill.common import MOST_REAL, InputError, check_format

if TYPE_CHECKING:
    from distill.jobs import Round
    from distill.planning import Instance, ProblemClass
    from distill.runs import Run
    from distill.verification import Verification, Verifier


def verify(
    run: options.RunName,
    max_objects: Annotated[
        int | None,
        options.count_option(
            "Check all instances of the problem class with at most this many objects, up to isomorphism.",
            most=1000,
        ),
    ] = None,
    problem: Annotated[
        str | None, typer.Option(help="The problem class, for a run that was made from PDDL files.")
    ] = None,
    domain: options.DomainFile = None,
    instances: Annotated[
        list[Path] | None,
        typer.Option(help="PDDL instances to check, or folders of instances; may be repeated."),
    ] = None,
    beyond: Annotated[
        bool,
        typer.Option(
            "--beyond",
            help="Instead, execute the greedy policy in instances far larger than the splits, validate its "
            "plans and compare their lengths with those of optimal planners.",
        ),
    ] = False,
    time_limit: Annotated[
        float,
        typer.Option(
            help="With --beyond: seconds for each optimal planner; 0 to use none.", min=0, max=MOST_REAL
        ),
    ] = 30.0,
    certificate: Annotated[
        Path | None,
        typer.Option(help="Write a certificate to this file (.json, .json.gz); see `distill recheck`."),
    ] = None,
    figure: Annotated[Path | None, options.figure_option("the counterexample")] = None,
    pddl: Annotated[
        Path | None, typer.Option(help="Write the counterexample to this file, as a PDDL instance.")
    ] = None,
    refine: Annotated[
        bool,
        typer.Option(
            "--refine",
            help="If a state is wrong, add the counterexample to the training data, distil and verify again.",
        ),
    ] = False,
    rounds: Annotated[
        int, options.count_option("With --refine: the greatest number of new runs.", least=0, most=1000)
    ] = 5,
    go_on: Annotated[
        bool, typer.Option("--go-on", help="Check larger instances even if smaller ones are wrong.")
    ] = False,
    all_atoms: Annotated[
        bool, typer.Option("--all-atoms", help="Do not remove irrelevant atoms; takes longer.")
    ] = False,
    max_states: Annotated[
        int, options.count_option("The greatest number of states of an instance, up to isomorphism.")
    ] = 1_000_000,
    store: options.StoreFolder = options.RUNS,
    workers: options.Workers = None,
    as_json: Json = False,
) -> None:
    """Check the value function of a run in every state of every small instance.

    Three properties are checked: V = V*; all successors of least V are one step closer to a goal; V = 0 in
    goals and in no other state. If a property fails, the smallest counterexample is shown: fewest objects,
    then lowest V*, then fewest atoms. The exit code is then 1.

    `distill verify-run` checks whether the files of a run agree with each other.

    Examples: `distill verify RUN --max-objects 8`, `distill verify RUN --domain D.pddl --instances FOLDER`,
    `distill verify RUN --max-objects 8 --certificate proof.json.gz`, `distill verify RUN --beyond`.
    """
    from distill.runs import Store
    from distill.verification import Verifier

    processes = options.worker_count(workers)
    check_format(figure)
    source = Store(store).find(run)
    given = _instances(domain, instances)
    if not beyond and (max_objects is None) == (not given):
        raise InputError(
            "Give --max-objects N for the problem class of the run, or --domain FILE with --instances, or "
            "--beyond."
        )
    known = None if given else _problem(source, problem)
    if beyond:
        _beyond(source, given, known, time_limit, as_json)
        return
    verifier = partial(Verifier, ignore_irrelevant=not all_atoms, max_states=max_states, workers=processes)
    check = partial(_check, verifier, given, known, max_objects or 0, go_on)
    history: list[Round] = []
    if refine:
        history = _refine(source, check, store, rounds, workers or 1)
        source, done = history[-1].run, history[-1].verification
    else:
        done = check(source)
    report(source, done, history, certificate, figure, pddl, as_json)
    if not done.holds:
        raise typer.Exit(1)


def recheck(
    certificate: Annotated[Path, typer.Argument(help="A file of `distill verify --certificate`.")],
    max_objects: Annotated[
        int | None, options.count_option("Only instances with at most this many objects.")
    ] = None,
    sample: Annotated[
        int | None, options.count_option("Only a random sample of this many instances.")
    ] = None,
    seed: Annotated[int, options.seed_option("The random seed of the sample.")] = 0,
    max_states: Annotated[
        int, options.count_option("The greatest number of states of an instance.")
    ] = 200_000,
    as_json: Json = False,
) -> None:
    """Recheck a certificate with an independent checker that shares no code with `distill verify`.

    The checker parses the PDDL, tries every action in every state, computes V* by breadth-first search and
    evaluates the formulas on sets. This is slow; --max-objects and --sample select some instances. Entries
    that it cannot derive again are listed as not checked.

    The exit code is 1 if the certificate is false and 2 if it cannot be checked. `python -m distill.checker
    FILE` does the same.
    """
    from distill.checker import CannotCheckError, CertificateError, recheck as check

    try:
        with progress_bar("Rechecking") as progress:
            summary = check(
                certificate,
                max_objects=max_objects,
                sample=sample,
                seed=seed,
                max_states=max_states,
                progress=progress,
            )
    except CannotCheckError as error:
        raise InputError(
            f"{certificate} cannot be rechecked: {error}; `distill verify --certificate` writes certificates."
        ) from error
    except CertificateError as error:
        if as_json:
            print_json({"agrees": False, "reason": str(error)})
        else:
            print_text(f"Rejected: {error}.")
        raise typer.Exit(1) from error
    if as_json:
        print_json({"agrees": True, **summary})
    else:
        show_recheck(summary)


def _instances(domain: Path | None, given: list[Path] | None) -> "list[Instance]":
    from distill.planning import Domain, Instance, instance_files

    if (domain is None) != (not given):
        raise InputError("--domain FILE and --instances need each other; give both or none.")
    if domain is None:
        return []
    parsed = Domain.read(domain)
    files = [file for place in given or [] for file in (instance_files(place) if place.is_dir() else [place])]
    return [Instance.read(parsed, file) for file in files]


def _problem(run: "Run", named: str | None) -> "ProblemClass":
    from distill.planning import problem_class

    name = named or run.config.get("problem")
    if name is None:
        raise InputError(
            f"{run.name} was made from PDDL files; name its class with --problem, or give --domain and "
            "--instances."
        )
    if name.endswith((".yaml", ".yml")) and not Path(name).exists():
        name = str(run.folder / name)
    return problem_class(name)


def _check(
    make: "partial[Verifier]",
    given: "list[Instance]",
    problem: "ProblemClass | None",
    max_objects: int,
    go_on: bool,
    run: "Run",
) -> "Verification":
    with stage_bar() as progress:
        verifier = make(run.value_function.value, run.value_function.goal_marking, progress=progress)
        if problem is None:
            return verifier.instances(given, go_on=go_on)
        return verifier.problem(problem, max_objects, go_on=go_on)


def _refine(
    run: "Run", check: "partial[Verification]", store: Path, rounds: int, workers: int
) -> "list[Round]":
    from distill.jobs import REFINED, RunConfig, do_job, refine

    def distil(config: RunConfig) -> "Run":
        with stage_bar() as progress:
            return do_job(config, store, workers=workers, progress=progress)

    return refine(run, check, distil, store / REFINED / run.name, rounds=rounds)


def _beyond(
    run: "Run", given: "list[Instance]", known: "ProblemClass | None", seconds: float, as_json: bool
) -> None:
    from distill.verification import greedy_plans

    instances = given or (known.make("beyond") if known and known.declared("beyond") else [])
    with progress_bar("Planning") as progress:
        rows = greedy_plans(run.value_function, instances, seconds=seconds, progress=progress)
    if as_json:
        print_json({"run": run.name, "plans": [row.to_json() for row in rows]})
    else:
        show_plans(run, rows)
    if not all(row.kept for row in rows):
        raise typer.Exit(1)
