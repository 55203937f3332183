"""C2 with definitions: written, read again, and written by people."""

import pytest
from hypothesis import example, given, strategies as st

from distill.common import InputError
from distill.logic import define_shared, parse, read_formula, syntax as fo, unroll
from distill.logic.notation.defined_parser import parse_defined
from tests.support.exports import in_c2
from tests.support.naive import numbers, sharing

in_two_variables = st.one_of(numbers, sharing()).filter(in_c2)


@given(in_two_variables)
@example(
    parse("#(<on>clear & ~<on & on_G>top) + 2*#(<on>clear | <on^-1 & on_G^-1>clear > 1) + #<on & on_G>clear")
)
@example(parse("[#<all>clear > 1] + 2*[#<all>clear > 1] - #<on><all>clear + #~<all>clear"))
@example(parse("#(A & <B>C) + 2*#(A & <B>C) + #<B>(A & <B>C)"))
@example(parse("([#clear > 0] & [#<on>top > 2]) + 3*(~[#<on>top > 2] & [#clear > 1]) + [#<on>top > 2]"))
def test_what_is_written_is_read_again(value):
    function = define_shared(value)
    shown = function.written_c2()
    assert parse_defined(shown) is value, shown
    assert read_formula(f"; a comment\n{shown}") is value
    latex = function.written_c2(latex=True)
    assert latex.count(":=") == shown.count(":=") == len(function.definitions)


def test_all_kinds_of_names():
    relation = "<on_G & ~on>clear"
    value = parse(
        f"#(clear & {relation}) + 2*#<on>{relation} + 3*#<(on_G & ~on)^-1>holding"
        " + ([#holding > 1] & [#ontable > 1]) + 5*([#holding > 1] & [#ontable > 1] & [#clear > 0])"
        f" + 7*#(<ontable2>{relation} & ~clear) + 9*#<(on_G & ~on)^-1>(clear & <on_G & ~on>holding)"
    )
    shown = define_shared(value).written_c2()
    assert "(x, y) := on_G(x, y) ∧ ¬on(x, y)" in shown
    assert "(x) := ∃y (" in shown
    assert " := ∃≥2 x holding(x)\n" in shown
    assert read_formula(shown) is value


def test_as_people_write_it():
    text = """
    ; blocks above the goal
    above(u) := exists v (on(u, v) & clear_G(v))
    bad(v) := above(v) & ~clear(v)
    misplaced(x, y) := on_G(x, y) & ~on(x, y)
    turned(y, x) := misplaced(x, y)
    free := exists x handempty(x)
    many := #x clear(x)
    V = 2*#x above(x) + #y (bad(y) & exists x misplaced(y, x)) + #x exists y turned(x, y) - 3*[free] + many
      + #x misplaced(x, x)
    """
    expected = (
        "2*#<on>clear_G + #(<on>clear_G & ~clear & <on_G & ~on>top) + #<on_G^-1 & ~on^-1>top"
        " - 3*[#handempty > 0] + #clear + #<id & on_G & ~on>top"
    )
    assert read_formula(text) is parse(expected)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("A(x) := clear(x)", "The value function is missing; it is given as V = number."),
        ("A(x) := clear(x)\nA(y) := on(y, y)\nV = #x A(x)", "A is defined twice."),
        (
            "A(x) := B(x)\nB(x) := clear(x)\nV = #x A(x)",
            "In the definition of A: B is used before it is defined.",
        ),
        ("A(x) := A(x)\nV = #x A(x)", "In the definition of A: A is used before it is defined."),
        ("A(x) := clear(x)\nV = #x B(x)", "B is not defined; put the name of a predicate in double quotes."),
        (
            "A(x) := clear(y)\nV = #x A(x)",
            "In the definition of A: with one variable it must be a formula about it alone.",
        ),
        (
            "A(x, y) := clear(x)\nV = #x ∃y A(x, y)",
            "In the definition of A: with two variables it must be a relation between the two.",
        ),
        (
            "A := clear(x)\nV = #x A",
            "In the definition of A: with no variable it must be a sentence or a number.",
        ),
        ("A(x) := clear(x)\nV = #x ∃y A(x, y)", "is defined with one variable, not two variables."),
        (
            "A(x, x) := on(x, x)\nV = #x A(x, x)",
            "In the definition of A: the variables must be at most two different ones, not x, x.",
        ),
        (
            "A(x) := clear(x) ∧\nV = #x A(x)",
            "In the definition of A: Column 19: expected a formula, not the end.",
        ),
        ("A(x) := clear(x)\nV = A(x)", "What is true of objects is no number of a state; count it with #."),
        ("exists(x) := clear(x)\nV = #x exists(x)", "exists has a meaning of its own and cannot be defined."),
    ],
)
def test_bad_text_is_told_in_one_sentence(text, told):
    with pytest.raises(InputError) as caught:
        parse_defined(text)
    assert str(caught.value).endswith(told)


@given(st.text(alphabet="AB:=V\n ;~&()#∃xy,on[]", max_size=40))
@example("A := B\nV = #x A")
@example("A(x,y) := on(x,y)\nV = #x A(x)")
@example("A := 3\nV = #x A")
@example("A := 3\nV = ∃x A & 3")
def test_any_text_is_read_or_refused(text):
    try:
        value = parse_defined(text)
    except InputError:
        return
    assert isinstance(value, fo.Number)


def test_chains_are_one_definition_for_each_step():
    bounded = unroll(parse("#<on+>clear - #<on_G*>(clear & <on+>clear)"), 30)
    function = define_shared(bounded.formula, bounded.chains)
    names = [name for name, _ in function.definitions]
    for letter in "AB":
        assert [name for name in names if name[0] == letter] == [f"{letter}{n}" for n in range(1, 31)]
    for text in (function.written(), function.written_c2()):
        assert read_formula(text) is bounded.formula
        assert len(text) < 60 * 80 + 200


@pytest.mark.parametrize(("text", "most"), [("#<on+>clear", 1_000), ("dist(clear, on, low)", 300)])
def test_long_chains_are_read_again(text, most):
    bounded = unroll(parse(text), most)
    function = define_shared(bounded.formula, bounded.chains)
    for shown in (function.written(), function.written_c2()):
        assert read_formula(shown) is bounded.formula
