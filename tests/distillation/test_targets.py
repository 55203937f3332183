"""Targets: their rows, labels and wrong states, by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from distill.common import InputError
from distill.distillation import Distillation, Target, target_of
from distill.distillation.targets import TARGETS, target_named
from distill.structures import UNSOLVABLE, V_STAR

OPTIMAL, NETWORK = TARGETS["optimal"], TARGETS["model"]
# Five state rows: two of validation, and one that reaches no goal.
ROWS: Any = SimpleNamespace(
    labels={V_STAR: np.array([3, 0, UNSOLVABLE, 5, 1])}, split=np.array([0, 1, 0, 0, 1], dtype=np.int64)
)
ACTIVATIONS: Any = SimpleNamespace(value=np.array([2.5, 0, 9, 5, 1], dtype=np.float32))


@pytest.mark.parametrize("target", TARGETS.values())
def test_rows_are_the_states_that_reach_a_goal(target: Target) -> None:
    assert target.rows(ROWS).tolist() == [True, True, False, True, True]
    assert target.training_rows(ROWS).tolist() == [0, 3]


def test_labels_are_v_star_or_what_the_network_computes() -> None:
    assert OPTIMAL.known_labels(ROWS, ACTIVATIONS).tolist() == ROWS.labels[V_STAR].tolist()
    assert NETWORK.known_labels(ROWS, ACTIVATIONS).tolist() == [2.5, 0, 9, 5, 1]
    assert NETWORK.labels(ROWS) is None
    with pytest.raises(InputError, match="Target model needs a network"):
        NETWORK.known_labels(ROWS)


def test_only_training_states_with_known_labels_can_be_wrong() -> None:
    values = np.array([3 + 1e-9, 7, 7, 4.5, 7])
    assert OPTIMAL.wrong(ROWS, lambda: values).tolist() == [3]
    assert NETWORK.wrong(ROWS, lambda: pytest.fail("nothing is evaluated in vain")).tolist() == []


def test_targets_have_the_names_of_the_setting() -> None:
    for name in TARGETS:
        assert Distillation.from_mapping({"target": name}, "a test").target == name
    with pytest.raises(InputError, match=", ".join(TARGETS)):
        Distillation.from_mapping({"target": "policy"}, "a test")
    with pytest.raises(InputError, match="no target policy; choose from optimal, model"):
        target_named("policy")
    assert target_of({"distillation": {"target": "model"}}) is NETWORK
    assert target_of({"distillation": None}) is OPTIMAL
