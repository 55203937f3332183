"""V of labelled states, run together or in parts."""

import numpy as np
import pytest

import distill.networks.state_values as state_values
from distill.networks import Checkpoint, predict, values
from distill.planning import expand, problem_class
from tests.support.blocks import CHECKPOINTS


@pytest.mark.parametrize("part", [600, 10**6])
def test_parts_of_a_set_give_the_values_of_the_whole(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    network = Checkpoint.load(CHECKPOINTS / "gripper.safetensors").network
    data = expand(problem_class("gripper").make("train")[0], 1000)
    sets = {"some": data.pick(np.arange(3, 50)), "none": data.pick([]), "all": data}
    monkeypatch.setattr(state_values, "_AT_ONCE", 0)
    monkeypatch.setattr(state_values, "_PART", part)
    found = predict(network, sets)
    assert list(found) == list(sets)
    for name, own in sets.items():
        expected = values(network, own.structures()) if len(own) else np.zeros(0)
        assert np.allclose(found[name], expected, atol=1e-5)
