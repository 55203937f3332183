"""Exports to Python, which are executed."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from distill.common import InputError
from distill.logic import Evaluator, parse, syntax as fo, write_derived, write_dlplan
from distill.logic.notation.python import write_python
from distill.structures import Structures
from tests.support.exports import FORMULAS, by_python, marked, planning_states, values
from tests.support.naive import comparisons, numbers, truths
from tests.support.strategies import WORDS, batches


@given(batches(), st.one_of(truths, comparisons))
def test_python_agrees(batch, formula):
    assert by_python(batch, formula) == values(batch, formula)


@given(batches(), numbers)
def test_python_agrees_on_numbers(batch, formula):
    assert by_python(batch, formula) == pytest.approx(values(batch, formula), rel=1e-12)


@given(batches(), truths)
def test_python_joins_the_halves_of_goals(batch, formula):
    assert by_python(marked(batch), formula) == values(batch, formula)


@pytest.mark.parametrize("name", FORMULAS)
def test_python_agrees_on_planning_states(name, training_set):
    batch = planning_states(name, training_set)
    for text in FORMULAS[name]:
        assert by_python(batch, parse(text)) == values(batch, parse(text)), text


@pytest.mark.slow
def test_deep_formulas_are_written_without_recursion():
    batch = Structures(WORDS, 1, [0, 0], {"on": [[0, 1], [1, 0]], "clear": [[0]]})
    negations = fo.Atom("clear")
    for _ in range(10_001):
        negations = fo.Not(negations)
    modals = fo.Atom("clear")
    for _ in range(5_000):
        modals = fo.Not(fo.Modal(fo.Role("on"), modals))
    for formula, objects in ((negations, [1]), (modals, [0])):
        module: dict[str, Any] = {}
        exec(write_python(formula), module)  # noqa: S102
        assert (
            np.flatnonzero(module["formula"](2, {"on": [(0, 1), (1, 0)], "clear": [(0,)]})).tolist()
            == objects
        )
        assert np.flatnonzero(Evaluator(batch).holds(formula)).tolist() == objects
        assert write_derived(formula, WORDS)
        assert write_dlplan(formula, WORDS)
    wide = fo.Or(*(fo.Modal(fo.Role("on"), fo.Atom("clear"), n) for n in range(5_000)))
    exec(write_python(wide), module)  # noqa: S102
    assert module["formula"](2, {"on": [(0, 1), (1, 0)], "clear": [(0,)]}).tolist() == [False, True]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("#top*#top*#top", 27 * 10**18),
        ("#top*(7000000000000*#top + #clear)", 63 * 10**24),
        ("(0.5*#top + 1)*#top*#top", 1_500_001 * 9 * 10**12),
    ],
)
def test_products_are_exact_beyond_64_bits(text, value):
    module: dict[str, Any] = {}
    exec(write_python(parse(text)), module)  # noqa: S102
    assert module["formula"](3_000_000, {}) == value


def test_names_in_python():
    for name in ("1x", "class", "a b", "_rows", "np", "sum", "atoms", "all"):
        with pytest.raises(InputError, match="name of the function"):
            write_python(parse("clear"), name)
    with pytest.raises(InputError, match="relation"):
        write_python(fo.Role("on"))
    odd = fo.Atom('a"b\\c\'"""\\n')
    module: dict[str, Any] = {}
    exec(write_python(odd), module)  # noqa: S102
    assert module["formula"](2, {odd.fields[0]: {(1,)}}).tolist() == [False, True]
