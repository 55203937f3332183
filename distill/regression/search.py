"""The search for an exact fit: which rows and columns the programmes see, and what they make of them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import monotonic

import numpy as np

from distill.regression.exchange import exchanged
from distill.regression.pool import (
    CONSTANT,
    WRITTEN,
    Floats,
    Integers,
    Pool,
    Solution,
    Term,
    refitted,
    spread_out,
)
from distill.regression.programmes import Relaxed, contradiction, decided, relaxed, spanning

_ROWS = (400, 800, 1600)  # of the first programmes; more are tried if fewer did not do
_MORE_ROWS = 100
_MOST_ROWS = 1500  # a linear programme with more takes too long
_MORE_COLUMNS = 60
_MOST_COLUMNS = 800  # of a linear programme, after which those of no use leave
_ROUNDS = 20  # of pricing
_LEAST_GAIN = 1e-3  # what a round must save of the objective for another one
_WORTHS = (10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 1e4, 1e5)  # of a unit of mean error, in units of size
_MET = 1e-6
_RARE = 0.1  # of all rows
_GRACE = 0.5  # seconds for a first fit, even if reading the table took all there were
_LOOKS = 8  # around a solution, for a smaller one
_WIDEST = 30  # terms of a fit that is not exact


@dataclass(frozen=True)
class Settings:
    """What `fit_exact` was asked for; see there."""

    products: bool
    intercept: bool
    nonnegative: bool
    largest_weight: int
    max_terms: int
    max_columns: int
    progress: Callable[[str, int, int], None] | None


class Search:
    """One search; `run` it, then read what it found.

    Attributes
    ----------
    best : the best exact solution so far.
    bound : no exact solution in the columns of the last integer programme costs less.
    """

    def __init__(self, pool: Pool, settings: Settings, deadline: float) -> None:
        self.pool, self.settings, self.deadline = pool, settings, deadline
        self.best: Solution | None = None
        self.bound = 0.0
        self._fits: list[tuple[float, Solution]] = []
        self._rows = spread_out(len(pool.target), _ROWS[0])
        self._terms: list[Term] = []
        self._supports: dict[Term, None] = {}
        self._proved: set[Term] | None = None

    def run(self) -> Integers:
        """Look for exact solutions; the rows (of the pool) that contradict each other, if any do."""
        started = monotonic()
        half = started + 0.5 * (self.deadline - started)
        last = self.approach(half)
        if self.best is None:
            blocking = self._contradiction(started + 0.75 * (self.deadline - started))
            if len(blocking):
                return blocking
        # Where a search begins decides where it ends, so it begins twice.
        first, bound = self._around(last, self.settings.max_columns), self.bound
        self.best, self.bound, self._proved = None, 0.0, None
        second = self._around(last, self.settings.max_columns * 3 // 2)
        if first is not None and (second is None or self._rank(first) <= self._rank(second)):
            self.best, self.bound = first, bound
        return np.zeros(0, dtype=np.int64)

    def _around(self, last: Relaxed | None, width: int) -> Solution | None:
        """The best exact solution in so many columns, and then around it, as long as it gets smaller."""
        if self.best is None:
            self._decide(self._chosen(last, width), self.deadline)
        most = width * 3 // 2
        for _ in range(_LOOKS):
            self._exchange()
            before = self.best
            if before is None:
                break
            self._decide(self._nearby(before, width), self.deadline)
            if self.best is before:
                if width == most:
                    break
                width = most
        return self.best

    def nearest(self) -> Solution:
        """Of the fits with real weights, a short one of nearly the least mean absolute error."""
        least = min(mae for mae, _ in self._fits)
        return next(solution for mae, solution in self._fits if mae <= 1.02 * least + _MET)

    # Linear programmes

    def approach(self, until: float) -> Relaxed | None:
        """Fit with errors that become dearer and dearer; the optimum of the last programme.

        While errors are cheap, few columns are worth their price, so that programmes are small and those
        columns come first that explain much.
        """
        until = max(until, monotonic() + _GRACE)
        self._fits.append(self._refitted([]))
        last: Relaxed | None = None
        for n_rows in _ROWS:
            self._rows = spread_out(len(self.pool.target), n_rows)
            for number, worth in enumerate(_WORTHS):
                self._tell("linear", number, len(_WORTHS))
                found = self._met(worth, until)
                if found is None or self.best is not None:
                    return found or last
                last = found
                self._decide(self._chosen(last, self.settings.max_columns), until)
                if self.best is not None or not self._wrong(last).any():
                    return last
                if np.count_nonzero(last.weights) > 2 * _WIDEST:
                    break
                self._add_rare_rows()
            if len(self._rows) == len(self.pool.target):
                break
        return last

    def _met(self, worth: float, until: float) -> Relaxed | None:
        """The optimum if errors are worth so much; rows join while it errs on others only."""
        last: Relaxed | None = None
        while True:
            share = self.pool.counts[self._rows]
            penalty = worth * share / share.sum()
            found = self._priced(penalty, until)
            if found is None:
                return last
            last = found
            self._sparser(found, penalty, until)
            wrong = self._wrong(found)
            if not wrong.any() or wrong[self._rows].any() or len(self._rows) > _MOST_ROWS:
                return last
            self._add_rows(wrong)

    def _priced(self, penalty: Floats, until: float) -> Relaxed | None:
        """The optimum on the rows so far over all columns, which join as they pay."""
        pool, settings = self.pool, self.settings
        found: Relaxed | None = None
        least, idle = np.inf, 0
        for _ in range(_ROUNDS):
            rates = pool.rates(self._terms)
            better = self._solve(rates, penalty, until)
            if better is None:
                break
            found = better
            total = float(rates @ np.abs(found.weights) + penalty @ np.abs(found.slack))
            idle = idle + 1 if total > (1 - _LEAST_GAIN) * least else 0
            least = total
            found = self._pruned(found, rates)
            fresh: list[Term] = []
            for products in (False, True)[: 1 + settings.products]:
                fresh += self._join(
                    pool.attractive(
                        found.duals,
                        self._rows,
                        _MORE_COLUMNS,
                        products=products,
                        nonnegative=settings.nonnegative,
                        above=1 + 1e-6,
                    )
                )
            if not fresh or idle == 2 or np.count_nonzero(found.weights) > len(self._rows) / 2:
                break
        return found and found.padded(len(self._terms))

    def _pruned(self, found: Relaxed, rates: Floats) -> Relaxed:
        """The same optimum over fewer columns, if they are many: those farthest from paying leave."""
        if len(self._terms) <= _MOST_COLUMNS:
            return found
        gains = np.abs(found.duals @ self.pool.table(self._terms, self._rows)) / rates
        gains[found.weights != 0] = np.inf
        kept = np.sort(np.argsort(-gains, kind="stable")[: _MOST_COLUMNS // 2])
        kept = np.union1d(kept, np.flatnonzero(found.weights))
        self._terms = [self._terms[i] for i in kept]
        return Relaxed(found.weights[kept], found.intercept, found.slack, found.duals)

    def _solve(self, price: Floats, penalty: Floats, until: float) -> Relaxed | None:
        return relaxed(
            self.pool.table(self._terms, self._rows),
            self.pool.target[self._rows],
            price,
            penalty,
            intercept=self.settings.intercept,
            nonnegative=self.settings.nonnegative,
            seconds=until - monotonic(),
        )

    def _join(self, terms: Iterable[Term]) -> list[Term]:
        """Terms that are not columns of the programme yet, and now are."""
        known = set(self._terms)
        fresh = [term for term in terms if term not in known]
        self._terms += fresh
        return fresh

    def _wrong(self, found: Relaxed) -> Floats:
        """(n_rows,) absolute errors over all rows, 0 where a row is met."""
        used = np.flatnonzero(found.weights)
        table = self.pool.table([self._terms[i] for i in used])
        errors = np.abs(table @ found.weights[used] + found.intercept - self.pool.target)
        return np.where(errors > _MET, errors, 0.0)

    def _add_rows(self, wrong: Floats) -> None:
        """Some of the rows that are wrong join: the worst, and others of all kinds."""
        wrong = wrong.copy()
        wrong[self._rows] = 0.0
        order = np.argsort(-wrong, kind="stable")[: np.count_nonzero(wrong)]
        picked = np.union1d(spread_out(len(order), _MORE_ROWS), np.arange(min(len(order), 20)))
        self._rows = np.union1d(self._rows, order[picked])

    def _add_rare_rows(self) -> None:
        """The rows that the best fit misses join if they are few: what they need is seldom seen."""
        solution = self.nearest()
        errors = np.abs(solution.values(self.pool) - self.pool.target)
        errors[errors <= _MET] = 0.0
        if 0 < np.count_nonzero(errors) < _RARE * len(errors):
            self._add_rows(errors)

    def _sparser(self, found: Relaxed, penalty: Floats, until: float) -> None:
        """Fit with fewer columns: what weighs little becomes dear. All fits are remembered."""
        rates = self.pool.rates(self._terms)
        self._remember(found)
        for _ in range(3):
            better = self._solve(rates / (np.abs(found.weights) + 0.1), penalty, until)
            if better is None or np.array_equal(better.weights != 0, found.weights != 0):
                break
            found = better
            self._remember(found)

    def _remember(self, found: Relaxed) -> None:
        used = np.flatnonzero(np.abs(found.weights) > 1e-7)
        terms = [self._terms[i] for i in used]
        if len(terms) <= self.settings.max_columns // 2:
            fresh = dict.fromkeys(terms)
            self._supports = {**fresh, **{term: None for term in self._supports if term not in fresh}}
        spans = np.abs(found.weights[used]) * np.ptp(self.pool.table(terms, self._rows), axis=0)
        widest = np.sort(np.argsort(-spans, kind="stable")[:_WIDEST])
        mae, solution = self._refitted([terms[i] for i in widest])
        self._fits.append((mae, solution))
        self._offer(list(solution.terms), np.array(solution.weights), solution.intercept)

    def _refitted(self, terms: list[Term]) -> tuple[float, Solution]:
        intercept, nonnegative = self.settings.intercept, self.settings.nonnegative
        return refitted(self.pool, terms, intercept=intercept, nonnegative=nonnegative)

    def _contradiction(self, until: float) -> Integers:
        """Rows of the pool that no weights of any terms meet together, if this can be proved."""
        pool, settings = self.pool, self.settings
        while True:
            found = contradiction(
                pool.table(self._terms, self._rows),
                pool.target[self._rows],
                intercept=settings.intercept,
                nonnegative=settings.nonnegative,
                seconds=until - monotonic(),
            )
            if found is None:
                return np.zeros(0, dtype=np.int64)
            fresh: list[Term] = []
            for products in (False, True)[: 1 + settings.products]:
                fresh += self._join(
                    pool.attractive(
                        found,
                        self._rows,
                        _MORE_COLUMNS,
                        products=products,
                        nonnegative=settings.nonnegative,
                        above=1e-6,
                        priced=False,
                    )
                )
            if not fresh:
                return self._rows[np.flatnonzero(found)]

    # Integer programmes

    def _offer(self, terms: list[Term], weights: Floats, intercept: float) -> None:
        """Keep weights that are whole, meet all rows and cost less than what is known."""
        whole, constant = np.rint(weights), round(intercept)
        if len(terms) > 4 * self.settings.max_terms or np.abs(weights - whole).max(initial=0.0) > 1e-4:
            return
        used = np.flatnonzero(whole)
        if np.abs(whole).max(initial=0.0) > self.settings.largest_weight:
            return
        errors = self.pool.table(terms) @ whole + constant - self.pool.target
        if errors.any():
            return
        solution = Solution(tuple(terms[i] for i in used), tuple(int(whole[i]) for i in used), constant)
        if self.best is None or self._rank(solution) < self._rank(self.best):
            self.best = solution

    def _exchange(self) -> None:
        """Replace some terms by one, as long as the solution gets smaller."""
        settings = self.settings
        while self.best is not None and monotonic() < self.deadline:
            before = self.best
            options = exchanged(self.pool, before, products=settings.products, intercept=settings.intercept)
            for terms in options:
                table = self.pool.table(terms)
                table = np.column_stack([table, np.ones(len(table))]) if settings.intercept else table
                weights = np.linalg.lstsq(table, self.pool.target, rcond=None)[0].astype(np.float64)
                constant = float(weights[-1]) if settings.intercept else 0.0
                if not settings.nonnegative or (weights[: len(terms)] > -_MET).all():
                    self._offer(terms, weights[: len(terms)], constant)
            if self.best is before:
                return
            self.bound, self._proved = 0.0, None

    def _rank(self, solution: Solution) -> tuple[bool, float]:
        return len(solution.terms) > self.settings.max_terms, solution.cost(self.pool)

    def _chosen(self, last: Relaxed | None, most: int) -> list[Term]:
        """Columns for the integer programme: all if few, else those of sparse fits and near them."""
        if self.pool.n_terms(self.settings.products) <= most:
            return self.pool.singles() + (self.pool.pairs() if self.settings.products else [])
        terms = dict.fromkeys(self.best.terms if self.best else ())
        terms.update(self._supports)
        duals = last.duals if last is not None and len(last.duals) == len(self._rows) else None
        return self._filled(terms, duals, most)

    def _nearby(self, best: Solution, width: int) -> list[Term]:
        """Columns that might replace some of a solution, priced as if it were the linear optimum."""
        self._join(best.terms)
        weights = dict(zip(best.terms, best.weights, strict=True))
        scale = np.array([abs(weights.get(term, 1.0)) for term in self._terms])
        rates = self.pool.rates(self._terms)
        found = self._solve(
            rates / scale, np.full(len(self._rows), _WORTHS[-1] / len(self._rows)), self.deadline
        )
        return self._filled(dict.fromkeys(best.terms), None if found is None else found.duals, width)

    def _filled(self, terms: dict[Term, None], duals: Floats | None, most: int) -> list[Term]:
        if duals is not None:
            for products in (False, True)[: 1 + self.settings.products]:
                near = self.pool.attractive(
                    duals,
                    self._rows,
                    most,
                    products=products,
                    nonnegative=self.settings.nonnegative,
                )
                # Half of the room is for single columns.
                room = (
                    most - len(terms) if products or not self.settings.products else (most - len(terms)) // 2
                )
                terms.update(dict.fromkeys([term for term in near if term not in terms][: max(0, room)]))
        return list(terms)[:most]

    def _decide(self, columns: list[Term], until: float) -> None:
        """Find the best solution in these columns, and how far it may be from the smallest."""
        pool, settings = self.pool, self.settings
        if self._proved is not None and set(columns) <= self._proved:
            return
        table, price = pool.table(columns), pool.prices(columns)
        basis = spanning(table, pool.target, intercept=settings.intercept)
        if basis is None:
            return
        integral = bool((pool.sizes == np.rint(pool.sizes)).all())
        step = 1.0 if integral else 1e-6
        most: int | None = settings.max_terms
        while True:
            within = self.best is not None and (most is None or len(self.best.terms) <= most)
            limit = self.best.cost(pool) if self.best is not None and within else np.inf
            self._tell("columns", len(columns), len(columns))
            found = decided(
                table[basis],
                pool.target[basis],
                price,
                written=WRITTEN,
                constant=CONSTANT,
                intercept=settings.intercept,
                nonnegative=settings.nonnegative,
                largest_weight=settings.largest_weight,
                max_terms=most,
                below=limit - step,
                seconds=until - monotonic(),
            )
            bound = (
                float(np.ceil(found.bound - 1e-6)) if integral and np.isfinite(found.bound) else found.bound
            )
            if found.weights is not None:
                used = np.flatnonzero(found.weights)
                self._offer([columns[i] for i in used], found.weights[used], found.intercept)
                errors = np.abs(table @ found.weights + found.intercept - pool.target)
                more = np.setdiff1d(np.flatnonzero(errors), basis)
                if len(more):  # the rows were not enough after all
                    basis = np.append(basis, more[np.argsort(-errors[more], kind="stable")[:_MORE_ROWS]])
                    continue
            if most is None or within or np.isfinite(found.bound):
                if found.bound == np.inf or (self.best is not None and bound >= self.best.cost(pool)):
                    self._proved = set(columns)
                self.bound = max(0.0, min(bound, self.best.cost(pool))) if self.best is not None else 0.0
                return
            most = None

    def _tell(self, stage: str, done: int, total: int) -> None:
        if self.settings.progress is not None:
            self.settings.progress(stage, done, total)
