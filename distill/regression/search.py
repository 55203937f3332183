"""The search for an exact fit: integer programmes over the columns that linear programmes select."""

from time import process_time

import numpy as np

from distill.regression.column_pool import (
    CONSTANT,
    WRITTEN,
    ColumnPool,
    Floats,
    Integers,
    Solution,
    Term,
    spread_out,
)
from distill.regression.exchange import exchanges
from distill.regression.pricing import WIDEST, FitSettings, Pricing
from distill.regression.programmes import Relaxation, solve_integer, spanning

_ROWS = (400, 800, 1600)  # widths of the first programmes, tried in turn
_WORTHS = (10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 1e4, 1e5)  # of a unit of mean error, in units of size
_MET = 1e-6
_MORE_ROWS = 100
_GRACE = 0.5  # seconds for a first fit, even if the time is used up
_WIDTHS = (1, 1.5, 2.5, 4)  # widths of the initial programmes, in units of max_columns
_LOOKS = 8  # columns around a solution


class ExactSearch:
    """One search; call `run`, then use its attributes.

    Attributes
    ----------
    best : the best exact solution so far.
    bound : lower bound on exact solutions in the columns of the last integer programme.
    """

    def __init__(self, pool: ColumnPool, settings: FitSettings, deadline: float) -> None:
        self.pool, self.settings, self.deadline = pool, settings, deadline
        self.best: Solution | None = None
        self.bound = 0.0
        self.pricing = Pricing(pool, settings, self._offer)
        self._proved: set[Term] | None = None

    def run(self) -> Integers:
        """Search for exact solutions, and return rows of the pool that provably contradict each other."""
        started = process_time()
        half = started + 0.5 * (self.deadline - started)
        last = self.approach(half)
        if self.best is None:
            blocking = self.pricing.contradiction(started + 0.75 * (self.deadline - started))
            if len(blocking):
                return blocking
        # The result depends on the start, so there are two starts, and more if nothing is found.
        found: tuple[Solution, float] | None = None
        for number, share in enumerate(_WIDTHS):
            if found is not None and number > 1:
                break
            solution = self._around(last, int(share * self.settings.max_columns))
            if solution is not None and (found is None or self._rank(solution) < self._rank(found[0])):
                found = solution, self.bound
            self.best, self.bound, self._proved = None, 0.0, None
        if found is not None:
            self.best, self.bound = found
        return np.zeros(0, dtype=np.int64)

    def _around(self, last: Relaxation | None, width: int) -> Solution | None:
        """The best exact solution in `width` columns, then in columns around it while the cost decreases."""
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

    def approach(self, until: float) -> Relaxation | None:
        """Fit with increasing penalties on errors, and return the optimum of the last programme.

        With a small penalty few columns pay, so programmes are small and the columns that explain most are
        selected first.
        """
        until = max(until, process_time() + _GRACE)
        last: Relaxation | None = None
        for n_rows in _ROWS:
            self.pricing.rows = spread_out(len(self.pool.target), n_rows)
            for number, worth in enumerate(_WORTHS):
                self._report("linear", number, len(_WORTHS))
                found = self.pricing.optimum(worth, until)
                if found is None or self.best is not None:
                    return found or last
                last = found
                self._decide(self._chosen(last, self.settings.max_columns), until)
                if self.best is not None or not self.pricing.wrong(last).any():
                    return last
                if np.count_nonzero(last.weights) > 2 * WIDEST:
                    break
                self.pricing.add_rare_rows()
            if len(self.pricing.rows) == len(self.pool.target):
                break
        return last

    def _offer(self, terms: list[Term], weights: Floats, intercept: float) -> None:
        """Keep a fit if its weights are whole, match all rows and cost less than the best."""
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
        """Replace some terms by one while the cost decreases."""
        settings = self.settings
        while self.best is not None and process_time() < self.deadline:
            before = self.best
            options = exchanges(self.pool, before, products=settings.products, intercept=settings.intercept)
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

    def _chosen(self, last: Relaxation | None, most: int) -> list[Term]:
        """Columns for the integer programme: all if few, otherwise those of sparse fits and near them."""
        if self.pool.n_terms(self.settings.products) <= most:
            return self.pool.singles() + (self.pool.pairs() if self.settings.products else [])
        terms = dict.fromkeys(self.best.terms if self.best else ())
        terms.update(self.pricing.supports)
        duals = last.duals if last is not None and len(last.duals) == len(self.pricing.rows) else None
        return self._filled(terms, duals, most)

    def _nearby(self, best: Solution, width: int) -> list[Term]:
        """Columns that might replace some of a solution, priced as if it were the linear optimum."""
        self.pricing.join(best.terms)
        weights = dict(zip(best.terms, best.weights, strict=True))
        scale = np.array([abs(weights.get(term, 1.0)) for term in self.pricing.terms])
        rates = self.pool.rates(self.pricing.terms)
        found = self.pricing.solve(
            rates / scale,
            np.full(len(self.pricing.rows), _WORTHS[-1] / len(self.pricing.rows)),
            self.deadline,
        )
        return self._filled(dict.fromkeys(best.terms), None if found is None else found.duals, width)

    def _filled(self, terms: dict[Term, None], duals: Floats | None, most: int) -> list[Term]:
        if duals is not None:
            for products in (False, True)[: 1 + self.settings.products]:
                near = self.pool.attractive(
                    duals, self.pricing.rows, most, products=products, nonnegative=self.settings.nonnegative
                )
                # Half of the room is for single columns.
                room = (
                    most - len(terms) if products or not self.settings.products else (most - len(terms)) // 2
                )
                terms.update(dict.fromkeys([term for term in near if term not in terms][: max(0, room)]))
        return list(terms)[:most]

    def _decide(self, columns: list[Term], until: float) -> None:
        """Solve the integer programme over these columns, and update the bound."""
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
            self._report("columns", len(columns), len(columns))
            found = solve_integer(
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
                seconds=until - process_time(),
            )
            bound = (
                float(np.ceil(found.bound - 1e-6)) if integral and np.isfinite(found.bound) else found.bound
            )
            if found.weights is not None:
                used = np.flatnonzero(found.weights)
                self._offer([columns[i] for i in used], found.weights[used], found.intercept)
                errors = np.abs(table @ found.weights + found.intercept - pool.target)
                more = np.setdiff1d(np.flatnonzero(errors), basis)
                if len(more):  # the selected rows did not suffice
                    basis = np.append(basis, more[np.argsort(-errors[more], kind="stable")[:_MORE_ROWS]])
                    continue
            if most is None or within or np.isfinite(found.bound):
                if found.bound == np.inf or (self.best is not None and bound >= self.best.cost(pool)):
                    self._proved = set(columns)
                self.bound = max(0.0, min(bound, self.best.cost(pool))) if self.best is not None else 0.0
                return
            most = None

    def _report(self, stage: str, done: int, total: int) -> None:
        if self.settings.progress is not None:
            self.settings.progress(stage, done, total)
