"""Row and column generation: linear programmes that select the columns for the integer programme."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import process_time

import numpy as np

from distill.regression.column_pool import ColumnPool, Floats, Integers, Solution, Term, refit, spread_out
from distill.regression.programmes import Relaxation, contradiction, solve_relaxation

_MORE_ROWS = 100
_MOST_ROWS = 1500  # a linear programme with more takes too long
_MORE_COLUMNS = 60
_MOST_COLUMNS = 800  # columns of a linear programme, after which useless ones are removed
_ROUNDS = 20  # of pricing
_LEAST_GAIN = 1e-3  # share of the objective that a round must save
_MET = 1e-6
_RARE = 0.1  # of all rows
WIDEST = 30  # terms of a fit that is not exact


@dataclass(frozen=True)
class FitSettings:
    """The options of `fit_exact`."""

    products: bool
    intercept: bool
    nonnegative: bool
    largest_weight: int
    max_terms: int
    max_columns: int
    progress: Callable[[str, int, int], None] | None


class Pricing:
    """The linear programmes of one search.

    Parameters
    ----------
    offer : called with the terms, weights and intercept of each fit.

    Attributes
    ----------
    rows : (n_selected,) the rows of the pool in the programmes.
    terms : the columns of the programmes.
    fits : mean absolute errors and fits, in order of time.
    supports : the terms of sparse fits, the latest first.
    """

    def __init__(
        self, pool: ColumnPool, settings: FitSettings, offer: Callable[[list[Term], Floats, float], None]
    ) -> None:
        self.pool, self.settings, self._offer = pool, settings, offer
        self.rows: Integers = spread_out(len(pool.target), 1)
        self.terms: list[Term] = []
        self.fits: list[tuple[float, Solution]] = [self.refit([])]
        self.supports: dict[Term, None] = {}

    def nearest(self) -> Solution:
        """A short fit with real weights and almost the least mean absolute error."""
        least = min(mae for mae, _ in self.fits)
        return next(solution for mae, solution in self.fits if mae <= 1.02 * least + _MET)

    def optimum(self, worth: float, until: float) -> Relaxation | None:
        """The optimum for a given penalty on errors; rows are added while it is wrong on other rows only."""
        last: Relaxation | None = None
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

    def _priced(self, penalty: Floats, until: float) -> Relaxation | None:
        """The optimum on the current rows over all columns, by column generation."""
        pool = self.pool
        found: Relaxation | None = None
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
            fresh = self._add_columns(found.duals, 1 + 1e-6)
            if not fresh or idle == 2 or np.count_nonzero(found.weights) > len(self.rows) / 2:
                break
        return found and found.padded(len(self.terms))

    def _pruned(self, found: Relaxation, rates: Floats) -> Relaxation:
        """The same optimum over fewer columns: the columns of largest reduced cost are removed."""
        if len(self.terms) <= _MOST_COLUMNS:
            return found
        gains = np.abs(found.duals @ self.pool.table(self.terms, self.rows)) / rates
        gains[found.weights != 0] = np.inf
        kept = np.sort(np.argsort(-gains, kind="stable")[: _MOST_COLUMNS // 2])
        kept = np.union1d(kept, np.flatnonzero(found.weights))
        self.terms = [self.terms[i] for i in kept]
        return Relaxation(found.weights[kept], found.intercept, found.slack, found.duals)

    def solve(self, price: Floats, penalty: Floats, until: float) -> Relaxation | None:
        """The optimum on the current rows and columns; None if time runs out."""
        return solve_relaxation(
            self.pool.table(self.terms, self.rows),
            self.pool.target[self.rows],
            price,
            penalty,
            intercept=self.settings.intercept,
            nonnegative=self.settings.nonnegative,
            seconds=until - process_time(),
        )

    def join(self, terms: Iterable[Term]) -> list[Term]:
        """Add terms as columns, and return those that are new."""
        known = set(self.terms)
        fresh = [term for term in terms if term not in known]
        self.terms += fresh
        return fresh

    def _add_columns(self, duals: Floats, above: float, *, priced: bool = True) -> list[Term]:
        """Add the terms with the largest gain, and return those that are new; see `ColumnPool.attractive`."""
        fresh: list[Term] = []
        for products in (False, True)[: 1 + self.settings.products]:
            nonnegative = self.settings.nonnegative
            found = self.pool.attractive(
                duals,
                self.rows,
                _MORE_COLUMNS,
                products=products,
                nonnegative=nonnegative,
                above=above,
                priced=priced,
            )
            fresh += self.join(found)
        return fresh

    def wrong(self, found: Relaxation) -> Floats:
        """(n_rows,) absolute errors on all rows; 0 if a row is matched."""
        used = np.flatnonzero(found.weights)
        table = self.pool.table([self.terms[i] for i in used])
        errors = np.abs(table @ found.weights[used] + found.intercept - self.pool.target)
        return np.where(errors > _MET, errors, 0.0)

    def _add_rows(self, wrong: Floats) -> None:
        """Add some of the wrong rows: the worst, and others evenly spread."""
        wrong = wrong.copy()
        wrong[self.rows] = 0.0
        order = np.argsort(-wrong, kind="stable")[: np.count_nonzero(wrong)]
        picked = np.union1d(spread_out(len(order), _MORE_ROWS), np.arange(min(len(order), 20)))
        self.rows = np.union1d(self.rows, order[picked])

    def add_rare_rows(self) -> None:
        """Add the wrong rows of the best fit if they are few, as their columns are rarely selected."""
        solution = self.nearest()
        errors = np.abs(solution.values(self.pool) - self.pool.target)
        errors[errors <= _MET] = 0.0
        if 0 < np.count_nonzero(errors) < _RARE * len(errors):
            self._add_rows(errors)

    def _sparser(self, found: Relaxation, penalty: Floats, until: float) -> None:
        """Search sparser fits by reweighting: columns of small weight become expensive. All fits are kept."""
        rates = self.pool.rates(self.terms)
        self._remember(found)
        for _ in range(3):
            better = self.solve(rates / (np.abs(found.weights) + 0.1), penalty, until)
            if better is None or np.array_equal(better.weights != 0, found.weights != 0):
                break
            found = better
            self._remember(found)

    def _remember(self, found: Relaxation) -> None:
        used = np.flatnonzero(np.abs(found.weights) > 1e-7)
        terms = [self.terms[i] for i in used]
        if len(terms) <= self.settings.max_columns // 2:
            fresh = dict.fromkeys(terms)
            self.supports = {**fresh, **{term: None for term in self.supports if term not in fresh}}
        spans = np.abs(found.weights[used]) * np.ptp(self.pool.table(terms, self.rows), axis=0)
        widest = np.sort(np.argsort(-spans, kind="stable")[:WIDEST])
        mae, solution = self.refit([terms[i] for i in widest])
        self.fits.append((mae, solution))
        self._offer(list(solution.terms), np.array(solution.weights), solution.intercept)

    def refit(self, terms: list[Term]) -> tuple[float, Solution]:
        """The best fit of some terms to all rows, and its mean absolute error."""
        intercept, nonnegative = self.settings.intercept, self.settings.nonnegative
        return refit(self.pool, terms, intercept=intercept, nonnegative=nonnegative)

    def contradiction(self, until: float) -> Integers:
        """Rows of the pool that no weights of any terms match together, if this can be proved."""
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
            if not self._add_columns(found, 1e-6, priced=False):
                return self.rows[np.flatnonzero(found)]
