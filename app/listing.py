"""Runs that there are: what matters of each, read once and kept as long as the run does not change."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

# Reading a thousand configs without it takes seconds.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_KEPT = 20_000  # runs
SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class Listed:
    """A run in a list.

    Attributes
    ----------
    folder : where it is.
    made : when it was written, in seconds since 1970.
    problem : the problem class, or the name of the domain's file.
    mode, pool, control : how its features were made.
    exact : whether it meets all training states.
    mae : for each split the mean error.
    features, size : how many terms it has, and symbols.
    fidelity : the share of the network's greedy choices that it shares; none without a network.
    """

    folder: Path
    made: float
    problem: str
    mode: str
    pool: str
    control: str
    exact: bool
    mae: dict[str, float]
    features: int
    size: int
    fidelity: float | None

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.name


def runs_in(folder: Path) -> list[Listed]:
    """All runs of a folder that can be read, newest first."""
    found = [run for _, run in _looked_at(folder) if run is not None]
    return sorted(found, key=lambda run: (-run.made, run.name))


def damaged_in(folder: Path) -> list[str]:
    """The names of what looks like a run but cannot be read."""
    return sorted(name for name, run in _looked_at(folder) if run is None)


def _looked_at(folder: Path) -> Iterator[tuple[str, Listed | None]]:
    try:
        places = [place for place in folder.iterdir() if not place.name.startswith(".")]
    except OSError:
        return
    for place in places:
        try:
            stamp = (place / "metrics.json").stat().st_mtime_ns
        except OSError:
            continue
        yield place.name, _read(place, stamp)


@lru_cache(maxsize=_KEPT)
def _read(folder: Path, stamp: int) -> Listed | None:
    try:
        metrics = json.loads((folder / "metrics.json").read_text())
        config = yaml.load((folder / "config.yaml").read_text(), Loader=_LOADER)  # noqa: S506
        settings = config.get("distillation") or {}
        pool, _, control = str(metrics["pool"]).partition(", ")
        agreement = metrics["fidelity"].get("greedy_agreement")
        return Listed(
            folder=folder,
            made=stamp / 1e9,
            problem=Path(config.get("problem") or config.get("domain") or "").stem,
            mode=str(settings.get("mode", "")),
            pool=pool,
            control=control or "none",
            exact=bool(metrics["fit"].get("exact")),
            mae={name: float(metrics["splits"][name]["mae"]) for name in metrics["splits"]},
            features=int(metrics["features"]),
            size=int(metrics["formula_size"]),
            fidelity=None if agreement is None else float(agreement),
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError, yaml.YAMLError):
        return None
