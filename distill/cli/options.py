"""Options that several commands share, and the splits that they select."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distill.cli.output import progress_bar
from distill.common import MOST_COUNT, MOST_SEED, InputError, Settings
from distill.evaluation import Measurement
from distill.logic import MOST_STEPS
from distill.planning import Labelling

if TYPE_CHECKING:
    from distill.planning import Split
    from distill.structures import DataSet

_FILES = "PDDL files"
_MOST_WORKERS = 1024


def number_of(group: type[Settings], name: str, help: str = "", **more: Any) -> Any:
    """Declare an option for a setting that is a number: its range, and its description without another."""
    least, most = group.bounds(name)
    return typer.Option(help=help or group.description(name), min=least, max=most, **more)


def seed_option(help: str) -> Any:
    """Declare an option for a random seed."""
    return typer.Option(help=help, min=0, max=MOST_SEED)


def count_option(help: str, *names: str, least: int = 1, most: int = MOST_COUNT) -> Any:
    """Declare an option for a whole number."""
    return typer.Option(*names, help=help, min=least, max=most)


Problem = Annotated[
    str | None,
    typer.Argument(help="A problem class (see `distill problems`), or a YAML file that declares one."),
]
DomainFile = Annotated[Path | None, typer.Option("--domain", help="A PDDL domain.", rich_help_panel=_FILES)]
InstanceFile = Annotated[
    Path | None, typer.Option("--instance", help="A single PDDL instance.", rich_help_panel=_FILES)
]
Instances = Annotated[
    Path | None,
    typer.Option(
        help="A folder of PDDL instances, split by their number of objects.", rich_help_panel=_FILES
    ),
]
SplitAt = Annotated[
    str | None,
    typer.Option(
        metavar="V,T",
        help="Validation begins at V objects, test at T. By default the largest fifth of the sizes is for "
        "testing and the next fifth for validation.",
        rich_help_panel=_FILES,
    ),
]
Train = Annotated[Path | None, typer.Option(help="A folder of training instances.", rich_help_panel=_FILES)]
Validation = Annotated[
    Path | None, typer.Option(help="A folder of validation instances.", rich_help_panel=_FILES)
]
Test = Annotated[Path | None, typer.Option(help="A folder of test instances.", rich_help_panel=_FILES)]
States = Annotated[
    Path | None,
    typer.Option(
        "--states",
        help="A folder of states with labels, instead of labelling: train.npz, validation.npz and test.npz "
        "(no other source is needed), or NAME_states.txt for each instance NAME.pddl.",
        rich_help_panel=_FILES,
    ),
]
Workers = Annotated[
    int | None, count_option("Number of processes; one per processor by default.", most=_MOST_WORKERS)
]
MaxStates = Annotated[
    int | None,
    number_of(Labelling, "max_states", "Expand an instance fully if it has at most this many states."),
]
MaxSteps = Annotated[
    int | None,
    number_of(
        Measurement,
        "max_steps",
        "The greatest number of steps of a greedy execution; 0 to execute no plans.",
    ),
]
SplitName = Annotated[str | None, typer.Option("--split", help="Only this split: train, validation or test.")]
CheckpointFile = Annotated[
    Path,
    typer.Argument(
        help="A network: a checkpoint of this project (.safetensors), of gnn-policy-kr22, of "
        "relational-neural-network-python or of pymimir-rgnn. Nothing in the file is executed."
    ),
]
RUNS = Path("artifacts/runs")
StoreFolder = Annotated[Path, typer.Option("--store", help="The folder of runs.")]
OutFolder = Annotated[Path, typer.Option("--out", help="The folder of runs.")]
RunName = Annotated[
    str, typer.Argument(help="The name of a run, its beginning or its end; or a folder.", metavar="RUN")
]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A setting of all jobs; may be repeated."),
]
Executor = Annotated[
    str, typer.Option(help="`local` processes, or `dask://HOST:PORT` for the scheduler of a cluster.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only show the number of jobs and the stages that they share.")
]
Retry = Annotated[bool, typer.Option("--retry-failed", help="Run jobs again that failed earlier.")]
UpTo = Annotated[
    int | None,
    count_option(
        "Write a bounded form, with chains of at most this many steps instead of closures and distances; its "
        "first lines say for which states it is equal.",
        "--up-to",
        most=MOST_STEPS,
    ),
]
English = Annotated[bool, typer.Option("--english", help="Explain in English what each term counts.")]


def figure_option(content: str) -> Any:
    """Declare an option for a figure."""
    return typer.Option(help=f"Draw {content} into this file (.png, .svg, .pdf).")


def chosen_splits(
    problem: str | None,
    domain: Path | None,
    instances: Path | None,
    only: str | None,
    settings: Mapping[str, Any] | None = None,
    *,
    max_states: int | None = None,
    folders: Mapping[str, Path | None] | None = None,
    split_at: str | None = None,
    instance: Path | None = None,
    states: Path | None = None,
) -> "list[Split]":
    """The splits that the options select.

    Parameters
    ----------
    settings : labelling settings of the command line; they override those of a problem class.
    max_states : see `expansion_settings`.
    folders : the folders of instances, by split name.
    instance : a single file instead of folders; it becomes the test split.
    states : a folder of labelled states; alone, it must hold archives.
    """
    from dataclasses import replace

    from distill.planning import (
        SPLITS,
        Domain,
        Instance,
        Split,
        problem_class,
        splits_by_size,
        splits_from_folders,
        splits_of_archives,
        with_states,
    )

    if only is not None and only not in SPLITS:
        raise InputError(f"There is no split {only!r}; choose from {', '.join(SPLITS)}.")
    settings = settings or expansion_settings(max_states)
    if states is not None:
        if settings:
            raise InputError(f"--states gives labelled states; leave {_option(next(iter(settings)))} out.")
        if not any((problem, domain, instances, instance, *(folders or {}).values())):
            return _only(splits_of_archives(states), only)
        found = chosen_splits(
            problem, domain, instances, only, folders=folders, split_at=split_at, instance=instance
        )
        return with_states(found, states)
    given = {name: folder for name, folder in (folders or {}).items() if folder is not None}
    if problem is not None:
        if domain or instances or given or split_at or instance:
            raise InputError(
                "Give either a problem class or PDDL files (--domain and --instances), not both."
            )
        declared = problem_class(problem)
        wanted = [only] if only else [name for name in SPLITS if name in declared.splits]
        splits = [declared.split(name) for name in wanted]
        return [
            replace(
                split,
                labelling=Labelling.from_mapping({**split.labelling.to_mapping(), **settings}, "options"),
            )
            for split in splits
        ]
    if domain is None or sum(map(bool, (instances, instance, given))) != 1:
        raise InputError(
            "Give a problem class, or --domain FILE with --instances FOLDER or with some of --train, "
            "--validation and --test; `distill problems` lists the classes."
        )
    labelling = Labelling.from_mapping(settings, "options")
    parsed = Domain.read(domain)
    if instance is not None:
        return [Split("test", [Instance.read(parsed, instance)], labelling, {"file": str(instance)})]
    if instances is not None:
        splits = splits_by_size(parsed, instances, labelling, _bounds(split_at))
    else:
        splits = splits_from_folders(parsed, given, labelling)
    return _only(splits, only)


def _only(splits: "list[Split]", name: str | None) -> "list[Split]":
    chosen = [split for split in splits if name in (None, split.name)]
    if not chosen:
        raise InputError(f"There are no instances in the split {name}; choose another or use --split-at.")
    return chosen


def _option(setting: str) -> str:
    return f"--{setting.replace('_', '-')}"


def expansion_settings(max_states: int | None) -> dict[str, Any]:
    """The labelling settings for a number of states, with enough time to expand them."""
    return {} if max_states is None else {"max_states": max_states, "time_limit": 7200.0}


def labelled_states(splits: "list[Split]", reduce: str, workers: int | None) -> "dict[str, DataSet]":
    """The data set of each split, with a progress bar."""
    from distill.planning import prepare_reduced

    processes = worker_count(workers)
    sets = {}
    for split in splits:
        with progress_bar(f"Labelling {split.name}") as progress:
            sets[split.name], _ = prepare_reduced(split, reduce=reduce, workers=processes, progress=progress)
    if not any(len(data) for data in sets.values()):
        raise InputError(
            "No state could be labelled within the limits; raise --max-states, or see the options of "
            "`distill data`."
        )
    return sets


def worker_count(workers: int | None) -> int:
    """The number of processes that an option selects."""
    return workers or os.cpu_count() or 1


def _bounds(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    try:
        low, high = (int(number) for number in text.split(","))
    except ValueError as error:
        raise InputError(f"--split-at takes two numbers of objects such as 8,12, not {text!r}.") from error
    return low, high
