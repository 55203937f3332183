"""The C2 file of a run as a program uses it: read again, and evaluated object by object."""

from pathlib import Path

import numpy as np
import pytest
import torch

from distill.distillation import Distillation, distil
from distill.explanations import ValueFunction, express
from distill.logic import Evaluator, parse, read_formula, unroll
from distill.networks import RGNN, Architecture, Checkpoint
from distill.planning import SPLITS, prepare, problem_class
from distill.structures import DataSet
from tests.support.two_variables import states_of

VALUES = Path(__file__).parents[1] / "golden" / "expected" / "values"
CLASSES = ("blocks-clear", "blocks-on", "gripper", "miconic", "visitall")
BOUNDED = ("blocks-clear", "blocks-on", "visitall")


def check(function: ValueFunction, form: str, sets: dict[str, DataSet], most: int) -> None:
    """What is read again equals the function on all states; C2 in plain loops too, on some of each set."""
    bounds = function.bounds(sets.values()) if form == "c2" else None
    words = next(iter(sets.values())).vocabulary
    read = read_formula(express(function.value, form, words, bounds))
    for data in sets.values():
        batch = data.structures()
        values = function.values(batch)
        assert Evaluator(batch).number(read).tolist() == pytest.approx(values.tolist())
        if form == "c2":
            some = np.arange(0, len(data), max(1, len(data) // most))
            plain = [state.value(read) for state in states_of(batch[some])]
            assert plain == pytest.approx(values[some].tolist())


@pytest.fixture(scope="module")
def shipped():
    return {name: ValueFunction.load(VALUES / name / "model.json") for name in CLASSES}


@pytest.mark.parametrize("name", CLASSES)
def test_shipped_functions_on_some_states(name, shipped, training_set):
    data = training_set(name, 12)
    for form in ("c2", "emlc"):
        check(shipped[name], form, {"train": data}, 60)


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSES)
def test_shipped_functions_on_all_states(name, shipped):
    declared = problem_class(name)
    sets = {split: prepare(declared.split(split))[0] for split in SPLITS}
    function = shipped[name]
    for form in ("c2", "emlc"):
        check(function, form, sets, 40)
    for data in sets.values():
        assert np.array_equal(function.values(data.structures()), data.v_star)


@pytest.mark.parametrize("name", BOUNDED)
def test_a_bound_that_is_one_too_small_is_wrong_somewhere(name, shipped, training_set):
    data = training_set(name, 12)
    function = shipped[name]
    bounds = unroll(function.value, function.bounds([data]), counting=True).bounds
    part, most = max(bounds.items(), key=lambda item: item[1])
    batch = data.structures()
    for less in (0, 1):
        text = express(function.value, "c2", data.vocabulary, {**bounds, part: most - less})
        assert any(str(most - less) in line for line in text.splitlines() if line.startswith("; - "))
        equal = np.array_equal(Evaluator(batch).number(read_formula(text)), function.values(batch))
        assert equal == (less == 0)


@pytest.fixture(scope="module")
def few(training_set):
    return training_set("blocks-clear", 12)


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (0, 2, 3, 4))])
def test_functions_of_thesis_mode(seed, few):
    torch.manual_seed(seed)
    network = Checkpoint(RGNN(few.vocabulary, Architecture(layers=2, size=4)))
    settings = Distillation(mode="thesis", inner_sample=100, final_sample=100, seed=seed)
    function = distil(network, {"train": few}, settings).explanation
    parts = len(list(function.value.walk()))
    assert function.value.size > 300
    for form in ("c2", "emlc", "ascii", "english"):
        text = express(function.value, form, few.vocabulary)
        assert read_formula(text) is function.value
        assert len(text) < 1_000 * parts
    check(function, "c2", {"train": few}, 20)


def test_what_is_without_a_bound_in_all_states_says_nothing(few):
    text = express(parse("[#holding > 0]*#clear + #<on>top"), "c2", few.vocabulary)
    assert text == "V = #x ∃y on(x, y) + #x (clear(x) ∧ ∃y holding(y))"
