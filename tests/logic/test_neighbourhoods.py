"""What is two steps from given formulas holds where it says, is there once, and in its smallest form."""

import itertools

import numpy as np
from hypothesis import given, settings

from distill.logic import And, Language, Not, Or, QuotientEvaluator, Truth, neighbourhood, parse, unpack
from distill.structures import Quotient
from tests.support.small_states import joined, tower
from tests.support.strategies import wishes


def around(
    quotient: Quotient, words: list[Truth], largest: int = 12, at_most: int = 100_000
) -> tuple[list[Truth], np.ndarray]:
    language = Language.of(quotient)
    evaluator = QuotientEvaluator(quotient)
    begin = sorted({*words, *language.concepts})
    holds = np.stack([evaluator.holds(word) for word in begin], axis=1)
    formulas, bits = neighbourhood(begin, holds, language, largest, at_most)
    return formulas, unpack(bits, len(holds)).T


def one_step(language: Language, begin: set[Truth], words: set[Truth]) -> set[Truth]:
    found = {Not(one) for one in begin}
    found |= {modality.of(one) for modality in language.modalities for one in begin}
    for one, other in itertools.product(words, begin):
        found |= {And(one, other), Or(one, other), And(one, Not(other)), And(Not(one), other)}
    return begin | found


@settings(max_examples=25, deadline=None)
@given(wishes(max_objects=3, max_states=2))
def test_formulas_hold_where_they_say_and_no_two_are_alike(batch):
    quotient = joined(batch).quotient
    formulas, holds = around(quotient, [], largest=6)
    evaluator = QuotientEvaluator(quotient)
    for formula, column in zip(formulas, holds.T, strict=True):
        assert np.array_equal(evaluator.holds(formula), column)
    assert len(np.unique(holds, axis=1).T) == len(formulas)
    assert max(formula.size for formula in formulas) <= 6


def test_all_that_is_two_steps_away_is_there_in_a_form_that_is_no_larger():
    quotient = joined(tower()).quotient
    language, evaluator = Language.of(quotient), QuotientEvaluator(quotient)
    words = {parse("<on>clear_G"), *language.concepts}
    formulas, holds = around(quotient, list(words))
    size = {column.tobytes(): formula.size for formula, column in zip(formulas, holds.T, strict=True)}
    first = one_step(language, words, words)
    compared = 0
    for formula in one_step(language, first, words):
        where = evaluator.holds(formula)
        if formula.size <= 12 and where.any():
            compared += 1
            # An operand may have been replaced by a smaller one that holds of the same objects.
            assert size[where.tobytes()] <= formula.size
    assert compared


def test_small_ones_come_first_and_large_ones_not_at_all():
    quotient = joined(tower()).quotient
    formulas, _ = around(quotient, [], largest=12)
    sizes = [formula.size for formula in formulas]
    assert sizes == sorted(sizes)
    assert sizes[-1] > 3
    assert around(quotient, [], largest=12, at_most=7)[0] == formulas[:7]
    assert max(formula.size for formula in around(quotient, [], largest=3)[0]) == 3


def test_what_words_say_stays_sayable():
    quotient = joined(tower()).quotient
    word = parse("<on>~<on>~clear_G")
    formulas, _ = around(quotient, [word], largest=word.size)
    evaluator = QuotientEvaluator(quotient)
    same = [one for one in formulas if np.array_equal(evaluator.holds(one), evaluator.holds(word))]
    assert len(same) == 1
    assert same[0].size <= word.size
