"""Formulas at the limits work in every operation, and those beyond are refused in one sentence."""

import gc
import json
from typing import Any

import pytest

from distill.common import InputError
from distill.explanations import FORMS, file_text
from distill.logic import (
    FORMATS,
    Evaluator,
    define_shared,
    from_json,
    parse,
    read_formula,
    renamed,
    simplify,
    syntax as fo,
    to_json,
    write,
)
from distill.logic.notation.defined_parser import parse_defined
from distill.logic.notation.parser import parse_relation
from distill.logic.syntax.nodes import MAX_ARGUMENT, MAX_LEVELS, MAX_NAME, MAX_THRESHOLD
from distill.structures import Structures
from tests.support.strategies import WORDS

LOOP = Structures(WORDS, 1, [0, 0], {"on": [[0, 1], [1, 0]], "clear": [[0]]})
DEEP = {
    "both": "~<on>" * (MAX_LEVELS // 2) + "clear",
    "junctions": "(clear & (<on>top | " * (MAX_LEVELS // 2 - 1) + "clear" + "))" * (MAX_LEVELS // 2 - 1),
}


def beyond(text: str) -> str:
    """The text of a formula with one level more than another."""
    return f"~({text})"


@pytest.mark.slow
@pytest.mark.parametrize("name", DEEP)
def test_the_deepest_formulas_work_in_every_operation(name):
    formula = parse(DEEP[name])
    assert MAX_LEVELS - 2 < formula.height <= MAX_LEVELS
    for form in FORMATS.values():
        written = form.write(formula, WORDS)
        assert form.read is None or form.read(written) is formula
    expected = Evaluator(LOOP).holds(formula).tolist()
    assert Evaluator(LOOP).holds(simplify(formula)).tolist() == expected
    module: dict[str, Any] = {}
    exec(FORMATS["python"].write(formula, WORDS), module)  # noqa: S102
    assert module["formula"](2, {"on": [(0, 1), (1, 0)], "clear": [(0,)]}).tolist() == expected
    assert renamed(renamed(formula, {"on": "under"}), {"under": "on"}) is formula
    count = fo.Count(
        parse(DEEP[name].replace("~", "", 1).replace("(clear & (<on>top | ", "(", 1).replace("))", ")", 1))
    )
    assert parse_defined(define_shared(count).written()) is count
    for form in FORMS:
        assert file_text(count, form, WORDS)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["both"])
def test_one_level_more_is_refused(name):
    text = DEEP[name]
    while parse(text).height < MAX_LEVELS:
        text = beyond(text)
    for one in (beyond(text), f"A := {text}\nV = #(clear | ~A)"):
        with pytest.raises(InputError, match="nested in more than 10,000 levels, which is the limit"):
            read_formula(one)
    deeper: fo.Truth = fo.Not(parse(text))
    with pytest.raises(InputError, match=r"Node \d+ of the JSON: The formula is nested in more"):
        from_json(to_json(deeper))
    c2 = "¬" * (MAX_LEVELS + 1) + "clear(x)"
    with pytest.raises(InputError, match="nested in more than 10,000 levels"):
        read_formula(c2)


@pytest.mark.parametrize("before", ["~", "<on>", "(", "#", "[", "~#(", "dist(", "∃x ", "¬(", "-", "<(", "<~"])
def test_deep_nests_of_all_kinds_are_refused(before):
    with pytest.raises(InputError) as caught:
        read_formula(before * 2 * MAX_LEVELS)
    assert len(str(caught.value)) < 300


def widest(most: int) -> list[list[Any]]:
    """The rows of a disjunction with as many parts as are accepted."""
    modals = (most - 3) // 4
    rows: list[list[Any]] = [["role", "on", 0, 1], ["atom", "clear"]]
    rows += [["modal", {"@": 0}, {"@": 1}, number] for number in range(modals)]
    return [*rows, ["or", *({"@": number + 2} for number in range(modals))]]


def test_the_widest_formulas_work(monkeypatch):
    monkeypatch.setattr("distill.logic.syntax.nodes.MAX_PARTS", 20_000)
    rows = widest(20_000)
    formula = from_json(json.loads(json.dumps(rows)))
    assert from_json(to_json(formula)) is formula
    with pytest.raises(InputError, match="more than 20,000 parts, which is the limit"):
        from_json([*rows, ["not", {"@": len(rows) - 1}], ["not", {"@": len(rows)}], ["top"]])
    assert Evaluator(LOOP).holds(formula).tolist() == [False, True]
    assert simplify(formula).size <= formula.size
    with pytest.raises(InputError, match="which is the limit"):
        parse(write(formula))


def test_what_grows_while_it_is_read_is_refused(monkeypatch):
    monkeypatch.setattr("distill.logic.syntax.nodes.MAX_PARTS", 100_000)
    # Each junction has the operands of the one before: together they would fill the memory.
    rows: list[list[Any]] = [["atom", "a0"]]
    for number in range(1, 1_000):
        rows += [["atom", f"a{number}"], ["or", {"@": len(rows) - 1}, {"@": len(rows)}]]
    text = "".join(f"A{n} := p{n}{f' | A{n - 1}' if n else ''}\n" for n in range(1_000)) + "V = #A999"
    brackets = "(" * 1_000 + "a" + "".join(f" | b{n})" for n in range(1_000))
    backwards = "<" + "(" * 500 + "on" + "^-1+)" * 500 + ">top"
    cases = " & ".join(f"(p{n}(x) & q{n}(y) <-> on(x,y))" for n in range(30))
    for read in (
        lambda: from_json(rows),
        *(lambda one=one: read_formula(one) for one in (text, brackets, backwards)),
    ):
        with pytest.raises(InputError, match="parts, which is the limit"):
            read()
    with pytest.raises(InputError, match="too many cases"):
        read_formula(f"∃y ({cases})")


def test_equivalences_are_not_written_out():
    text = " <-> ".join(["(p(x) & q(y))"] * 40)
    assert isinstance(read_formula(f"∃y ({text})"), fo.Truth)


def test_sizes_beyond_all_numbers():
    formula: fo.Truth = fo.Atom("clear")
    for _ in range(5_000):
        formula = fo.And(fo.Modal(fo.Role("on"), formula), fo.Modal(fo.Role("on"), formula, 1))
    assert formula.size > 10**99
    assert "symbols" in repr(formula)
    for form in ("ascii", "c2", "english", "dlplan"):
        with pytest.raises(InputError, match="symbols, which nobody can read"):
            FORMATS[form].write(formula, WORDS)
    assert Evaluator(LOOP).holds(from_json(to_json(formula))).tolist() == [False, False]


@pytest.mark.slow
def test_deep_chains_are_released():
    formula: fo.Truth = fo.Atom("clear")
    for _ in range(100_000):
        formula = fo.Not(formula)
    assert hash(formula) == hash(formula)
    assert formula != fo.Not(formula)
    del formula
    gc.collect()


def test_long_texts_with_one_base_are_not_copied():
    formula = fo.Or(*(fo.Atom(f"a{number}") for number in range(20_000)))
    for _ in range(1_000):
        formula = fo.Not(formula)
    assert parse(write(formula)) is formula
    assert (
        len(FORMATS["pddl"].write(parse("~(clear & ~(handempty | " * 2_000 + "clear" + "))" * 2_000), WORDS))
        < 4_000_000
    )


@pytest.mark.parametrize("name", ["", "a\nb", "a\0b", "\u2028", "\u202e", "\ud800", "x" * (MAX_NAME + 1)])
def test_names_that_cannot_be_shown_are_refused(name):
    for make in (lambda: fo.Atom(name), lambda: fo.Role(name), lambda: from_json([["atom", name]])):
        with pytest.raises(InputError, match="cannot be the name of a predicate") as caught:
            make()
        assert str(caught.value).isprintable()


def test_numbers_that_are_too_large_are_refused():
    for text in ("1e400*#clear", "9" * 400 + "*#clear", "1e200*1e200*#clear"):
        with pytest.raises(InputError, match="finite number below 1e300"):
            parse(text)
    for rows in ([["constant", 10**400]], [["constant", float("nan")]]):
        with pytest.raises(InputError, match="finite number below 1e300"):
            from_json(rows)
    threshold = MAX_THRESHOLD + 1
    for rows in (
        [["constant", 1], ["compare", {"@": 0}, threshold]],
        [["role", "on", 0, 1], ["top"], ["modal", {"@": 0}, {"@": 1}, threshold]],
    ):
        with pytest.raises(InputError, match="A threshold must be at least 0 and at most 999,999,999"):
            from_json(rows)
    with pytest.raises(InputError, match="numbers are at most 999,999,999"):
        from_json([["role", "on", MAX_ARGUMENT + 1, 0]])
    assert parse_relation(str(from_json([["role", "on", MAX_ARGUMENT, 0]]))).fields == ("on", MAX_ARGUMENT, 0)
    rows = [["role", "on", 0, 1], ["top"], ["modal", {"@": 0}, {"@": 1}, True]]
    with pytest.raises(InputError, match="holds no formula"):
        from_json(rows)


def test_values_that_do_not_fit_into_integers():
    value = parse("#top" + " * #top" * 69 + " + 1")
    assert Evaluator(LOOP).number(value).tolist() == [2**70 + 1.0]
    assert Evaluator(LOOP).number(parse("9007199254740991*(#top*#top)")).tolist() == [4.0 * 9007199254740991]
    with pytest.raises(InputError, match="too large for a number"):
        Evaluator(LOOP).number(parse("1e299*#top" + " * #top" * 60))
