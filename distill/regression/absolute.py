"""Least absolute deviations, solved exactly by linear programmes with few rows."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog, nnls

from distill.common import InputError

Floats = NDArray[np.float64]

_LIGHTEST = 100.0  # the weight of the lightest row
_PRICE = 1e-6  # of a unit of a feature's weight; a solver does not see less
_GAP = 1e-7  # how far from the bound a solution may be, for each unit of row weight
_ROUNDING = 1e-12  # rounding error of sums over rows, for each unit of row weight
_NOISE = 1e-9  # residuals below this have no sign; targets are about 1


def least_absolute(
    features: Floats, target: Floats, weights: Floats, *, intercept: bool, nonnegative: bool
) -> tuple[Floats, float]:
    """Weights and intercept with the least weighted sum of absolute errors.

    A unit of weight on a feature (scaled to at most 1) costs a hundred-millionth of the lightest row's
    error, so that among many optimal solutions a small and sparse one is chosen. The error exceeds the
    optimum by at most this cost, which matters only if huge weights of nearly equal columns cancel. The
    intercept costs nothing.

    Parameters
    ----------
    features : (n_rows, n_features).
    target : (n_rows,).
    weights : (n_rows,) positive.

    Returns
    -------
    (n_features,) weights, and the intercept.

    Examples
    --------
    >>> column, target = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 3.0, 5.0, 100.0])
    >>> least_absolute(column, target, np.ones(4), intercept=True, nonnegative=False)
    (array([2.]), 1.0)
    """
    features, target, weights = merge_rows(features, target, weights)
    shifts = np.zeros(features.shape[1])
    if intercept:
        # Columns far from 0 are nearly collinear with the intercept; counts contain 0 and stay sparse.
        shifts = np.clip(0.0, features.min(axis=0), features.max(axis=0))
    scales = np.abs(features - shifts).max(axis=0, initial=0.0)
    scales[scales == 0] = 1.0
    rows, price = (features - shifts) / scales, np.full(features.shape[1], _PRICE)
    if intercept:
        rows, price = np.column_stack([rows, np.ones(len(rows))]), np.append(price, 0.0)
    if not rows.size:
        return np.zeros(features.shape[1]), 0.0
    unit = float(np.average(np.abs(target), weights=weights)) or 1.0
    # Programmes are solved to a fixed tolerance, which must be small compared with the lightest row.
    weights = weights * (_LIGHTEST / max(weights.min(), 1e-4 * weights.max()))
    found = _solve(rows, target / unit, weights, price, nonnegative) * unit
    slopes = found[: len(scales)] / scales
    return slopes, float(found[-1] - shifts @ slopes) if intercept else 0.0


def merge_rows(features: Floats, target: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Merge rows with equal features (n_rows, n_features) and target (n_rows,), and add their weights.

    Examples
    --------
    >>> rows = merge_rows(np.array([[1.0], [2.0], [1.0]]), np.array([5.0, 6.0, 5.0]), np.ones(3))
    >>> sorted(zip(*(part.ravel().tolist() for part in rows)))
    [(1.0, 5.0, 2.0), (2.0, 6.0, 1.0)]
    """
    # Adding zero turns -0 into 0: rows are compared as bytes, which sorts them far faster than as numbers.
    table = np.ascontiguousarray(np.column_stack([features, target])) + 0.0
    _, first, row_of = np.unique(
        table.view(np.dtype((np.void, table.itemsize * table.shape[1]))).ravel(),
        return_index=True,
        return_inverse=True,
    )
    return features[first], target[first], np.bincount(row_of, weights).astype(np.float64)


def _solve(rows: Floats, target: Floats, weights: Floats, price: Floats, nonnegative: bool) -> Floats:
    """(n_columns,) the optimum over all rows (n_rows, n_columns), from programmes over some of them.

    Rows far from a guess probably keep the sign of their residual, so those on one side are replaced by
    their mean. As |sum| <= sum of |.|, the value of such a programme is a lower bound, and if all signs are
    right it is exact: its optimum is the optimum over all rows. Rows with a wrong sign are added.
    """
    n_rows, n_columns = rows.shape
    size = 500 + 2 * n_columns + int(0.75 * np.sqrt(n_rows * n_columns))
    if n_rows <= 2 * size:
        return _programme(rows, target, weights, price, nonnegative)
    best = target - rows @ _guess(rows, target, weights, price, nonnegative)
    inside = np.zeros(n_rows, dtype=bool)
    while True:
        inside[np.argsort(np.abs(best), kind="stable")[:size]] = True
        sides = [side for side in (~inside & (best > 0), ~inside & (best <= 0)) if side.any()]
        means = [np.average(rows[side], axis=0, weights=weights[side]) for side in sides]
        found = _programme(
            np.vstack([rows[inside], *means]),
            np.append(target[inside], [np.average(target[side], weights=weights[side]) for side in sides]),
            np.append(weights[inside], [weights[side].sum() for side in sides]),
            price,
            nonnegative,
        )
        residual = target - rows @ found
        wrong = ~inside & (residual * np.where(best > 0, 1, -1) < -_NOISE)
        if not wrong.any():
            return found
        # Many wrong signs mean that too few rows are in the programme.
        if wrong.sum() < size:
            inside |= wrong
        else:
            size *= 2
        if weights @ np.abs(residual) < weights @ np.abs(best):
            best = residual


