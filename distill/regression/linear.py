"""Linear regression: least squares, least absolute error, or stochastic gradient descent."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls

from distill.common import InputError
from distill.regression.absolute import least_absolute

Floats = NDArray[np.float64]
Method = Literal["squares", "absolute", "sgd"]

_BATCH = 32
_FIRST_STEP = 0.1  # of the spread of the target


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A linear function and its errors on the data it was fitted to.

    Attributes
    ----------
    weights : (n_features,) one for each feature.
    intercept : the constant; 0 if none was fitted.
    mae : weighted mean absolute error on the data.
    max_error : largest absolute error on the rows of positive weight.
    """

    weights: Floats
    intercept: float
    mae: float
    max_error: float

    def predict(self, features: ArrayLike) -> Floats:
        """(n_rows,) the values for features (n_rows, n_features)."""
        table = _finite(features, "features")
        if table.ndim != 2 or table.shape[1] != len(self.weights):
            raise InputError(
                f"The fit has {len(self.weights)} features; a table of shape {table.shape} does not match."
            )
        return table @ self.weights + self.intercept


def fit_linear(
    features: ArrayLike,
    target: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    method: Method,
    intercept: bool = True,
    nonnegative: bool = False,
    seed: int = 0,
    epochs: int = 100,
) -> LinearFit:
    """Fit weights and an intercept.

    Parameters
    ----------
    features : (n_rows, n_features) numbers; columns may be equal, constant, or more than rows.
    target : (n_rows,).
    weights : (n_rows,) of rows, by default 1.
    method : "squares", the least squared error, with the smallest weights among optima; "absolute", the least
        absolute error, exactly, with few and small weights among optima (see `absolute.least_absolute`);
        "sgd", stochastic gradient descent on the absolute error.
    intercept : whether a constant is fitted too.
    nonnegative : whether weights must be at least 0; the intercept need not.
    seed, epochs : of "sgd": the seed of the order of rows, and the number of passes.

    Examples
    --------
    >>> fit = fit_linear([[0], [1], [2], [3]], [1, 3, 5, 100], method="absolute")
    >>> fit.weights, fit.intercept, fit.mae, fit.max_error
    (array([2.]), 1.0, 23.25, 93.0)
    >>> fit.predict([[4]])
    array([9.])
    """
    if method not in get_args(Method):
        raise InputError(f"There is no method {method!r}; choose one of {', '.join(get_args(Method))}.")
    table, aim, counts = checked_rows(features, target, weights)
    if method == "squares":
        found, constant = _least_squares(table, aim, counts, intercept, nonnegative)
    elif method == "absolute":
        found, constant = least_absolute(table, aim, counts, intercept=intercept, nonnegative=nonnegative)
    else:
        if epochs < 1:
            raise InputError(f"Descent needs at least 1 epoch, not {epochs}.")
        found, constant = _descent(table, aim, counts, intercept, nonnegative, seed, epochs)
    return evaluate_fit(found, constant, table, aim, counts)


def evaluate_fit(
    weights: Floats, intercept: float, features: Floats, target: Floats, counts: Floats
) -> LinearFit:
    """Make the fit of these weights (n_features,), with its errors on rows from `checked_rows`.

    Examples
    --------
    >>> evaluate_fit(np.array([2.0]), 0.0, np.array([[1.0], [2.0]]), np.array([2.0, 5.0]), np.ones(2)).mae
    0.5
    """
    errors = np.abs(features @ weights + intercept - target)
    return LinearFit(
        weights, float(intercept), float(np.average(errors, weights=counts)), float(errors.max())
    )


def checked_rows(
    features: ArrayLike, target: ArrayLike, weights: ArrayLike | None = None
) -> tuple[Floats, Floats, Floats]:
    """Check features, target and weights, and drop rows of weight 0.

    Parameters
    ----------
    features : (n_rows, n_features).
    target : (n_rows,).
    weights : (n_rows,) or none.

    Examples
    --------
    >>> checked_rows([[1], [2]], [3, 4], [0, 1])
    (array([[2.]]), array([4.]), array([1.]))
    """
    table, aim = _finite(features, "features"), _finite(target, "target")
    counts = np.ones(len(aim)) if weights is None else _finite(weights, "row weights")
    if table.ndim != 2 or aim.ndim != 1 or counts.ndim != 1:
        raise InputError(
            "Features must be a table with a row for each state; target and row weights are lists."
        )
    if not len(table) == len(aim) == len(counts):
        raise InputError(
            f"There are {len(table)} rows of features, {len(aim)} targets and {len(counts)} row weights;"
            " the numbers must be equal."
        )
    if (counts < 0).any():
        raise InputError("Row weights must be at least 0.")
    kept = counts > 0
    if not kept.any():
        raise InputError("There is nothing to fit: no row has a positive weight.")
    return (table, aim, counts) if kept.all() else (table[kept], aim[kept], counts[kept])


