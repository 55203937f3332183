"""Labels: each label has a name and one number for each state. V* has the name `V_STAR`."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

V_STAR = "v_star"
UNSOLVABLE = -1  # V* of a state without a path to a goal
_PREFIX = "label."


def label_arrays(labels: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The label arrays of a file; all names except that of V* have a prefix.

    Examples
    --------
    >>> list(label_arrays({"v_star": np.arange(3), "class": np.zeros(3)}))
    ['v_star', 'label.class']
    """
    return {name if name == V_STAR else _PREFIX + name: label for name, label in labels.items()}


def labels_of(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The labels among the arrays of a file.

    Examples
    --------
    >>> list(labels_of({"row0": np.zeros(3), "v_star": np.arange(3), "label.class": np.zeros(3)}))
    ['v_star', 'class']
    """
    kept = (name for name in arrays if name == V_STAR or name.startswith(_PREFIX))
    return {name.removeprefix(_PREFIX): arrays[name] for name in kept}


def inverse_frequency(
    label: ArrayLike, usable: ArrayLike | None = None, multiplicity: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Weights of states under which all values of a label have equal total weight (thesis 2.19).

    Parameters
    ----------
    label : (n_states,).
    usable : (n_states,) which states to weight; all if left out.
    multiplicity : (n_states,) the number of states that each represents; 1 if left out.

    Returns
    -------
    (n_states,) weights that sum to 1 for each value of the label; 0 for states that are not usable.

    Examples
    --------
    >>> inverse_frequency([5, 7, 5, -1], usable=[True, True, True, False])
    array([0.5, 1. , 0.5, 0. ])
    """
    given = np.asarray(label)
    counted = np.ones(len(given), dtype=bool) if usable is None else np.asarray(usable, dtype=bool)
    counts = np.ones(len(given)) if multiplicity is None else np.asarray(multiplicity, dtype=np.float64)
    values, number = np.unique(given[counted], return_inverse=True)
    weights = np.zeros(len(given))
    weights[counted] = counts[counted] / np.bincount(number, counts[counted], len(values))[number]
    return weights
