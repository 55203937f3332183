"""Weights as whole numbers: what rounding may do."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from distill.common import InputError
from distill.regression import LinearFit, fit_linear, round_weights


def made(weights, intercept=0.0):
    return LinearFit(np.array(weights, dtype=float), intercept, 0.0, 0.0)


def test_rounding_repairs_what_descent_only_comes_near_to():
    rng = np.random.default_rng(0)
    table = rng.poisson(1.0, size=(800, 3))
    target = table @ [2, 0, 3] - 4
    fit = fit_linear(table, target, method="sgd")
    assert fit.max_error > 0
    found = round_weights(fit, table, target)
    assert found.max_error == 0
    assert (found.weights.tolist(), found.intercept) == ([2, 0, 3], -4)


def test_rounding_never_makes_it_worse():
    table, target = np.array([[0.0], [100], [200]]), np.array([0.0, 101, 202])
    fit = fit_linear(table, target, method="squares")
    found = round_weights(fit, table, target)
    assert found.weights[0] == pytest.approx(1.01)
    assert found.intercept == 0
    assert found.mae <= fit.mae + 1e-6


def test_what_can_be_rounded_is():
    table = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    target = table @ [1, 0.98] + 2
    found = round_weights(made([1.001, 0.98], 2.0), table, target)
    assert found.weights.tolist() == [1, 0.98]
    assert round_weights(made([0.4, 0.98]), table, target).weights[0] == 0.4


@given(st.lists(st.floats(-3, 3), min_size=3, max_size=3), st.floats(-3, 3))
def test_rounding_keeps_the_bounds(weights, intercept):
    rng = np.random.default_rng(0)
    table, target, counts = rng.poisson(1.0, size=(20, 3)), rng.integers(0, 6, 20), rng.integers(1, 4, 20)
    errors = np.abs(made(weights, intercept).predict(table) - target)
    found = round_weights(made(weights, intercept), table, target, counts, within=0.5)
    assert found.mae <= np.average(errors, weights=counts) + 1.01e-6
    assert found.max_error <= errors.max() + 1.01e-6
    assert (np.abs(found.weights - weights) <= 0.5).all()


def test_rounding_wants_the_same_features():
    with pytest.raises(InputError, match="2 features"):
        round_weights(made([1, 2]), [[1], [2]], [1, 2])
