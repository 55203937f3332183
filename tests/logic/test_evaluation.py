"""Evaluation of whole batches against an evaluator that goes object by object."""

import numpy as np
import pytest
from hypothesis import given

from distill.common import InputError
from distill.logic import Evaluator, parse
from distill.structures import Predicate, Structures, Vocabulary
from tests.support.naive import Naive, comparisons, numbers, truths
from tests.support.small_states import TOWER
from tests.support.strategies import batches


@given(batches(), truths)
def test_truth_of_objects(batch, formula):
    naive = Naive(batch)
    expected = [naive.holds(formula, x) for x in range(batch.n_objects)]
    assert Evaluator(batch).holds(formula).tolist() == expected


@given(batches(), comparisons)
def test_truth_of_states(batch, formula):
    naive = Naive(batch)
    expected = [bool(naive.value(formula, state)) for state in range(len(batch))]
    assert Evaluator(batch).holds(formula).tolist() == expected


@given(batches(), numbers)
def test_numbers_of_states(batch, feature):
    naive = Naive(batch)
    expected = [naive.value(feature, state) for state in range(len(batch))]
    assert Evaluator(batch).number(feature).tolist() == expected


@pytest.mark.parametrize(
    ("text", "objects"),
    [
        ("<on>top", [0, 1, 3]),
        ("<on^-1+>clear", [1, 2, 4]),
        ("<on+>top > 1", [0]),
        ("<on_G & on>top", [0]),
        ("<on+ & ~on>top", [0]),
        ("<on+ | on^-1>top > 1", [0, 1]),
        ("<~on+>top > 1", [1, 2, 4]),
        ("<on_G \\ on>top", [4]),
        ("<all>clear > 0 & ~clear", [1, 2, 4]),
        ("<id>clear", [0, 3]),
        ("<on*>~<on>top", [0, 1, 2, 3, 4]),
    ],
)
def test_by_hand(text, objects):
    assert np.flatnonzero(Evaluator(TOWER).holds(parse(text))).tolist() == objects


def test_distances_by_hand():
    evaluator = Evaluator(TOWER)
    assert evaluator.number(parse("dist(clear, on, ~<on>top)")).tolist() == [2, 1]
    assert evaluator.number(parse("dist(~<on>top, on, clear)")).tolist() == [0, 0]


def test_goals_are_the_union_of_their_marked_halves():
    words = Vocabulary([Predicate("clear", 1), Predicate("clear_G", 1, "goal")]).marked()
    batch = Structures(words, 1, [0, 0, 0], {"clear_G,T": [[0]], "clear_G,F": [[2]]})
    assert Evaluator(batch).holds(parse("clear_G")).tolist() == [True, False, True]
    assert Evaluator(batch).holds(parse("clear_G,F")).tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("cleer", "There is no predicate 'cleer'; did you mean clear?"),
        ("<holds>top", "There is no predicate 'holds'; choose from clear, on, between"),
        ("on", "on has 2 arguments, so it holds of no single object; use <on>."),
        ("<clear>top", "clear has 1 arguments, so there is no relation clear."),
        ("<between[0,3]>top", "there is no relation between[0,3]"),
        ("<between[0,1] & on>top", "counts atoms, so it cannot be combined"),
    ],
)
def test_words_that_do_not_fit_are_explained(text, told):
    with pytest.raises(InputError) as caught:
        Evaluator(TOWER).holds(parse(text))
    assert told in str(caught.value)


def test_deep_formulas_are_evaluated():
    formula = parse("~" * 5_000 + "<on>" * 2_000 + "top")
    assert not Evaluator(TOWER).holds(formula).any()
