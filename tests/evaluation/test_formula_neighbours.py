"""How formulas relate on data, against a slow and plain evaluation of each pair."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from distill.common import InputError
from distill.evaluation import (
    EQUAL,
    OPPOSITE,
    STRONGER,
    WEAKER,
    Neighbourhood,
    formula_neighbours as neighbours,
    sample_evenly,
)
from distill.logic import Count, Number, Role, parse
from distill.structures import Structures
from tests.support.naive import Naive, comparisons, numbers, truths
from tests.support.strategies import WORDS, batches

QUICK = settings(max_examples=60, deadline=None)


def slow(formula, states: Structures) -> list[float]:
    """What a formula says of each object, or of each state."""
    naive = Naive(states)
    if isinstance(formula, Number) or formula.of_state:
        return [float(naive.value(formula, state)) for state in range(len(states))]
    return [float(naive.holds(formula, x)) for x in range(states.n_objects)]


def related(one: list[float], other: list[float]) -> set[str]:
    """What the other is to the one."""
    found = set()
    pairs = list(zip(one, other, strict=True))
    truths = set(one) | set(other) <= {0.0, 1.0}
    constant = len(set(one)) == 1 or len(set(other)) == 1
    if one == other:
        found.add(EQUAL)
    if truths and all(a + b == 1 for a, b in pairs):
        found.add(OPPOSITE)
    if one != other and not constant and all(b >= a for a, b in pairs):
        found.add(WEAKER)
    if one != other and not constant and all(b <= a for a, b in pairs):
        found.add(STRONGER)
    return found


def check(formulas, formula, states) -> None:
    formulas = list(dict.fromkeys(formulas))
    found = Neighbourhood(formulas, states).of(formula)
    own = slow(formula, states)
    assert found.constant == (len(set(own)) <= 1)
    wanted = {
        (other, relation)
        for other in formulas
        if other is not formula and own
        for relation in related(own, slow(other, states))
    }
    assert {(one.formula, one.relation) for one in found.formulas} == wanted
    for one in found.formulas:
        assert one.apart == sum(a != b for a, b in zip(own, slow(one.formula, states), strict=True))
    kinds = [EQUAL, OPPOSITE, WEAKER, STRONGER]
    order = [(kinds.index(one.relation), one.apart) for one in found.formulas]
    assert order == sorted(order)


@given(states=batches(min_objects=1), formulas=st.lists(truths, min_size=1, max_size=6), formula=truths)
@QUICK
def test_formulas_about_objects(states, formulas, formula) -> None:
    check([*formulas, ~formula], formula, states)


@given(
    states=batches(min_objects=1),
    formulas=st.lists(st.one_of(numbers, comparisons), min_size=1, max_size=6),
    formula=st.one_of(numbers, comparisons),
)
@QUICK
def test_numbers_and_formulas_about_states(states, formulas, formula) -> None:
    check(formulas, formula, states)


def tower() -> Structures:
    return Structures(WORDS, 1, [0, 0, 0], {"on": [[0, 1], [1, 2]], "clear": [[0]]})


def test_objects_are_not_compared_with_numbers() -> None:
    found = Neighbourhood([parse("clear"), parse("#clear")], tower())
    assert [one.formula for one in found.of(parse("<on><on>top")).formulas] == [parse("clear")]
    assert [one.formula for one in found.of(parse("[#clear > 0]")).formulas] == [parse("#clear")]


def test_what_is_too_much_is_left_out(monkeypatch) -> None:
    monkeypatch.setattr(neighbours, "_PARTS", 5)
    large, small = parse("<on>(<on>(<on>clear & clear) > 1)"), [parse("clear"), parse("<on>clear")]
    found = Neighbourhood([large, *small], tower())
    assert (len(found), found.left_out) == (2, 1)
    monkeypatch.setattr(neighbours, "FORMULAS", 1)
    found = Neighbourhood(small, tower())
    assert (len(found), found.left_out) == (1, 1)


def test_bad_formulas_are_told() -> None:
    with pytest.raises(InputError, match="is a relation"):
        Neighbourhood([], tower()).of(Role("on"))
    with pytest.raises(InputError, match="no predicate 'zap'"):
        Neighbourhood([], tower()).of(parse("zap"))


def test_without_others_or_states_there_are_no_neighbours() -> None:
    assert Neighbourhood([], tower()).of(parse("clear")).formulas == ()
    nothing = Structures(WORDS, 0, [], {})
    assert Neighbourhood([parse("clear")], nothing).of(parse("<on>clear")).formulas == ()


@given(
    sizes=st.lists(st.integers(0, 9), max_size=60), at_most=st.integers(1, 80), objects=st.integers(1, 200)
)
@QUICK
def test_a_spread_is_even_and_small_enough(sizes, at_most, objects) -> None:
    states = Structures(WORDS, len(sizes), np.repeat(np.arange(len(sizes)), sizes), {})
    found = sample_evenly(states, at_most, objects)
    assert len(found) == len(set(found.tolist()))
    assert len(found) <= min(at_most, len(sizes))
    assert (np.diff(found) > 0).all()
    if sizes and at_most >= len(sizes) and sum(sizes) <= objects:
        assert found.tolist() == list(range(len(sizes)))
    if len(found) > 1:
        assert (found[0], found[-1]) == (0, len(sizes) - 1)
        assert np.ptp(np.diff(found)) <= 1


def test_counts_of_neighbours_are_neighbours_too() -> None:
    small, large = parse("<on>top & clear"), parse("<on>top")
    [found] = (
        Neighbourhood(
            [Count(large)],
            Structures(
                WORDS,
                2,
                [0, 0, 0, 1],
                {
                    "on": [[0, 1], [1, 2]],
                    "clear": [[0], [3]],
                },
            ),
        )
        .of(Count(small))
        .formulas
    )
    assert (found.relation, found.apart) == (WEAKER, 1)
