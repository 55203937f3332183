"""C2: written, read again, and translated, with an evaluator that knows first-order logic only."""

import itertools
import random
import re
from typing import Any

import pytest
from hypothesis import given, strategies as st

from distill.common import InputError
from distill.logic import Evaluator, parse, syntax as fo, write_c2
from distill.logic.notation.c2_parser import parse_c2
from distill.structures import Predicate, Structures, Vocabulary
from tests.support.exports import in_c2
from tests.support.naive import comparisons, numbers, truths
from tests.support.strategies import batches


@given(st.one_of(truths, comparisons, numbers))
def test_what_is_written_is_read_again_or_refused(formula):
    if not in_c2(formula):
        with pytest.raises(InputError, match=r"C2 (has no|compares)"):
            write_c2(formula)
        return
    shown = write_c2(formula)
    assert parse_c2(shown) is formula, shown
    assert set(re.findall(r"\b[a-z]\b", shown)) <= {"x", "y"}
    assert write_c2(formula, latex=True).count(r"\exists") == shown.count("∃")


Formula = tuple[Any, ...]
atoms = st.one_of(
    st.tuples(st.just("clear"), st.sampled_from("xy")),
    st.tuples(st.sampled_from(["on", "on_G"]), st.sampled_from("xy"), st.sampled_from("xy")),
    st.tuples(st.just("="), st.sampled_from("xy"), st.sampled_from("xy")),
)
any_c2: st.SearchStrategy[Formula] = st.recursive(
    atoms,
    lambda f: st.one_of(
        st.tuples(st.just("~"), f),
        st.tuples(st.sampled_from(["&", "|", "->", "<->"]), f, f),
        st.tuples(st.sampled_from(["∃", "∀", "∃≥2 ", "∃<=1 ", "∃=1 "]), st.sampled_from("xy"), f),
    ),
    max_leaves=5,
)


def text(f: Formula) -> str:
    match f:
        case ("~", inner):
            return f"~({text(inner)})"
        case ("=", a, b):
            return f"{a} = {b}"
        case ("&" | "|" | "->" | "<->" as sign, a, b):
            return f"({text(a)}) {sign} ({text(b)})"
        case (name, variable, inner) if isinstance(inner, tuple):
            return f"{name}{variable} ({text(inner)})"
        case (name, *variables):
            return f"{name}({', '.join(variables)})"
    raise AssertionError(f)


def holds(f: Formula, batch: Structures, objects: list[int], value: dict[str, int]) -> bool:
    def inner(g: Formula, **changed: int) -> bool:
        return holds(g, batch, objects, value | changed)

    match f:
        case ("~", a):
            return not inner(a)
        case ("=", a, b):
            return value[a] == value[b]
        case ("&", a, b):
            return inner(a) and inner(b)
        case ("|", a, b):
            return inner(a) or inner(b)
        case ("->", a, b):
            return not inner(a) or inner(b)
        case ("<->", a, b):
            return inner(a) == inner(b)
        case (quantifier, variable, a) if isinstance(a, tuple):
            number = sum(inner(a, **{variable: x}) for x in objects)
            return {
                "∃": number >= 1,
                "∀": number == len(objects),
                "∃≥2 ": number >= 2,
                "∃<=1 ": number <= 1,
                "∃=1 ": number == 1,
            }[quantifier]
        case (name, *variables):
            return [value[v] for v in variables] in batch.relations[name].tolist()
    raise AssertionError(f)


def free(f: Formula) -> set[str]:
    if f[0] in ("~", "&", "|", "->", "<->"):
        return set().union(*(free(part) for part in f[1:]))
    if isinstance(f[-1], tuple):
        return free(f[-1]) - {f[1]}
    return set(f[1:])


@given(batches(min_objects=1), any_c2)
def test_all_of_c2_becomes_modals(batch, formula):
    variables = free(formula)
    if len(variables) == 2:
        with pytest.raises(InputError, match="two free variables"):
            parse_c2(text(formula))
        return
    read = parse_c2(text(formula))
    found = Evaluator(batch).holds(read)
    assert read.of_state <= (not variables)
    for state in range(len(batch)):
        objects = [x for x in range(batch.n_objects) if batch.state_of_object[x] == state]
        for x in objects:
            expected = holds(formula, batch, objects, dict.fromkeys(variables, x))
            assert found[state if read.of_state else x] == expected, (text(formula), read)


FOUR_CASES = "<on>clear > 1 | <on_G>~clear > 1 | (<on>clear & <on_G>~clear)"


