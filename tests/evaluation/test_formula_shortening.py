"""Shorter formulas: they say the same on all states, whatever the search saw of them."""

import numpy as np
import pytest

from distill.common import InputError
from distill.evaluation import formula_shortening as shortening, shorten
from distill.logic import Evaluator, Number, parse, simplify
from distill.planning import expand, problem_class

FORMULAS = (
    "<on>top & (~clear | <on>top) & ~holding",
    "#(clear & <on>top & ~(holding & <on^-1>clear))",
    "[#(clear & ~ontable & ~holding) > 0] & ~[#(holding & top) > 1] | [#(clear & <on>top) > 0]",
    "2*#(clear & clear_G & ~(holding & ~clear)) + [#holding > 0] + 3",
    "<all>(clear & <on>top & ~ontable)",
    "<~on>(clear_G & ~clear) & (clear | ~clear)",
    "clear",
)


@pytest.fixture(scope="module")
def data():
    return expand(problem_class("blocks-clear").make("train")[3], 10_000)


def same(one, other, states) -> bool:
    evaluator = Evaluator(states)
    values = [
        evaluator.number(formula) if isinstance(formula, Number) else evaluator.holds(formula)
        for formula in (one, other)
    ]
    return bool((values[0] == values[1]).all())


@pytest.mark.parametrize("text", FORMULAS)
def test_a_shorter_formula_says_the_same_on_all_states(data, text) -> None:
    formula, states = parse(text), data.structures()
    found = shorten(formula, data, states)
    assert same(found.formula, formula, states)
    assert found.formula.size <= simplify(formula).size
    assert found.states == len(data)


def test_it_becomes_as_short_as_it_can(data) -> None:
    states = data.structures()
    assert shorten(parse(FORMULAS[0]), data, states).formula is parse("<on>top")
    # Whether a block that is clear stands on another is all that matters there.
    found = shorten(parse(FORMULAS[2]), data, states).formula
    assert found.size < simplify(parse(FORMULAS[2])).size


@pytest.mark.parametrize("marking", [False, True])
@pytest.mark.parametrize("text", FORMULAS[:4])
def test_states_that_the_search_did_not_see_correct_it(data, text, marking, monkeypatch) -> None:
    monkeypatch.setattr(shortening, "sample_evenly", lambda states, objects: np.array([0]))
    formula, states = parse(text), data.structures(goal_marking=marking)
    assert same(shorten(formula, data, states).formula, formula, states)


def test_without_corrections_only_laws_are_applied(data, monkeypatch) -> None:
    monkeypatch.setattr(shortening, "sample_evenly", lambda states, objects: np.array([0]))
    monkeypatch.setattr(shortening, "_ROUNDS", 1)
    formula = parse("<on><on>top & ~holding")
    assert shorten(formula, data, data.structures()).formula is simplify(formula)


def test_too_many_classes_are_thinned_out(data, monkeypatch) -> None:
    monkeypatch.setattr(shortening, "_ROWS", 10)
    formula, states = parse(FORMULAS[1]), data.structures()
    found = shorten(formula, data, states)
    assert found.classes <= 20
    assert same(found.formula, formula, states)


def test_what_classes_cannot_say_is_compared_on_objects(data) -> None:
    found = shorten(parse("<all>clear"), data, data.structures())
    assert found.are_objects
    assert "objects of the data, and the same in all" in found.sentence
    assert "classes of the data" in shorten(parse("clear"), data, data.structures()).sentence


def test_unknown_predicates_are_told(data) -> None:
    with pytest.raises(InputError, match="no predicate 'zap'"):
        shorten(parse("zap"), data, data.structures())
