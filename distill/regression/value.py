"""A fit over named features as a value function that can be printed, stored and evaluated."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from distill.errors import InputError
from distill.logic import Constant, Number, Scaled, Sum, weighted
from distill.regression.linear import Fit, checked_rows, measured

Floats = NDArray[np.float64]


def value_function(features: Sequence[Number], fit: Fit, *, tolerance: float = 1e-6) -> Number:
    """The weighted sum of the features and the intercept.

    Weights within `tolerance` of a whole number become it, so those near 0 vanish. No data are looked
    at: a value changes by at most `tolerance` for each unit of its terms. Where that could matter,
    round with `rounded` first, which looks, and give a tolerance of 0.

    Examples
    --------
    >>> from distill.logic import parse
    >>> fit = Fit(np.array([2.0000000001, 1e-12, -0.5]), 3.0, 0.0, 0.0)
    >>> value_function([parse("#clear"), parse("#on-table"), parse("#holding")], fit)
    2*#clear - 0.5*#holding + 3
    """
    if len(features) != len(fit.weights):
        raise InputError(f"There are {len(features)} features, but the fit has {len(fit.weights)} weights.")
    terms = (Scaled(float(weight), one) for weight, one in zip(fit.weights, features, strict=True))
    # Equal features add up first: 0.1 + 0.2 - 0.3 is to vanish.
    total = weighted(Sum(*terms, Constant(fit.intercept)))
    return Sum(*(_snapped(weight, number, tolerance) for weight, number in total))


def _snapped(weight: float, number: Number, tolerance: float) -> Number:
    if isinstance(number, Constant):
        return Constant(_near(weight * number.fields[0], tolerance))
    return Scaled(_near(weight, tolerance), number)


def _near(weight: float, tolerance: float) -> float:
    return round(weight) if abs(weight - round(weight)) <= tolerance else weight


def rounded(
    fit: Fit,
    features: ArrayLike,
    target: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    within: float = 0.05,
    slack: float = 1e-6,
) -> Fit:
    """Round weights and intercept to whole numbers, as far as the errors on the data do not grow.

    All that are near a whole number are rounded together; if that makes the fit worse, one by one, the
    nearest first, and only those that do not.

    Parameters
    ----------
    features : (n_rows, n_features).
    target : (n_rows,).
    weights : (n_rows,) how often a row counts; each once if not given.
    within : how far a weight may be moved.
    slack : by how much the mean and the largest absolute error may grow.

    Examples
    --------
    >>> column, target = [[0], [1], [2]], [1, 3, 5]
    >>> found = rounded(Fit(np.array([1.99]), 1.01, 0.0, 0.0), column, target)
    >>> found.weights, found.intercept, found.mae
    (array([2.]), 1.0, 0.0)
    """
    table, aim, counts = checked_rows(features, target, weights)
    fit.predict(table[:1])  # says so if the features are not those of the fit
    # With the intercept as the weight of a last feature, all are treated alike.
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
    return measured(old[:-1], old[-1], table[:, :-1], aim, counts)


def _errors(weights: Floats, table: Floats, target: Floats, counts: Floats) -> Floats:
    """(2,) the mean and the largest absolute error."""
    errors = np.abs(table @ weights - target)
    return np.array([np.average(errors, weights=counts), errors.max()])


def has_integer_weights(value: Number) -> bool:
    """Whether all weights of a value function and its constant are whole numbers.

    Examples
    --------
    >>> from distill.logic import parse
    >>> has_integer_weights(parse("2*#clear - #holding + 3")), has_integer_weights(parse("0.5*#clear"))
    (True, False)
    """
    terms = weighted(value)
    return all(
        float(weight * number.fields[0] if isinstance(number, Constant) else weight).is_integer()
        for weight, number in terms
    )