@pytest.mark.parametrize(
    ("c2", "emlc"),
    [
        # Table 3.1 of the thesis; the last one reads its edges backwards, which is the same in a graph.
        ("∃≥4 y E(x, y)", "<E>top > 3"),
        ("blue(x) ∧ ∃≥2 y (E(x, y) ∧ ¬red(y))", "blue & <E>~red > 1"),
        ("∃y (E(x, y) ∧ ¬∃x (E(x, y) ∧ blue(x)))", "<E>~<E^-1>blue"),
        # What lies outside of the thesis's fragment.
        ("∃y (at_G(x, y) ∧ ¬at(x, y))", "<at_G \\ at>top"),
        ("∃y (x ≠ y ∧ clear(y))", "<~id>clear"),
        ("on(x, x)", "<on & id>top"),
        ("∃y clear(x)", "clear"),
        ("∃≥2 y (clear(x) ∧ on(y, x))", "clear & <on^-1>top > 1"),
        ("∃y (on(x, y) ∧ (clear(x) ∨ clear(y)))", "clear & <on>top | <on>clear"),
        ("∃≥2 y ((on(x, y) ∧ clear(y)) ∨ (on_G(x, y) ∧ ¬clear(y)))", FOUR_CASES),
        ("∃y (on(x, y) ∨ clear(y))", "<all>clear | <on>~clear"),
        ("∃x, y (on_G(x, y) ∧ ¬on(x, y))", "[#<on_G \\ on>top > 0]"),
        ("∀y (on(x, y) → clear(y))", "~<on & all>~clear"),
    ],
)
def test_by_hand(c2, emlc):
    read, expected = parse_c2(c2), parse(emlc)
    assert same_everywhere(read, expected), (read, expected)


def same_everywhere(one: fo.Truth, other: fo.Truth) -> bool:
    unary = ["clear", "blue", "red"]
    binary = ["E", "on", "at", "on_G", "at_G"]
    words = Vocabulary([*(Predicate(n, 1) for n in unary), *(Predicate(n, 2) for n in binary)])
    chance = random.Random(0)
    for _ in range(40):
        size = chance.randint(1, 5)
        pairs = list(itertools.product(range(size), repeat=2))
        relations = {n: [[x] for x in range(size) if chance.random() < 0.5] for n in unary}
        relations |= {n: [list(p) for p in pairs if chance.random() < 0.4] for n in binary}
        batch = Structures(words, 1, [0] * size, relations)
        if Evaluator(batch).holds(one).tolist() != Evaluator(batch).holds(other).tolist():
            return False
    return True


@pytest.mark.parametrize(
    ("given_text", "told"),
    [
        ("", "Column 1: expected a formula, not the end."),
        ("~-p(x)", "Column 2: expected a formula, not '-'."),
        ("∃x -p(x)", "Column 4: expected a formula, not '-'."),
        ("∃ (p(x))", "Column 3: expected a variable, not '('."),
        ("∃z (on(x, y) ∧ p(z))", "Column 11: y is a third variable besides x and z; C2 has two"),
        ("on(x, y)", "two free variables, x and y"),
        ("p(x", "Column 4: expected ',', not the end."),
        ("(p(x)", "Column 6: expected ')' for the bracket at column 1, not the end."),
        ("between(x, y, x)", "C2 has no atoms of three arguments, such as between"),
        ("#x on(x, y)", "#x counts what holds of x alone"),
        ("[p(x)]", "[ ] needs a formula without free variables"),
        ("∃≥2 x, y p(x)", "as pairs are not counted"),
        ("~3", "~ needs a formula, and this is a number"),
        ("p(x) ? q(x)", "'?' has no meaning"),
    ],
)
def test_errors_say_where_and_what(given_text, told):
    with pytest.raises(InputError) as caught:
        parse_c2(given_text)
    assert told in str(caught.value)


@given(st.text(alphabet="xyp()∃∀≥2 ~&|,=#[]->", max_size=25))
def test_any_text_is_read_or_refused(given_text):
    try:
        formula = parse_c2(given_text)
    except InputError:
        return
    assert isinstance(formula, fo.Node)


def test_deep_nesting_is_no_problem():
    formula = parse("~" * 5_000 + "<on>" * 5_000 + "clear")
    assert parse_c2(write_c2(formula)) is formula


def test_too_many_cases_are_refused():
    mixed = " | ".join(f"(p{n}(x) & q{n}(y))" for n in range(20))
    with pytest.raises(InputError, match="too many cases"):
        parse_c2(f"∃y ({mixed})")
    with pytest.raises(InputError, match="use smaller numbers"):
        parse_c2("∃≥99 y ((on(x,y) & p(y)) | (at(x,y) & q(y)))")
