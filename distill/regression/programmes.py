"""The linear and integer programmes of an exact fit.

All have few rows and columns; the caller adds missing ones and solves again.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from distill.regression.absolute import dual_programme

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_NOISE = 1e-9  # smaller weights are 0
_TOO_SMALL = 1e-3  # smaller contradictions, for rows of mean weight 1, may be rounding errors

_PATIENCE = 4  # seconds of wall time for one of processor time
_NODES = 10_000  # of an integer programme: unlike seconds, reproducible


@dataclass(frozen=True, eq=False)
class Relaxation:
    """The optimum of a linear programme.

    Attributes
    ----------
    weights : (n_columns,) real numbers.
    intercept : the constant.
    slack : (n_rows,) target minus prediction.
    duals : (n_rows,) derivative of the optimum by each row's target.
    """

    weights: Floats
    intercept: float
    slack: Floats
    duals: Floats

    def padded(self, n_columns: int) -> "Relaxation":
        """The same solution with weight 0 for columns added since."""
        weights = np.append(self.weights, np.zeros(n_columns - len(self.weights)))
        return Relaxation(weights, self.intercept, self.slack, self.duals)


def solve_relaxation(
    table: Floats,
    target: Floats,
    price: Floats,
    penalty: Floats,
    *,
    intercept: bool,
    nonnegative: bool,
    seconds: float,
) -> Relaxation | None:
    """Real weights that minimise price · |weights| + penalty · |slack|; None if time runs out.

    Parameters
    ----------
    table : (n_rows, n_columns).
    target : (n_rows,).
    price : (n_columns,) of a unit of weight.
    penalty : (n_rows,) of a unit of slack.
    seconds : time limit.

    Examples
    --------
    >>> found = solve_relaxation(np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([4.0, 2.0]), np.ones(2),
    ...                 np.full(2, 9.0), intercept=False, nonnegative=False, seconds=1.0)
    >>> found.weights, found.slack
    (array([0., 2.]), array([0., 0.]))
    """
    if seconds <= 0:
        return None
    n_rows, n_columns = table.shape
    if intercept:
        table, price = np.column_stack([table, np.ones(n_rows)]), np.append(price, 0.0)
    solved = dual_programme(
        table, target, penalty, price, nonnegative=nonnegative, time_limit=_PATIENCE * seconds
    )
    if solved.status != 0:
        return None
    found = -np.asarray(solved.eqlin.marginals, dtype=np.float64) + 0.0  # no -0
    weights, constant = found[:n_columns], float(found[-1]) if intercept else 0.0
    weights[np.abs(weights) < _NOISE] = 0.0
    slack = target - table[:, :n_columns] @ weights - constant
    return Relaxation(weights, constant, slack, solved.x[:n_rows])


def contradiction(
    table: Floats, target: Floats, *, intercept: bool, nonnegative: bool, seconds: float
) -> Floats | None:
    """(n_rows,) multipliers that prove that no real weights match the target; None if there are none.

    The weighted sum of the rows is 0 in every column (at most 0 if weights are nonnegative) but positive in
    the target. The set of rows with nonzero multipliers is minimal.

    Parameters
    ----------
    table : (n_rows, n_columns).
    target : (n_rows,).
    seconds : time limit.

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
class IntegerOptimum:
    """The result of an integer programme.

    Attributes
    ----------
    weights : (n_columns,) whole numbers; None if no solution was found.
    intercept : a whole number.
    bound : lower bound on the cost of solutions; infinity if there is provably none.
    """

    weights: Floats | None
    intercept: float
    bound: float


def solve_integer(
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
) -> IntegerOptimum:
    """Whole weights that match the target on all rows at the least cost.

    Parameters
    ----------
    table : (n_rows, n_columns) integers.
    target : (n_rows,) integers.
    price : (n_columns,) of using a column.
    written : cost of a weight other than 1 and -1.
    constant : cost of an intercept other than 0.
    max_terms : largest number of columns; None for no limit.
    below : largest cost of a solution.
    seconds : time limit.

    Examples
    --------
    >>> table, target = np.array([[1.0, 2.0, 2.0], [0.0, 1.0, 0.0]]), np.array([4.0, 2.0])
    >>> found = solve_integer(
    ...     table, target, np.array([2.0, 3.0, 2.0]), written=1, constant=2, intercept=False,
    ...     nonnegative=False, largest_weight=9, max_terms=3, below=np.inf, seconds=1.0)
    >>> found.weights, found.bound
    (array([0., 2., 0.]), 4.0)
    """
    n_rows, n = table.shape
    if seconds <= 0:
        return IntegerOptimum(None, 0.0, 0.0)
    # Variables: weights, which are not 0, which are not 1 or -1, the intercept, whether it is not 0.
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
        return IntegerOptimum(None, 0.0, np.inf)
    bound = solved.mip_dual_bound
    bound = float(bound) if bound is not None and np.isfinite(bound) else 0.0
    if solved.x is None:
        return IntegerOptimum(None, 0.0, bound)
    whole = np.rint(solved.x) + 0.0  # no -0
    return IntegerOptimum(whole[:n], float(whole[3 * n]), bound)


def _intercept_column(n_rows: int) -> sp.csc_array:
    return sp.csc_array(np.column_stack([np.ones(n_rows), np.zeros(n_rows)]))


def spanning(table: Floats, target: Floats, *, intercept: bool) -> Integers | None:
    """Numbers of rows that span all rows; None if no real weights match all rows.

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
    # Rows with few entries first, as they make programmes easier.
    scales = np.maximum((table**2).sum(axis=1), 1.0)
    parts: Any = qr((table / scales[:, None]).T, mode="r", pivoting=True)
    triangle, order = parts
    sizes = np.abs(np.diag(triangle))
    rank = int(np.count_nonzero(sizes > 1e-10 * sizes.max(initial=0.0)))
    return np.sort(order[:rank]).astype(np.int64)
