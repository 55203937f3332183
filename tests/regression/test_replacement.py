"""Replaced terms: all cheap exact solutions with up to three new terms are found, and nothing else."""

import itertools

import numpy as np
import pytest

from distill.regression import ColumnPool, Replacement, Solution


def made(seed: int, intercept: bool) -> tuple[ColumnPool, Solution]:
    """A random pool with many exact solutions, and one of four terms that is not the smallest."""
    random = np.random.default_rng(seed)
    values = random.integers(0, 4, (60, 8)).astype(float)
    values[:, 5] = values[:, 0] + values[:, 1]
    values[:, 6] = values[:, 2] * values[:, 3]
    values[:, 7] = 2 * values[:, 5] - values[:, 6]
    target = 2 * values[:, 0] + 2 * values[:, 1] - values[:, 2] * values[:, 3] + values[:, 4] + 3 * intercept
    sizes = np.array([6.0, 7.0, 3.0, 4.0, 5.0, 8.0, 9.0, 10.0])
    pool = ColumnPool(values, target, np.ones(60), sizes, intercept=intercept, products=False)
    place = {int(column): number for number, column in enumerate(pool.columns)}
    terms = [(place[0],), (place[1],), tuple(sorted((place[2], place[3]))), (place[4],)]
    weights = dict(zip(terms, (2, 2, -1, 1), strict=True))
    return pool, Solution(tuple(sorted(terms)), tuple(weights[term] for term in sorted(terms)), 3 * intercept)


def every_solution(pool: ColumnPool, intercept: bool, most: float) -> set[tuple[tuple[int, ...], ...]]:
    """The terms of all exact solutions of up to three terms with small whole weights, by trying all."""
    cheapest = {}
    for term in sorted(pool.singles() + pool.pairs(), key=lambda one: -pool.prices([one])[0]):
        cheapest[pool.table([term]).tobytes()] = term
    found = set()
    for count in (1, 2, 3):
        for terms in itertools.combinations(cheapest.values(), count):
            table = pool.table(terms)
            table = np.column_stack([table, np.ones(len(table))]) if intercept else table
            if np.linalg.matrix_rank(table) < table.shape[1]:
                continue
            weights = np.rint(np.linalg.lstsq(table, pool.target, rcond=None)[0])
            used = weights[: len(terms)]
            solution = Solution(terms, tuple(used), float(weights[-1]) if intercept else 0)
            small = used.all() and np.abs(used).max() <= 2
            if small and not (table @ weights - pool.target).any() and solution.cost(pool) <= most:
                found.add(tuple(sorted(terms)))
    return found


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_all_solutions_of_three_terms_are_found(seed: int, intercept: bool) -> None:
    pool, solution = made(seed, intercept)
    most = solution.cost(pool)
    replacement = Replacement(pool, intercept=intercept, nonnegative=False)
    found = replacement.near([solution], most)
    expected = every_solution(pool, intercept, most)
    assert len(expected) >= 2
    assert expected <= {one.terms for one in found}
    for one in found:
        assert np.array_equal(one.values(pool), pool.target)
        assert one.cost(pool) <= most
    assert solution in found
    assert [replacement.rank(one) for one in found] == sorted(map(replacement.rank, found))
    assert found[0].cost(pool) < most


def test_terms_that_are_kept_may_change_their_weights() -> None:
    """No solution of at most three terms: three are new, one stays with another weight."""
    random = np.random.default_rng(1)
    values = random.integers(0, 9, (80, 8)).astype(float)
    whole = values[:, 0] + values[:, 1] + values[:, 2] + values[:, 3]
    values[:, 7] = values[:, 1] + values[:, 2] + values[:, 3] - 2 * values[:, 0]
    pool = ColumnPool(values, whole, np.ones(80), np.full(8, 5.0), intercept=True, products=False)
    place = {int(column): number for number, column in enumerate(pool.columns)}
    terms = tuple(sorted((place[number],) for number in range(4)))
    found = Replacement(pool, intercept=True, nonnegative=False).near([Solution(terms, (1,) * 4, 0)], 30)
    best = {
        (int(pool.columns[term[0]]), weight)
        for term, weight in zip(found[0].terms, found[0].weights, strict=True)
    }
    assert best == {(0, 3), (7, 1)}


def test_weights_that_must_not_be_negative_are_not() -> None:
    pool, solution = made(0, True)
    most = solution.cost(pool)
    free = Replacement(pool, intercept=True, nonnegative=False)
    start = next(one for one in free.near([solution], most) if min(one.weights) >= 0)
    found = free.near([start], most)
    bound = Replacement(pool, intercept=True, nonnegative=True).near([start], most)
    assert any(min(one.weights) < 0 for one in found)
    assert bound == [one for one in found if min(one.weights) >= 0]


def test_of_equal_cost_the_simplest_weights_come_first() -> None:
    first, second = np.array([0.0, 1, 2, 0, 1]), np.array([0.0, 0, 1, 2, 2])
    values = np.column_stack([first, second, 3 - first, first + second])
    pool = ColumnPool(
        values, values[:, 3], np.ones(5), np.array([3.0, 3, 3, 30]), intercept=True, products=False
    )
    place = {int(column): number for number, column in enumerate(pool.columns)}
    negative = Solution(tuple(sorted([(place[1],), (place[2],)])), (1, -1), 3)
    if pool.columns[negative.terms[0][0]] == 2:
        negative = Solution(negative.terms, (-1, 1), 3)
    found = Replacement(pool, intercept=True, nonnegative=False).near([negative], 10)
    assert {pool.columns[term[0]] for term in found[0].terms} == {0, 1}
    assert (found[0].weights, found[0].intercept) == ((1, 1), 0)


def test_what_else_is_in_the_pool_does_not_decide_between_equals() -> None:
    """Two sums of equal cost and equal weights: the same one comes first in any pool, in any order."""
    random = np.random.default_rng(5)
    values = random.integers(0, 5, (50, 9)).astype(float)
    values[:, 3] = values[:, 0] + values[:, 1] - values[:, 2]
    target = values[:, 0] + values[:, 1]
    first = set()
    for seed in range(6):
        others = np.random.default_rng(seed).permutation(np.arange(4, 9))[:seed]
        columns = np.random.default_rng(seed).permutation(np.append(np.arange(4), others))
        rows = np.random.default_rng(seed).permutation(50)
        table = values[rows][:, columns]
        sizes = np.full(len(columns), 4.0)
        pool = ColumnPool(table, target[rows], np.ones(50), sizes, intercept=True, products=False)
        place = {int(columns[column]): number for number, column in enumerate(pool.columns)}
        begin = Solution(tuple(sorted([(place[0],), (place[1],)])), (1, 1), 0)
        found = Replacement(pool, intercept=True, nonnegative=False).near([begin], begin.cost(pool))
        assert len(found) == 2
        first.add(frozenset(int(columns[pool.columns[term[0]]]) for term in found[0].terms))
    assert len(first) == 1
