"""Exports to dlplan, whose own evaluator is asked."""

import re

import pytest
from hypothesis import given, strategies as st

from distill.common import InputError
from distill.logic import dlplan_name, parse, syntax as fo, write_dlplan
from distill.structures import Predicate, Vocabulary
from tests.support.exports import (
    FORMULAS,
    by_dlplan,
    formulas,
    halved,
    marked,
    planning_states,
    rewritten,
    simple,
    values,
)
from tests.support.naive import relations, truths
from tests.support.strategies import WORDS, batches


def dlplan_has(formula: fo.Node) -> bool:
    if isinstance(formula, fo.Indicator):
        [formula] = formula.fields
    if formula is parse("[#handempty > 0]"):
        return True
    for node in formula.walk():
        match node:
            case fo.Atom() if node.fields[0] == "handempty":
                return False
            case fo.Modal() | fo.Compare() if node.fields[-1] > 0:
                return False
            case fo.Compare() if not isinstance(node.fields[0], fo.Count):
                return False
            case fo.Indicator() | fo.Constant() | fo.Scaled() | fo.Sum() | fo.Product():
                return False
    return True


@given(batches(min_objects=1), formulas)
def test_dlplan_agrees_or_refuses(batch, formula):
    if dlplan_has(formula):
        assert by_dlplan(batch, formula) == values(batch, formula)
    else:
        with pytest.raises(InputError, match="dlplan"):
            write_dlplan(formula, batch.vocabulary)


dlplan_formulas = st.one_of(
    truths,
    truths.map(fo.Count),
    st.builds(fo.Distance, truths, relations, truths),
    st.recursive(
        truths.map(fo.Count).map(fo.Compare),
        lambda c: st.one_of(c.map(fo.Not), st.builds(fo.And, c, c), st.builds(fo.Or, c, c)),
        max_leaves=3,
    ),
).map(lambda formula: rewritten(formula, simple))


@given(batches(min_objects=1), dlplan_formulas)
def test_dlplan_agrees(batch, formula):
    assert by_dlplan(batch, formula) == values(batch, formula)


@given(batches(min_objects=1), dlplan_formulas)
def test_dlplan_agrees_under_goal_marking(batch, formula):
    formula = rewritten(formula, halved)
    assert by_dlplan(marked(batch), formula) == values(marked(batch), formula)


@pytest.mark.parametrize("name", FORMULAS)
def test_dlplan_agrees_on_planning_states(name, training_set):
    batch = planning_states(name, training_set)
    for text in FORMULAS[name]:
        expected = values(batch, parse(text))
        assert by_dlplan(batch, parse(text)) == expected, text
        assert len(set(map(str, expected))) > 1, f"{text} is the same in all states, which tests nothing"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<on>clear > 1", "a modal with > 1"),
        ("[#clear > 2]", "a comparison with > 2"),
        ("2*#clear", "no scaled; write each feature"),
        ("#clear + 1", "no constant|no sum"),
        ("#clear * #<on>top", "no product"),
        ("[dist(clear, on, clear) > 0]", "compares no numbers"),
        ("clear & handempty", "no concept for handempty"),
        ("~[#handempty > 0]", "no concept for handempty"),
        ("<between_G,T[0,2]>clear", "two halves of a goal with 3 arguments"),
    ],
)
def test_what_dlplan_cannot_say(text, message):
    words = Vocabulary([*WORDS, Predicate("between_G,T", 3, "goal"), Predicate("between_G,F", 3, "goal")])
    with pytest.raises(InputError, match=message):
        write_dlplan(parse(text), words)


def test_names_in_dlplan():
    assert [dlplan_name(n) for n in ("on", "on_G", "on_nG", "at-robby")] == [
        "on",
        "on_g",
        "on_nG",
        "at-robby",
    ]
    assert write_dlplan(parse("clear_nG,T")) == "c_diff(c_primitive(clear_nG,0),c_primitive(clear,0))"
    for name in ("on_g", "_on", "on.2", "on,2"):
        with pytest.raises(InputError, match=re.escape(name)):
            write_dlplan(fo.Atom(name))
    assert write_dlplan(fo.Closure(fo.Role("on"))) == "r_transitive_closure(r_primitive(on,0,1))"
