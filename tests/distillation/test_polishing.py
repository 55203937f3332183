"""Polishing: the same values in fewer symbols, wherever it begins and whatever things are called."""

import re

import numpy as np
import pytest

from distill.distillation import Distillation, distil, known_rows
from distill.distillation.polishing import Polisher
from distill.logic import Evaluator, Number, parse, renamed
from distill.networks import Checkpoint
from distill.planning import Instance
from distill.structures import DataSet, Quotient
from tests.support.blocks import ALL_NAMES, CHECKPOINTS, error, expanded, rewritten, small_instances
from tests.support.clock import count_looks

pytestmark = pytest.mark.slow

RIGHT = parse("2*#<on+>clear_G - #<on>clear_G + #holding * #(clear_G & ~clear)")
OTHERS = [
    parse("#<on+>clear_G + #<on+><on>clear_G + [#(clear_G & ~clear) > 0] * #holding"),
    parse("2*#(<on+>clear_G & ~<on>clear_G) + #<on>clear_G + #(holding & clear_G) + #holding * #<on>clear_G"),
]


@pytest.fixture(autouse=True)
def work_not_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    count_looks(monkeypatch)


def some_instances() -> list[Instance]:
    return [one for one in small_instances() if len(one.objects) <= 4]


@pytest.fixture(scope="module")
def data() -> DataSet:
    return expanded(some_instances())


@pytest.fixture(scope="module")
def whole(data: DataSet) -> Quotient:
    return known_rows({"train": data})


def polished(value: Number, whole: Quotient, **settings: object) -> Number:
    told: list[str] = []
    found = Polisher(whole, Distillation(**settings), lambda stage, *_: told.append(stage)).polish(value)
    assert set(told) <= {"polish"}
    return found


@pytest.fixture(scope="module")
def short(whole: Quotient) -> Number:
    return polished(RIGHT, whole)


def test_fewer_symbols_say_the_same(short: Number, data: DataSet) -> None:
    assert short.size < RIGHT.size
    assert error(short, data) == error(RIGHT, data) == 0


@pytest.mark.parametrize("other", OTHERS)
def test_other_functions_with_these_values_become_the_same(
    other: Number, short: Number, whole: Quotient, data: DataSet
) -> None:
    assert error(other, data) == 0
    assert polished(other, whole, seed=7) is short


def test_what_is_polished_stays(short: Number, whole: Quotient) -> None:
    assert polished(short, whole) is short


def test_other_names_change_nothing_but_names(short: Number) -> None:
    states = known_rows({"train": expanded(rewritten(some_instances()))})
    assert polished(renamed(RIGHT, ALL_NAMES), states) is renamed(short, ALL_NAMES)


def test_values_stay_where_they_are_wrong(whole: Quotient, data: DataSet) -> None:
    """It is about how a function is written: a wrong one is as wrong afterwards."""
    wrong = parse("#holding + #(holding & clear_G) + 2*#<on>clear_G")
    found = polished(wrong, whole)
    states = Evaluator(data.structures())
    assert np.array_equal(states.number(found), states.number(wrong))
    assert error(wrong, data) > 0
    assert found.size <= wrong.size


def test_settings_are_kept(whole: Quotient, data: DataSet) -> None:
    positive = parse("2*#<on+><on>clear_G + #<on>clear_G + #holding * #(clear_G & ~clear)")
    found = polished(positive, whole, nonnegative=True, intercept=False)
    assert error(positive, data) == error(found, data) == 0
    assert "-" not in re.sub(r"\^-1", "", str(found))


def test_a_constant_is_short_enough(whole: Quotient) -> None:
    assert polished(parse("3"), whole) is parse("3")


def test_what_is_not_exact_is_not_polished(data: DataSet) -> None:
    """Otherwise nobody could tell what trees bore from what was looked for without them."""
    network = Checkpoint.load(CHECKPOINTS / "blocks-clear.safetensors")
    settings = {"inner_width": 1, "final_width": 1, "inner_depth": 1, "rounds": 0, "without": ("splits",)}
    both = [
        distil(network, {"train": data}, Distillation(pool=pool, time_limit=3.0, **settings))
        for pool in ("ridt", "ridt+polish")
    ]
    assert not both[0].fit["exact"]
    assert both[0].explanation.value is both[1].explanation.value
