"""Replacement: some terms of a solution replaced by up to three others, with all weights fitted again.

The residual of the target after regression on the kept terms must be a sum of at most three columns with
small whole weights. Two random projections of each residual are compared: combinations that add up to those
of the target are looked up in a sorted list, so that all triples are tested without being enumerated.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations, product

import numpy as np

from distill.common import scramble
from distill.regression.column_pool import WRITTEN, ColumnPool, Floats, Integers, Solution, Term

_FACTORS = 1500  # smallest columns whose products are formed
_PRODUCTS = 400_000  # smallest products that are tried
_PAIRED = 3000  # columns tried as the first of two
_TRIPLED = 100  # columns tried as the first two of three
_WEIGHTS = tuple(sign * size for size in (1, 2, 3, 4, 5) for sign in (1, -1))
_LIGHT = _WEIGHTS[:4]  # of three columns
_HEAVIEST = 12
_NONE = 1e-6  # smaller random sums are 0
_SAME = 1e-7  # tolerance for equal random sums
_ALIKE = 1e-5  # tolerance for the second sums, which only confirm


class Replacement:
    """Searches for solutions near given ones, in one pool.

    Parameters
    ----------
    pool : columns; products need not be priced in it.
    intercept, nonnegative : as in `fit_exact`.

    Examples
    --------
    >>> first, second = np.array([0, 1, 0, 1, 2]), np.array([1, 1, 0, 0, 2])
    >>> values = np.column_stack([first, second, first + 2 * second, first * second]).astype(float)
    >>> pool = ColumnPool(values, values[:, 2], np.ones(5), np.array([3.0, 4.0, 5.0, 9.0]), intercept=True,
    ...             products=False)
    >>> replacement = Replacement(pool, intercept=True, nonnegative=False)
    >>> near = replacement.near([Solution(((0,), (1,)), (1, 2), 0)], most=12)
    >>> [(one.terms, one.weights) for one in near]
    [(((2,),), (1,)), (((0,), (1,)), (1, 2))]
    """

    def __init__(self, pool: ColumnPool, *, intercept: bool, nonnegative: bool) -> None:
        self.pool, self._intercept, self._nonnegative = pool, intercept, nonnegative
        factors = np.arange(min(len(pool.sizes), _FACTORS))  # the pool's columns are sorted by size
        left, right = np.triu_indices(len(factors), 1)
        price = pool.sizes[left] + pool.sizes[right] + 2
        if len(price) > _PRODUCTS:
            cheap = np.flatnonzero(price < np.partition(price, _PRODUCTS)[_PRODUCTS])
            left, right, price = left[cheap], right[cheap], price[cheap]
        single = np.arange(len(pool.sizes))
        self._left, self._right = left, right
        self._terms = np.column_stack([np.append(single, left), np.append(single, right)])
        self._prices = np.append(pool.sizes + 1, price)
        self._factors = pool.values[:, : len(factors)]
        self._random = np.random.default_rng(0).standard_normal((2, len(pool.target)))
        self._known: dict[Term, Floats] = {}
        self._codes: dict[Term, int] = {}

    def near(self, solutions: Sequence[Solution], most: float) -> list[Solution]:
        """The given exact solutions and those near them, up to a cost; the best first."""
        found: set[tuple[Term, ...]] = set()
        starts = {
            kept
            for solution in solutions
            for count in range(len(solution.terms))
            for kept in combinations(solution.terms, count)
        }
        for kept in sorted(starts):
            found.update(self._filled(kept, most - float(self.pool.prices(kept).sum())))
        exact = {one for terms in found if (one := self._solved(terms)) and one.cost(self.pool) <= most}
        return sorted(exact.union(solutions), key=self.rank)

    def rank(self, solution: Solution) -> tuple[object, ...]:
        """A key of which the lowest is best: size, then simple weights, then the values of the terms.

        It does not depend on names, order or the rest of the pool, unless terms have equal value counts.
        """
        weights = solution.weights
        codes = sorted(zip(map(self._code, solution.terms), weights, strict=True))
        return (
            solution.cost(self.pool),
            len(weights),
            solution.intercept != 0,
            sum(weight < 0 for weight in weights),
            sum(map(abs, weights)),
            codes,
            solution.terms,
        )

    def _code(self, term: Term) -> int:
        """A hash of the joint counts of values of a term and of the target."""
        if term not in self._codes:
            aims = scramble(self.pool.target.astype(np.int64).astype(np.uint64))
            values = self.pool.table([term])[:, 0].astype(np.int64).astype(np.uint64)
            codes = scramble(values ^ aims) * self.pool.counts.astype(np.uint64)
            self._codes[term] = int(codes.sum(dtype=np.uint64))
        return self._codes[term]

    def _solved(self, terms: tuple[Term, ...]) -> Solution | None:
        """The exact solution with whole weights in some terms, or None."""
        table, target = self._table(terms), self.pool.target
        weights = np.rint(np.linalg.lstsq(table, target, rcond=None)[0])
        if (table @ weights != target).any() or np.abs(weights).max(initial=0) > _HEAVIEST:
            return None
        if self._nonnegative and (weights[: len(terms)] < 0).any():
            return None
        used = [place for place in range(len(terms)) if weights[place]]
        constant = int(weights[-1]) if self._intercept else 0
        whole = tuple(int(weights[place]) for place in used)
        return Solution(tuple(terms[place] for place in used), whole, constant)

    def _table(self, terms: tuple[Term, ...]) -> Floats:
        """(n_rows, n) the columns of terms, and that of the intercept."""
        table = self.pool.table(terms)
        return np.column_stack([table, np.ones(len(table))]) if self._intercept else table

    def _sums(self, vector: Floats) -> Floats:
        """(n_terms,) the inner product of each term with a vector (n_rows,)."""
        pairs = (self._factors * vector[:, None]).T @ self._factors
        found: Floats = np.append(vector @ self.pool.values, pairs[self._left, self._right])
        return found

    def _sums_of(self, term: Term) -> Floats:
        if term not in self._known:
            column = self.pool.table([term])[:, 0] if term else np.ones(len(self.pool.target))
            self._known[term] = self._sums(column)
        return self._known[term]

    @cached_property
    def _random_sums(self) -> list[Floats]:
        return [self._sums(vector) for vector in self._random]

    def _filled(self, kept: tuple[Term, ...], saved: float) -> Iterator[tuple[Term, ...]]:
        """Sets of terms that match the target: the kept ones and up to three more within the saved cost."""
        table = self._table(kept)
        share = np.linalg.lstsq(table, self._random.T, rcond=None)[0] if table.shape[1] else np.zeros((0, 2))
        rest = self._random - (table @ share).T
        names: list[Term] = [*kept, ()] if self._intercept else list(kept)
        sums = [
            whole - sum(factor * self._sums_of(term) for factor, term in zip(own, names, strict=True))
            for whole, own in zip(self._random_sums, share.T, strict=True)
        ]
        target = rest @ self.pool.target
        if abs(target[0]) < _NONE:
            yield tuple(sorted(kept))
            return
        listed = _Listed(np.stack(sums), self._prices, saved)
        for places in listed.adding_up(target):
            chosen = {self._term(number) for number in listed.numbers[places]}
            yield tuple(sorted({*kept, *chosen}))

    def _term(self, number: int) -> Term:
        left, right = self._terms[number].tolist()
        return (left,) if left == right else (left, right)


class _Listed:
    """Columns sorted by their random sums; of equal sums the cheapest.

    Parameters
    ----------
    sums : (2, n_columns).
    price : (n_columns,).
    saved : largest total cost of the columns.

    Attributes
    ----------
    numbers : (n_listed,) of the columns.
    """

    def __init__(self, sums: Floats, price: Floats, saved: float) -> None:
        usable = np.flatnonzero((price <= saved) & (np.abs(sums[0]) > _NONE))
        order = usable[np.lexsort((usable, price[usable], np.round(sums[0, usable], 7)))]
        fresh = np.ones(len(order), dtype=bool)
        fresh[1:] = np.diff(sums[0, order]) > _SAME
        self.numbers: Integers = order[fresh]
        self.first, self.second = sums[:, self.numbers]
        self.price, self.saved = price[self.numbers], saved

    def adding_up(self, target: Floats) -> Iterator[Integers]:
        """Places of up to three columns whose sums times small whole weights equal those of the target."""
        if not len(self.numbers):
            return
        ratio = np.rint(target[0] / self.first)
        same = np.abs(ratio * self.first - target[0]) < _SAME
        for place in np.flatnonzero(same & (np.abs(ratio * self.second - target[1]) < _ALIKE)).tolist():
            yield np.array([place])
        cheap = np.argsort(self.price, kind="stable")
        some = cheap[:_PAIRED]
        for weights in product(_WEIGHTS, repeat=2):
            yield from self._completed(target, some[:, None], weights)
        few = cheap[:_TRIPLED]
        one, other = np.triu_indices(len(few), 1)
        pairs = np.column_stack([few[one], few[other]])
        for triple in product(_LIGHT, repeat=3):
            yield from self._completed(target, pairs, triple)

    def _completed(self, target: Floats, begun: Integers, weights: tuple[int, ...]) -> Iterator[Integers]:
        """Columns (m, k) with a further column that completes them to the target, and costs no less."""
        price = self.price[begun]
        written = WRITTEN * sum(abs(weight) != 1 for weight in weights)
        room = self.saved - written - price.sum(axis=1)
        likely = room >= price.max(axis=1, initial=0.0)
        begun, room = begun[likely], room[likely]
        if not len(begun):
            return
        factors, last = np.array(weights[:-1], dtype=np.float64), weights[-1]
        first = (target[0] - self.first[begun] @ factors) / last
        place = np.minimum(np.searchsorted(self.first, first - _SAME), len(self.first) - 1)
        near = np.flatnonzero(np.abs(self.first[place] - first) < _SAME)
        second = (target[1] - self.second[begun[near]] @ factors) / last
        near = near[np.abs(self.second[place[near]] - second) < _ALIKE]
        for number in near[self.price[place[near]] <= room[near]].tolist():
            yield np.append(begun[number], place[number])
