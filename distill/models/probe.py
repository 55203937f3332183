"""Explicit feature testing (thesis 3.2): how well a feature can be read from what a network computes."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Reading:
    """How well a linear map reads a feature.

    Attributes
    ----------
    mae : mean absolute error on held-out states.
    share : the part of the error of the best constant that is gone: 1 is perfect, 0 no better than a
        constant, which is also the answer for a feature that never changes.
    """

    mae: float
    share: float


def fit_l1(inputs: Array, target: Array) -> NDArray[np.float64]:
    """The linear map with constant of least mean absolute error, exactly, by linear programming.

    Parameters
    ----------
    inputs : (n, k).
    target : (n,).

    Returns
    -------
    (k + 1,) weights, the constant last.

    Examples
    --------
    >>> fit_l1(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 3.0, 5.0, 100.0])).round(6)
    array([2., 1.])
    """
    scale = np.maximum(np.abs(inputs).max(axis=0, initial=0.0), 1e-12)
    rows = np.column_stack([inputs / scale, np.ones(len(inputs))])
    n, k = rows.shape
    slack = sp.identity(n, format="csr")
    bounds = [(None, None)] * k + [(0, None)] * (2 * n)
    found = linprog(
        np.concatenate([np.zeros(k), np.ones(2 * n)]),
        A_eq=sp.hstack([sp.csr_array(rows), slack, -slack]),
        b_eq=target,
        bounds=bounds,
        method="highs",
    )
    weights = np.zeros(k) if found.x is None else found.x[:k]
    return np.append(weights[:-1] / scale, weights[-1])


def probe(inputs: Array, target: Array, held_out: NDArray[np.bool_]) -> Reading:
    """Fit a linear map on some states and measure it on the others.

    Parameters
    ----------
    inputs : (n_states, k) what the network computes.
    target : (n_states,) the feature.
    held_out : (n_states,) which states are measured and not fitted.

    Examples
    --------
    >>> inputs = np.arange(12.0).reshape(6, 2) ** 2
    >>> probe(inputs, 2 * inputs[:, 0] + 1, np.arange(6) > 3).mae < 1e-6
    True
    """
    weights = fit_l1(inputs[~held_out], target[~held_out])
    error = np.abs(inputs[held_out] @ weights[:-1] + weights[-1] - target[held_out])
    best_constant = np.median(target[~held_out])
    baseline = float(np.abs(target[held_out] - best_constant).mean())
    mae = float(error.mean())
    return Reading(mae, 1 - mae / baseline if baseline else 0.0)