def _guess(rows: Floats, target: Floats, weights: Floats, price: Floats, nonnegative: bool) -> Floats:
    """(n_columns,) an approximate optimum, by iteratively reweighted least squares."""
    pull = weights
    for _ in range(8):
        pulled = rows * pull[:, None]
        gram, aim = pulled.T @ rows, pulled.T @ target
        gram[np.diag_indices_from(gram)] += 1e-9 * max(gram.max(), 1.0)
        if nonnegative:
            root = np.linalg.cholesky(gram).T
            free = root[:, price == 0]
            split, _ = nnls(np.hstack([root, -free]), np.linalg.solve(root.T, aim), maxiter=100 * len(root))
            found = np.asarray(split[: len(root)], dtype=np.float64)
            found[price == 0] -= split[len(root) :]
        else:
            found = np.linalg.solve(gram, aim).astype(np.float64)
        error = np.abs(target - rows @ found)
        pull = weights / np.maximum(error, 1e-3 * error.mean() + 1e-12)
    return found


def _programme(rows: Floats, target: Floats, weights: Floats, price: Floats, nonnegative: bool) -> Floats:
    """(n_columns,) the optimum over these rows, without the solver's noise."""
    for method in ("highs-ds", "highs-ipm"):
        solved = dual_programme(rows, target, weights, price, nonnegative=nonnegative, method=method)
        if solved.status != 0:
            continue
        found = _sharpened(-solved.eqlin.marginals, rows, target, weights, (price > 0) & nonnegative)
        # The value of the programme is a lower bound: a solution near it is optimal.
        error = weights @ np.abs(target - rows @ found) + price @ np.abs(found)
        if error + solved.fun <= _GAP * weights.sum():
            return found
    raise InputError("The least absolute error could not be found; are numbers of very different size mixed?")


def dual_programme(
    table: Floats,
    target: Floats,
    penalty: Floats,
    price: Floats,
    *,
    nonnegative: bool,
    method: str = "highs-ds",
    time_limit: float | None = None,
) -> Any:
    """Minimise price · |weights| + penalty · |target - table @ weights| by the dual linear programme.

    It has one constraint a column and one bounded variable a row, and is several times faster than the
    primal programme, which has a constraint for each row.

    Parameters
    ----------
    table : (n_rows, n_columns).
    target : (n_rows,).
    penalty : (n_rows,) of a unit of error.
    price : (n_columns,) of a unit of weight; a column of price 0 is free, and may be negative.
    nonnegative : whether the weights of columns with a price are at least 0.

    Returns
    -------
    The result of `scipy.optimize.linprog`; the weights are the negated marginals of its equations.

    Examples
    --------
    >>> target, penalty = np.array([3.0, 1.0]), np.full(2, 9.0)
    >>> found = dual_programme(np.eye(2), target, penalty, np.ones(2), nonnegative=False)
    >>> -found.eqlin.marginals
    array([3., 1.])
    """
    priced = price > 0
    slack = sp.identity(len(price), format="csc")[:, priced]
    matrix = sp.hstack([sp.csc_array(table.T), slack], format="csc")
    upper = np.concatenate([penalty, np.full(priced.sum(), np.inf) if nonnegative else price[priced]])
    return linprog(
        -np.concatenate([target, np.zeros(priced.sum())]),
        A_eq=matrix if len(price) else None,
        b_eq=np.zeros(len(price)) if len(price) else None,
        bounds=np.column_stack([-np.concatenate([penalty, price[priced]]), upper]),
        method=method,
        options={} if time_limit is None else {"time_limit": time_limit},
    )


def _sharpened(
    found: Floats, rows: Floats, target: Floats, weights: Floats, signed: NDArray[np.bool_]
) -> Floats:
    """(n_columns,) the solution without the solver's noise: rows that it matches are matched exactly."""
    found = np.where(signed, np.maximum(found, 0.0), found)
    met = np.abs(target - rows @ found) < 1e-6
    used = np.abs(found) > 1e-8
    trimmed, sharp = np.where(used, found, 0.0), np.zeros_like(found)
    sharp[used] = np.linalg.lstsq(rows[met][:, used], target[met], rcond=None)[0]
    choices = [sharp, trimmed] if (sharp[signed] >= 0).all() else [trimmed]
    errors = [float(weights @ np.abs(target - rows @ one)) for one in (*choices, found)]
    least = int(np.argmin(errors[:-1]))
    return choices[least] if errors[least] <= errors[-1] + _ROUNDING * weights.sum() else found
