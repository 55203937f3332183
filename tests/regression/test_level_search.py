"""Levels of rankings, against exhaustive search and a direct reading of the definition."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from distill.explanations import descends
from distill.regression import distinct_changes, fit_levels


@st.composite
def problems(draw: st.DrawFn):
    """Small tables of changes, their sources, and which transitions are allowed or forbidden."""
    n_states, n_columns = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    source = sorted([*range(n_states), *draw(st.lists(st.integers(0, n_states - 1), max_size=6))])
    rows = st.lists(st.integers(-2, 2), min_size=n_columns, max_size=n_columns)
    changes = draw(st.lists(rows, min_size=len(source), max_size=len(source)))
    roles = draw(st.lists(st.sampled_from("afo"), min_size=len(source), max_size=len(source)))
    for state in range(n_states):  # each state has an allowed transition
        roles[source.index(state)] = "a"
    sizes = draw(st.lists(st.integers(1, 5), min_size=n_columns, max_size=n_columns))
    kinds = np.array(roles)
    return np.array(changes), sizes, np.array(source), kinds == "a", kinds == "f"


def is_right(levels, changes, source, allowed, forbidden) -> bool:
    """Whether an allowed transition of each state descends, and no forbidden one does."""
    columns = np.stack([sign * changes[:, column] for column, sign in levels], axis=1)
    falls = descends(np.zeros_like(columns), columns)
    return not (falls & forbidden).any() and set(source[falls & allowed]) == set(source)


def size_of(levels, sizes) -> int:
    return sum(sizes[column] + (sign < 0) for column, sign in levels)


@given(problems())
def test_lists_that_are_complete_are_right_and_as_small_as_any(problem) -> None:
    changes, sizes, source, allowed, forbidden = problem
    found = fit_levels(changes, sizes, source, allowed, forbidden, beam=10_000, depth=2)
    choices = [(column, sign) for column in range(len(sizes)) for sign in (1, -1)]
    every = [levels for n in (1, 2) for levels in itertools.permutations(choices, n)]
    right = [levels for levels in every if is_right(levels, changes, source, allowed, forbidden)]
    assert found.complete == bool(right)
    if right:
        assert is_right(found.levels, changes, source, allowed, forbidden)
        assert size_of(found.levels, sizes) == min(size_of(levels, sizes) for levels in right)


@given(problems())
def test_what_remains_is_what_no_allowed_transition_solves(problem) -> None:
    changes, sizes, source, allowed, forbidden = problem
    found = fit_levels(changes, sizes, source, allowed, forbidden, beam=1, depth=3)
    columns = np.zeros((len(source), 0))
    if found.levels:
        columns = np.stack([sign * changes[:, column] for column, sign in found.levels], axis=1)
    falls = descends(np.zeros_like(columns), columns)
    assert set(found.remaining) == set(source) - set(source[falls & allowed])
    assert not (falls & forbidden).any()


def test_a_forbidden_transition_is_excluded_by_an_earlier_level() -> None:
    changes = [[-1, 0], [-1, 1]]
    source, allowed, forbidden = [0, 0], [True, False], [False, True]
    assert fit_levels(changes, [1, 9], source, [1, 1], [0, 0]).levels == ((0, 1),)
    # No level separates the two but the second, and on that the allowed transition does not fall.
    assert fit_levels(changes, [1, 9], source, allowed, forbidden).levels == ()
    falling = [[-1, -1], [-1, 1]]
    assert fit_levels(falling, [1, 9], source, allowed, forbidden).levels == ((1, 1),)


def test_more_columns_than_fit_into_a_byte() -> None:
    changes = np.zeros((1, 17), dtype=int)
    changes[0, 16] = 5
    assert fit_levels(changes, [1] * 17, [0], [1], [0]).levels == ((16, -1),)


@pytest.mark.parametrize("sign", [1, -1])
def test_equal_changes_up_to_a_sign_are_one(sign: int) -> None:
    column = np.array([1, -3, 0])
    table = np.stack([column, sign * 2 * column, 0 * column], axis=1)
    assert distinct_changes(table, [5, 2, 1]) == [1]
