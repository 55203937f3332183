"""Formulas as data: one object for equal ones, order, size, reading and writing."""

import json
import pickle

import pytest
from hypothesis import example, given, strategies as st

from distill.common import InputError
from distill.logic import ASCII, EMLC, from_json, parse, syntax as fo, to_json, write
from distill.logic.notation.parser import parse_relation
from tests.support.naive import comparisons, numbers, relations, truths

formulas = st.one_of(truths, comparisons, numbers)


@given(formulas)
@example(parse("<on>(<on>clear > 1)"))
@example(parse("<on>(<on>clear) > 1"))
@example(parse("<on>(~<on>clear) > 2"))
def test_what_is_written_is_read_again(formula):
    for style in (ASCII, EMLC):
        shown = write(formula, style)
        # A comparison that counts as a number is written as the comparison it is.
        assert parse(shown) is (formula.fields[0] if isinstance(formula, fo.Indicator) else formula), shown


@given(relations)
def test_relations_are_read_again(relation):
    assert parse_relation(write(relation)) is relation
    assert relation.inverse().inverse() is relation


@given(formulas)
def test_stored_formulas_are_the_same(formula):
    assert from_json(json.loads(json.dumps(to_json(formula)))) is formula
    assert pickle.loads(pickle.dumps(formula)) is formula  # noqa: S301


def test_equal_formulas_are_one_object_whatever_the_order():
    assert parse("clear & (b & a) & clear") is parse("(a & clear) & b")
    assert parse("a | b") is parse("b|a")
    assert write(parse("c & a & <on>top & b")) == "a & b & c & <on>top"


def test_formulas_cannot_be_changed():
    with pytest.raises(AttributeError):
        parse("clear").size = 3


@pytest.mark.parametrize(
    ("text", "size", "depth", "fragment"),
    [
        ("clear", 1, 0, "GC2"),
        ("clear_G & ~clear", 4, 0, "GC2"),
        ("<on>clear", 2, 1, "GC2"),
        ("<on^-1>(<on>clear > 1)", 4, 2, "GC2"),
        ("<on_G \\ on>top", 5, 1, "GC2"),
        ("<all>clear > 2", 3, 1, "C2"),
        ("<~on>clear", 3, 1, "C2"),
        ("<on+>clear", 3, 1, "BEYOND"),
        ("<between[0,2]>top", 2, 1, "BEYOND"),
        ("#clear", 2, 0, "C2"),
        ("[#clear > 1]", 3, 0, "C2"),
        ("#clear * #holding", 5, 0, "BEYOND"),
        ("dist(clear, on, holding)", 4, 0, "BEYOND"),
    ],
)
def test_size_depth_and_fragment(text, size, depth, fragment):
    formula = parse(text)
    assert (formula.size, formula.depth, formula.fragment.name) == (size, depth, fragment)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "Column 1: expected a formula, not the end."),
        ("clear &", "Column 8: expected a formula, not the end."),
        ("(clear", "Column 7: expected ')' for the bracket at column 1, not the end."),
        ("clear)", "Column 6: expected an operator or the end, not ')'."),
        ("<on clear", "Column 5: expected an operator or a closing bracket, not 'clear'."),
        ("<on>", "Column 5: expected a formula, not the end."),
        ("<>clear", "Column 2: expected a relation, not '>'."),
        ("clear ? holding", "Column 7: '?' has no meaning in a formula."),
        ("clear > 1", "Column 7: expected an operator or the end, not '>'."),
        ("<on>clear > -1", "Column 13: a threshold must be at least 0."),
        ("[#clear]", "Column 8: expected an operator or a closing bracket, not ']'."),
        ("[#clear > -2]", "Column 11: a threshold must be at least 0."),
        ("[#clear > 1.5]", "Column 11: expected a whole number of at most 9 digits, not '1.5'."),
        ("[#clear > x]", "Column 11: expected a number, not 'x'."),
        ("clear & [#clear > 1]", "A formula about objects and one about states cannot be joined"),
        ("#[#clear > 0]", "Only objects can be counted"),
        ("dist(clear, on)", "three arguments of dist"),
        ("dist(clear, on, a, b)", "three arguments of dist"),
        ("#clear & #a", "Column 8: & needs a formula, and this is a number."),
        ("~#clear", "Column 1: ~ needs a formula, and this is a number."),
        ("dist(#clear, on, a)", "needs a formula, and this is a number"),
        ("dist([#a > 0], on, a)", "A distance is between objects"),
        ("clear * a", "no number of a state; count it with #"),
        ("<between[1,1]>top", "must name two different arguments"),
        ("#-clear", "Column 2: expected a formula, not '-'."),
        ("2*#~-#clear", "Column 5: expected a formula, not '-'."),
        ("<on>-clear", "Column 5: expected a formula, not '-'."),
        ("<<on>>clear", "expected a relation, not '<'"),
    ],
)
def test_errors_say_where_and_what(text, told):
    with pytest.raises(InputError) as caught:
        parse(text)
    assert told in str(caught.value)


@given(st.text(alphabet="ab ~&|<>()[]#*+\\,^-1 23distopl", max_size=30))
def test_any_text_is_read_or_refused(text):
    try:
        formula = parse(text)
    except InputError:
        return
    assert isinstance(formula, fo.Node)


@pytest.mark.parametrize("before", ["~", "<on>", "("])
def test_deep_nesting_is_no_problem(before):
    deep = 10_000
    formula = parse(before * deep + "clear" + ")" * (deep if before == "(" else 0))
    assert formula.depth == (deep if before == "<on>" else 0)
    assert parse(write(formula)) is formula
    assert from_json(to_json(formula)) is formula


def test_deep_relations_are_no_problem():
    relation = parse_relation("(" * 5_000 + "on" + "+)" * 5_000)
    assert relation.inverse().inverse() is relation
    assert relation.guarded


@pytest.mark.slow
@pytest.mark.parametrize("sign", ["&", "|"])
def test_a_megabyte_is_read(sign):
    formula = parse(f" {sign} ".join(f"<on>p{number}" for number in range(80_000)))
    assert len(formula.fields) == 80_000


def test_bad_json_is_refused():
    for rows in ([], [["nothing"]], [["not", {"@": 3}]], [["atom"]], "text", [["modal", 1, 2, 3]]):
        with pytest.raises(InputError, match="holds no formula"):
            from_json(rows)
