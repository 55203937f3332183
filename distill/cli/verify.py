"""`distill verify`: is a run's value function right in every state? And `distill recheck`."""

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distill.cli.output import Json, console, print_json, progress_bar, stage_bar
from distill.cli.runs import RUNS, RunName, StoreFolder
from distill.cli.source import DomainFile, Workers, check_workers
from distill.cli.verdicts import answer, show_plans
from distill.errors import InputError
from distill.figures import check_format

if TYPE_CHECKING:
    from distill.jobs import Run
    from distill.jobs.exhaustive import Verification, Verifier
    from distill.jobs.refinement import Round
    from distill.planning import Instance, ProblemClass


def verify(
    run: RunName,
    max_objects: Annotated[
        int | None,
        typer.Option(
            help="Check every instance of the run's problem class with at most so many objects, up to "
            "isomorphism."
        ),
    ] = None,
    problem: Annotated[
        str | None, typer.Option(help="The problem class, if the run was made from PDDL files.")
    ] = None,
    domain: DomainFile = None,
    instances: Annotated[
        list[Path] | None,
        typer.Option(help="PDDL instances of your own to check, or folders of them; may be repeated."),
    ] = None,
    beyond: Annotated[
        bool,
        typer.Option(
            "--beyond",
            help="Instead: execute the greedy policy in instances far larger than the splits, validate its "
            "plans, and ask optimal planners for the length of shortest ones.",
        ),
    ] = False,
    time_limit: Annotated[
        float, typer.Option(help="With --beyond: seconds for each optimal planner; 0 to ask none.")
    ] = 30.0,
    certificate: Annotated[
        Path | None,
        typer.Option(help="Write what was checked to this file (.json, .json.gz); see `distill recheck`."),
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw the counterexample into this file (.svg, .png, .pdf).")
    ] = None,
    pddl: Annotated[
        Path | None, typer.Option(help="Write the counterexample to this file, as a PDDL instance.")
    ] = None,
    refine: Annotated[
        bool,
        typer.Option(
            "--refine",
            help="While it is wrong: add the counterexample to the training data, distil again, and verify.",
        ),
    ] = False,
    rounds: Annotated[int, typer.Option(help="With --refine: give up after so many new runs.")] = 5,
    go_on: Annotated[
        bool, typer.Option("--go-on", help="Check larger instances too where smaller ones are wrong.")
    ] = False,
    all_atoms: Annotated[
        bool, typer.Option("--all-atoms", help="Do not set atoms aside that cannot matter; takes longer.")
    ] = False,
    max_states: Annotated[
        int, typer.Option(help="Refuse instances with more states up to isomorphism.")
    ] = 1_000_000,
    store: StoreFolder = RUNS,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Check the value function of a run in every state of every small instance.

    Three properties: V = V*; every successor of least V is one step closer to a goal (of several with the
    same least V all must be); V = 0 in goals and nowhere else. If one fails, the smallest state in which it
    does is shown: fewest objects, then lowest V*, then fewest atoms.

    Whether the files of a run agree with each other is another question: `distill verify-run`.

    Exits with 1 if the value function is wrong.

    Examples: `distill verify RUN --max-objects 8`, `distill verify RUN --domain D.pddl --instances FOLDER`,
    `distill verify RUN --max-objects 8 --certificate proof.json.gz`, `distill verify RUN --beyond`.
    """
    from distill.jobs import Store
    from distill.jobs.exhaustive import Verifier

    check_workers(workers)
    if figure is not None:
        check_format(figure)
    found = Store(store).find(run)
    given = _instances(domain, instances)
    if not beyond and (max_objects is None) == (not given):
        raise InputError(
            "Say what to check: --max-objects N for the problem class of the run, or --domain FILE with "
            "--instances, or --beyond."
        )
    known = None if given else _problem(found, problem)
    if beyond:
        _beyond(found, given, known, time_limit, as_json)
        return
    verifier = partial(
        Verifier,
        set_aside=not all_atoms,
        max_states=max_states,
        workers=workers or os.cpu_count() or 1,
    )
    ask = partial(_ask, verifier, given, known, max_objects or 0, go_on)
    history: list[Round] = []
    if refine:
        history = _refined(found, ask, store, rounds, workers or 1)
        found, done = history[-1].run, history[-1].done
    else:
        done = ask(found)
    answer(found, done, history, certificate, figure, pddl, as_json)
    if not done.holds:
        raise typer.Exit(1)


def recheck(
    certificate: Annotated[Path, typer.Argument(help="What `distill verify --certificate` wrote.")],
    max_objects: Annotated[
        int | None, typer.Option(help="Only instances with at most so many objects.")
    ] = None,
    sample: Annotated[int | None, typer.Option(help="Only so many instances, drawn at random.")] = None,
    seed: Annotated[int, typer.Option(help="Of the sample.")] = 0,
    max_states: Annotated[int, typer.Option(help="Refuse instances with more states.")] = 200_000,
    as_json: Json = False,
) -> None:
    """Recheck a certificate with a small checker that shares no code with what wrote it.

    It reads the PDDL itself, tries every action in every state, finds V* by breadth-first search and
    evaluates the formulas on plain sets. That is slow: choose some instances with --max-objects or --sample.

    Exits with 1 if the certificate says what is not so. `python -m distill.checker FILE` does the same.
    """
    from distill.checker import Rejected
    from distill.checker import recheck as check

    options: dict[str, Any] = {"max_objects": max_objects, "sample": sample, "seed": seed}
    try:
        with progress_bar("Rechecking") as progress:
            found = check(certificate, **options, max_states=max_states, progress=progress)
    except Rejected as error:
        if as_json:
            print_json({"agrees": False, "reason": str(error)})
        else:
            console().print(f"Rejected: {error}", highlight=False, markup=False, soft_wrap=True)
        raise typer.Exit(1) from error
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise InputError(
            f"{certificate} is no certificate ({error!r}); write one with `distill verify --certificate`."
        ) from error
    if as_json:
        print_json({"agrees": True, **found})
        return
    says = "right in all states" if found["holds"] else "wrong in some states"
    console().print(
        f"The certificate agrees: the value function is {says}. "
        f"Rechecked {found['rechecked']} of {found['instances']} "
        f"instances, {found['states']} states.",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


def _instances(domain: Path | None, given: list[Path] | None) -> "list[Instance]":
    from distill.planning import Domain, Instance, instance_files

    if (domain is None) != (not given):
        raise InputError("--domain FILE and --instances go together; give both or none.")
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


def _ask(
    make: "partial[Verifier]",
    given: "list[Instance]",
    problem: "ProblemClass | None",
    max_objects: int,
    go_on: bool,
    run: "Run",
) -> "Verification":
    with stage_bar() as progress:
        verifier = make(run.distilled.value, run.distilled.goal_marking, progress=progress)
        if problem is None:
            return verifier.instances(given, go_on=go_on)
        return verifier.problem(problem, max_objects, go_on=go_on)


def _refined(
    run: "Run", ask: "partial[Verification]", store: Path, rounds: int, workers: int
) -> "list[Round]":
    from distill.jobs import RunConfig, do_job
    from distill.jobs.refinement import REFINED, refine

    def distil(config: RunConfig) -> "Run":
        with stage_bar() as progress:
            return do_job(config, store, workers=workers, progress=progress)

    return refine(run, ask, distil, store / REFINED / run.name, rounds=rounds)


def _beyond(
    run: "Run", given: "list[Instance]", known: "ProblemClass | None", seconds: float, as_json: bool
) -> None:
    from distill.jobs.reach import greedy_plans

    instances = given or (known.make("beyond") if known and known.declared("beyond") else [])
    with progress_bar("Planning") as progress:
        rows = greedy_plans(run.distilled, instances, seconds=seconds, progress=progress)
    if as_json:
        print_json({"run": run.name, "plans": [row.to_json() for row in rows]})
    else:
        show_plans(run, rows)
    if not all(row.kept for row in rows):
        raise typer.Exit(1)
