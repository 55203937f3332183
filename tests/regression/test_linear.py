"""Fits against scikit-learn, against themselves, and on rows that are hard or wrong."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from distill.common import InputError
from distill.regression import absolute, fit_linear
from distill.regression.absolute import least_absolute

METHODS = ("squares", "absolute", "sgd")
EXACT = ("squares", "absolute")
both = pytest.mark.parametrize("nonnegative", [False, True])
with_and_without = pytest.mark.parametrize("intercept", [False, True])


def random_rows(n_rows, n_features, seed=0):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n_rows, n_features)) * rng.uniform(0.1, 10, n_features)
    target = features @ rng.normal(size=n_features) + rng.standard_t(2, size=n_rows) - 3
    return features, target, rng.uniform(0.1, 5, n_rows)


def counted_rows(n_rows, n_features, seed=0):
    """Small counts with many equal rows, as states have them."""
    rng = np.random.default_rng(seed)
    features = rng.poisson(0.7, size=(n_rows, n_features)).astype(float)
    return features, features[:, 0] * 2 + features[:, -1] + rng.integers(0, 3, n_rows)


def objective(fit, features, target, weights=None):
    return float(np.average(np.abs(fit.predict(features) - target), weights=weights))


def reference_absolute(features, target, weights, intercept):
    linear_model = pytest.importorskip("sklearn.linear_model")
    model = linear_model.QuantileRegressor(quantile=0.5, alpha=0, fit_intercept=intercept)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(features, target, weights)
    return float(np.average(np.abs(model.predict(features) - target), weights=weights))


@both
@with_and_without
@pytest.mark.parametrize("n_rows", [200, 12])
def test_squares_are_those_of_scikit_learn(n_rows, nonnegative, intercept):
    linear_model = pytest.importorskip("sklearn.linear_model")
    features, target, weights = random_rows(n_rows, 8)
    fit = fit_linear(
        features, target, weights, method="squares", intercept=intercept, nonnegative=nonnegative
    )
    model = linear_model.LinearRegression(fit_intercept=intercept, positive=nonnegative)
    model.fit(features, target, weights)
    np.testing.assert_allclose(fit.weights, model.coef_, atol=1e-8)
    assert fit.intercept == pytest.approx(model.intercept_)


@with_and_without
def test_of_many_optimal_squares_the_smallest(intercept):
    linear_model = pytest.importorskip("sklearn.linear_model")
    features, target, weights = random_rows(30, 4)
    features = np.hstack([features, features[:, :2], 2 * features[:, 2:]])
    fit = fit_linear(features, target, weights, method="squares", intercept=intercept)
    model = linear_model.LinearRegression(fit_intercept=intercept).fit(features, target, weights)
    np.testing.assert_allclose(fit.weights, model.coef_, atol=1e-8)


@with_and_without
@pytest.mark.parametrize("rows", [random_rows(300, 6), (*counted_rows(400, 5), None)])
def test_absolute_error_is_that_of_scikit_learn(rows, intercept):
    features, target, weights = rows
    fit = fit_linear(features, target, weights, method="absolute", intercept=intercept)
    expected = reference_absolute(features, target, weights, intercept)
    assert fit.mae == pytest.approx(expected, rel=1e-7)
    assert fit.mae == pytest.approx(objective(fit, features, target, weights))


@both
@pytest.mark.parametrize("make", [random_rows, counted_rows])
def test_few_rows_inside_give_the_optimum_over_all(make, nonnegative, monkeypatch):
    features, target = make(3000, 6)[:2]
    weights = np.random.default_rng(1).integers(1, 50, 3000).astype(float)
    sizes = []
    whole = absolute._programme

    def watched(rows, *rest):
        sizes.append(len(rows))
        return whole(rows, *rest)

    monkeypatch.setattr(absolute, "_programme", watched)
    if make is counted_rows:
        target = target + np.arange(3000) % 7 / 8  # no two rows are equal
    found, constant = least_absolute(features, target, weights, intercept=True, nonnegative=nonnegative)
    assert sizes
    assert max(sizes) < 3000
    rows = np.column_stack([features, np.ones(3000)])
    price = np.append(np.full(6, 1e-12), 0.0)
    best = whole(rows, target, weights, price, nonnegative)
    error, least = (weights @ np.abs(target - rows @ one) for one in (np.append(found, constant), best))
    assert error == pytest.approx(least, rel=1e-9)


def test_a_bad_guess_costs_time_only(monkeypatch):
    features, target, weights = random_rows(3000, 4)
    expected = fit_linear(features, target, weights, method="absolute")
    monkeypatch.setattr(absolute, "_guess", lambda rows, *_: np.full(rows.shape[1], -100.0))
    found = fit_linear(features, target, weights, method="absolute")
    np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-9)


@both
@with_and_without
@pytest.mark.parametrize("n_rows", [80, 1500])
def test_descent_comes_near_the_optimum(n_rows, nonnegative, intercept):
    features, target, weights = random_rows(n_rows, 6)
    options = {"intercept": intercept, "nonnegative": nonnegative}
    least = fit_linear(features, target, weights, method="absolute", **options).mae
    fit = fit_linear(features, target, weights, method="sgd", **options)
    assert least * (1 - 1e-9) <= fit.mae <= 1.03 * least
    again = fit_linear(features, target, weights, method="sgd", **options)
    assert (again.weights == fit.weights).all()
    other = fit_linear(features, target, weights, method="sgd", seed=1, **options)
    assert (other.weights != fit.weights).any()


tables = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        hnp.arrays(np.float64, st.tuples(st.just(n), st.integers(0, 4)), elements=st.integers(-3, 3)),
        hnp.arrays(np.float64, n, elements=st.integers(-5, 5)),
        hnp.arrays(np.float64, n, elements=st.integers(1, 3)),
    )
)


@given(tables, st.sampled_from(EXACT), st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_counts_are_repeated_rows(rows, method, intercept, nonnegative):
    features, target, weights = rows
    options = {"method": method, "intercept": intercept, "nonnegative": nonnegative}
    fit = fit_linear(features, target, weights, **options)
    times = weights.astype(int)
    repeated = fit_linear(np.repeat(features, times, axis=0), np.repeat(target, times), **options)
    assert fit.mae == pytest.approx(repeated.mae, abs=1e-6)
    if method == "absolute":
        assert (fit.weights == repeated.weights).all()
        order = np.arange(len(target))[::-1]
        turned = fit_linear(features[order], target[order], weights[order], **options)
        assert (fit.weights == turned.weights).all()


@given(tables, st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_no_nearby_weights_are_better(rows, intercept, nonnegative):
    """The error is convex: what is best among all small steps is best."""
    features, target, weights = rows
    steps = np.random.default_rng(0).normal(size=(50, features.shape[1] + 1)) * 1e-2
    fit = fit_linear(
        features, target, weights, method="absolute", intercept=intercept, nonnegative=nonnegative
    )
    assert not nonnegative or (fit.weights >= 0).all()
    assert intercept or fit.intercept == 0
    for step in steps:
        near = fit.weights + step[:-1]
        near = np.maximum(near, 0) if nonnegative else near
        values = features @ near + fit.intercept + step[-1] * intercept
        assert np.average(np.abs(values - target), weights=weights) >= fit.mae - 1e-6


@both
@pytest.mark.parametrize("method", METHODS)
def test_scale(method, nonnegative):
    features, target, weights = random_rows(200, 5)
    scales = np.array([1e-3, 0.5, 1, 8, 1e3])
    fit = fit_linear(features, target, weights, method=method, nonnegative=nonnegative)
    scaled = fit_linear(features * scales, 100 * target, 7 * weights, method=method, nonnegative=nonnegative)
    np.testing.assert_allclose(scaled.weights * scales / 100, fit.weights, rtol=1e-6, atol=1e-9)
    assert scaled.intercept / 100 == pytest.approx(fit.intercept)
    assert scaled.mae / 100 == pytest.approx(fit.mae)


@both
@with_and_without
@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("n_rows", [60, 3000])
def test_whole_weights_come_back(n_rows, method, nonnegative, intercept):
    rng = np.random.default_rng(3)
    features = rng.poisson(1.0, size=(n_rows, 12)).astype(float)
    weights = np.array([3, 0, 1, 0, 0, 4, 2, 0, 0, 1, 0, 0]) * (1 if nonnegative else np.resize([1, -1], 12))
    fit = fit_linear(
        features,
        features @ weights - 7 * intercept,
        method=method,
        intercept=intercept,
        nonnegative=nonnegative,
    )
    np.testing.assert_allclose(fit.weights, weights, atol=1e-10)
    assert fit.intercept == pytest.approx(-7 * intercept, abs=1e-9)
    assert fit.max_error < 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_the_intercept_has_no_sign(method):
    features = np.arange(40.0)[:, None]
    fit = fit_linear(features, 2 * features[:, 0] - 9, method=method, nonnegative=True)
    assert fit.intercept == pytest.approx(-9, abs=0.1)
    fit = fit_linear(features, -features[:, 0] - 9, method=method, nonnegative=True)
    assert fit.weights.tolist() == [0]
    assert fit.intercept == pytest.approx(-28.5, abs=1)


@both
@pytest.mark.parametrize("method", METHODS)
def test_equal_and_constant_columns(method, nonnegative):
    column = np.resize([0.0, 1, 2, 5], 50)
    features = np.column_stack([column, column, np.full(50, 0.1), np.zeros(50)])
    fit = fit_linear(features, 2 * column + 1, method=method, nonnegative=nonnegative)
    assert fit.weights[:2].sum() == pytest.approx(2, abs=0.02)
    assert fit.weights[2:] == pytest.approx([0, 0], abs=1e-9)
    assert fit.mae < 0.02
    if method == "absolute":
        assert (fit.weights == 0).sum() == 3


@pytest.mark.parametrize("method", METHODS)
def test_constants(method):
    features = random_rows(20, 3)[0]
    fit = fit_linear(features, np.full(20, 4.1), method=method)
    assert fit.weights == pytest.approx([0, 0, 0], abs=1e-9)
    assert fit.intercept == pytest.approx(4.1)
    fit = fit_linear(features, np.zeros(20), method=method, intercept=False)
    assert fit.weights.tolist() == [0, 0, 0]
    assert fit_linear(np.full((20, 1), 0.1), np.full(20, 0.3), method=method).max_error < 1e-9
    fit = fit_linear(np.full((20, 1), 0.1), np.full(20, 0.3), method=method, intercept=False)
    assert fit.weights[0] == pytest.approx(3, rel=0.02)


@pytest.mark.parametrize("method", METHODS)
def test_no_features(method):
    target = np.array([1.0, 2, 10])
    fit = fit_linear(np.zeros((3, 0)), target, [1, 5, 1], method=method)
    assert fit.intercept == pytest.approx(3 if method == "squares" else 2)
    assert fit.predict(np.zeros((2, 0))).tolist() == [fit.intercept] * 2
    fit = fit_linear(np.zeros((3, 0)), target, method=method, intercept=False)
    assert (fit.intercept, fit.mae, fit.max_error) == (0, pytest.approx(13 / 3), 10)


@both
@pytest.mark.parametrize("method", EXACT)
def test_more_features_than_rows(method, nonnegative):
    features = np.abs(random_rows(5, 30)[0])
    fit = fit_linear(features, np.arange(5.0), method=method, nonnegative=nonnegative)
    assert fit.max_error < 1e-9
    if method == "absolute":
        assert (fit.weights != 0).sum() <= 5


@both
def test_features_without_anything_in_them(nonnegative):
    fit = fit_linear(
        np.zeros((3000, 2)), np.arange(3000.0), method="absolute", intercept=False, nonnegative=nonnegative
    )
    assert fit.weights.tolist() == [0, 0]


def test_heavy_rows_do_not_drown_light_ones():
    features, target = np.arange(6.0)[:, None], np.array([0.0, 1, 2, 3, 4, 9])
    fit = fit_linear(features, target, [1e5, 1, 1, 1, 1, 1], method="absolute")
    assert (fit.weights[0], fit.intercept) == (pytest.approx(1), pytest.approx(0, abs=1e-12))
    fit = fit_linear(features, target, [1e5, 1, 1, 1, 1, 1e5], method="absolute")
    assert fit.weights[0] == pytest.approx(1.8)


@pytest.mark.parametrize("method", METHODS)
def test_rows_without_weight_are_not_there(method):
    features, target, weights = random_rows(40, 3)
    weights[30:] = 0
    fit = fit_linear(features, target, weights, method=method)
    without = fit_linear(features[:30], target[:30], weights[:30], method=method)
    assert (fit.weights == without.weights).all()
    assert fit.max_error == without.max_error


@pytest.mark.parametrize(
    ("features", "target", "weights", "words"),
    [
        ([[1.0], [np.nan]], [1, 2], None, "features contain NaN"),
        ([[1.0], [2]], [1, np.inf], None, "target contain NaN"),
        ([[1.0], [2]], [1, 2], [1, np.nan], "row weights contain NaN"),
        (np.zeros((0, 3)), [], None, "nothing to fit"),
        ([[1.0], [2]], [1, 2], [0, 0], "nothing to fit"),
        ([[1.0], [2]], [1, 2, 3], None, "2 rows of features, 3 targets"),
        ([[1.0], [2]], [1, 2], [1, 2, 3], "3 row weights"),
        ([[1.0], [2]], [1, 2], [1, -1], "at least 0"),
        ([1.0, 2], [1, 2], None, "table"),
        ([[1.0], [2]], [[1], [2]], None, "table"),
        ([["a"], ["b"]], [1, 2], None, "not an array of numbers"),
        ([[1.0], [2, 3]], [1, 2], None, "not an array of numbers"),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_bad_rows(features, target, weights, words, method):
    with pytest.raises(InputError, match=words):
        fit_linear(features, target, weights, method=method)


def test_bad_settings():
    with pytest.raises(InputError, match="squares, absolute, sgd"):
        fit_linear([[1]], [1], method="cubes")
    with pytest.raises(InputError, match="at least 1 epoch"):
        fit_linear([[1]], [1], method="sgd", epochs=0)
    with pytest.raises(InputError, match="1 features"):
        fit_linear([[1]], [1], method="squares").predict([[1, 2]])
