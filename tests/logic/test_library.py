"""The hand-made library: both columns agree with each other and, on the training states, with V*."""

from collections.abc import Callable

import numpy as np
import pytest

from distill.common import InputError
from distill.logic import Evaluator, hand_made, library, write_c2
from distill.logic.notation.c2_parser import parse_c2
from distill.logic.syntax.nodes import Fragment
from distill.structures import DataSet, Predicate, Structures, Vocabulary

VALUED = [(name, form) for name, made in library().items() if made.problem for form in ("emlc", "c2")]


def has(name: str, form: str) -> bool:
    return all(form in definition for definition in library()[name].definitions.values())


@pytest.mark.slow
@pytest.mark.parametrize(("name", "form"), [pair for pair in VALUED if has(*pair)])
def test_value_functions_are_v_star(name: str, form: str, training_set: Callable[[str], DataSet]) -> None:
    made = library()[name]
    data = training_set(str(made.problem))
    # Chains and paths are at most as long as the largest V*.
    value = made.value_function(int(data.v_star.max()) + 2, form)
    found = Evaluator(data.structures()).number(value)
    assert len(data) > 1000
    assert np.array_equal(found, data.v_star)


@pytest.mark.parametrize("name", [name for name in library() if has(name, "c2")])
def test_c2_formulas_are_in_c2_and_read_again(name: str) -> None:
    made = library()[name]
    for key in made.definitions:
        family = key.partition("[")[0]
        k = None if family == key else 2
        formula = made.formula(family, 4, k, "c2")
        assert formula.fragment <= Fragment.C2
        assert parse_c2(write_c2(formula)) is formula


def test_sizes_are_a_baseline() -> None:
    """One closure stands for as many features as there are blocks."""
    assert hand_made("blocks-clear").value_function(10).size > 90
    assert hand_made("blocks-clear-closure").value_function(10).size < 25


def test_distances_to_coloured_cells() -> None:
    words = Vocabulary(
        [Predicate(name, 1) for name in ("red", "red_G", "at-robot")] + [Predicate("connected", 2)]
    )
    path = [[i, i + 1] for i in range(4)]
    for robot in range(5):
        relations = {
            "connected": path + [[b, a] for a, b in path],
            "red": [[0], [4]],
            "red_G": [[0]],
            "at-robot": [[robot]],
        }
        batch = Structures(words, 1, [0] * 5, relations)
        for form in ("emlc", "c2"):
            value = hand_made("coloured-cells").value_function(5, form)
            assert Evaluator(batch).number(value).tolist() == [min(robot, 4 - robot)]


def test_what_is_not_there_is_told() -> None:
    with pytest.raises(InputError, match="no hand-made function 'chess'; choose from blocks-clear"):
        hand_made("chess")
    with pytest.raises(InputError, match="has no formula beta in emlc"):
        hand_made("gripper").formula("beta", 3)
    with pytest.raises(InputError, match="has no formula A in c2"):
        hand_made("blocks-clear-closure").formula("A", 3, form="c2")
    with pytest.raises(InputError, match="no value function"):
        hand_made("keys-and-locks").value_function(3)
