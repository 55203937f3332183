"""The programmes behind an exact fit: linear ones that choose columns, and the integer one that decides.

All have few rows and few columns; who calls them adds what was missing and calls again.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_NOISE = 1e-9  # weights of less are 0
_TOO_SMALL = 1e-3  # a contradiction below this, in rows of weight 1 on average, may be rounding

_PATIENCE = 4  # seconds on the clock for one of the processor, which others may use as well
_NODES = 10_000  # of an integer programme: unlike seconds, the same on all machines


@dataclass(frozen=True, eq=False)
class Relaxed:
    """The optimum of a linear programme.

    Attributes
    ----------
    weights : (n_columns,) real numbers.
    intercept : what is added.
    slack : (n_rows,) what is missing to the target.
    duals : (n_rows,) by how much the optimum grows with each row's target.
    """

    weights: Floats
    intercept: float
    slack: Floats
    duals: Floats

    def padded(self, n_columns: int) -> "Relaxed":
        """The same with columns that joined since and weigh nothing."""
        weights = np.append(self.weights, np.zeros(n_columns - len(self.weights)))
        return Relaxed(weights, self.intercept, self.slack, self.duals)


def relaxed(
    table: Floats,
    target: Floats,
    price: Floats,
    penalty: Floats,
    *,
    intercept: bool,
    nonnegative: bool,
    seconds: float,
) -> Relaxed | None:
    """Real weights of least price · |weights| + penalty · |slack|; none if the time was too short.

    Parameters
    ----------
    table : (n_rows, n_columns).
    target : (n_rows,).
    price : (n_columns,) of a unit of weight.
    penalty : (n_rows,) of a unit of slack.
    seconds : how long it may take.

    Examples
    --------
    >>> found = relaxed(np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([4.0, 2.0]), np.ones(2),
    ...                 np.full(2, 9.0), intercept=False, nonnegative=False, seconds=1.0)
    >>> found.weights, found.slack
    (array([0., 2.]), array([0., 0.]))
    """
    if seconds <= 0:
        return None
    n_rows, n_columns = table.shape
    # The dual programme, one constraint a column and one bounded variable a row, is the faster one.
    matrix = sp.hstack([sp.csc_array(table.T), sp.identity(n_columns)], format="csc")
    if intercept:
        matrix = sp.vstack([matrix, np.append(np.ones(n_rows), np.zeros(n_columns))[None]], format="csc")
    upper = np.append(penalty, np.full(n_columns, np.inf) if nonnegative else price)
    solved = linprog(
        -np.append(target, np.zeros(n_columns)),
        A_eq=matrix if matrix.shape[0] else None,
        b_eq=np.zeros(matrix.shape[0]) if matrix.shape[0] else None,
        bounds=np.column_stack([-np.append(penalty, price), upper]),
        method="highs-ds",
        options={"time_limit": _PATIENCE * seconds},
    )
    if solved.status != 0:
        return None
    found = -np.asarray(solved.eqlin.marginals, dtype=np.float64) + 0.0  # no -0
    weights, constant = found[:n_columns], float(found[-1]) if intercept else 0.0
    weights[np.abs(weights) < _NOISE] = 0.0
    return Relaxed(weights, constant, target - table @ weights - constant, solved.x[:n_rows])


def contradiction(
    table: Floats, target: Floats, *, intercept: bool, nonnegative: bool, seconds: float
) -> Floats | None:
    """(n_rows,) multipliers that prove that no real weights meet the target; none if there are none.

    With them the rows add up to 0 in every column (to at most 0 if weights are nonnegative) but to more
    than 0 in the target. No row that is used can be spared.

    Parameters
    ----------
    table : (n_rows, n_columns).
    target : (n_rows,).
    seconds : how long it may take.

    Examples
    --------
    >>> column, target = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 5.0])
    >>> found = contradiction(column, target, intercept=True, nonnegative=False, seconds=1.0)
    >>> np.round(found / found[0])
    array([ 1., -2.,  1.])
    """
    n_rows = len(target)
    if seconds <= 0:
        return None
    columns = sp.csc_array(table.T)
    both = sp.hstack([columns, -columns], format="csc")
    ones = np.ones((1, 2 * n_rows))
    signs = np.concatenate([np.ones(n_rows), -np.ones(n_rows)])[None]
    equal = [both] if not nonnegative else []
    equal += [sp.csc_array(signs)] if intercept else []
    below = [both, sp.csc_array(ones)] if nonnegative else [sp.csc_array(ones)]
    n_equal, n_below = sum(part.shape[0] for part in equal), sum(part.shape[0] for part in below)
    solved = linprog(
        -np.concatenate([target, -target]),
        A_eq=sp.vstack(equal, format="csc") if equal else None,
        b_eq=np.zeros(n_equal) if equal else None,
        A_ub=sp.vstack(below, format="csc"),
        b_ub=np.append(np.zeros(n_below - 1), float(n_rows)),
        bounds=(0, None),
        method="highs-ds",
        options={"time_limit": _PATIENCE * seconds},
    )
    if solved.status != 0 or -solved.fun < _TOO_SMALL:
        return None
    multipliers = np.asarray(solved.x[:n_rows] - solved.x[n_rows:], dtype=np.float64)
    multipliers[np.abs(multipliers) < 1e-9] = 0.0
    return multipliers


@dataclass(frozen=True, eq=False)
class Decided:
    """What an integer programme found.

    Attributes
    ----------
    weights : (n_columns,) whole numbers; none if nothing was found.
    intercept : a whole number.
    bound : no solution of the programme costs less; infinity if it was proved that there is none.
    """

    weights: Floats | None
    intercept: float
    bound: float


def decided(
    table: Floats,
    target: Floats,
    price: Floats,
    *,
    written: float,
    constant: float,
    intercept: bool,
    nonnegative: bool,
    largest_weight: int,
    max_terms: int | None,
    below: float,
    seconds: float,
) -> Decided:
    """Whole weights that meet the target on all rows at the least cost.

    Parameters
    ----------
    table : (n_rows, n_columns) integers.
    target : (n_rows,) integers.
    price : (n_columns,) of using a column.
    written : what a weight other than 1 and -1 costs.
    constant : what an intercept other than 0 costs.
    max_terms : how many columns may be used; any number if none.
    below : only solutions of at most this cost are sought.
    seconds : how long it may take.

    Examples
    --------
    >>> table, target = np.array([[1.0, 2.0, 2.0], [0.0, 1.0, 0.0]]), np.array([4.0, 2.0])
    >>> found = decided(table, target, np.array([2.0, 3.0, 2.0]), written=1, constant=2, intercept=False,
    ...     nonnegative=False, largest_weight=9, max_terms=3, below=np.inf, seconds=1.0)
    >>> found.weights, found.bound
    (array([0., 2., 0.]), 4.0)
    """
    n_rows, n = table.shape
    if seconds <= 0:
        return Decided(None, 0.0, 0.0)
    # In this order: weights, which are used, which are not 1 or -1, the intercept, whether it is used.
    reach = np.abs(table).max(axis=0, initial=0.0) * largest_weight
    far = float(intercept) * (np.abs(target).max(initial=0.0) + np.sort(reach)[::-1][: max_terms or n].sum())
    cost = np.concatenate([np.zeros(n), price, np.full(n, written), [0.0, constant]])
    unit, none = sp.identity(n, format="csc"), sp.csc_array((n, n))
    edge, empty = np.array([[1.0, -far], [-1.0, -far]]), sp.csc_array((n, 2))
    limits = [
        LinearConstraint(
            sp.hstack([sp.csc_array(table), sp.csc_array((n_rows, 2 * n)), _intercept_column(n_rows)]),
            target,
            target,
        ),
        LinearConstraint(sp.hstack([unit, -unit, -(largest_weight - 1) * unit, empty]), -np.inf, 0),
        LinearConstraint(sp.hstack([none, -unit, unit, empty]), -np.inf, 0),
        LinearConstraint(sp.hstack([sp.csc_array((2, 3 * n)), sp.csc_array(edge)]), -np.inf, 0),
    ]
    if not nonnegative:
        limits.append(
            LinearConstraint(sp.hstack([-unit, -unit, -(largest_weight - 1) * unit, empty]), -np.inf, 0)
        )
    if max_terms is not None:
        used = np.concatenate([np.zeros(n), np.ones(n), np.zeros(n + 2)])
        limits.append(LinearConstraint(used[None], -np.inf, max_terms))
    if np.isfinite(below):
        limits.append(LinearConstraint(cost[None], -np.inf, below))
    lowest = np.full(n, 0.0 if nonnegative else -float(largest_weight))
    solved = milp(
        cost,
        constraints=limits,
        integrality=np.ones(len(cost)),
        bounds=Bounds(
            np.concatenate([lowest, np.zeros(2 * n), [-far, 0.0]]),
            np.concatenate([np.full(n, float(largest_weight)), np.ones(2 * n), [far, 1.0]]),
        ),
        options={"time_limit": _PATIENCE * seconds, "node_limit": _NODES, "mip_rel_gap": 0.0},
    )
    if solved.status == 2:
        return Decided(None, 0.0, np.inf)
    bound = solved.mip_dual_bound
    bound = float(bound) if bound is not None and np.isfinite(bound) else 0.0
    if solved.x is None:
        return Decided(None, 0.0, bound)
    whole = np.rint(solved.x) + 0.0  # no -0
    return Decided(whole[:n], float(whole[3 * n]), bound)


def _intercept_column(n_rows: int) -> sp.csc_array:
    return sp.csc_array(np.column_stack([np.ones(n_rows), np.zeros(n_rows)]))


def spanning(table: Floats, target: Floats, *, intercept: bool) -> Integers | None:
    """Numbers of rows of which all others are sums; none if no weights, even real ones, meet all rows.

    Examples
    --------
    >>> column = np.array([[1.0], [2.0], [4.0]])
    >>> spanning(column, np.array([2.0, 4.0, 8.0]), intercept=False)
    array([0])
    >>> spanning(column, np.array([2.0, 4.0, 9.0]), intercept=False)
    """
    if intercept:
        table = np.column_stack([table, np.ones(len(table))])
    triangle = np.asarray(np.linalg.qr(np.column_stack([table, target]), mode="r"))
    found = np.linalg.lstsq(triangle[:, :-1], triangle[:, -1], rcond=None)[0]
    if np.abs(table @ found - target).max() > 1e-5:
        return None
    # Short rows first: they make the easier programmes.
    scales = np.maximum((table**2).sum(axis=1), 1.0)
    parts: Any = qr((table / scales[:, None]).T, mode="r", pivoting=True)
    triangle, order = parts
    sizes = np.abs(np.diag(triangle))
    rank = int(np.count_nonzero(sizes > 1e-10 * sizes.max(initial=0.0)))
    return np.sort(order[:rank]).astype(np.int64)
