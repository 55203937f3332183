"""The index of a folder of runs: the main figures of each run, cached until the run changes."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from distill.runs.sections import problem_name

# Reading a thousand configs with the pure Python loader takes seconds.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
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
    for place in places:
        if not place.name.startswith(".") and (place / "metrics.json").exists():
            yield place


def run_summaries(folder: Path) -> tuple[list[RunSummary], list[str]]:
    """The summaries of all runs of a folder, newest first, and the names of the runs that cannot be read."""
    rows = {place.name: _summary(place) for place in run_folders(folder)}
    found = sorted((row for row in rows.values() if row), key=lambda run: (-run.made, run.name))
    return found, [name for name, row in rows.items() if row is None]


def _summary(folder: Path) -> RunSummary | None:
    try:
        return _read(folder, (folder / "metrics.json").stat().st_mtime_ns)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, yaml.YAMLError):
        return None


@lru_cache(maxsize=_CACHED)
def _read(folder: Path, stamp: int) -> RunSummary:
    metrics = json.loads((folder / "metrics.json").read_text())
    config = yaml.load((folder / "config.yaml").read_text(), Loader=_LOADER)  # noqa: S506
    pool, _, control = str(metrics["pool"]).partition(", ")
    agreement = (metrics.get("fidelity") or {}).get("greedy_agreement")
    return RunSummary(
        folder=folder,
        made=stamp / 1e9,
        problem=problem_name(config),
        mode=str((config.get("distillation") or {}).get("mode", "")),
        pool=pool,
        control=control or "none",
        exact=bool(metrics["fit"].get("exact")),
        mae={name: float(split["mae"]) for name, split in metrics["splits"].items()},
        features=int(metrics["features"]),
        size=int(metrics["formula_size"]),
        fidelity=None if agreement is None else float(agreement),
        metrics=metrics,
    )
