"""Value functions with shared parts named once: what is named, how it is written, and read again."""

import re

import pytest
from hypothesis import example, given, strategies as st

from distill.common import InputError
from distill.logic import (
    ASCII,
    EMLC,
    LATEX,
    DefinedFunction,
    define_shared,
    library,
    parse,
    read_formula,
    syntax as fo,
    write,
    write_defined,
)
from distill.logic.notation.defined_parser import parse_defined
from tests.support.naive import value_functions


@given(value_functions)
@example(parse("3 - #clear"))
@example(fo.Constant(-2))
@example(fo.Indicator(parse("[#clear > 0] & [#on > 1]")))
@example(parse("#<A & ~B>(C & V) + 2*#<A & ~B>(C & V) + 3*#<A & ~B>~(C & V)"))
@example(parse('#(on & "top") * #(on & "top") + 2*#(on & "top")*#clear'))
@example(parse("[#(on & ~on_G) > 0] + 2*#<on & ~on_G>(on & ~on_G) + 3*#<(on & ~on_G)*>top"))
@example(parse("#<on>(~<on_G+>clear > 1) > 2 + #<on>(~<on_G+>clear > 1) > 1"))
def test_what_is_written_is_read_again(value):
    for english in (False, True):
        shown = write_defined(value, english=english)
        assert parse_defined(shown) is value, shown
        assert read_formula(shown) is value


def length(value, definitions):
    """Of the text, wherever lines break."""
    return len(re.sub(r"\n +", " ", str(DefinedFunction(value, definitions)).replace("\n\n", "\n")))


@given(value_functions)
@example(parse("#(<on>(a & b) & c) + #(<on>(a & b) & d) + #<on>(a & b) + #(a & b)"))
def test_each_name_makes_the_text_shorter(value):
    definitions = define_shared(value).definitions
    for place, (name, _) in enumerate(definitions):
        assert len(re.findall(rf"\b{name}\b", write_defined(value))) > 2
        assert length(value, definitions) < length(value, definitions[:place] + definitions[place + 1 :])


@given(value_functions)
def test_definitions_are_the_same_in_all_notations_and_use_earlier_ones(value):
    function = define_shared(value)
    for style in (ASCII, EMLC, LATEX):
        assert function.written(style).count(":=") == len(function.definitions)
    parts = [part for _, part in function.definitions]
    for place, part in enumerate(parts):
        assert not set(parts[place + 1 :]) & set(part.walk())


@pytest.mark.parametrize("name", sorted(name for name, made in library().items() if made.terms))
def test_hand_made_functions_are_not_longer_and_the_same(name):
    value = library()[name].value_function(8)
    shown = write_defined(value)
    assert parse_defined(shown) is value
    assert len(shown) <= len(f"V = {write(value)}")


def test_a_function_as_a_person_writes_it():
    value = parse(
        "2*#<on+>clear_G + #holding*#(clear_G & ~clear) - 5*#<on>clear_G + 3*#(<on+>clear_G & clear)"
        " - [#<on_G & ~on>top > 0] - 0.5*#<(on_G & ~on)+>ontable + 20"
    )
    assert write_defined(value) == (
        "A := <on+>clear_G\n"
        "B := on_G & ~on\n"
        "\n"
        "V = -5*#<on>clear_G\n"
        "  + 3*#(clear & A)\n"
        "  + 2*#A\n"
        "  - [#<B>top > 0]\n"
        "  + #holding * #(clear_G & ~clear)\n"
        "  - 0.5*#<B+>ontable\n"
        "  + 20"
    )


def test_what_fits_stands_on_one_line():
    assert write_defined(parse("#a - 2*#b")) == "V = -2*#b + #a"
    assert write_defined(fo.Indicator(parse("[#a > 0] & [#b > 0]"))) == "V = [#a > 0] & [#b > 0]"
    assert write_defined(fo.Constant(3)) == "V = 3"
    long = parse(" + ".join(f"#predicate{number}" for number in range(10)))
    assert write_defined(long).splitlines()[:2] == ["V = #predicate0", "  + #predicate1"]


def test_definitions_use_each_other():
    block = "(clear | held)"
    value = f"5*#<at><on>{block} + #<on>{block} - 3*#~<on>{block} + 2*#<on_G>{block} - 4*#<on_G>~{block}"
    assert write_defined(parse(value)) == (
        "A := clear | held\nB := <on>A\n\nV = 5*#<at>B - 4*#<on_G>~A - 3*#~B + 2*#<on_G>A + #B"
    )


def test_signs_are_not_hidden_in_names():
    value = parse("#~predicate + 2*#(~predicate & p) + 3*#<relation+>top - #<relation+>~predicate")
    assert ":=" not in write_defined(value)


