"""Which successors are best, by hand and held against a loop over transitions."""

import numpy as np
from hypothesis import given, strategies as st

from distill.structures import EQUAL, best_successors, greedy_successors

transitions = st.integers(1, 6).flatmap(
    lambda n: st.tuples(
        st.lists(st.sampled_from([0.0, 1.0, 1.0 + EQUAL / 2, 2.0]), min_size=n, max_size=n),
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=12),
    )
)


def test_best_successors_share_ties() -> None:
    value = [0.0, 2.0, 2.0005, 5.0]
    source, target = [3, 3, 3, 1], [1, 2, 3, 0]
    assert best_successors(value, source, target).tolist() == [True, False, False, True]
    assert best_successors(value, source, target, tie=1e-3).tolist() == [True, True, False, True]
    after = np.array(value)[target]
    assert best_successors(after, source).tolist() == [True, False, False, True]
    assert greedy_successors(value, source, target).tolist() == [3, 0]


def test_no_successor_is_best_where_one_has_no_value() -> None:
    assert best_successors([np.nan, 1.0, 2.0], [0, 0, 1]).tolist() == [False, False, True]
    assert best_successors([np.inf, np.inf], [0, 0]).tolist() == [True, True]


@given(transitions)
def test_they_are_those_that_a_loop_finds(drawn: tuple[list[float], list[tuple[int, int]]]) -> None:
    value, steps = drawn
    source, target = (np.array([step[end] for step in steps], dtype=int) for end in (0, 1))
    best, greedy = best_successors(value, source, target), greedy_successors(value, source, target)
    for number, (before, after) in enumerate(steps):
        least = min(value[end] for begin, end in steps if begin == before)
        assert best[number] == (value[after] <= least + EQUAL)
        first = next(i for i, (begin, end) in enumerate(steps) if begin == before and value[end] == least)
        assert (number in greedy) == (number == first)
    assert source[greedy].tolist() == sorted(set(source.tolist()))
