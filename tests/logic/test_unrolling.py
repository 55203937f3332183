"""Bounded forms equal the formulas up to the bound, and one step less is too few."""

import contextlib

import pytest
from hypothesis import given, strategies as st

from distill.common import InputError
from distill.logic import MOST_STEPS, Evaluator, bounds_of, parse, syntax as fo, unroll, write_c2
from distill.logic.notation.c2_parser import parse_c2
from distill.structures import Predicate, Structures, Vocabulary
from tests.support.exports import values
from tests.support.naive import Naive, numbers, roles, truths, value_functions
from tests.support.strategies import batches

plain = st.recursive(
    roles,
    lambda r: st.one_of(
        r.map(fo.RelationNot), st.builds(fo.RelationAnd, r, r), st.builds(fo.RelationOr, r, r)
    ),
    max_leaves=3,
)
ends = st.sampled_from(["clear", "handempty", "<on>clear", "~clear", "<on_G>top", "top"]).map(parse)
CONSTRUCTS = {
    "one or more steps": st.builds(lambda r, f: fo.Modal(fo.Closure(r), f), plain, ends),
    "any number of steps": st.builds(lambda r, f: fo.Modal(fo.Closure(r, True), f), plain, ends),
    "a distance": st.builds(fo.Distance, ends, plain, ends),
    "a product": st.builds(lambda f, g: fo.Product(fo.Count(f), fo.Count(g)), ends, ends),
    "a comparison": st.builds(
        lambda f, g, t: fo.Indicator(fo.Compare(fo.Sum(fo.Count(f), fo.Scaled(-1, fo.Count(g))), t)),
        ends,
        ends,
        st.integers(0, 2),
    ),
}


def changed(batch, formula, most):
    """Whether the bounded form differs on a batch."""
    return values(batch, unroll(formula, most, counting=True).formula) != values(batch, formula)


@pytest.mark.parametrize("kind", CONSTRUCTS)
@given(st.data(), batches(min_objects=1, max_objects=5))
def test_a_bound_is_enough_and_the_least_one_for_paths(kind, data, batch):
    formula = data.draw(CONSTRUCTS[kind])
    bounds = bounds_of(formula, [batch], counting=True)
    most = max(bounds.values(), default=1)
    assert not changed(batch, formula, bounds)
    assert not changed(batch, formula, most)
    # all states of at most so many objects
    assert not changed(batch, formula, 5)
    used = unroll(formula, bounds, counting=True).bounds
    if most > 1 and used and kind not in ("a product", "a comparison"):
        assert changed(batch, formula, most - 1)


@given(batches(min_objects=1), st.one_of(truths, numbers, value_functions), st.booleans())
def test_any_formula_is_equal_up_to_the_bound_or_refused(batch, formula, counting):
    bounded = None
    with contextlib.suppress(InputError):
        bounded = unroll(formula, bounds_of(formula, [batch], counting=counting), counting=counting)
    if bounded is None:
        with pytest.raises(
            InputError, match=r"bounded form|bound for all parts|C2 compares whole numbers|cases"
        ):
            unroll(formula, bounds_of(formula, [batch], counting=counting), counting=counting)
        return
    expected = values(batch, formula)
    exact = not isinstance(formula, fo.Number)
    assert values(batch, bounded.formula) == (expected if exact else pytest.approx(expected))
    kinds = {type(node) for node in bounded.formula.walk()}
    assert not kinds & {fo.Closure, fo.Distance}
    assert not counting or fo.Product not in kinds
    if counting and not any(
        isinstance(node, fo.Role) and max(node.fields[1:]) > 1 for node in bounded.formula.walk()
    ):
        assert parse_c2(write_c2(bounded.formula)) is bounded.formula


TOWER = Structures(
    Vocabulary([Predicate("on", 2), Predicate("clear", 1), Predicate("low", 1)]),
    1,
    [0] * 6,
    {"on": [[n, n + 1] for n in range(5)], "clear": [[0], [2]], "low": [[5]]},
)


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("#<on+>low", 5),
        ("#<on*>low", 5),
        ("#<on+>clear", 2),
        ("#<(on*)+>low", 5),
        ("#<on^-1 | on+>low", 5),
        ("#<on^-1*>(clear & <on+>low)", 5),
        ("dist(clear, on, low)", 3),
        ("dist(~<on^-1>top, on*, low)", 5),
        ("[dist(clear, on, low) > 1]", 3),
        ("dist(low, on, clear)", 1),
        ("#clear * #<on>top", 2),
        ("[#<on>top - #clear > 3]", 2),
        ("dist(clear, on, low) * #clear", 3),
    ],
)
def test_bounds_by_hand(text, least):
    formula = parse(text)
    bounds = bounds_of(formula, [TOWER], counting=True)
    bounded = unroll(formula, bounds, counting=True)
    assert max(bounded.bounds.values()) == least
    assert values(TOWER, bounded.formula) == values(TOWER, formula)
    if least > 1:
        assert values(TOWER, unroll(formula, least - 1, counting=True).formula) != values(TOWER, formula)


