"""Other solutions near one: some of its terms replaced by a single one.

A term can stand for the dropped ones if what the kept terms do not explain of it is a multiple of what they
do not explain of the target. For all terms at once this takes a few matrix products.
"""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from distill.regression.pool import Floats, Integers, Pool, Solution, Term, spread_out

_ROWS = 256  # on which terms are compared; who takes one checks it on all
_DROPPED = 3  # at most
_SAME = 1e-7  # how far from parallel residuals may be
_NOISE = 1e-7
_MOST = 60  # that are given


def exchanged(pool: Pool, solution: Solution, *, products: bool, intercept: bool) -> list[list[Term]]:
    """Terms that may meet the target as those of a solution do, and cost no more; the cheapest first.

    Examples
    --------
    >>> first, second = np.array([0, 1, 0, 1, 2]), np.array([1, 1, 0, 0, 2])
    >>> values = np.column_stack([first, second, first + second]).astype(float)
    >>> sizes = np.array([3.0, 4.0, 5.0])
    >>> pool = Pool(values, values[:, 2], np.ones(5), sizes, intercept=True, products=True)
    >>> exchanged(pool, Solution(((0,), (1,)), (1, 1), 0), products=True, intercept=True)
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
    pool: Pool, rows: Integers, kept: list[Term], saved: float, products: bool, intercept: bool
) -> Iterator[tuple[Term | None, float]]:
    """Terms that explain what the kept ones leave and cost no more than is saved; none if nothing is left."""
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
