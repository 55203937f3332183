"""Exact fits: planted ones are found, claims are checked independently, and impossible ones are told."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from distill.common import InputError
from distill.regression import fit_exact


def counted(n_rows, n_features, seed=0, n_objects=9):
    """Counts and indicators of overlapping sets of objects: correlated and nested, as in states."""
    rng = np.random.default_rng(seed)
    atoms = rng.random((n_rows, n_objects, 6)) < rng.uniform(0.15, 0.6, 6)
    atoms[:, :, 1] &= atoms[:, :, 0]
    columns = []
    for _ in range(n_features):
        first, second = rng.choice(6, 2, replace=False)
        inside = atoms[:, :, first] & (rng.random(n_objects) < 0.7)
        if rng.random() < 0.6:
            inside = inside & ~atoms[:, :, second] if rng.random() < 0.5 else inside | atoms[:, :, second]
        column = inside.sum(axis=1)
        columns.append(column > 1 if rng.random() < 0.3 else column)
    return np.column_stack(columns).astype(int), rng.integers(1, 9, n_features)


def summed(values, terms, weights, intercept=0):
    return intercept + sum(
        weight * values[:, list(term)].prod(axis=1) for term, weight in zip(terms, weights, strict=True)
    )


def price(terms, weights, intercept, sizes):
    written = sum(abs(weight) != 1 for weight in weights)
    return sum(sizes[list(term)].sum() + len(term) for term in terms) + written + 2 * (intercept != 0)


def is_consistent(found, values, target, sizes):
    """Whether what a result says of itself is so."""
    errors = np.abs(summed(values, found.terms, found.weights, found.intercept) - target)
    assert found.mae == pytest.approx(errors.mean())
    assert found.max_error == pytest.approx(errors.max())
    assert found.cost == pytest.approx(price(found.terms, found.weights, found.intercept, sizes))
    assert found.bound <= found.cost
    assert 0 <= found.gap <= 1
    assert all(found.weights)
    assert len(set(found.terms)) == len(found.terms)
    assert all(len(term) in (1, 2) and list(term) == sorted(set(term)) for term in found.terms)
    np.testing.assert_array_equal(found.wrong, np.flatnonzero(errors > 1e-6))
    if found.exact:
        assert not errors.any()
        assert all(isinstance(weight, int) for weight in (*found.weights, found.intercept))
    return True


def contradict(rows, values, target, products=True):
    """Whether least squares over all features and products cannot meet these rows."""
    part = values[rows].astype(float)
    columns = [np.ones(len(rows)), *part.T]
    if products:
        columns += [part[:, i] * part[:, j] for i, j in itertools.combinations(range(part.shape[1]), 2)]
    table = np.column_stack(columns)
    residual = table @ np.linalg.lstsq(table, target[rows], rcond=None)[0] - target[rows]
    return np.abs(residual).max() > 1e-6


def smallest(values, target, sizes, largest=2):
    """The least cost of an exact solution of at most two terms, by trying all."""
    n = values.shape[1]
    terms = [(i,) for i in range(n)] + list(itertools.combinations(range(n), 2))
    weights = [w for w in range(-largest, largest + 1) if w]
    costs = [np.inf]
    for count in range(3):
        for chosen in itertools.combinations(terms, count):
            for ws in itertools.product(weights, repeat=count):
                rest = np.unique(target - summed(values, chosen, ws))
                if len(rest) == 1:
                    costs.append(price(chosen, ws, rest[0], sizes))
    return min(costs)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_planted_sums_are_found(seed):
    values, sizes = counted(800, 120, seed)
    terms, weights = ((3,), (17,), (40, 71)), (2, -1, 1)
    target = summed(values, terms, weights, seed)
    found = fit_exact(values, target, sizes, max_columns=60)
    assert is_consistent(found, values, target, sizes)
    assert found.exact
    assert found.cost <= price(terms, weights, seed, sizes)


@pytest.mark.slow
def test_a_product_is_found_only_if_allowed():
    values, sizes = counted(400, 30, 5)
    target = values[:, 4] * values[:, 9] - values[:, 2]
    assert fit_exact(values, target, sizes, max_columns=40).exact
    found = fit_exact(values, target, sizes, products=False)
    assert not found.exact
    assert len(found.wrong)
    assert all(len(term) == 1 for term in found.terms)
    assert contradict(found.blocking, values, target, products=False)
    assert is_consistent(found, values, target, sizes)


def test_rows_that_block_contradict_each_other():
    values, sizes = counted(500, 10, 6)
    values = np.unique(values, axis=0)
    target = values[:, 0] + values[:, 1] + (np.arange(len(values)) == 7)
    found = fit_exact(values, target, sizes)
    assert not found.exact
    assert len(found.blocking)
    assert contradict(found.blocking, values, target)
    assert found.mae <= 1 / len(values) + 1e-9
    assert is_consistent(found, values, target, sizes)


def test_no_contradiction_is_claimed_where_real_weights_fit():
    values = np.arange(0, 40, 2)[:, None]
    found = fit_exact(values, values[:, 0] // 2, [3])
    assert not found.exact
    assert len(found.blocking) == 0
    assert found.weights == (0.5,)
    assert found.mae == 0


def test_equal_rows_with_different_targets_block():
    values, target = np.array([[1, 0], [2, 1], [1, 0], [3, 3]]), np.array([1, 2, 4, 3])
    found = fit_exact(values, target, [1, 1])
    assert not found.exact
    assert found.blocking.tolist() == [0, 2]


def test_row_numbers_are_those_given():
    values, target = np.array([[9], [1], [2], [1]]), np.array([0, 1, 2, 4])
    found = fit_exact(values, target, [1], weights=[0, 5, 1, 1])
    assert found.blocking.tolist() == [1, 3]
    assert found.wrong.tolist() == [3]
    assert found.mae == pytest.approx(3 / 7)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_tiny_pools_are_solved_to_the_optimum(seed):
    rng = np.random.default_rng(seed)
    values, sizes = rng.integers(0, 3, (rng.integers(3, 9), 4)), rng.integers(1, 5, 4)
    if rng.random() < 0.7:
        target = summed(values, [(0,), (1, 2)], rng.integers(-2, 3, 2), rng.integers(-1, 2))
    else:
        target = rng.integers(0, 4, len(values))
    found = fit_exact(values, target, sizes, largest_weight=2, max_terms=2)
    assert is_consistent(found, values, target, sizes)
    best = smallest(values, target, sizes)
    if np.isfinite(best):
        assert found.exact
        assert found.cost == found.bound == best


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_orders_do_not_matter(seed):
    values, sizes = counted(300, 40, seed)
    target = summed(values, [(1,), (2, 30)], [3, 1])
    found = fit_exact(values, target, sizes, max_columns=50)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(300), rng.permutation(40)
    other = fit_exact(values[rows][:, columns], target[rows], sizes[columns], max_columns=50)
    assert found.exact
    assert (other.exact, other.cost, other.bound) == (found.exact, found.cost, found.bound)
    again = fit_exact(values, target, sizes, max_columns=50)
    assert (again.terms, again.weights, again.intercept) == (found.terms, found.weights, found.intercept)


def test_of_equal_columns_the_smallest_is_taken():
    column = np.array([0, 1, 2, 5])
    assert fit_exact(np.column_stack([column] * 3), column, [4, 2, 2]).terms == ((1,),)


def test_signs_and_the_intercept_can_be_ruled_out():
    column = np.array([0, 1, 2, 3])
    values, sizes = np.column_stack([column, 3 - column]), np.array([1, 5])
    assert fit_exact(values, 3 - column, sizes).weights == (-1,)
    found = fit_exact(values, 3 - column, sizes, nonnegative=True)
    assert (found.terms, found.weights, found.cost) == (((1,),), (1,), 6)
    assert fit_exact(values, 3 - column, sizes, intercept=False).terms == ((1,),)
    found = fit_exact(column[:, None], column + 1, [1], intercept=False, nonnegative=True)
    assert not found.exact
    assert found.intercept == 0
    assert len(found.blocking)


def test_more_terms_only_where_needed():
    values = np.eye(6, dtype=int)
    target = np.array([1, 2, 3, 5, 8, 13])
    found = fit_exact(values, target, np.ones(6), max_terms=2, largest_weight=20, intercept=False)
    assert found.exact
    assert len(found.terms) == 6


@pytest.mark.slow
def test_time_runs_out():
    """However little is done in the time, the answer is consistent and no worse than a constant."""
    values, sizes = counted(3000, 600, 9)
    target = summed(values, [(1,), (2,), (3,), (4, 5), (6, 7), (8, 9)], [1, -2, 3, 1, -1, 2], 1)
    found = fit_exact(values, target, sizes, time_limit=1.0)
    assert is_consistent(found, values, target, sizes)
    assert found.mae <= np.abs(target - np.median(target)).mean()


def test_real_targets_are_approached():
    values, sizes = counted(500, 30, 3)
    noise = np.random.default_rng(0).normal(0, 0.01, 500)
    found = fit_exact(values, 2 * values[:, 3] + values[:, 8] + noise, sizes)
    assert not found.exact
    assert found.mae < 0.02
    assert len(found.terms) <= 30
    assert len(found.blocking) == 0


@pytest.mark.parametrize(("target", "cost"), [(0, 0), (7, 2)])
def test_constants_need_no_features(target, cost):
    for values in (np.zeros((5, 0)), np.arange(5)[:, None]):
        found = fit_exact(values, np.full(5, target), np.ones(values.shape[1]))
        assert found.exact
        assert found.terms == ()
        assert (found.intercept, found.cost, found.bound) == (target, cost, cost)


def test_progress_is_told():
    told = []
    fit_exact([[0], [1], [3]], [0, 2, 6], [1], progress=lambda *news: told.append(news))
    assert told
    assert all(0 <= done <= total for _, done, total in told)


@pytest.mark.parametrize(
    ("values", "target", "sizes", "message"),
    [
        (np.zeros((2, 0)), [1, 2], [], "no features"),
        ([[1], [2]], [1, 2], [1, 1], "sizes of shape"),
        ([[1], [2]], [1, 2], [0], "positive"),
        ([[1.5], [2]], [1, 2], [1], "whole numbers"),
        ([[np.nan], [2]], [1, 2], [1], "NaN"),
        ([[1], [2]], [1, 2, 3], [1], "must be equal"),
    ],
)
def test_what_cannot_be_used_is_said(values, target, sizes, message):
    with pytest.raises(InputError, match=message):
        fit_exact(values, target, sizes)


def test_limits_must_make_sense():
    with pytest.raises(InputError, match="at least 1"):
        fit_exact([[1], [2]], [1, 2], [1], max_terms=0)
