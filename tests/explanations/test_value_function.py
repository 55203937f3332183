"""Value functions from weights: what they evaluate to."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import distill.explanations.value_function as value_function
from distill.common import InputError
from distill.explanations import ValueFunction, has_integer_weights, weighted_sum
from distill.logic import Constant, Evaluator, Scaled, parse, weighted
from distill.planning import expand, problem_class
from distill.regression import fit_linear
from tests.support.naive import numbers
from tests.support.strategies import batches

FEATURES = [parse("#clear"), parse("#<on>clear"), parse("#<on_G>clear")]


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
    value = weighted_sum(features, fit.weights.tolist(), fit.intercept)
    terms = {number for one in features for _, number in weighted(one)}
    moved = 1e-6 * (1 + np.abs(table_of(batch, terms)).sum(axis=1))
    assert (np.abs(Evaluator(batch).number(value) - fit.predict(table)) <= moved).all()


@pytest.mark.parametrize(
    ("fit", "written"),
    [
        (([1 + 1e-9, 2.5, 1e-9], -3 - 1e-8), "#clear + 2.5*#<on>clear - 3"),
        (([0, 0, 0], 0), "0"),
        (([0, 0, 0], 4), "4"),
        (([0, 0, -1e-7], 1e-9), "0"),
        (([1e-5, 0, 0], 0), "1e-05*#clear"),
    ],
)
def test_weights_near_whole_numbers_become_them(fit, written):
    assert weighted_sum(FEATURES, *fit) == parse(written)


def test_no_tolerance_changes_nothing():
    value = weighted_sum(FEATURES, [1e-9, 0, 1 + 1e-9], 0, tolerance=0)
    assert value == parse(f"1e-09*#clear + {1 + 1e-9!r}*#<on_G>clear")


def test_equal_features_add_up_before_they_vanish():
    assert weighted_sum([FEATURES[0]] * 3, [0.1, 0.2, -0.3], 0) == Constant(0)
    assert weighted_sum([FEATURES[0]] * 2, [0.5, 0.5], 0) == FEATURES[0]
    both = parse("#clear + 2*#<on>clear + 1")
    assert weighted_sum([both, FEATURES[0]], [2, -2], 1) == parse("4*#<on>clear + 3")


def test_as_many_features_as_weights():
    with pytest.raises(InputError, match="3 features, but the fit has 2 weights"):
        weighted_sum(FEATURES, [1, 2], 0)


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


@pytest.mark.parametrize("cells", [1, 200, 1 << 31])
def test_values_and_bounds_do_not_depend_on_the_parts_of_a_set(cells: int, monkeypatch) -> None:
    data = expand(problem_class("blocks-clear").make("train")[1], 1000)
    function = ValueFunction(parse("2*#<on+>clear_G + #holding"), ())
    whole, bounds = function.values(data.structures()), function.bounds([data])
    assert len(np.unique(whole)) > 2
    assert bounds
    monkeypatch.setattr(value_function, "_CELLS", cells)
    assert np.array_equal(function.predict({"all": data, "none": data.pick([])})["all"], whole)
    assert function.bounds([data, data.pick([])]) == bounds
