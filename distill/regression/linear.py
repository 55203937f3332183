"""A target as a weighted sum of features: least squares, least absolute error, or descent to it."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls

from distill.errors import InputError
from distill.regression.absolute import least_absolute

Floats = NDArray[np.float64]
Method = Literal["squares", "absolute", "sgd"]

_BATCH = 32
_FIRST_STEP = 0.1  # of the spread of the target


@dataclass(frozen=True, eq=False)
class Fit:
    """A linear function and how well it fits the data it was made from.

    Attributes
    ----------
    weights : (n_features,) one for each feature.
    intercept : what is added; 0 if none was asked for.
    mae : mean absolute error on the data, rows counted by their weights.
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
) -> Fit:
    """Weights and an intercept with which the features give the target.

    Parameters
    ----------
    features : (n_rows, n_features) numbers; columns may be equal, constant, or more than rows.
    target : (n_rows,).
    weights : (n_rows,) how often a row counts; each once if not given.
    method : "squares", the least squared error, of smallest weights where many are optimal; "absolute",
        the least absolute error, exactly, with few and small weights where many are optimal (see
        `absolute.least_absolute`); "sgd", near the least absolute error by stochastic gradient descent.
    intercept : whether a constant is fitted too.
    nonnegative : whether weights must be at least 0; the intercept need not.
    seed, epochs : the order in which "sgd" visits rows, and how often it visits each.

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
    return measured(found, constant, table, aim, counts)


def measured(weights: Floats, intercept: float, features: Floats, target: Floats, counts: Floats) -> Fit:
    """Make the fit of these weights (n_features,), with its errors on rows from `checked_rows`.

    Examples
    --------
    >>> measured(np.array([2.0]), 0.0, np.array([[1.0], [2.0]]), np.array([2.0, 5.0]), np.ones(2)).mae
    0.5
    """
    errors = np.abs(features @ weights + intercept - target)
    return Fit(weights, float(intercept), float(np.average(errors, weights=counts)), float(errors.max()))


def checked_rows(
    features: ArrayLike, target: ArrayLike, weights: ArrayLike | None = None
) -> tuple[Floats, Floats, Floats]:
    """Features, target and weights as arrays; rows that count zero times are gone.

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
    # About the means the best intercept is 0: it is exempt from signs and from being small.
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
        # Columns that only rounding tells apart are the same.
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
    """Minibatch subgradient steps on features of spread 1, shrinking to 0; the best epoch's weights stay."""
    means, table = _centred(features, counts, intercept)
    share = counts / counts.mean()
    spreads = np.sqrt(np.average(table**2, axis=0, weights=share))
    spreads[spreads == 0] = 1.0
    table = np.column_stack([table / spreads, np.full(len(target), float(intercept))])
    found = np.zeros(table.shape[1])
    found[-1] = _median(target, counts) if intercept else 0.0
    best, least = found.copy(), float(share @ np.abs(target - table @ found))
    first_step = _FIRST_STEP * least / len(target)
    orders = np.random.default_rng(seed)
    # Few rows are taken one by one, so that there are steps enough.
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
    """(n_features,) what the intercept takes from each feature, and (n_rows, n_features) what it leaves."""
    if not intercept:
        return np.zeros(features.shape[1]), features
    means = np.average(features, axis=0, weights=counts)
    table = features - means
    # A constant says nothing that the intercept does not; what rounding leaves of it must be 0.
    table[:, np.abs(table).max(axis=0) <= 1e-12 * np.abs(means)] = 0.0
    return means, table


def _median(target: Floats, counts: Floats) -> float:
    order = np.argsort(target, kind="stable")
    below = np.cumsum(counts[order])
    return float(target[order[np.searchsorted(below, below[-1] / 2)]])