def test_names_are_no_predicates_and_no_marks():
    parts = [f"<r{number}>predicate{number}" for number in range(30)]
    value = parse(" + ".join(f"#{part} + #(A & {part})" for part in parts) + " + #<C>top")
    names = [name for name, _ in define_shared(value).definitions]
    assert "".join(names) == "BDEGHIJKLMNOPQRSUWXYZA1B1C1D1E1G1H1I1J1"
    assert '#("A" & B)' in write_defined(value)


def test_latex_and_the_thesis():
    value = parse("2*#<on+>clear_G - #holding + 3*#(<on+>clear_G & clear)")
    assert write_defined(value, EMLC).startswith("A := 𝐀_on⁺ clear_G > 0\n\nV = 3·#(clear ∧ A)")
    shown = write_defined(value, LATEX, english=True)
    assert shown.startswith("\\begin{aligned}\n% an object that")
    assert "\n\n" not in shown
    assert shown.count("\\\\\n") == 3
    assert write_defined(parse("#clear"), LATEX) == r"V = \#\text{clear}"
    related = parse("#<on_G & ~on>clear + 2*#<on_G & ~on>top + 3*#<(on_G & ~on)+>top")
    assert write_defined(related, EMLC).startswith("𝐀_A := 𝐀_on_G ∧ ¬𝐀_on\n\nV = 3·#(𝐀_A⁺ ⊤ > 0)")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "The value function is missing; it is given as V = number."),
        ("A := clear", "The value function is missing; it is given as V = number."),
        ("A := clear\nA := top\nV = #A", "A is defined twice."),
        ("V = #a\nV = #b", "V is defined twice."),
        ("A := <on>B\nB := <on>A\nV = #A", "In the definition of A: B is used before it is defined."),
        ("A := <on>A\nV = #A", "In the definition of A: A is used before it is defined."),
        ("A := clear\nV = #B", "B is not defined; put the name of a predicate in double quotes."),
        ("A := clear &\nV = #A", "In the definition of A: Column 13: expected a formula, not the end."),
        ("A := <on>top\nV = #<A>top", "Column 7: A is not defined as a relation."),
        ("A := on+\nV = #A", "Column 6: A is not defined as a formula."),
        ("top := clear\nV = #top", "top has a meaning of its own and cannot be defined."),
        ("hello\nV = #top", "Expected a definition such as A := formula, or V = number, not 'hello'."),
        ("#clear", "Expected a definition such as A := formula, or V = number, not '#clear'."),
        ("V = clear", "What is true of objects is no number of a state; count it with #."),
        ("V =", "Column 1: expected a formula, not the end."),
    ],
)
def test_bad_text_is_told_in_one_sentence(text, told):
    with pytest.raises(InputError) as caught:
        parse_defined(text)
    assert str(caught.value) == told


@given(st.text(alphabet="AB:=V\n ;~&<>()#*+on", max_size=40))
@example("A := on & on\nV = #<A>A")
def test_any_text_is_read_or_refused(text):
    try:
        value = parse_defined(text)
    except InputError:
        return
    assert isinstance(value, fo.Number)


def test_people_choose_other_names():
    text = "; on x\nabove := <on+>clear_G\nbad := above & ~clear\n\nV = #above\n  ; again\n + 2*#bad"
    assert parse_defined(text) is parse("#<on+>clear_G + 2*#(<on+>clear_G & ~clear)")


def chain(levels, step):
    """A formula, the next one made of it, and so on."""
    formulas = [fo.Atom("clear")]
    for _ in range(levels):
        formulas.append(step(formulas[-1]))
    return formulas[1:]


def below(formula):
    return fo.Modal(fo.Role("on", 1, 0), formula)


def between(formula):
    return fo.And(below(formula), fo.Modal(fo.Role("on"), formula))


LARGE = {
    "deep": lambda: fo.Count(chain(9_999, below)[-1]),
    "each longer": lambda: fo.Sum(
        *(fo.Scaled(k, fo.Count(f)) for k, f in enumerate(chain(9_997, below), start=1))
    ),
    "each twice as long": lambda: fo.Count(chain(4_999, between)[-1]),
}


@pytest.mark.slow
@pytest.mark.parametrize("made", LARGE.values(), ids=LARGE)
def test_large_functions_are_written_in_seconds_and_read_again(made):
    value = made()
    shown = write_defined(value)
    assert len(shown) < 1_000_000
    assert parse_defined(shown) is value


def test_what_nobody_can_read_is_refused(monkeypatch):
    monkeypatch.setattr("distill.logic.notation.sharing._CHARACTERS", 100)
    with pytest.raises(InputError, match="nobody can read; store it as JSON"):
        write_defined(parse(" + ".join(f"#predicate{number}" for number in range(20))))
