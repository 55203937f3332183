"""Linear regression: least squares, least absolute error, or stochastic gradient descent."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LinearRegression, SGDRegressor

from distill.common import InputError
from distill.regression.absolute import least_absolute

Floats = NDArray[np.float64]
Method = Literal["squares", "absolute", "sgd"]

_FIRST_STEP = 0.1  # of descent, relative to the spread of the target


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
    scaled: bool = False,
    seed: int = 0,
    epochs: int = 100,
) -> LinearFit:
    """Fit weights and an intercept.

    Parameters
    ----------
    features : (n_rows, n_features) numbers; columns may be equal, constant, or more than rows.
    target : (n_rows,).
    weights : (n_rows,) of rows, by default 1.
    method : "squares", the least squared error, by scikit-learn's `LinearRegression` on the columns as they
        are; "absolute", the least absolute error, exactly, with few and small weights among optima (see
        `absolute.least_absolute`); "sgd", scikit-learn's `SGDRegressor` on the absolute error.
    intercept : whether a constant is fitted too.
    nonnegative : whether weights must be at least 0; the intercept need not.
    scaled : whether non-negative squares are fitted to columns of equal spread, which decides between optima.
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
    if epochs < 1:
        raise InputError(f"Descent needs at least 1 epoch, not {epochs}.")
    table, aim, counts = checked_rows(features, target, weights)
    if method == "absolute":
        found, constant = least_absolute(table, aim, counts, intercept=intercept, nonnegative=nonnegative)
        return evaluate_fit(found, constant, table, aim, counts)
    # A constant column is redundant beside an intercept, and rounding errors in it could get a weight.
    used = np.flatnonzero((table != (table[0] if intercept else 0.0)).any(axis=0))
    found = np.zeros(table.shape[1])
    if not len(used):
        mean = float(np.average(aim, weights=counts)) if method == "squares" else median(aim, counts)
        constant = mean if intercept else 0.0
    elif method == "squares":
        spreads = (
            _spreads(table[:, used], counts, intercept)[1] if scaled and nonnegative else np.ones(len(used))
        )
        found[used], constant = _least_squares(table[:, used] / spreads, aim, counts, intercept, nonnegative)
        found[used] /= spreads
    else:
        found[used], constant = _descent(table[:, used], aim, counts, intercept, nonnegative, seed, epochs)
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
    model = LinearRegression(fit_intercept=intercept, positive=nonnegative)
    try:
        model.fit(features, target, counts)
    except RuntimeError as error:
        raise InputError(
            f"Non-negative least squares found no weights for {features.shape[1]} features ({error}); "
            "set regression to absolute, or nonnegative to false."
        ) from error
    return model.coef_, float(model.intercept_)


def _descent(
    features: Floats,
    target: Floats,
    counts: Floats,
    intercept: bool,
    nonnegative: bool,
    seed: int,
    epochs: int,
) -> tuple[Floats, float]:
    """Scikit-learn's descent on the absolute error, pass by pass; keeps the best pass.

    Columns and target are standardised, because a step has the same length in all directions. Negative
    weights become 0 after each pass if they are not allowed.
    """
    means, spreads = _spreads(features, counts, intercept)
    table, share = (features - means) / spreads, counts / counts.mean()
    constant = median(target, counts) if intercept else 0.0
    spread = float(np.average(np.abs(target - constant), weights=counts)) or 1.0
    aim = (target - constant) / spread
    model = SGDRegressor(
        loss="epsilon_insensitive",
        epsilon=0.0,
        penalty=None,
        fit_intercept=intercept,
        learning_rate="invscaling",
        eta0=_FIRST_STEP,
        power_t=0.5,
        random_state=np.random.RandomState(seed),
    )
    best, offset, least = np.zeros(features.shape[1]), 0.0, float(share @ np.abs(aim))
    for _ in range(epochs):
        model.partial_fit(table, aim, share)
        if nonnegative:
            np.maximum(model.coef_, 0.0, out=model.coef_)
        error = float(share @ np.abs(aim - model.predict(table)))
        if error < least:
            best, offset, least = model.coef_.copy(), float(model.intercept_[0]), error
    weights = best * spread / spreads
    return weights, constant + offset * spread - float(means @ weights)


def _spreads(features: Floats, counts: Floats, intercept: bool) -> tuple[Floats, Floats]:
    """(n_features,) the means of columns, or 0 without an intercept; and the spreads around them."""
    means = np.average(features, axis=0, weights=counts) * intercept
    return means, np.sqrt(np.average((features - means) ** 2, axis=0, weights=counts))


def median(target: Floats, counts: Floats) -> float:
    """The weighted median of a target (n_rows,), with counts (n_rows,)."""
    order = np.argsort(target, kind="stable")
    below = np.cumsum(counts[order])
    return float(target[order[np.searchsorted(below, below[-1] / 2)]])
