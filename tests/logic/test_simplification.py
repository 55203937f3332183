"""Simplified formulas mean the same in every structure, are never larger, and stay as they are."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from distill.logic import Evaluator, parse, simplify, syntax as fo
from distill.logic.rewriting.entailment import entails
from tests.support.naive import (
    Naive,
    comparisons,
    numbers,
    relations,
    small_comparisons,
    small_truths,
    truths,
)
from tests.support.samples import more_examples
from tests.support.small_states import TOWER
from tests.support.strategies import batches

products = st.lists(
    st.one_of(
        small_comparisons.map(fo.Indicator),
        small_truths.map(fo.Count),
        st.just(fo.Indicator(parse("[#clear > 0]"))),
    ),
    min_size=1,
    max_size=3,
).map(lambda parts: fo.Product(*parts))
sums = st.lists(
    st.builds(fo.Scaled, st.integers(-4, 4), st.one_of(products, numbers)), min_size=1, max_size=3
).map(lambda parts: fo.Sum(*parts, fo.Constant(2)))


def is_shorter_and_final(formula):
    found = simplify(formula)
    assert found.size <= formula.size
    assert simplify(found) is found
    return found


@more_examples(4)
@given(batches(), st.one_of(truths, small_truths))
def test_truth_of_objects(batch, formula):
    naive, found = Naive(batch), is_shorter_and_final(formula)
    for x in range(batch.n_objects):
        assert naive.holds(found, x) == naive.holds(formula, x)


@more_examples(3)
@given(batches(), st.one_of(comparisons, small_comparisons))
def test_truth_of_states(batch, formula):
    naive, found = Naive(batch), is_shorter_and_final(formula)
    for state in range(len(batch)):
        assert bool(naive.value(found, state)) == bool(naive.value(formula, state))


@more_examples(4)
@given(batches(), st.one_of(numbers, products, sums))
def test_numbers_of_states(batch, formula):
    naive, found = Naive(batch), is_shorter_and_final(formula)
    for state in range(len(batch)):
        assert naive.value(found, state) == pytest.approx(naive.value(formula, state), rel=1e-9)


@given(
    batches(),
    st.one_of(products, sums.filter(lambda n: "." not in repr(n) and "e-" not in repr(n))),
    st.integers(0, 9),
)
def test_comparisons_of_sums(batch, number, threshold):
    formula = fo.Compare(number, threshold)
    naive, found = Naive(batch), is_shorter_and_final(formula)
    for state in range(len(batch)):
        assert bool(naive.value(found, state)) == bool(naive.value(formula, state))


@more_examples(3)
@given(batches(), relations)
def test_relations(batch, relation):
    found = is_shorter_and_final(relation)
    assert Naive(batch).pairs(found) == Naive(batch).pairs(relation)


@more_examples(4)
@given(batches(), small_truths, small_truths)
def test_what_follows(batch, strong, weak):
    if entails(strong, weak):
        naive = Naive(batch)
        assert all(naive.holds(weak, x) for x in range(batch.n_objects) if naive.holds(strong, x))


def test_a_conjunction_entails_its_parts():
    assert entails(parse("a & b"), parse("a"))
    assert not entails(parse("a"), parse("a & b"))


LAWS = [
    ("~~a", "a"),
    ("a & top", "a"),
    ("a & bot", "bot"),
    ("a | top", "top"),
    ("a | bot", "a"),
    ("a & ~a", "bot"),
    ("a | ~a | b", "top"),
    ("a & (a | b)", "a"),
    ("a | (a & b)", "a"),
    ("a & (~a | b)", "a & b"),
    ("a & ~(a & b)", "a & ~b"),
    ("a | (~a & b)", "a | b"),
    ("~a & ~b", "~(a | b)"),
    ("~a | ~b | c", "c | ~(a & b)"),
    ("~(~a & b)", "a | ~b"),
    ("~(a | b) & ~(a | c)", "~(a | b | c)"),
    ("(a & b) | (a & c)", "a & (b | c)"),
    ("(a | b) & (a | c)", "a | (b & c)"),
    ("(a & b) | (a & ~b)", "a"),
    ("(a & b & c & d) | (a & b & ~c) | e", "e | (a & b & (d | ~c))"),
    ("<r>a > 1 & <r>a > 3", "<r>a > 3"),
    ("<r>a > 1 | <r>a > 3", "<r>a > 1"),
    ("<r>a & ~<r>a", "bot"),
    ("<r>a > 2 & ~(<r>a > 1)", "bot"),
    ("<r>a > 1 | ~(<r>a > 2)", "top"),
    ("~(<r>a > 1) & ~(<r>a > 3)", "~(<r>a > 1)"),
    ("<id>a", "a"),
    ("<id>a > 1", "bot"),
    ("<id & r>a > 1", "bot"),
    ("<r>bot > 2", "bot"),
    ("<~all>a", "bot"),
    ("<r & ~r>a", "bot"),
    ("<all>top", "top"),
    ("<all><all>a", "<all>a"),
    ("<all>(<all>a > 2) > 1", "<all>a > 2"),
    ("<all>(<all>a > 1) > 2", "<all>(<all>a > 1) > 2"),
    ("<all>~<all>a", "~<all>a"),
    ("<r*>(<all>a & ~<all>b)", "<all>a & ~<all>b"),
    ("<r>a & <r>(a | b)", "<r>a"),
    ("<r>a | <r>b", "<r>(a | b)"),
    ("<r>a > 1 | <r>b > 1", "<r>a > 1 | <r>b > 1"),
    ("~<r>a & ~<r>b", "~<r>(a | b)"),
    ("<r & s>a > 1 & <r>a > 1", "<r & s>a > 1"),
    ("<r>a | <r & s>a", "<r>a"),
    ("<r>a > 1 & <r+>a > 1", "<r>a > 1 & <r+>a > 1"),
    ("<r+>a | <r>a", "<r+>a"),
    ("a | b | <r+>(a | b)", "<r*>(a | b)"),
    ("a & <r*>(a | b)", "a"),
    ("<r><r*>a", "<r+>a"),
    ("<r*><r+>a", "<r+>a"),
    ("<r+><r+>a", "<r+><r+>a"),
    ("<(r+)+>a", "<r+>a"),
    ("<(r*)+>a", "<r*>a"),
    ("<(r | id)+>a", "<r*>a"),
    ("<id | r+>a", "<r*>a"),
    ("<id+>a", "a"),
    ("<(r & ~r)*>a", "a"),
    ("<all*>a", "<all>a"),
    ("<r & all>a", "<r>a"),
    ("<r | all>a", "<all>a"),
    ("<(r & s) | r>a", "<r>a"),
    ("<~r & ~s>a", "<~(r | s)>a"),
    ("[#a > 1] & [#a > 3]", "[#a > 3]"),
    ("[#(a & b) > 1] | [#a > 1]", "[#a > 1]"),
    ("[#a > 0] | [#b > 0]", "[#(a | b) > 0]"),
    ("[#a > 2] & ~[#a > 1]", "[0 > 0]"),
    ("[#<all>a > 0]", "[#a > 0]"),
    ("[#top > 0]", "[#top > 0]"),
    ("[#bot > 0]", "[0 > 0]"),
    ("[2*#a + 3 > 8]", "[#a > 2]"),
    ("[#a + 3 > 2]", "[1 > 0]"),
    ("[-2*#a - #b > 0]", "[0 > 0]"),
    ("#(a & ~a)", "0"),
    ("#~~a + 2*#(a & top)", "3*#a"),
    ("[#a > 0] * [#a > 0] * #b", "[#a > 0] * #b"),
    ("[#a > 0] * #a", "#a"),
    ("[#a > 0] * [#a > 1] * #b", "[#a > 1] * #b"),
    ("[#bot > 0] * #b + 1", "1"),
    ("dist(a & b, r, a)", "0"),
    ("dist(~~a, (r & s) | r, b)", "dist(a, r, b)"),
]


@pytest.mark.parametrize(("text", "shorter"), LAWS)
def test_laws(text, shorter):
    assert simplify(parse(text)) is parse(shorter)


@pytest.mark.slow
def test_deep_formulas():
    nested = parse("clear")
    for number in range(10_000):
        nested = fo.Modal(fo.Role("on"), fo.Not(fo.Not(nested)), number % 3)
    found = simplify(nested)
    assert found.depth == 10_000
    assert found.size < nested.size
    alternating = parse("clear")
    for _ in range(10_000):
        alternating = parse("a") & (parse("b") | alternating)
    assert simplify(alternating) is parse("a & (b | clear)")
    everywhere = parse("clear")
    for _ in range(10_000):
        everywhere = fo.Modal(fo.Everything(), everywhere)
    assert simplify(everywhere) is parse("<all>clear")


@pytest.mark.slow
def test_wide_formulas():
    modals = [fo.Modal(fo.Role(f"r{i % 70}"), fo.Atom(f"a{i}"), i % 4) for i in range(5_000)]
    for join in (fo.And, fo.Or):
        wide = join(*modals, *(fo.Not(one) for one in modals[::2]))
        assert simplify(wide) in (fo.BOTTOM, fo.Top())
        wide = join(*modals)
        assert simplify(wide).size <= wide.size
    pairs = fo.Or(*(fo.And(fo.Atom(f"a{i // 2}"), fo.Atom(f"b{i}")) for i in range(5_000)))
    assert simplify(pairs).size == pairs.size - 2 * 2_500


def test_shared_parts_are_simplified_once():
    formula = parse("clear")
    for _ in range(300):  # written out it would have 2^300 symbols
        formula = fo.And(
            fo.Modal(fo.Role("on"), formula, 1), fo.Modal(fo.Role("on_G"), fo.Not(fo.Not(formula)), 1)
        )
    found = simplify(formula)
    assert found.size < formula.size
    assert np.array_equal(Evaluator(TOWER).holds(found), Evaluator(TOWER).holds(formula))
