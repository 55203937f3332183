"""Linear programmes whose rows and columns join as they are needed: which columns are worth a look."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import process_time

import numpy as np

from distill.regression.pool import Floats, Integers, Pool, Solution, Term, refitted, spread_out
from distill.regression.programmes import Relaxed, contradiction, relaxed

_MORE_ROWS = 100
_MOST_ROWS = 1500  # a linear programme with more takes too long
_MORE_COLUMNS = 60
_MOST_COLUMNS = 800  # of a linear programme, after which those of no use leave
_ROUNDS = 20  # of pricing
_LEAST_GAIN = 1e-3  # what a round must save of the objective for another one
_MET = 1e-6
_RARE = 0.1  # of all rows
WIDEST = 30  # terms of a fit that is not exact


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


class Pricing:
    """The programmes of one search.

    Parameters
    ----------
    offer : is given each fit: terms, weights and intercept.

    Attributes
    ----------
    rows : (n_selected,) the rows of the pool that programmes see.
    terms : the columns that they see.
    fits : mean absolute errors and fits, in the order in which they were found.
    supports : the terms of sparse fits, the latest first.
    """

    def __init__(
        self, pool: Pool, settings: Settings, offer: Callable[[list[Term], Floats, float], None]
    ) -> None:
        self.pool, self.settings, self._offer = pool, settings, offer
        self.rows: Integers = spread_out(len(pool.target), 1)
        self.terms: list[Term] = []
        self.fits: list[tuple[float, Solution]] = [self.refitted([])]
        self.supports: dict[Term, None] = {}

    def nearest(self) -> Solution:
        """Of the fits with real weights, a short one of nearly the least mean absolute error."""
        least = min(mae for mae, _ in self.fits)
        return next(solution for mae, solution in self.fits if mae <= 1.02 * least + _MET)

    def met(self, worth: float, until: float) -> Relaxed | None:
        """The optimum if errors are worth so much; rows join while it errs on others only."""
        last: Relaxed | None = None
        while True:
            share = self.pool.counts[self.rows]
            penalty = worth * share / share.sum()
            found = self._priced(penalty, until)
            if found is None:
                return last
            last = found
            self._sparser(found, penalty, until)
            wrong = self.wrong(found)
            if not wrong.any() or wrong[self.rows].any() or len(self.rows) > _MOST_ROWS:
                return last
            self._add_rows(wrong)

    def _priced(self, penalty: Floats, until: float) -> Relaxed | None:
        """The optimum on the rows so far over all columns, which join as they pay."""
        pool, settings = self.pool, self.settings
        found: Relaxed | None = None
        least, idle = np.inf, 0
        for _ in range(_ROUNDS):
            rates = pool.rates(self.terms)
            better = self.solve(rates, penalty, until)
            if better is None:
                break
            found = better
            total = float(rates @ np.abs(found.weights) + penalty @ np.abs(found.slack))
            idle = idle + 1 if total > (1 - _LEAST_GAIN) * least else 0
            least = total
            found = self._pruned(found, rates)
            fresh: list[Term] = []
            for products in (False, True)[: 1 + settings.products]:
                fresh += self.join(
                    pool.attractive(
                        found.duals,
                        self.rows,
                        _MORE_COLUMNS,
                        products=products,
                        nonnegative=settings.nonnegative,
                        above=1 + 1e-6,
                    )
                )
            if not fresh or idle == 2 or np.count_nonzero(found.weights) > len(self.rows) / 2:
                break
        return found and found.padded(len(self.terms))

    def _pruned(self, found: Relaxed, rates: Floats) -> Relaxed:
        """The same optimum over fewer columns, if they are many: those farthest from paying leave."""
        if len(self.terms) <= _MOST_COLUMNS:
            return found
        gains = np.abs(found.duals @ self.pool.table(self.terms, self.rows)) / rates
        gains[found.weights != 0] = np.inf
        kept = np.sort(np.argsort(-gains, kind="stable")[: _MOST_COLUMNS // 2])
        kept = np.union1d(kept, np.flatnonzero(found.weights))
        self.terms = [self.terms[i] for i in kept]
        return Relaxed(found.weights[kept], found.intercept, found.slack, found.duals)

    def solve(self, price: Floats, penalty: Floats, until: float) -> Relaxed | None:
        """The optimum on the rows and columns so far, if there is time."""
        return relaxed(
            self.pool.table(self.terms, self.rows),
            self.pool.target[self.rows],
            price,
            penalty,
            intercept=self.settings.intercept,
            nonnegative=self.settings.nonnegative,
            seconds=until - process_time(),
        )

    def join(self, terms: Iterable[Term]) -> list[Term]:
        """Terms that are not columns of the programme yet, and now are."""
        known = set(self.terms)
        fresh = [term for term in terms if term not in known]
        self.terms += fresh
        return fresh

    def wrong(self, found: Relaxed) -> Floats:
        """(n_rows,) absolute errors over all rows, 0 where a row is met."""
        used = np.flatnonzero(found.weights)
        table = self.pool.table([self.terms[i] for i in used])
        errors = np.abs(table @ found.weights[used] + found.intercept - self.pool.target)
        return np.where(errors > _MET, errors, 0.0)

    def _add_rows(self, wrong: Floats) -> None:
        """Some of the rows that are wrong join: the worst, and others of all kinds."""
        wrong = wrong.copy()
        wrong[self.rows] = 0.0
        order = np.argsort(-wrong, kind="stable")[: np.count_nonzero(wrong)]
        picked = np.union1d(spread_out(len(order), _MORE_ROWS), np.arange(min(len(order), 20)))
        self.rows = np.union1d(self.rows, order[picked])

    def add_rare_rows(self) -> None:
        """The rows that the best fit misses join if they are few: what they need is seldom seen."""
        solution = self.nearest()
        errors = np.abs(solution.values(self.pool) - self.pool.target)
        errors[errors <= _MET] = 0.0
        if 0 < np.count_nonzero(errors) < _RARE * len(errors):
            self._add_rows(errors)

    def _sparser(self, found: Relaxed, penalty: Floats, until: float) -> None:
        """Fit with fewer columns: what weighs little becomes dear. All fits are remembered."""
        rates = self.pool.rates(self.terms)
        self._remember(found)
        for _ in range(3):
            better = self.solve(rates / (np.abs(found.weights) + 0.1), penalty, until)
            if better is None or np.array_equal(better.weights != 0, found.weights != 0):
                break
            found = better
            self._remember(found)

    def _remember(self, found: Relaxed) -> None:
        used = np.flatnonzero(np.abs(found.weights) > 1e-7)
        terms = [self.terms[i] for i in used]
        if len(terms) <= self.settings.max_columns // 2:
            fresh = dict.fromkeys(terms)
            self.supports = {**fresh, **{term: None for term in self.supports if term not in fresh}}
        spans = np.abs(found.weights[used]) * np.ptp(self.pool.table(terms, self.rows), axis=0)
        widest = np.sort(np.argsort(-spans, kind="stable")[:WIDEST])
        mae, solution = self.refitted([terms[i] for i in widest])
        self.fits.append((mae, solution))
        self._offer(list(solution.terms), np.array(solution.weights), solution.intercept)

    def refitted(self, terms: list[Term]) -> tuple[float, Solution]:
        """The best fit of some terms to all rows, and its mean absolute error."""
        intercept, nonnegative = self.settings.intercept, self.settings.nonnegative
        return refitted(self.pool, terms, intercept=intercept, nonnegative=nonnegative)

    def contradiction(self, until: float) -> Integers:
        """Rows of the pool that no weights of any terms meet together, if this can be proved."""
        pool, settings = self.pool, self.settings
        while True:
            found = contradiction(
                pool.table(self.terms, self.rows),
                pool.target[self.rows],
                intercept=settings.intercept,
                nonnegative=settings.nonnegative,
                seconds=until - process_time(),
            )
            if found is None:
                return np.zeros(0, dtype=np.int64)
            fresh: list[Term] = []
            for products in (False, True)[: 1 + settings.products]:
                fresh += self.join(
                    pool.attractive(
                        found,
                        self.rows,
                        _MORE_COLUMNS,
                        products=products,
                        nonnegative=settings.nonnegative,
                        above=1e-6,
                        priced=False,
                    )
                )
            if not fresh:
                return self.rows[np.flatnonzero(found)]
