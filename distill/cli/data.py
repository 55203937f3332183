"""`distill data`: from PDDL to labelled states."""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distill.cli.output import Json, console, print_json, print_table, progress_bar
from distill.cli.source import (
    DomainFile,
    Instances,
    Problem,
    SplitAt,
    SplitName,
    Test,
    Train,
    Validation,
    Workers,
    check_workers,
    chosen_splits,
)
from distill.errors import InputError
from distill.figures import check_format
from distill.settings import Labelling

if TYPE_CHECKING:
    from distill.planning import DataSet


def _labelling(name: str) -> Any:
    """Declare an option for a labelling setting."""
    return typer.Option(help=Labelling.description(name), rich_help_panel="Labelling", show_default=False)


def data(
    problem: Problem = None,
    domain: DomainFile = None,
    instances: Instances = None,
    split_at: SplitAt = None,
    train: Train = None,
    validation: Validation = None,
    test: Test = None,
    split: SplitName = None,
    out: Annotated[
        Path | None, typer.Option(help="A folder for train.npz, validation.npz and test.npz.")
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw how often each V* occurs into this file (.png, .svg, .pdf).")
    ] = None,
    reduce: Annotated[
        str,
        typer.Option(
            help="Keep one of several states that are equal (exact), isomorphic (iso), or the same to every "
            "relational GNN and with the same V* (wl); none keeps all."
        ),
    ] = "exact",
    max_states: Annotated[int | None, _labelling("max_states")] = None,
    walks: Annotated[int | None, _labelling("walks")] = None,
    walk_length: Annotated[int | None, _labelling("walk_length")] = None,
    search: Annotated[list[str] | None, _labelling("search")] = None,
    search_states: Annotated[int | None, _labelling("search_states")] = None,
    time_limit: Annotated[float | None, _labelling("time_limit")] = None,
    seed: Annotated[int | None, _labelling("seed")] = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Label states with V*, the least number of steps to the goal.

    Instances are expanded fully while they fit a budget; of larger ones, random walks are taken and an
    optimal plan is sought from every state on them. Results are cached: the second call is instant.

    Examples: `distill data gripper`, `distill data blocks-on --split train --out data`,
    `distill data --domain D.pddl --instances FOLDER --json`.
    """
    from distill.jobs import prepare_reduced

    given = {
        "max_states": max_states,
        "walks": walks,
        "walk_length": walk_length,
        "search": search,
        "search_states": search_states,
        "time_limit": time_limit,
        "seed": seed,
    }
    settings = {name: value for name, value in given.items() if value not in (None, [])}
    check_workers(workers)
    if figure is not None:
        check_format(figure)
    folders = {"train": train, "validation": validation, "test": test}
    splits = chosen_splits(problem, domain, instances, folders, split_at, split, settings)
    sets: dict[str, DataSet] = {}
    files: dict[str, Path] = {}
    seconds: dict[str, float] = {}
    for one in splits:
        begun = time.monotonic()
        with progress_bar(f"Labelling {one.name}") as progress:
            sets[one.name], files[one.name] = prepare_reduced(
                one, reduce=reduce, workers=workers or os.cpu_count() or 1, progress=progress
            )
        seconds[one.name] = round(time.monotonic() - begun, 2)
    if out is not None:
        files = {name: out / f"{name}.npz" for name in sets}
        _write(sets, files)
    if figure is not None:
        from distill.planning.figures import draw_labels

        draw_labels(sets, figure)
    summaries = {name: found.summary() for name, found in sets.items()}
    if as_json:
        answer = {
            name: {**summary, "seconds": seconds[name], "file": str(files[name])}
            for name, summary in summaries.items()
        }
        print_json({**_total(summaries), "seconds": round(sum(seconds.values()), 2), "splits": answer})
    else:
        _show(problem or f"{domain}", summaries, seconds)
        _report(sets)
        for name, file in files.items():
            console().print(f"{name}: {file}", soft_wrap=True, highlight=False)


def _total(summaries: dict[str, dict[str, int]]) -> dict[str, int]:
    """The counts of all splits together."""
    combine: dict[str, Any] = {"max_v_star": max, "min_objects": min, "max_objects": max}
    rows = list(summaries.values())
    return {key: combine.get(key, sum)([row[key] for row in rows]) for key in rows[0]}


def _show(title: str, summaries: dict[str, dict[str, int]], seconds: dict[str, float]) -> None:
    columns = {
        "states": "states",
        "kept": "distinct_states",
        "max V*": "max_v_star",
        "dead ends": "unsolvable_states",
    }
    rows = [
        [
            name,
            row["instances"],
            f"{row['min_objects']}-{row['max_objects']}",
            *("–" if key == "max_v_star" and row[key] < 0 else row[key] for key in columns.values()),
            seconds[name],
        ]
        for name, row in summaries.items()
    ]
    print_table(title, ["split", "instances", "objects", *columns, "s"], rows)


def _report(sets: "dict[str, DataSet]") -> None:
    """Name the instances that were not labelled completely."""
    for name, found in sets.items():
        if not len(found):
            console().print(
                f"[yellow]{name}:[/] no state could be labelled within the limits; raise --max-states, "
                "--time-limit or --search-states.",
                soft_wrap=True,
                highlight=False,
            )
            continue
        gaps = [instance for instance in found.instances if instance["unlabelled"]]
        if gaps:
            worst = ", ".join(f"{Path(i['name']).name} ({i['unlabelled']} states)" for i in gaps[:5])
            more = f" and {len(gaps) - 5} more" if len(gaps) > 5 else ""
            console().print(
                f"[yellow]{name}:[/] the limits left states without a label in {worst}{more}; raise "
                "--time-limit or --search-states for more.",
                soft_wrap=True,
                highlight=False,
            )


def _write(sets: "dict[str, DataSet]", files: dict[str, Path]) -> None:
    """Write the sets, never over a file that holds something else."""
    from distill.planning import DataSet

    for name, file in files.items():
        if file.exists() and not sets[name].same_as(DataSet.load(file)):
            raise InputError(f"{file} exists and holds other data; choose another --out or remove it.")
    for name, file in files.items():
        sets[name].save(file)
