"""Exchanged terms: what replaces some of a solution meets the target, and costs no more."""

import itertools

import numpy as np
import pytest

from distill.regression import ColumnPool, Solution
from distill.regression.exchange import exchanges


def made(seed: int, products: bool, intercept: bool) -> tuple[ColumnPool, Solution]:
    """A random pool, and a solution in it that is not the smallest."""
    random = np.random.default_rng(seed)
    values = random.integers(0, 4, (60, 7)).astype(float)
    values[:, 5] = values[:, 0] + values[:, 1]
    values[:, 6] = values[:, 2] * values[:, 3] - values[:, 4]
    target = 2 * values[:, 0] + 2 * values[:, 1] - values[:, 4] + 3 * intercept
    sizes = np.array([6.0, 7.0, 3.0, 3.0, 5.0, 8.0, 9.0])
    pool = ColumnPool(values, target, np.ones(60), sizes, intercept=intercept, products=products)
    place = {int(column): number for number, column in enumerate(pool.columns)}
    terms = tuple((place[column],) for column in (0, 1, 4))
    return pool, Solution(terms, (2, 2, -1), 3.0 * intercept)


def meets(pool: ColumnPool, terms: list[tuple[int, ...]], intercept: bool) -> bool:
    """Whether some real weights meet the target on all rows."""
    table = pool.table(terms)
    table = np.column_stack([table, np.ones(len(table))]) if intercept else table
    weights = np.linalg.lstsq(table, pool.target, rcond=None)[0]
    return bool(np.abs(table @ weights - pool.target).max() < 1e-6)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("products", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_all_exchanges_are_found_and_only_those(seed: int, products: bool, intercept: bool) -> None:
    """Against all ways to drop up to three terms and add one."""
    pool, solution = made(seed, products, intercept)
    assert meets(pool, list(solution.terms), intercept)
    every = pool.singles() + (pool.pairs() if products else [])
    limit = pool.prices(solution.terms).sum()
    expected = set()
    for count in (1, 2, 3):
        for dropped in itertools.combinations(solution.terms, count):
            kept = [term for term in solution.terms if term not in dropped]
            for term in every:
                terms = tuple(sorted({*kept, term}))
                cheap = len(terms) == len(kept) + 1 and pool.prices(terms).sum() <= limit
                if cheap and meets(pool, list(terms), intercept) and set(terms) != set(solution.terms):
                    expected.add(terms)
    found = [tuple(terms) for terms in exchanges(pool, solution, products=products, intercept=intercept)]
    assert set(found) == expected
    assert expected
    prices = [pool.prices(terms).sum() for terms in found]
    assert prices == sorted(prices)


def test_a_term_that_adds_nothing_is_dropped() -> None:
    random = np.random.default_rng(0)
    values = random.integers(0, 5, (40, 3)).astype(float)
    values[:, 2] = values[:, 0] + values[:, 1]
    pool = ColumnPool(values, values[:, 2], np.ones(40), np.ones(3), intercept=True, products=False)
    place = {int(column): number for number, column in enumerate(pool.columns)}
    solution = Solution(((place[0],), (place[1],), (place[2],)), (1, 1, 0), 0)
    found = exchanges(pool, solution, products=False, intercept=True)
    assert found[0] == [(place[2],)]
