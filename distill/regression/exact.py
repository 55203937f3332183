"""The smallest sum that matches a target on every row: few terms, whole weights, with a lower bound."""

from collections.abc import Callable
from dataclasses import dataclass
from time import process_time

import numpy as np
from numpy.typing import ArrayLike

from distill.common import InputError
from distill.regression.column_pool import ColumnPool, Floats, Integers, Term, distinct_rows
from distill.regression.linear import checked_rows
from distill.regression.pricing import FitSettings
from distill.regression.search import ExactSearch

Progress = Callable[[str, int, int], None]

_MET = 1e-6  # tolerance for matching a row with real weights
_LARGEST = 2**31  # beyond it, products and sums may not be exact


@dataclass(frozen=True, eq=False)
class ExactFit:
    """A weighted sum of features and products of two, and its errors on the target.

    Attributes
    ----------
    terms : the columns that are multiplied in each term, one or two, in ascending order.
    weights : of the terms, none 0. Whole numbers, unless nothing exact was found and real ones fit better.
    intercept : the constant.
    exact : whether whole weights match the target on all rows.
    cost : the total size: for each term its features' sizes, a plus sign, in products a times sign, and a
        weight unless it is 1 or -1; two more if there is an intercept.
    bound : lower bound on the cost of exact solutions in the columns of the last programme; 0 if none was
        found. If it equals the cost, the solution is the smallest among these columns.
    wrong : numbers of the rows that are not matched.
    blocking : numbers of a few rows that no real weights of all features and products match together;
        empty if this was not proved.
    mae : mean absolute error, rows counted by their weights.
    max_error : largest absolute error.
    """

    terms: tuple[Term, ...]
    weights: tuple[float, ...]
    intercept: float
    exact: bool
    cost: float
    bound: float
    wrong: Integers
    blocking: Integers
    mae: float
    max_error: float

    @property
    def gap(self) -> float:
        """The share of the cost above the lower bound; 0 if the solution is optimal."""
        return (self.cost - self.bound) / self.cost if self.cost else 0.0

    def predict(self, values: ArrayLike) -> Floats:
        """(n_rows,) the sums for features (n_rows, n_features)."""
        table = np.asarray(values, dtype=np.float64)
        total = np.full(len(table), float(self.intercept))
        for term, weight in zip(self.terms, self.weights, strict=True):
            total += weight * table[:, list(term)].prod(axis=1)
        return total


