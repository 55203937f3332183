"""Splits: instances for training, validation and testing, with their labelling settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

from distill.common import InputError
from distill.planning.pddl import Domain, Instance, instance_files
from distill.planning.settings import Labelling

SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class Split:
    """Instances that are labelled and stored together.

    Attributes
    ----------
    name : `train`, `validation` or `test`.
    instances : the instances, in order.
    labelling : settings for labelling their states.
    provenance : their provenance, stored with the data.
    states : files with their labelled states; None if they are labelled.
    """

    name: str
    instances: Sequence[Instance]
    labelling: Labelling
    provenance: Mapping[str, Any] = field(default_factory=dict)
    states: tuple[Path, ...] | None = None


def splits_from_folders(domain: Domain, folders: Mapping[str, Path], labelling: Labelling) -> list[Split]:
    """One split from each folder of PDDL instances, by split name."""
    return [
        Split(name, _read(domain, folders[name]), labelling, {"folder": str(folders[name])})
        for name in SPLITS
        if name in folders
    ]


def splits_by_size(
    domain: Domain, folder: Path, labelling: Labelling, bounds: tuple[int, int] | None = None
) -> list[Split]:
    """Split the instances of one folder by their number of objects, so that no size is in two splits.

    Parameters
    ----------
    bounds : validation begins at the first number of objects, test at the second. By default the largest
        fifth of the sizes is for testing and the next fifth for validation; fewer than three sizes are all
        for training.
    """
    instances = _read(domain, folder)
    low, high = bounds or _default_bounds([len(instance.objects) for instance in instances])
    if low > high:
        raise InputError(f"Validation would begin at {low} objects, after test at {high}; swap the two.")
    parts: dict[str, list[Instance]] = {name: [] for name in SPLITS}
    for instance in instances:
        size = len(instance.objects)
        parts["train" if size < low else "validation" if size < high else "test"].append(instance)
    return [
        Split(name, part, labelling, {"folder": str(folder), "bounds": [low, high]})
        for name, part in parts.items()
        if part
    ]


def _default_bounds(sizes: Sequence[int]) -> tuple[int, int]:
    """The numbers of objects at which validation and test begin.

    Examples
    --------
    >>> _default_bounds([3, 4, 5, 6, 7, 7])
    (6, 7)
    >>> _default_bounds([3, 3])
    (4, 4)
    """
    distinct = sorted(set(sizes))
    if len(distinct) < 3:
        return distinct[-1] + 1, distinct[-1] + 1
    fifth = ceil(len(distinct) / 5)
    return distinct[-2 * fifth], distinct[-fifth]


def _read(domain: Domain, folder: Path) -> list[Instance]:
    return [Instance.read(domain, path) for path in instance_files(folder)]
