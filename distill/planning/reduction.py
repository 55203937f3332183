"""Data sets with one state for each equivalence class of states."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.common import InputError
from distill.planning.preparation import PLAIN_REDUCTIONS, prepare, stored_data
from distill.planning.splits import Split
from distill.structures import DataSet
from distill.symmetry import colour_classes, isomorphism_classes


def _by_isomorphism(data: DataSet) -> NDArray[np.int64]:
    return isomorphism_classes(map(data.structures, data.slices()))


def _by_colours(data: DataSet) -> NDArray[np.int64]:
    return colour_classes(map(data.structures, data.slices()), data.v_star)


_CLASSES: Mapping[str, Callable[[DataSet], NDArray[np.int64]]] = {"iso": _by_isomorphism, "wl": _by_colours}
REDUCTIONS = {
    **PLAIN_REDUCTIONS,
    "iso": "one of several isomorphic states, in any instance",
    "wl": "one of several states with the same V* that no relational GNN can tell apart",
}


def prepare_reduced(split: Split, *, reduce: str, **options: Any) -> tuple[DataSet, Path]:
    """Label the states of a split and keep one state of each class; `options` are those of `prepare`.

    Parameters
    ----------
    reduce : which states are kept, see `REDUCTIONS`.
    """
    if reduce not in REDUCTIONS:
        raise InputError(f"There is no reduction {reduce!r}; choose from {', '.join(REDUCTIONS)}.")
    if reduce not in _CLASSES:
        return prepare(split, reduce=reduce, **options)
    data, file = prepare(split, reduce="exact", **options)
    reduced_file = file.with_name(f"{file.stem}-{reduce}.npz")
    reduced = stored_data(reduced_file)
    if reduced is None:
        reduced = keep_representatives(data, _CLASSES[reduce](data))
        reduced = replace(reduced, provenance={**data.provenance, "reduce": reduce})
        reduced.save(reduced_file)
    return reduced, reduced_file


def keep_representatives(data: DataSet, classes: NDArray[np.int64]) -> DataSet:
    """Keep the first state of each class, with the total multiplicity of the class.

    Parameters
    ----------
    classes : (n_states,) the class of each state.
    """
    _, first, group = np.unique(classes, return_index=True, return_inverse=True)
    return data.merge(first[group])
