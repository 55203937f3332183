"""Experiments with a value function: rows, hand-computed fits, edits that undo each other."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from distill.common import InputError
from distill.explanations import (
    Candidate,
    StateRows,
    candidates,
    edit_terms,
    editing as experiment,
    old_weights,
    refit_weights,
)
from distill.logic import parse

A = Candidate(parse("#a"))


def rows_of(columns: list[list[int]], v_star: list[int]) -> dict[str, StateRows]:
    return {"train": StateRows.of([np.array(column) for column in columns], np.array(v_star))}


def test_least_absolute_error_ignores_the_outlier_and_least_squares_does_not() -> None:
    rows = rows_of([[0, 1, 2, 3]], [1, 3, 5, 100])
    absolute = refit_weights(rows, [0], [A], None, "absolute")
    assert (absolute.weights.tolist(), absolute.constant) == ([2.0], 1.0)
    assert absolute.errors["train"] == experiment.SplitErrors(4, 93 / 4, 93.0, 1)
    assert absolute.whole
    # Slope: sum of (x - 1.5)(y - 27.25) over sum of (x - 1.5)^2 = 149.5 / 5; the line goes through the means.
    squares = refit_weights(rows, [0], [A], None, "squares")
    assert squares.weights == pytest.approx([29.9])
    assert squares.constant == pytest.approx(27.25 - 29.9 * 1.5)
    assert not squares.whole


def test_states_count_as_often_as_they_are_there() -> None:
    # Three states say 4 and one says 0, with the same features: the median is 4, the mean 3.
    rows = rows_of([[1, 1, 1, 1]], [4, 4, 4, 0])
    assert refit_weights(rows, [], [], None, "absolute").constant == 4
    assert refit_weights(rows, [], [], None, "squares").constant == 3
    assert refit_weights(rows, [], [], None, "absolute").errors["train"].wrong == 1


def test_states_without_v_star_take_no_part() -> None:
    rows = rows_of([[0, 1, 50]], [1, 3, -1])
    found = refit_weights(rows, [0], [A], None)
    assert found.value == parse("2*#a + 1")
    assert found.errors["train"].states == 2
    with pytest.raises(InputError, match="nothing to fit"):
        refit_weights(rows_of([[0, 1]], [-1, -1]), [0], [A], None)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 2), st.integers(-1, 4)), min_size=1, max_size=40),
    st.floats(-3, 3),
    st.floats(-3, 3),
)
def test_errors_on_rows_are_those_on_states(states, first, second) -> None:
    one, two, v_star = np.array(states).T
    rows = StateRows.of([one, two], v_star)
    grown = StateRows.of([one], v_star).more(two)
    known = v_star >= 0
    off = np.abs(first * one + second * two + 1 - v_star)[known]
    for kept in (rows, grown):
        found = kept.errors([0, 1], np.array([first, second]), 1.0)
        assert found.states == known.sum()
        if known.any():
            assert found.mae == pytest.approx(off.mean())
            assert found.max_error == pytest.approx(off.max())
            assert found.wrong == (off > experiment.EXACT).sum()
        assert (kept.values[kept.row_of] == np.column_stack([one, two])[known]).all()
        assert (kept.v_star[kept.row_of] == v_star[known]).all()
        assert (one[kept.first] == kept.values[:, 0]).all()
    assert len(rows.v_star) == len(grown.v_star) == len({tuple(s) for s in states if s[2] >= 0})


def test_a_term_that_is_removed_and_added_again_gives_the_function_back() -> None:
    value = parse("2*#a - 3*#b + 21")
    a, b = np.random.default_rng(0).integers(0, 6, (2, 50))
    rows = {"train": StateRows.of([b, a], 2 * a - 3 * b + 21)}
    without = edit_terms(value, [], [1])
    assert [one.number for one in without] == [parse("#a")]
    assert old_weights(value, without) is None
    assert refit_weights(rows, [1], without, None).errors["train"].wrong > 0
    again = edit_terms(value, [parse("#b")], [1])
    found = refit_weights(rows, [1, 0], again, old_weights(value, again))
    assert found.value == value
    # Without the old weights to start from, the fit alone finds them, too.
    assert refit_weights(rows, [1, 0], again, None).value == value


def test_old_weights_stay_where_no_others_are_better() -> None:
    # Twice the same column: infinitely many weights are exact.
    value = parse("2*#a + 1")
    features = edit_terms(value, [parse("#b")], [])
    rows = rows_of([[0, 1, 2], [0, 1, 2]], [1, 3, 5])
    found = refit_weights(rows, [0, 1], features, old_weights(value, features))
    assert found.as_before
    assert found.value == value
    worse = parse("7*#a")
    features = edit_terms(worse, [], [])
    assert not refit_weights(rows, [0], features, old_weights(worse, features)).as_before


def test_weights_become_whole_only_where_that_makes_nothing_worse() -> None:
    rows = rows_of([[0, 2, 4]], [0, 1, 2])
    found = refit_weights(rows, [0], [A], None)
    assert found.weights.tolist() == [0.5]
    assert found.exact
    assert not found.whole


def test_a_programme_that_would_take_long_becomes_least_squares(monkeypatch) -> None:
    monkeypatch.setattr(experiment, "LARGEST", 3)
    found = refit_weights(rows_of([[0, 1, 2, 3]], [1, 3, 5, 7]), [0], [A], None, "absolute")
    assert found.method == "squares"
    assert found.value == parse("2*#a + 1")


def test_splits_other_than_the_first_are_only_measured() -> None:
    rows = {**rows_of([[0, 1]], [0, 1]), "test": StateRows.of([np.array([5, 6])], np.array([5, 9]))}
    found = refit_weights(rows, [0], [A], None)
    assert found.errors["test"] == experiment.SplitErrors(2, 1.5, 3.0, 1)


def test_edits_name_terms_by_their_place_and_refuse_others() -> None:
    value = parse("2*#a - 3*#b + 1")
    assert [(one.place, one.weight) for one in candidates(value)[0]] == [(1, -3), (2, 2)]
    assert [one.number for one in edit_terms(value, [parse("#a"), parse("#c"), parse("#c")], [])] == [
        parse("#b"),
        parse("#a"),
        parse("#c"),
    ]
    for wrong in (0, 3):
        with pytest.raises(InputError, match=f"no term {wrong}"):
            edit_terms(value, [], [wrong])
