"""All short formulas are made, each once."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from distill.logic import (
    And,
    Evaluator,
    Language,
    Not,
    Or,
    QuotientEvaluator,
    Top,
    Truth,
    parse,
    short_formulas,
)
from distill.structures import Structures
from tests.support.small_states import FEW, joined, tower
from tests.support.strategies import wishes


def few(seed: int) -> Structures:
    """Two random states of four objects, described with three predicates."""
    random = np.random.default_rng(seed)
    pairs = np.array([[x, y] for x, y in itertools.product(range(8), repeat=2) if x // 4 == y // 4])
    atoms = {
        "clear": np.flatnonzero(random.random(8) < 0.5)[:, None],
        "on": pairs[random.random(len(pairs)) < random.choice([0.1, 0.3])],
        "clear_G": np.flatnonzero(random.random(8) < 0.4)[:, None],
    }
    return Structures(FEW, 2, np.repeat([0, 1], 4), atoms)


def everything(language: Language, largest: int) -> dict[Truth, int]:
    """All formulas up to a cost, also those that say the same."""
    cost = dict.fromkeys(language.concepts, 1)
    for price in range(2, largest + 1):
        before = list(cost.items())
        new = [Not(one) for one, own in before if own == price - 1]
        for modality in language.modalities:
            new += [modality.of(one) for one, own in before if own == price - modality.cost]
        for (one, first), (other, second) in itertools.product(before, repeat=2):
            if first + second + 1 == price:
                new += [And(one, other), Or(one, other)]
        for formula in new:
            cost.setdefault(formula, price)
    return cost


@settings(max_examples=40)
@given(wishes(max_objects=3, max_states=3), st.integers(0, 999), st.booleans())
def test_formulas_hold_where_they_say_and_no_two_are_alike(batch, seed, whole):
    quotient = joined(batch).quotient
    language = Language.of(quotient)
    train = np.random.default_rng(seed).random(len(language.holds)) < (1 if whole else 0.5)
    train[0] = True
    formulas, cost, holds = short_formulas(language, train, 4, 150)
    evaluator = QuotientEvaluator(quotient)
    assert holds.shape == (len(train), len(formulas))
    assert len(formulas) == len(cost) <= 150
    for formula, column in zip(formulas, holds.T, strict=True):
        assert np.array_equal(evaluator.holds(formula), column)
    assert cost == sorted(cost)
    assert set(cost) <= {1, 2, 3, 4}
    seen = holds[train].T
    assert len({column.tobytes() for column in seen}) == len(seen)
    assert all(column.any() for column in seen)


@pytest.mark.parametrize("seed", range(8))
def test_whatever_can_be_said_shortly_is_said_and_at_the_least_cost(seed):
    batch = few(seed)
    built = joined(batch)
    language, rows = Language.of(built.quotient), built.rows(batch, built.quotient.depth)
    evaluator, expected = Evaluator(batch), {}
    for formula, price in everything(language, 3).items():
        holds = evaluator.holds(formula)
        if holds.any():
            key = holds.tobytes()
            expected[key] = min(price, expected.get(key, price))
    _, cost, holds = short_formulas(language, np.ones(len(language.holds), dtype=bool), 3, 100_000)
    found = {column[rows].tobytes(): price for column, price in zip(holds.T, cost, strict=True)}
    assert found == expected


def test_by_hand():
    """A tower of four, of which the third is to be clear: each formula holds of another set of blocks."""
    language = Language.of(joined(tower()).quotient)
    every = np.ones(4, dtype=bool)
    formulas, cost, _ = short_formulas(language, every, 2, 100)
    assert set(formulas[: cost.index(2)]) == {Top(), parse("clear"), parse("clear_G")}
    texts = ["<on>top", "<on^-1>top", "<on^-1>clear", "<on>clear_G", "<on^-1>clear_G", "~clear_G"]
    # ~clear is the second, and missing clear_G is clear_G.
    named = {frozenset(np.flatnonzero(Evaluator(tower()).holds(parse(text))).tolist()) for text in texts}
    found = {
        frozenset(np.flatnonzero(Evaluator(tower()).holds(formula)).tolist())
        for formula in formulas[cost.index(2) :]
    }
    assert found == named
    assert len(found) == len(formulas) - 3


@pytest.mark.parametrize("at_most", [1, 2, 5, 12, 40])
def test_so_many_are_made_and_they_are_the_first(at_most):
    language = Language.of(joined(tower()).quotient)
    every = np.ones(4, dtype=bool)
    formulas, cost, holds = short_formulas(language, every, 6, 1000)
    some = short_formulas(language, every, 6, at_most)
    kept = min(at_most, len(formulas))
    assert some[0] == formulas[:kept]
    assert some[1] == cost[:kept]
    assert np.array_equal(some[2], holds[:, :kept])


def test_all_sets_of_blocks_of_a_tower_can_be_said_and_none_is_left_out():
    language = Language.of(joined(tower()).quotient)
    formulas, _, holds = short_formulas(language, np.ones(4, dtype=bool), 9, 1000)
    assert len(formulas) == len(np.unique(holds, axis=1).T) == 2**4 - 1


def test_what_trees_do_not_see_makes_no_difference_between_formulas():
    language = Language.of(joined(tower()).quotient)
    train = language.holds[:, language.concepts.index(parse("clear"))]
    formulas, cost, holds = short_formulas(language, train, 4, 1000)
    assert (len(formulas), cost, holds.shape) == (1, [1], (4, 1))
