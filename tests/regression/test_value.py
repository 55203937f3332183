"""Value functions from fits: what they evaluate to, and what rounding may do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distill.errors import InputError
from distill.logic import Constant, Evaluator, Scaled, parse, weighted
from distill.regression import Fit, fit_linear, has_integer_weights, rounded, value_function
from tests.logic.naive import numbers
from tests.strategies import batches

FEATURES = [parse("#clear"), parse("#<on>clear"), parse("#<on_G>clear")]


def made(weights, intercept=0.0):
    return Fit(np.array(weights, dtype=float), intercept, 0.0, 0.0)


def table_of(batch, features):
    return np.column_stack([Evaluator(batch).number(one) for one in features])


@given(
    batches(),
    st.lists(numbers, min_size=1, max_size=4),
    st.sampled_from(["squares", "absolute"]),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_it_evaluates_to_the_predictions(batch, features, method, intercept, nonnegative):
    table = table_of(batch, features)
    target = np.random.default_rng(0).integers(0, 9, len(batch))
    fit = fit_linear(table, target, method=method, intercept=intercept, nonnegative=nonnegative)
    value = value_function(features, fit)
    terms = {number for one in features for _, number in weighted(one)}
    moved = 1e-6 * (1 + np.abs(table_of(batch, terms)).sum(axis=1))
    assert (np.abs(Evaluator(batch).number(value) - fit.predict(table)) <= moved).all()


@pytest.mark.parametrize(
    ("fit", "written"),
    [
        (made([1 + 1e-9, 2.5, 1e-9], -3 - 1e-8), "#clear + 2.5*#<on>clear - 3"),
        (made([0, 0, 0]), "0"),
        (made([0, 0, 0], 4), "4"),
        (made([0, 0, -1e-7], 1e-9), "0"),
        (made([1e-5, 0, 0]), "1e-05*#clear"),
    ],
)
def test_weights_near_whole_numbers_become_them(fit, written):
    assert value_function(FEATURES, fit) == parse(written)


def test_no_tolerance_changes_nothing():
    value = value_function(FEATURES, made([1e-9, 0, 1 + 1e-9]), tolerance=0)
    assert value == parse(f"1e-09*#clear + {1 + 1e-9!r}*#<on_G>clear")


def test_equal_features_add_up_before_they_vanish():
    assert value_function([FEATURES[0]] * 3, made([0.1, 0.2, -0.3])) == Constant(0)
    assert value_function([FEATURES[0]] * 2, made([0.5, 0.5])) == FEATURES[0]
    both = parse("#clear + 2*#<on>clear + 1")
    assert value_function([both, FEATURES[0]], made([2, -2], 1)) == parse("4*#<on>clear + 3")


def test_as_many_features_as_weights():
    with pytest.raises(InputError, match="3 features, but the fit has 2 weights"):
        value_function(FEATURES, made([1, 2]))


@pytest.mark.parametrize(
    ("value", "whole"),
    [
        (parse("#clear"), True),
        (parse("-3*#clear + #<on>clear - 2"), True),
        (Constant(2), True),
        (Constant(2.5), False),
        (parse("#clear + 0.5"), False),
        (Scaled(1e-9, FEATURES[0]), False),
        (parse("2*#clear + 1.5*#<on>clear"), False),
    ],
)
def test_integer_weights(value, whole):
    assert has_integer_weights(value) is whole


def test_rounding_repairs_what_descent_only_comes_near_to():
    rng = np.random.default_rng(0)
    table = rng.poisson(1.0, size=(800, 3))
    target = table @ [2, 0, 3] - 4
    fit = fit_linear(table, target, method="sgd")
    assert fit.max_error > 0
    found = rounded(fit, table, target)
    assert found.max_error == 0
    assert value_function(FEATURES, found) == parse("2*#clear + 3*#<on_G>clear - 4")


def test_rounding_never_makes_it_worse():
    table, target = np.array([[0.0], [100], [200]]), np.array([0.0, 101, 202])
    fit = fit_linear(table, target, method="squares")
    found = rounded(fit, table, target)
    assert found.weights[0] == pytest.approx(1.01)
    assert found.intercept == 0
    assert found.mae <= fit.mae + 1e-6


def test_what_can_be_rounded_is():
    table = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    target = table @ [1, 0.98] + 2
    found = rounded(made([1.001, 0.98], 2.0), table, target)
    assert found.weights.tolist() == [1, 0.98]
    assert rounded(made([0.4, 0.98]), table, target).weights[0] == 0.4


@given(st.lists(st.floats(-3, 3), min_size=3, max_size=3), st.floats(-3, 3))
def test_rounding_keeps_the_bounds(weights, intercept):
    rng = np.random.default_rng(0)
    table, target, counts = rng.poisson(1.0, size=(20, 3)), rng.integers(0, 6, 20), rng.integers(1, 4, 20)
    errors = np.abs(made(weights, intercept).predict(table) - target)
    found = rounded(made(weights, intercept), table, target, counts, within=0.5)
    assert found.mae <= np.average(errors, weights=counts) + 1.01e-6
    assert found.max_error <= errors.max() + 1.01e-6
    assert (np.abs(found.weights - weights) <= 0.5).all()


def test_rounding_wants_the_same_features():
    with pytest.raises(InputError, match="2 features"):
        rounded(made([1, 2]), [[1], [2]], [1, 2])
