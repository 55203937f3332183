"""Checks of stored arrays: what other code relies on, so that a damaged file is refused when it is read."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.common import Record
from distill.structures.labels import UNSOLVABLE, V_STAR

Arrays = Mapping[str, NDArray[Any]]


def check_numbers(arrays: Arrays, name: str, length: int | None, low: int, end: int) -> None:
    """The array holds `length` whole numbers of at least `low` and below `end`; any length if it is None.

    Examples
    --------
    >>> check_numbers({"n": np.array([0, 3])}, "n", 2, 0, 3)
    Traceback (most recent call last):
        ...
    ValueError: n has numbers that are out of range
    """
    array = arrays[name]
    if array.dtype.kind not in "iu" or array.ndim != 1 or length not in (None, len(array)):
        raise ValueError(f"{name} has another length or type")
    if len(array) and not (low <= int(array.min()) and int(array.max()) < end):
        raise ValueError(f"{name} has numbers that are out of range")


def check_offsets(arrays: Arrays, name: str, length: int, total: int) -> None:
    """The array holds ascending numbers from 0 to `total`, one more than `length`.

    Examples
    --------
    >>> check_offsets({"o": np.array([0, 2, 1, 2])}, "o", 3, 2)
    Traceback (most recent call last):
        ...
    ValueError: o is no list of offsets
    """
    check_numbers(arrays, name, length + 1, 0, total + 1)
    array = arrays[name]
    if array[0] != 0 or array[-1] != total or (np.diff(array.astype(np.int64)) < 0).any():
        raise ValueError(f"{name} is no list of offsets")


def check_table(arrays: Arrays, name: str, rows: int, low: int, end: int) -> None:
    """The array holds `rows` rows of whole numbers of at least `low` and below `end`."""
    array = arrays[name]
    if array.ndim != 2 or len(array) != rows:
        raise ValueError(f"{name} has another shape")
    check_numbers({name: array.reshape(-1)}, name, None, low, end)


class StoredInstance(Record):
    """An instance of a data set; see `DataSet`."""

    name: str
    pddl: str
    parameters: dict[str, Any]
    objects: list[str]
    states: int
    solvable: bool | None
    exhaustive: bool
    unlabelled: int


def check_states(arrays: Arrays, arities: Sequence[int], n_objects: NDArray[Any], labels: Arrays) -> None:
    """The arrays of a data set belong together; see the module `dataset`.

    Parameters
    ----------
    arities : of the predicates, in order.
    n_objects : (n_instances,) the number of objects of each instance.
    labels : for each name (n_states,) the labels.
    """
    n_atoms, n_states, n_instances = (
        len(arrays["atom_predicate"]),
        len(arrays["state_instance"]),
        len(n_objects),
    )
    check_offsets(arrays, "atom_offsets", n_instances, n_atoms)
    check_offsets(arrays, "state_offsets", n_states, len(arrays["state_atoms"]))
    check_numbers(arrays, "atom_predicate", n_atoms, 0, len(arities))
    check_numbers(arrays, "n_fixed", n_instances, 0, n_atoms + 1)
    check_numbers(arrays, "state_instance", n_states, 0, n_instances)
    check_numbers(arrays, "state_atoms", None, 0, n_atoms)
    check_numbers(arrays, "multiplicity", n_states, 0, 2**62)
    check_numbers(arrays, V_STAR, n_states, UNSOLVABLE, 2**31)
    if any(label.shape != (n_states,) or label.dtype.kind not in "iufb" for label in labels.values()):
        raise ValueError("a label has another length or type")
    check_table(arrays, "atom_arguments", n_atoms, -1, 2**31)
    arguments, arity = arrays["atom_arguments"], np.array(arities, dtype=np.int64)
    counts = np.diff(arrays["atom_offsets"])
    owner = np.repeat(np.arange(n_instances), counts)
    stated = np.repeat(arrays["state_instance"], np.diff(arrays["state_offsets"]))
    places = np.arange(arguments.shape[1])
    needed = places < arity[arrays["atom_predicate"]][:, None]
    sound = (
        bool((arity >= 0).all())
        and arity.max(initial=0) <= len(places)
        and not (arrays["n_fixed"] > counts).any()
        and np.array_equal(owner[arrays["state_atoms"]], stated)
        and not (arguments[needed] < 0).any()
        and not (arguments >= n_objects[owner][:, None]).any()
    )
    if not sound:
        raise ValueError("its states, atoms and objects do not belong together")