def fit_exact(
    values: ArrayLike,
    target: ArrayLike,
    sizes: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    products: bool = True,
    intercept: bool = True,
    nonnegative: bool = False,
    largest_weight: int = 12,
    max_terms: int = 8,
    max_columns: int = 40,
    time_limit: float = 30.0,
    progress: Progress | None = None,
) -> ExactFit:
    """Choose terms and whole weights of the least total size that match the target on all rows.

    Linear programmes with row and column generation choose the columns; products are priced all at once and
    never listed. An integer programme then chooses among at most `max_columns` of them. Then terms are
    exchanged and more columns are tried while that lowers the cost. If nothing matches all rows, the result
    is a short sum of small absolute error. The order of rows and columns does not matter, except that of
    equal columns of one size the first is taken. Only results under a time limit can differ between runs.

    Parameters
    ----------
    values : (n_rows, n_features) whole numbers.
    target : (n_rows,); real numbers are fitted by least absolute error at once.
    sizes : (n_features,) symbols of each feature's formula.
    weights : (n_rows,) of rows in errors, by default 1. Rows of weight 0 need not be matched.
    products : whether a term may be the product of two different features.
    intercept : whether a constant may be added.
    nonnegative : whether weights must be at least 0; the intercept need not.
    largest_weight : the largest absolute value of a weight.
    max_terms : largest number of terms; exceeded only if there is no exact solution otherwise.
    max_columns : number of columns of the first integer programme; each later one has half as many more.
    time_limit : seconds of processor time.
    progress : called with the stage, its progress and its total.

    Examples
    --------
    >>> balls, held = np.array([3, 3, 2, 1, 0, 2]), np.array([0, 1, 1, 0, 0, 0])
    >>> found = fit_exact(np.column_stack([balls, held]), 3 * balls - balls * held + 1, sizes=[4, 2])
    >>> found.terms, found.weights, found.intercept, found.exact, found.cost
    (((0,), (0, 1)), (3, -1), 1, True, 16.0)
    >>> found.gap
    0.0
    >>> fit_exact([[0], [1], [2]], [0, 1, 5], sizes=[1]).blocking
    array([0, 1, 2])
    """
    deadline = process_time() + time_limit
    table, aim, counts = checked_rows(values, target, weights)
    symbols = np.asarray(sizes, dtype=np.float64)
    _check(table, aim, symbols, largest_weight, max_terms)
    settings = FitSettings(products, intercept, nonnegative, largest_weight, max_terms, max_columns, progress)
    numbers = np.arange(len(aim)) if weights is None else np.flatnonzero(np.asarray(weights) > 0)
    pool = ColumnPool(table, aim, counts, symbols, intercept=intercept, products=products)
    search = ExactSearch(pool, settings, deadline)
    twins = _twins(table, aim)
    if len(twins):
        blocking = twins
        search.approach(deadline)
    elif (aim == np.rint(aim)).all():
        blocking = pool.rows[search.run()]
    else:
        blocking = np.zeros(0, dtype=np.int64)
        search.approach(deadline)
    solution = search.best or search.pricing.nearest()
    terms = [tuple(sorted(int(pool.columns[i]) for i in term)) for term in solution.terms]
    order = sorted(range(len(terms)), key=lambda i: (len(terms[i]), terms[i]))
    errors = _errors(
        [terms[i] for i in order], [solution.weights[i] for i in order], solution.intercept, table, aim
    )
    whole = all(float(weight).is_integer() for weight in (*solution.weights, solution.intercept))
    exact = whole and not errors.any()
    return ExactFit(
        terms=tuple(terms[i] for i in order),
        weights=tuple(solution.weights[i] for i in order),
        intercept=solution.intercept,
        exact=exact,
        cost=solution.cost(pool),
        bound=search.bound if exact else 0.0,
        wrong=numbers[errors > (0 if whole else _MET)],
        blocking=np.sort(numbers[blocking]),
        mae=float(np.average(errors, weights=counts)),
        max_error=float(errors.max()),
    )


def _errors(terms: list[Term], weights: list[float], intercept: float, table: Floats, aim: Floats) -> Floats:
    """(n_rows,) absolute errors; whole numbers are added exactly."""
    total = np.full(len(aim), intercept)
    for term, weight in zip(terms, weights, strict=True):
        total = total + weight * table[:, list(term)].astype(np.int64).prod(axis=1)
    return np.abs(total - aim)


def _check(table: Floats, aim: Floats, symbols: Floats, largest_weight: int, max_terms: int) -> None:
    if not table.shape[1] and np.ptp(aim) > 0:
        raise InputError("There are no features to fit with; give at least one, or a constant target.")
    if symbols.shape != (table.shape[1],):
        raise InputError(f"There are {table.shape[1]} features, but sizes of shape {symbols.shape}.")
    if not (np.isfinite(symbols).all() and (symbols > 0).all()):
        raise InputError("The sizes of features must be positive numbers.")
    if not ((table == np.rint(table)).all() and (np.abs(table) < _LARGEST).all()):
        raise InputError(f"For an exact fit, features must be whole numbers below {_LARGEST}.")
    if largest_weight < 1 or max_terms < 1:
        raise InputError("The largest weight and the number of terms must be at least 1.")


def _twins(table: Floats, aim: Floats) -> Integers:
    """Pairs of rows with equal features and different targets, largest difference first."""
    _, group = distinct_rows(table)
    order = np.lexsort((np.arange(len(aim)), aim, group))
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    ends = np.append(starts[1:], len(order)) - 1
    apart = aim[order[ends]] - aim[order[starts]]
    pairs = np.argsort(-apart, kind="stable")[:20]
    pairs = pairs[apart[pairs] > 0]
    pairs = pairs[(table[order[starts[pairs]]] == table[order[ends[pairs]]]).all(axis=1)]
    return np.unique(np.concatenate([order[starts[pairs]], order[ends[pairs]]])).astype(np.int64)
