"""`distill plan`: solve instances with a planner, or compare several."""

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distill.cli.output import Json, console, print_json, print_table, progress_bar
from distill.cli.source import (
    DomainFile,
    Instances,
    Problem,
    SplitName,
    chosen_splits,
)
from distill.errors import InputError

if TYPE_CHECKING:
    from distill.planning import Instance, Limits


def plan(
    problem: Problem = None,
    domain: DomainFile = None,
    instance: Annotated[
        Path | None, typer.Option(help="A PDDL instance.", rich_help_panel="PDDL files")
    ] = None,
    instances: Instances = None,
    split: SplitName = None,
    number: Annotated[
        int | None, typer.Option(help="Only this instance of the class or folder, counted from 1.")
    ] = None,
    planner: Annotated[
        list[str] | None,
        typer.Option(help="A planner; repeat it to compare several. `--planner list` lists them."),
    ] = None,
    time_limit: Annotated[float, typer.Option(help="Seconds for each plan.")] = 300.0,
    search_states: Annotated[
        int, typer.Option(help="A pymimir search gives up after so many states.")
    ] = 1_000_000,
    out: Annotated[
        Path | None, typer.Option(help="Write the plan of a single instance to this file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Find a plan and validate it; for several instances or planners, compare coverage and plan lengths.

    Every plan is replayed by a validator that shares no code with the planners.

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
            print_table("Planners", ["name", "what it is", "optimal"], table)
        return
    names = planner or ["astar"]
    limits = Limits(search_states, time_limit)
    if instance is not None:
        if domain is None or problem or instances or split:
            raise InputError("--instance FILE goes with --domain FILE and no other source of instances.")
        found = [Instance.read(Domain.read(domain), instance)]
    else:
        parts = chosen_splits(problem, domain, instances, {}, None, split, {})
        found = [one for part in parts for one in part.instances]
        if number is not None:
            if not 1 <= number <= len(found):
                raise InputError(f"--number must be between 1 and {len(found)}, not {number}.")
            found = [found[number - 1]]
    if len(found) == len(names) == 1:
        _single(found[0], names[0], limits, out, as_json)
    elif out is not None:
        raise InputError("--out takes one plan; choose one instance with --number and one planner.")
    else:
        _several(found, names, limits, as_json)


def _single(instance: "Instance", name: str, limits: "Limits", out: Path | None, as_json: bool) -> None:
    from distill.planning import find_plan, validate
    from distill.planning.outcome import SOLVED

    begun = time.monotonic()
    outcome = find_plan(name, instance, None, limits)
    seconds = round(time.monotonic() - begun, 2)
    solved = outcome.status == SOLVED
    verdict = validate(instance, outcome.plan) if solved else None
    if out is not None and solved:
        try:
            out.write_text("\n".join([*outcome.plan, f"; cost = {len(outcome.plan)} (unit cost)", ""]))
        except OSError as error:
            raise InputError(f"Cannot write {out}: {error.strerror}; choose another --out.") from error
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
                console().print(f"{step:4d}  {action}", highlight=False, markup=False)
        told = f"{outcome.status}{f' ({outcome.note})' if outcome.note else ''}"
        if verdict is not None:
            told += f": {len(outcome.plan)} steps, {'valid' if verdict.valid else verdict.reason}"
        console().print(f"{instance.name} with {name}: {told}; {seconds} s", soft_wrap=True, highlight=False)
    if verdict is None or not verdict.valid:
        raise typer.Exit(1)


def _several(instances: "list[Instance]", names: list[str], limits: "Limits", as_json: bool) -> None:
    from dataclasses import asdict

    from distill.planning import compare, find_plan

    solvers = {name: partial(find_plan, name, state=None, limits=limits) for name in names}
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
            f"{row.solved / row.instances:.0%}",
            row.total_length,
            row.longest,
            row.common_length,
        ]
        for row in rows
    ]
    common = rows[0].common
    columns = [
        "planner",
        "solved",
        "coverage",
        "total length",
        "longest",
        f"on the {common} all solve",
    ]
    print_table("Coverage and plan length; every plan validated", columns, table)
