"""Weights rounded to whole numbers where that makes no error larger."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from distill.regression.linear import LinearFit, checked_rows, evaluate_fit

Floats = NDArray[np.float64]


def round_weights(
    fit: LinearFit,
    features: ArrayLike,
    target: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    within: float = 0.05,
    slack: float = 1e-6,
) -> LinearFit:
    """Round weights and intercept to whole numbers, as far as the errors on the data do not grow.

    All weights near a whole number are rounded together. If that increases an error, they are rounded one by
    one, the nearest first, as far as no error grows.

    Parameters
    ----------
    features : (n_rows, n_features).
    target : (n_rows,).
    weights : (n_rows,) of rows, by default 1.
    within : how far a weight may be moved.
    slack : by how much the mean and the largest absolute error may grow.

    Examples
    --------
    >>> column, target = [[0], [1], [2]], [1, 3, 5]
    >>> found = round_weights(LinearFit(np.array([1.99]), 1.01, 0.0, 0.0), column, target)
    >>> found.weights, found.intercept, found.mae
    (array([2.]), 1.0, 0.0)
    """
    table, aim, counts = checked_rows(features, target, weights)
    fit.predict(table[:1])  # raises an error if the features are not those of the fit
    # The intercept is treated as the weight of a last feature.
    table = np.column_stack([table, np.ones(len(table))])
    old = np.append(fit.weights, fit.intercept)
    whole = np.rint(old) + 0.0  # no -0
    move = np.flatnonzero((np.abs(old - whole) <= within) & (old != whole))
    move = move[np.argsort(np.abs(old - whole)[move], kind="stable")]
    bound = _errors(old, table, aim, counts) + slack
    for group in (move, *(move[i : i + 1] for i in range(len(move)))):
        new = old.copy()
        new[group] = whole[group]
        if (_errors(new, table, aim, counts) <= bound).all():
            old = new
            if len(group) == len(move):
                break
    return evaluate_fit(old[:-1], old[-1], table[:, :-1], aim, counts)


def _errors(weights: Floats, table: Floats, target: Floats, counts: Floats) -> Floats:
    """(2,) the mean and the largest absolute error."""
    errors = np.abs(table @ weights - target)
    return np.array([np.average(errors, weights=counts), errors.max()])