def test_where_there_is_no_path_a_distance_is_0():
    formula = parse("dist(low, on, clear)")
    assert Evaluator(TOWER).number(formula).tolist() == [0]
    assert Evaluator(TOWER).number(unroll(formula, 4).formula).tolist() == [0]


def test_an_independent_evaluator_agrees():
    formula = parse("2*dist(clear, on, low) + #<on^-1+>clear")
    bounded = unroll(formula, 5).formula
    assert Naive(TOWER).value(bounded, 0) == Naive(TOWER).value(formula, 0) == 2 * 3 + 5


def test_the_chain_is_as_in_the_thesis():
    assert str(unroll(parse("<on+>clear"), 3).formula) == "<on>(clear | <on>(clear | <on>clear))"
    assert str(unroll(parse("<on*>clear"), 1).formula) == "clear | <on>clear"
    bounded = unroll(parse("#<on+>clear + dist(low, on, clear)"), 4)
    [chain] = bounded.chains  # both use the same one
    assert len(chain) == 4
    assert chain[0] is parse("<on>clear")


@pytest.mark.parametrize(
    "text",
    [
        "#<on+>clear",
        "#<on*>(clear | low)",
        "dist(low, on, clear)",
        "#clear * #low",
        "#<on+>(<low+>clear & low)",
    ],
)
def test_the_number_of_parts_grows_linearly(text):
    def parts(most):
        return sum(1 + len(node.parts) for node in unroll(parse(text), most, counting=True).formula.walk())

    assert 0 < parts(150) - parts(100) == parts(100) - parts(50) <= 20 * 50


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<on+ & on_G>clear", "in on_G & on+ the two ends of a path are compared in another way too"),
        ("<~on*>clear", "in ~on* the two ends of a path are compared in another way too"),
        ("<(on \\ on_G+)+>clear", "the two ends of a path are compared in another way too"),
        ("<on+>clear > 1", "it counts the ends of paths, and several paths may have the same end"),
        ("dist(clear, on | on_G+, clear)", "some of its steps are paths themselves"),
    ],
)
def test_what_has_no_bounded_form_is_refused_with_the_reason(text, reason):
    with pytest.raises(InputError) as caught:
        unroll(parse(text), 3)
    assert "has no bounded form" in str(caught.value)
    assert reason in str(caught.value)


@pytest.mark.parametrize("most", [0, -1, MOST_STEPS + 1, 1_000_000])
def test_bad_bounds(most):
    with pytest.raises(InputError, match=r"The bound of a bounded form is a number from 1 to 1,000, not"):
        unroll(parse("<on+>clear"), most)


def test_bounds_that_are_missing_and_forms_that_are_too_large():
    with pytest.raises(InputError, match=r"No bound of <on\+>clear is known; give one bound for all parts"):
        unroll(parse("<on+>clear"), {})
    with pytest.raises(InputError, match="C2 compares whole numbers of objects only"):
        unroll(parse("[0.5*#clear + #low > 2]"), 3, counting=True)
    with pytest.raises(InputError, match="more than 100,000 cases in C2, which is the limit"):
        unroll(parse("#a * #b * #c * #d"), 100, counting=True)
    nested = "clear"
    for number in range(6):
        nested = f"<r{number}+>{nested}"
    with pytest.raises(InputError, match="nested in 11,994 levels, and the limit is 10,000"):
        unroll(parse(nested), MOST_STEPS)


def test_conditions_name_each_bound():
    formula = parse("#<on+>clear + #clear * #low + dist(low, on, clear)")
    parts = parse("<on+>clear"), parse("#clear"), parse("dist(low, on, clear)")
    bounded = unroll(formula, dict(zip(parts, (2, 1, 5), strict=True)), counting=True)
    assert sorted(line.rstrip(",.") for line in bounded.conditions[1:]) == [
        "- #clear is at most 1",
        "- dist(low, on, clear) is at most 5",
        "- on+ leads to clear within 2 steps, wherever it leads there",
    ]
    assert unroll(parse("#clear"), 3).conditions == []
