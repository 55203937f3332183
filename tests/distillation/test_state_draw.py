"""Samples of states without replacement, from rows that stand for several states."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from distill.common import InputError
from distill.distillation.state_draw import StateDraw
from tests.support.learned_trees import built_from, states_of

SAMPLINGS = ("uniform", "spread", "informed")
numbers = st.lists(st.integers(0, 5), min_size=1, max_size=6).filter(any).map(np.array)


@given(numbers, st.integers(1, 40), st.sampled_from(SAMPLINGS), st.integers(0, 99))
def test_a_sample_has_min_of_s_and_n_states_and_none_twice(number, size, sampling, seed):
    draw = StateDraw(number, np.ones(len(number)))
    error = np.arange(len(number), dtype=float)
    found = draw.sample(size, sampling, np.random.default_rng(seed), lambda: error)
    assert found.sum() == min(size, number.sum())
    assert ((found >= 0) & (found <= number)).all()
    assert np.array_equal(found, draw.sample(size, sampling, np.random.default_rng(seed), lambda: error))


def frequencies(draw, size, sampling, errors=lambda: None, times=4000):
    random = np.random.default_rng(0)
    return Counter(tuple(draw.sample(size, sampling, random, errors).tolist()) for _ in range(times))


def test_uniform_samples_are_hypergeometric():
    # Two of the states a, a, a, b: three pairs with b, three without.
    found = frequencies(StateDraw(np.array([3, 1]), np.array([0.5, 1.0])), 2, "uniform")
    assert set(found) == {(2, 0), (1, 1)}
    assert found[2, 0] / 4000 == pytest.approx(0.5, abs=0.04)


def test_spread_samples_have_every_value_equally_likely():
    # 1/p(V*): three states of weight 1/3 each, and one of weight 1.
    found = frequencies(StateDraw(np.array([3, 1]), np.array([1 / 3, 1.0])), 1, "spread")
    assert found[1, 0] / 4000 == pytest.approx(0.5, abs=0.04)


def test_informed_samples_prefer_large_errors_and_are_uniform_without_errors():
    draw = StateDraw(np.array([1, 1]), np.ones(2))
    found = frequencies(draw, 1, "informed", lambda: np.array([9.0, 1.0]))
    assert found[1, 0] / 4000 == pytest.approx(9.05 / 10.1, abs=0.03)
    assert frequencies(draw, 1, "informed")[1, 0] / 4000 == pytest.approx(0.5, abs=0.04)
    assert frequencies(draw, 1, "informed", lambda: np.zeros(2))[1, 0] / 4000 == pytest.approx(0.5, abs=0.04)


def test_weights_are_inverse_frequencies_among_all_states():
    batch, v_star = states_of("gripper")
    built = built_from(batch, np.where(v_star == 3, -1, v_star))
    draw = StateDraw.of(built.quotient, "v_star")
    count = Counter(v_star.tolist())
    expected = np.array([1 / count[value] for value in v_star.tolist()])[v_star != 3]
    weight = draw.weight[built.state_row][v_star != 3]
    assert np.allclose(weight / weight[0], expected / expected[0])
    assert draw.number.sum() == (v_star != 3).sum()


def test_empty_samples_and_only_dead_ends_are_refused():
    with pytest.raises(InputError, match="at least 1 state, not 0"):
        StateDraw(np.array([1]), np.ones(1)).sample(0, "uniform", np.random.default_rng(0))
    batch, v_star = states_of("gripper")
    with pytest.raises(InputError, match="path to the goal"):
        StateDraw.of(built_from(batch, 0 * v_star - 1).quotient, "v_star")
