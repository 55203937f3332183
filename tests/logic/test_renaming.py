"""Renamed formulas say of renamed states what the original ones say."""

import pytest
from hypothesis import given, strategies as st

from distill.logic import Atom, Evaluator, Number, Role, parse, renamed
from distill.logic.notation.parser import parse_relation
from distill.structures import Predicate, Structures, Vocabulary
from tests.support.naive import comparisons, numbers, truths
from tests.support.strategies import WORDS, batches

formulas = st.one_of(truths, comparisons, numbers)
# Names may be new, or change places with each other.
others = st.permutations(["on", "clear", "x", "on_G", "a_G", "handempty", "p,q"]).map(
    lambda names: dict(zip([p.name for p in WORDS], names, strict=False))
)


def called(batch: Structures, names: dict[str, str]) -> Structures:
    words = Vocabulary(Predicate(names.get(p.name, p.name), p.arity, p.role) for p in batch.vocabulary)
    atoms = {names.get(name, name): rows for name, rows in batch.relations.items()}
    return Structures(words, len(batch), batch.state_of_object, atoms)


def value(batch, formula):
    evaluator = Evaluator(batch)
    ask = evaluator.number if isinstance(formula, Number) else evaluator.holds
    return ask(formula).tolist()


@given(formulas, others)
def test_there_and_back_gives_the_same_formula(formula, names):
    back = {new: name for name, new in names.items()}
    there = renamed(formula, names)
    assert renamed(there, back) is formula
    assert (there.size, there.depth, there.fragment) == (formula.size, formula.depth, formula.fragment)


@given(batches(), formulas, others)
def test_renamed_formulas_say_of_renamed_states_what_the_original_ones_say(batch, formula, names):
    assert value(called(batch, names), renamed(formula, names)) == value(batch, formula)


@given(batches(), formulas)
def test_two_predicates_may_get_one_name(batch, formula):
    """Then both are what this one is, though the formula may become shorter."""
    alike = Structures(
        WORDS, len(batch), batch.state_of_object, {**batch.relations, "on_G": batch.relations["on"]}
    )
    assert value(batch, renamed(formula, {"on_G": "on"})) == value(alike, formula)


@given(st.lists(formulas, min_size=2, max_size=4), others)
def test_what_is_known_of_other_formulas_changes_nothing(some, names):
    known: dict = {}
    for formula in some:
        assert renamed(formula, names, known) is renamed(formula, names)
    assert all(node in known for formula in some for node in formula.walk())


@given(formulas)
def test_names_that_are_missing_stay(formula):
    assert renamed(formula, {}) is formula
    assert renamed(formula, {"nobody": "clear"}) is formula


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("clear", "free"),
        ("clear_G & ~clear", "clear_G & ~free"),
        ("<on^-1+>clear > 1", "<clear^-1+>free > 1"),
        ("<on_G \\ on>top", "<on_G \\ clear>top"),
        ("#clear + 2*[#<between[0,2]>top > 1] - 3", "#free + 2*[#<between[0,2]>top > 1] - 3"),
        ("dist(clear, on, ~clear)", "dist(free, clear, ~free)"),
    ],
)
def test_by_hand(before, after):
    assert renamed(parse(before), {"clear": "free", "on": "clear"}) is parse(after)


def test_relations_are_renamed_and_operands_put_in_order():
    assert renamed(parse_relation("on+"), {"on": "under"}) is parse_relation("under+")
    assert renamed(Role("between", 2, 0), {"between": "among"}) is Role("among", 2, 0)
    assert renamed(parse("a & b"), {"a": "z"}) is parse("b & z")
    assert renamed(parse("a & b"), {"a": "b"}) is Atom("b")


def test_deep_formulas_are_renamed():
    assert renamed(parse("<on>" * 3_000 + "top"), {"on": "under"}) is parse("<under>" * 3_000 + "top")
