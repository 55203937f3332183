"""The index of a folder of runs: the main figures of each run, cached until the run changes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from distill.common import InputError
from distill.runs.run import CONFIG, INPUTS, METRICS, Run, is_run
from distill.runs.sections import problem_name

_CACHED = 20_000  # runs


@dataclass(frozen=True)
class RunSummary:
    """The main figures of a run.

    Attributes
    ----------
    folder : the folder of the run.
    made : when it was written, in seconds since 1970.
    problem : the problem class, or the name of the domain's file or folder.
    mode, pool, control : the settings of its distillation.
    exact : whether the value function equals V* on all training states.
    mae : the mean absolute error on each split.
    features, size : the number of terms and of symbols of the value function.
    fidelity : the share of states in which the network's greedy successor is also a best one by the value
        function; None without a network.
    metrics : all metrics of the run.
    outdated : see `Run`.
    """

    folder: Path
    made: float
    problem: str
    mode: str
    pool: str
    control: str
    exact: bool
    mae: Mapping[str, float]
    features: int
    size: int
    fidelity: float | None
    metrics: Mapping[str, Any]
    outdated: str | None = None

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.name


def run_folders(folder: Path) -> Iterator[Path]:
    """The folders of runs within a folder, by name; none if the folder cannot be read."""
    try:
        places = sorted(folder.iterdir())
    except OSError:
        return
    yield from (place for place in places if not place.name.startswith(".") and is_run(place))


def run_summaries(folder: Path) -> tuple[list[RunSummary], dict[str, str]]:
    """The summaries of all runs of a folder, newest first; by name, why the other runs cannot be read."""
    found, damaged = [], {}
    for place in run_folders(folder):
        one = _read(place, tuple(map(_stamp, (place, place / METRICS, place / CONFIG, place / INPUTS))))
        if isinstance(one, RunSummary):
            found.append(one)
        else:
            damaged[place.name] = one
    return sorted(found, key=lambda run: (-run.made, run.name)), damaged


def _stamp(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=_CACHED)
def _read(folder: Path, stamps: tuple[int, ...]) -> RunSummary | str:
    """The summary of a run, or why it cannot be read."""
    try:
        run = Run.load(folder)
        metrics, config = run.metrics, run.config
        outdated = run.outdated
    except InputError as error:
        return str(error)
    pool, _, control = metrics["pool"].partition(", ")
    return RunSummary(
        folder=folder,
        made=stamps[1] / 1e9,
        problem=problem_name(config),
        mode=str((config.get("distillation") or {}).get("mode", "")),
        pool=pool,
        control=control or "none",
        exact=bool(metrics["fit"].get("exact")),
        mae={name: float(split["mae"]) for name, split in metrics["splits"].items()},
        features=metrics["features"],
        size=metrics["formula_size"],
        fidelity=metrics["fidelity"].get("greedy_agreement"),
        metrics=metrics,
        outdated=outdated,
    )
