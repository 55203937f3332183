"""`distill plan`: solve instances with a planner, or compare several planners."""

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distill.cli import options
from distill.cli.output import Json, print_json, print_table, print_text, progress_bar, ratio
from distill.common import InputError, atomic_write
from distill.planning import Labelling

if TYPE_CHECKING:
    from distill.planning import Instance, Limits, Solver


def plan(
    problem: options.Problem = None,
    domain: options.DomainFile = None,
    instance: options.InstanceFile = None,
    instances: options.Instances = None,
    split: options.SplitName = None,
    number: Annotated[
        int | None, options.count_option("Only this instance of the class or folder, counted from 1.")
    ] = None,
    planner: Annotated[
        list[str] | None,
        typer.Option(help="A planner; may be repeated to compare several. `--planner list` lists them."),
    ] = None,
    checkpoint: Annotated[
        list[Path] | None,
        typer.Option(help="A network, whose greedy policy is used as a planner; may be repeated."),
    ] = None,
    time_limit: Annotated[
        float, options.number_of(Labelling, "time_limit", "The greatest number of seconds for each plan.")
    ] = 300.0,
    memory_limit: Annotated[float, options.number_of(Labelling, "memory_limit", show_default=False)] = 0.0,
    search_states: Annotated[
        int,
        options.number_of(Labelling, "search_states", "The greatest number of states of a pymimir search."),
    ] = 1_000_000,
    out: Annotated[
        Path | None, typer.Option(help="Write the plan of a single instance to this file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Find a plan and validate it; for several instances or planners, compare coverage and plan lengths.

    The greedy policy of a network moves to the unvisited successor of least value, without search.

    A validator that shares no code with the planners checks every plan.

    Examples: `distill plan gripper --split test --number 1`, `distill plan --domain D.pddl --instance P.pddl
    --planner lama`, `distill plan blocks-on --split test --planner astar --planner lama`.
    """
    from distill.planning import PLANNERS, Domain, Instance, Limits

    if planner == ["list"]:
        rows = [[name, known.description, known.optimal] for name, known in PLANNERS.items()]
        if as_json:
            print_json({name: {"description": what, "optimal": optimal} for name, what, optimal in rows})
        else:
            table = [[name, what, "yes" if optimal else ""] for name, what, optimal in rows]
            print_table("Planners", ["name", "description", "optimal"], table)
        return
    limits = Limits(search_states, time_limit, memory_limit)
    solvers = _solvers(planner or ([] if checkpoint else ["astar"]), checkpoint or [], limits)
    if instance is not None:
        if domain is None or problem or instances or split:
            raise InputError("--instance FILE needs --domain FILE and no other source of instances.")
        chosen = [Instance.read(Domain.read(domain), instance)]
    else:
        parts = options.chosen_splits(problem, domain, instances, split)
        chosen = [one for part in parts for one in part.instances]
        if number is not None:
            if number > len(chosen):
                raise InputError(f"--number must be between 1 and {len(chosen)}, not {number}.")
            chosen = [chosen[number - 1]]
    if len(chosen) == len(solvers) == 1:
        [(name, solve)] = solvers.items()
        _single(chosen[0], name, solve, out, as_json)
    elif out is not None:
        raise InputError("--out takes one plan; choose one instance with --number and one planner.")
    else:
        _several(chosen, solvers, as_json)


def _solvers(planners: list[str], checkpoints: list[Path], limits: "Limits") -> "dict[str, Solver]":
    """Planners and greedy policies, by name."""
    from distill.planning import find_plan

    solvers: dict[str, Solver] = {
        name: partial(find_plan, name, state=None, limits=limits) for name in planners
    }
    if checkpoints:
        from distill.evaluation import network_policy
        from distill.networks import Checkpoint

        for path in checkpoints:
            name = path.stem if path.stem not in solvers else str(path)
            solvers[name] = network_policy(Checkpoint.load(path).network)
    return solvers


def _single(instance: "Instance", name: str, solve: "Solver", out: Path | None, as_json: bool) -> None:
    from distill.planning import SOLVED, validate

    start = time.monotonic()
    outcome = solve(instance)
    seconds = round(time.monotonic() - start, 2)
    solved = outcome.status == SOLVED
    verdict = validate(instance, outcome.plan) if solved else None
    if out is not None and solved:
        text = "\n".join([*outcome.plan, f"; cost = {len(outcome.plan)} (unit cost)", ""])
        with atomic_write(out) as stream:
            stream.write(text.encode())
    if as_json:
        answer: dict[str, Any] = {
            "instance": instance.name,
            "planner": name,
            "status": outcome.status,
            "note": outcome.note,
        }
        if verdict is not None:
            answer |= {"length": len(outcome.plan), "plan": list(outcome.plan), "valid": verdict.valid}
        print_json({**answer, "seconds": seconds})
    else:
        if solved:
            for step, action in enumerate(outcome.plan, start=1):
                print_text(f"{step:4d}  {action}")
        result = f"{outcome.status}{f' ({outcome.note})' if outcome.note else ''}"
        if verdict is not None:
            result += f": {len(outcome.plan)} steps, {'valid' if verdict.valid else verdict.reason}"
        print_text(f"{instance.name} with {name}: {result}; {seconds} s")
    if verdict is None or not verdict.valid:
        raise typer.Exit(1)


def _several(instances: "list[Instance]", solvers: "dict[str, Solver]", as_json: bool) -> None:
    from dataclasses import asdict

    from distill.planning import compare

    with progress_bar("Planning") as progress:
        rows = compare(instances, solvers, progress)
    if as_json:
        listed = [instance.name for instance in instances]
        print_json({"instances": listed, "planners": [asdict(row) for row in rows]})
        return
    table = [
        [
            row.solver,
            f"{row.solved}/{row.instances}",
            ratio(row.solved, row.instances, ".0%"),
            row.total_length,
            row.longest,
            row.common_length,
        ]
        for row in rows
    ]
    common = f"length on the {rows[0].common} that all solve"
    columns = ["planner", "solved", "coverage", "total length", "longest", common]
    print_table("Coverage and plan length; every plan validated", columns, table)
