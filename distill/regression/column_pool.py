"""The pool of columns: features and products of two, which are never listed all at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distill.common import scramble
from distill.regression.absolute import least_absolute
from distill.regression.linear import evaluate_fit
from distill.regression.rounding import round_weights

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Words = NDArray[np.uint64]
Term = tuple[int, ...]

WRITTEN = 1.0  # cost of a weight other than 1 and -1
CONSTANT = 2.0  # cost of an intercept other than 0

_BLOCK = 512  # columns whose products are priced at once
_SAMPLE = 1000  # rows for estimating spreads
_LEAST_SPREAD = 0.03  # of columns that are constant on these rows
_NOISE = 1e-9  # smaller gains are rounding errors


class ColumnPool:
    """Distinct rows and columns, in an order that does not depend on the input order.

    Attributes
    ----------
    values : (n_rows, n_columns) integers.
    target : (n_rows,).
    counts : (n_rows,) weights of rows.
    sizes : (n_columns,) size of each column's formula.
    rows, columns : input numbers; of equal rows the first, of equal columns the smallest. A second equal
        column is kept if their product differs from the column.

    Examples
    --------
    >>> pool = ColumnPool(np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 3.0]]), np.array([1.0, 8.0]), np.ones(2),
    ...             np.array([3.0, 2.0, 4.0]), intercept=True, products=True)
    >>> pool.columns.tolist(), pool.table([(0,), (0, 1)]).tolist(), pool.prices([(0,), (0, 1)])
    ([1, 0, 2], [[1.0, 1.0], [2.0, 4.0]], array([3., 7.]))
    """

    def __init__(
        self,
        values: Floats,
        target: Floats,
        counts: Floats,
        sizes: Floats,
        *,
        intercept: bool,
        products: bool,
    ) -> None:
        first, row_of = distinct_rows(np.column_stack([values, target]))
        values, target, counts = values[first], target[first], np.bincount(row_of, counts).astype(np.float64)
        # A constant column is no better than the intercept, and costs no less.
        kept = np.flatnonzero(np.ptp(values, axis=0) > 0 if intercept else values.any(axis=0))
        kept = kept[np.lexsort((kept, sizes[kept]))]
        kept = kept[_once(values[:, kept].T, twice=products)]
        values = values[:, kept]
        row_keys, column_keys = _keys(values, target, sizes[kept])
        rows, columns = np.lexsort((row_keys, target)), np.lexsort((column_keys, sizes[kept]))
        self.values = np.ascontiguousarray(values[rows][:, columns])
        self.target, self.counts, self.rows = target[rows], counts[rows], first[rows]
        self.columns: Integers = kept[columns]
        self.sizes = sizes[self.columns]
        sample = self.values[spread_out(len(self.rows), _SAMPLE)]
        self._spreads = np.maximum(sample.std(axis=0), _LEAST_SPREAD)
        self._pair_spreads = _pair_spreads(sample) if products else np.zeros((0, 0), dtype=np.float32)

    def table(self, terms: Sequence[Term], rows: Integers | slice = slice(None)) -> Floats:
        """(n_rows, n_terms) the columns of the terms."""
        if not terms:
            return np.zeros((len(self.target[rows]), 0))
        left, right = np.array([(term[0], term[-1]) for term in terms]).T
        part = self.values[rows]
        return np.where([len(term) > 1 for term in terms], part[:, left], 1.0) * part[:, right]

    def prices(self, terms: Sequence[Term]) -> Floats:
        """(n_terms,) the cost of a term: its symbols and a plus sign, in products also a times sign."""
        return np.array([sum(self.sizes[list(term)]) + len(term) for term in terms], dtype=np.float64)

    def rates(self, terms: Sequence[Term]) -> Floats:
        """(n_terms,) the cost of a unit of weight in linear programmes: the price times the column's spread.

        Without the spread, tiny weights of columns with large values would match any target at the lowest
        cost, and the optimum would use as many columns as there are rows.
        """
        spreads = [self._pair_spreads[term] if len(term) > 1 else self._spreads[term[0]] for term in terms]
        return self.prices(terms) * np.array(spreads, dtype=np.float64)

    def n_terms(self, products: bool) -> int:
        """The number of terms."""
        n = len(self.sizes)
        return n + n * (n - 1) // 2 if products else n

    def singles(self) -> list[Term]:
        """All terms of one column."""
        return [(i,) for i in range(len(self.sizes))]

    def pairs(self) -> list[Term]:
        """All terms of two columns."""
        return [(i, j) for i in range(len(self.sizes)) for j in range(i + 1, len(self.sizes))]

    def attractive(
        self,
        duals: Floats,
        rows: Integers,
        count: int,
        *,
        products: bool,
        nonnegative: bool,
        above: float = 0.0,
        priced: bool = True,
    ) -> list[Term]:
        """The terms with the largest gain per cost of a unit of weight, the best first.

        Of terms that are equal on the selected rows, only the cheapest is returned.

        Parameters
        ----------
        duals : (n_selected,) dual values of the selected rows.
        rows : (n_selected,) their numbers.
        count : largest number of terms.
        products : whether to search terms of two columns instead of one.
        nonnegative : whether only positive weights are allowed.
        above : smallest gain per price.
        priced : whether gains are divided by prices.
        """
        used = np.flatnonzero(duals)
        part, pull = self.values[rows[used]], duals[used]
        pulled, sizes = part * pull[:, None], self.sizes
        if not products:
            gains = pulled.sum(axis=0) if nonnegative else np.abs(pulled.sum(axis=0))
            rates = (sizes + 1) * self._spreads if priced else np.ones(len(sizes))
            columns = np.arange(len(sizes))
            return _best(gains, rates, np.column_stack([columns, columns]), count, above)
        parts = []
        for start in range(0, len(sizes), _BLOCK):
            block = slice(start, start + _BLOCK)
            worth = pulled[:, block].T @ part[:, start:]
            gains = np.triu(worth if nonnegative else np.abs(worth), 1)
            rates = (sizes[block, None] + sizes[None, start:] + 2) * self._pair_spreads[block, start:]
            ratios = gains / rates if priced else gains
            most = 4 * count
            least = -np.partition(-ratios, most, axis=None)[most] if ratios.size > most else 0.0
            left, right = np.nonzero(ratios >= max(least, above, _NOISE))
            parts.append((gains[left, right], rates[left, right], np.column_stack([left, right]) + start))
        if not parts:
            return []
        gains, rates, found = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return _best(gains, rates if priced else np.ones(len(rates)), found, count, above)


@dataclass(frozen=True)
class Solution:
    """Terms with weights other than 0, and the intercept."""

    terms: tuple[Term, ...]
    weights: tuple[float, ...]
    intercept: float

    def values(self, pool: ColumnPool) -> Floats:
        """(n_rows,) the sums."""
        return pool.table(self.terms) @ np.array(self.weights, dtype=np.float64) + self.intercept

    def cost(self, pool: ColumnPool) -> float:
        """The total size."""
        written = sum(WRITTEN for weight in self.weights if abs(weight) != 1)
        return float(pool.prices(self.terms).sum() + written + (CONSTANT if self.intercept else 0.0))


def refit(
    pool: ColumnPool, terms: Sequence[Term], *, intercept: bool, nonnegative: bool
) -> tuple[float, Solution]:
    """The mean absolute error of the best fit of these terms to all rows, and the fit.

    Its weights are rounded to whole numbers if that does not increase the error.

    Examples
    --------
    >>> pool = ColumnPool(np.array([[1.0], [2.0], [4.0]]), np.array([2.0, 4.0, 8.0]), np.ones(3), np.ones(1),
    ...             intercept=True, products=False)
    >>> refit(pool, [(0,)], intercept=True, nonnegative=False)
    (0.0, Solution(terms=((0,),), weights=(2,), intercept=0))
    """
    table, target, counts = pool.table(terms), pool.target, pool.counts
    weights, constant = least_absolute(table, target, counts, intercept=intercept, nonnegative=nonnegative)
    fit = round_weights(evaluate_fit(weights, constant, table, target, counts), table, target, counts)
    tidy = [_tidy(float(weight)) for weight in fit.weights]
    kept = [i for i, weight in enumerate(tidy) if weight]
    solution = Solution(tuple(terms[i] for i in kept), tuple(tidy[i] for i in kept), _tidy(fit.intercept))
    return fit.mae, solution


def _tidy(number: float) -> float:
    number = round(number, 9)
    return int(number) if number.is_integer() else number


def _best(gains: Floats, rates: Floats, found: Integers, count: int, above: float) -> list[Term]:
    # Equal gains nearly always belong to equal columns.
    gains = np.round(gains, 7)
    order = np.lexsort((found[:, 1], found[:, 0], np.round(rates, 9), -gains))
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = np.diff(gains[order]) != 0
    order = order[fresh & (gains[order] > max(above, _NOISE) * rates[order])]
    order = order[np.argsort(-np.round(gains[order] / rates[order], 9), kind="stable")][:count]
    return [(int(i),) if i == j else (int(i), int(j)) for i, j in found[order]]


def spread_out(total: int, count: int) -> Integers:
    """At most `count` numbers below a total, evenly spaced.

    Examples
    --------
    >>> spread_out(9, 3), spread_out(2, 3)
    (array([0, 4, 8]), array([0, 1]))
    """
    return np.unique(np.rint(np.linspace(0, total - 1, min(total, count))).astype(np.int64))


def _pair_spreads(sample: Floats) -> NDArray[np.float32]:
    """(n_columns, n_columns) the standard deviation of each product of two columns."""
    single = sample.astype(np.float32)
    means = single.T @ single / len(single)
    squares = single**2
    spreads = squares.T @ squares / len(single)
    spreads -= means**2
    return np.asarray(np.sqrt(np.maximum(spreads, _LEAST_SPREAD**2)), dtype=np.float32)


def distinct_rows(table: Floats) -> tuple[Integers, Integers]:
    """The first of equal rows (n_distinct,), and for each row (n_rows,) its place among them.

    Examples
    --------
    >>> distinct_rows(np.array([[2.0], [1.0], [2.0]]))
    (array([0, 1]), array([0, 1, 0]))
    """
    if not table.shape[1]:
        return np.arange(min(1, len(table))), np.zeros(len(table), dtype=np.int64)
    # Rows are compared by hashes, which is far faster. Adding zero turns -0 into 0.
    words = (np.ascontiguousarray(table) + 0.0).view(np.uint64)
    words += words >> np.uint64(32)
    factors = scramble(np.arange(table.shape[1], dtype=np.uint64)) | np.uint64(1)
    _, first, row_of = np.unique(words @ factors, return_index=True, return_inverse=True)
    order = np.argsort(first)
    first, row_of = first[order], np.argsort(order)[row_of]
    return first.astype(np.int64), row_of.astype(np.int64)


def _once(table: Floats, *, twice: bool) -> Integers:
    """Numbers of the first of equal rows, and if `twice` of the second if its square differs."""
    first, row_of = distinct_rows(table) if len(table) else (np.zeros(0, dtype=np.int64),) * 2
    if not twice:
        return np.sort(first)
    again = np.setdiff1d(np.arange(len(table)), first)
    again = again[(table[again] ** 2 != table[again]).any(axis=1)]
    second = again[np.unique(row_of[again], return_index=True)[1]]
    return np.union1d(first, second)


def _keys(values: Floats, target: Floats, sizes: Floats) -> tuple[Words, Words]:
    """Hashes of rows (n_rows,) and columns (n_columns,) that do not depend on the order of their entries."""
    cells = scramble(values.astype(np.int64).astype(np.uint64))
    aims, symbols = scramble((target + 0.0).view(np.uint64)), scramble((sizes + 0.0).view(np.uint64))
    columns = scramble(cells ^ aims[:, None]).sum(axis=0, dtype=np.uint64) + symbols
    rows = scramble(cells ^ columns).sum(axis=1, dtype=np.uint64) + aims
    columns = scramble(cells ^ rows[:, None]).sum(axis=0, dtype=np.uint64)
    return rows, columns