def _finite(numbers: ArrayLike, name: str) -> Floats:
    try:
        array = np.atleast_1d(np.asarray(numbers, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise InputError(f"The {name} are not an array of numbers: {error}.") from error
    if not np.isfinite(array).all():
        raise InputError(f"The {name} contain NaN or infinity.")
    return array


def _least_squares(
    features: Floats, target: Floats, counts: Floats, intercept: bool, nonnegative: bool
) -> tuple[Floats, float]:
    # Centred, the best intercept is 0, so that constraints on weights do not apply to it.
    means, table = _centred(features, counts, intercept)
    mean = float(np.average(target, weights=counts)) if intercept else 0.0
    table = np.column_stack([table, target - mean]) * np.sqrt(counts / counts.mean())[:, None]
    n_rows, n_features = features.shape
    triangle = np.asarray(np.linalg.qr(table, mode="r")) if n_rows > n_features else table
    left, right = triangle[:, :-1], triangle[:, -1]
    if nonnegative and n_features:
        scales = np.linalg.norm(left, axis=0)
        scales[scales == 0] = 1.0
        found = nnls(left / scales, right, maxiter=100 * n_features)[0] / scales
    else:
        # Columns that differ by rounding only are equal.
        found = np.linalg.lstsq(left, right, rcond=np.finfo(float).eps * max(n_rows, n_features))[0]
    return found, mean - float(means @ found)


def _descent(
    features: Floats,
    target: Floats,
    counts: Floats,
    intercept: bool,
    nonnegative: bool,
    seed: int,
    epochs: int,
) -> tuple[Floats, float]:
    """Minibatch subgradient descent on standardised features, with decreasing steps; keeps the best epoch."""
    means, table = _centred(features, counts, intercept)
    share = counts / counts.mean()
    spreads = np.sqrt(np.average(table**2, axis=0, weights=share))
    spreads[spreads == 0] = 1.0
    table = np.column_stack([table / spreads, np.full(len(target), float(intercept))])
    found = np.zeros(table.shape[1])
    found[-1] = median(target, counts) if intercept else 0.0
    best, least = found.copy(), float(share @ np.abs(target - table @ found))
    first_step = _FIRST_STEP * least / len(target)
    orders = np.random.default_rng(seed)
    # With few rows, batches of one row give enough steps.
    batch = min(_BATCH, max(1, len(target) // 32))
    n_batches = -(-len(target) // batch)
    for epoch in range(epochs):
        order = orders.permutation(len(target))
        for number in range(n_batches):
            rows = order[number * batch : (number + 1) * batch]
            part = table[rows]
            pull = share[rows] * np.sign(target[rows] - part @ found)
            step = first_step * (1 - (epoch + number / n_batches) / epochs)
            found += step / batch * (pull @ part)
            if nonnegative:
                np.maximum(found[:-1], 0.0, out=found[:-1])
        error = float(share @ np.abs(target - table @ found))
        if error < least:
            best, least = found.copy(), error
    weights = best[:-1] / spreads
    return weights, float(best[-1] - means @ weights)


def _centred(features: Floats, counts: Floats, intercept: bool) -> tuple[Floats, Floats]:
    """The means of features (n_features,), and the centred features (n_rows, n_features)."""
    if not intercept:
        return np.zeros(features.shape[1]), features
    means = np.average(features, axis=0, weights=counts)
    table = features - means
    # A constant column is redundant beside the intercept; rounding errors in it must become 0.
    table[:, np.abs(table).max(axis=0) <= 1e-12 * np.abs(means)] = 0.0
    return means, table


def median(target: Floats, counts: Floats) -> float:
    """The weighted median of a target (n_rows,), with counts (n_rows,)."""
    order = np.argsort(target, kind="stable")
    below = np.cumsum(counts[order])
    return float(target[order[np.searchsorted(below, below[-1] / 2)]])
