"""`distill data`: from PDDL to labelled states."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distill.cli import options
from distill.cli.output import Json, console, print_json, print_table, print_text, progress_bar
from distill.common import InputError, check_format
from distill.planning import Labelling

if TYPE_CHECKING:
    from distill.structures import DataSet


def _labelling(name: str) -> Any:
    """Declare an option for a setting of the labelling."""
    shown: dict[str, Any] = {"rich_help_panel": "Labelling", "show_default": False}
    if name in Labelling.numbers():
        return options.number_of(Labelling, name, **shown)
    return typer.Option(help=Labelling.description(name), **shown)


def data(
    problem: options.Problem = None,
    domain: options.DomainFile = None,
    instances: options.Instances = None,
    split_at: options.SplitAt = None,
    train: options.Train = None,
    validation: options.Validation = None,
    test: options.Test = None,
    states: options.States = None,
    split: options.SplitName = None,
    out: Annotated[
        Path | None, typer.Option(help="A folder for train.npz, validation.npz and test.npz.")
    ] = None,
    figure: Annotated[Path | None, options.figure_option("the distribution of V*")] = None,
    reduce: Annotated[
        str,
        typer.Option(
            help="Keep one of several equal states (exact), isomorphic states (iso), or states of equal V* "
            "that no relational GNN distinguishes (wl); none keeps all states."
        ),
    ] = "exact",
    max_states: Annotated[int | None, _labelling("max_states")] = None,
    walks: Annotated[int | None, _labelling("walks")] = None,
    walk_length: Annotated[int | None, _labelling("walk_length")] = None,
    search: Annotated[list[str] | None, _labelling("search")] = None,
    search_states: Annotated[int | None, _labelling("search_states")] = None,
    time_limit: Annotated[float | None, _labelling("time_limit")] = None,
    memory_limit: Annotated[float | None, _labelling("memory_limit")] = None,
    seed: Annotated[int | None, _labelling("seed")] = None,
    workers: options.Workers = None,
    as_json: Json = False,
) -> None:
    """Label states with V*, the least number of steps to the goal.

    An instance is expanded fully if it has at most --max-states states. In a larger instance, an optimal plan
    is searched from every state of some random walks. Results are cached.

    Examples: `distill data gripper`, `distill data blocks-on --split train --out data`,
    `distill data --domain D.pddl --instances FOLDER --json`.
    """
    from distill.planning import prepare_reduced

    given = {
        "max_states": max_states,
        "walks": walks,
        "walk_length": walk_length,
        "search": search,
        "search_states": search_states,
        "time_limit": time_limit,
        "memory_limit": memory_limit,
        "seed": seed,
    }
    settings = {name: value for name, value in given.items() if value not in (None, [])}
    processes = options.worker_count(workers)
    check_format(figure)
    folders = {"train": train, "validation": validation, "test": test}
    splits = options.chosen_splits(
        problem, domain, instances, split, settings, folders=folders, split_at=split_at, states=states
    )
    sets: dict[str, DataSet] = {}
    files: dict[str, Path] = {}
    seconds: dict[str, float] = {}
    for one in splits:
        begun = time.monotonic()
        with progress_bar(f"Labelling {one.name}") as progress:
            sets[one.name], files[one.name] = prepare_reduced(
                one, reduce=reduce, workers=processes, progress=progress
            )
        seconds[one.name] = round(time.monotonic() - begun, 2)
    if out is not None:
        files = {name: out / f"{name}.npz" for name in sets}
        _write(sets, files)
    if figure is not None:
        from distill.planning import draw_labels

        draw_labels(sets, figure)
    summaries = {name: data.summary() for name, data in sets.items()}
    if as_json:
        answer = {
            name: {**summary, "seconds": seconds[name], "file": str(files[name])}
            for name, summary in summaries.items()
        }
        print_json({**_total(summaries), "seconds": round(sum(seconds.values()), 2), "splits": answer})
    else:
        _show(problem or f"{domain or states}", summaries, seconds)
        _report(sets)
        for name, file in files.items():
            print_text(f"{name}: {file}")


def _total(summaries: dict[str, dict[str, int]]) -> dict[str, int]:
    """The counts over all splits."""
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
    """List the instances with states that have no label."""
    for name, data in sets.items():
        gaps = [instance for instance in data.instances if instance["unlabelled"]]
        if not len(data):
            hint = "raise --max-states, --time-limit or --search-states"
            text = f"no state could be labelled within the limits; {hint}."
        elif gaps:
            worst = ", ".join(f"{Path(i['name']).name} ({i['unlabelled']} states)" for i in gaps[:5])
            more = f" and {len(gaps) - 5} more" if len(gaps) > 5 else ""
            text = f"some states of {worst}{more} have no label; raise --time-limit or --search-states."
        else:
            continue
        console().print(f"[yellow]{name}:[/] {text}", soft_wrap=True, highlight=False)


def _write(sets: "dict[str, DataSet]", files: dict[str, Path]) -> None:
    """Write the data sets; files with other data are not overwritten."""
    from distill.structures import DataSet

    for name, file in files.items():
        if file.exists() and not sets[name].same_as(DataSet.load(file)):
            raise InputError(f"{file} exists and holds other data; choose another --out or remove it.")
    for name, file in files.items():
        sets[name].save(file)
