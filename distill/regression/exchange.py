"""Exchanges: some terms of a solution replaced by a single one.

A term can replace the dropped ones if its residual after regression on the kept terms is a multiple of the
target's residual. A few matrix products test all terms at once.
"""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from distill.regression.column_pool import ColumnPool, Floats, Integers, Solution, Term, spread_out

_ROWS = 256  # on which terms are compared; the caller checks them on all
_DROPPED = 3  # largest number of dropped terms
_SAME = 1e-7  # tolerance for parallel residuals
_NOISE = 1e-7
_MOST = 60  # largest number of results


def exchanges(pool: ColumnPool, solution: Solution, *, products: bool, intercept: bool) -> list[list[Term]]:
    """Sets of terms that may match the target exactly at no higher cost; the cheapest first.

    Examples
    --------
    >>> first, second = np.array([0, 1, 0, 1, 2]), np.array([1, 1, 0, 0, 2])
    >>> values = np.column_stack([first, second, first + second]).astype(float)
    >>> sizes = np.array([3.0, 4.0, 5.0])
    >>> pool = ColumnPool(values, values[:, 2], np.ones(5), sizes, intercept=True, products=True)
    >>> exchanges(pool, Solution(((0,), (1,)), (1, 1), 0), products=True, intercept=True)
    [[(2,)]]
    """
    rows = spread_out(len(pool.target), _ROWS)
    price = pool.prices(solution.terms)
    found: dict[tuple[Term, ...], float] = {}
    for count in range(1, min(_DROPPED, len(price)) + 1):
        for dropped in combinations(range(len(price)), count):
            kept = [term for place, term in enumerate(solution.terms) if place not in dropped]
            before, saved = float(pool.prices(kept).sum()), float(price[list(dropped)].sum())
            for term, cost in _replacements(pool, rows, kept, saved, products, intercept):
                terms = tuple(sorted(kept if term is None else [*kept, term]))
                if set(terms) != set(solution.terms):
                    found[terms] = before + cost
    return [list(terms) for terms in sorted(found, key=lambda terms: (found[terms], terms))[:_MOST]]


def _replacements(
    pool: ColumnPool, rows: Integers, kept: list[Term], saved: float, products: bool, intercept: bool
) -> Iterator[tuple[Term | None, float]]:
    """Terms that explain the residual of the kept ones at no higher cost; None if there is no residual."""
    known = pool.table(kept, rows)
    known = np.column_stack([known, np.ones(len(known))]) if intercept else known
    basis = np.asarray(np.linalg.qr(known)[0])
    left = pool.target[rows] - basis @ (basis.T @ pool.target[rows])
    size = float(left @ left)
    if size < _NOISE:
        yield None, 0.0
        return
    singles = np.flatnonzero(pool.sizes + 1 <= saved)
    part = pool.values[np.ix_(rows, singles)]
    rest = (part**2).sum(axis=0) - ((basis.T @ part) ** 2).sum(axis=0)
    for place in np.flatnonzero(_parallel(left @ part, rest, size)).tolist():
        yield (int(singles[place]),), float(pool.sizes[singles[place]] + 1)
    if not products or not len(pool.sizes):
        return
    pairs = np.flatnonzero(pool.sizes + pool.sizes.min() + 2 <= saved)
    part = pool.values[np.ix_(rows, pairs)]
    squares = part**2
    rest = squares.T @ squares
    for axis in basis.T:
        rest -= (part.T @ (part * axis[:, None])) ** 2
    along = part.T @ (part * left[:, None])
    cost = pool.sizes[pairs][:, None] + pool.sizes[pairs][None] + 2
    for one, other in np.argwhere(np.triu(_parallel(along, rest, size) & (cost <= saved), 1)).tolist():
        yield (int(pairs[one]), int(pairs[other])), float(cost[one, other])


def _parallel(along: Floats, rest: Floats, size: float) -> NDArray[np.bool_]:
    """Where the part of a column that is left is a multiple of that of the target."""
    return (rest > _NOISE) & (along**2 >= (1 - _SAME) * size * rest)
