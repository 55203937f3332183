"""All activations of a network, by layer, object and state."""

import json

import numpy as np
import pytest
import torch

from distill.common import InputError
from distill.networks import Architecture, Checkpoint, build_network, evaluate, replay_states
from distill.planning import expand, problem_class


@pytest.fixture(scope="module")
def sets():
    instances = problem_class("blocks-clear").make("train")
    return {"train": expand(instances[1], 1000), "test": expand(instances[2], 1000)}


@pytest.mark.parametrize("marking", [False, True])
def test_the_archive_holds_what_plain_execution_gives(sets, marking, tmp_path):
    architecture = Architecture(layers=3, size=4, goal_marking=marking)
    network = build_network(sets["train"].vocabulary, architecture)
    replay_states(Checkpoint(network), sets).save(tmp_path / "all.npz")
    archive = np.load(tmp_path / "all.npz", allow_pickle=False)
    metadata = json.loads(archive["metadata"].tobytes())
    assert [site["name"] for site in metadata["sites"]] == [site.name for site in network.sites]
    with torch.no_grad():
        plain = [evaluate(network, network.encoding.structures(data)) for data in sets.values()]
    for site in network.sites:
        found = archive[site.name][archive[f"row/{site.name}"]]
        expected = np.concatenate([one[site.name].numpy() for one in plain])
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_the_archive_tells_objects_states_and_instances(sets, tmp_path):
    network = build_network(sets["train"].vocabulary, Architecture(layers=1, size=2))
    replay_states(Checkpoint(network), sets).save(tmp_path / "all.npz")
    archive = np.load(tmp_path / "all.npz", allow_pickle=False)
    train, test = sets.values()
    assert len(archive["v_star"]) == len(train) + len(test)
    state = len(train) + 3
    own = archive["object"][archive["state"] == state]
    assert own.tolist() == test.instances[0]["objects"]
    assert archive["v_star"][state] == test.v_star[3]
    assert archive["splits"][archive["split"][state]] == "test"
    assert archive["instances"][archive["instance"][state]] == test.instances[0]["name"]
    assert archive["instances"][archive["instance"][0]] == train.instances[0]["name"]


def test_no_states_are_refused(sets):
    network = build_network(sets["train"].vocabulary, Architecture(layers=1, size=2))
    none = sets["train"].pick(np.zeros(0, dtype=np.int64))
    with pytest.raises(InputError, match="no labelled states"):
        replay_states(Checkpoint(network), {"train": none})
