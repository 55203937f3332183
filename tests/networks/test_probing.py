"""Linear probes."""

import itertools

import numpy as np
import pytest

from distill.networks import RGNN, Architecture, Checkpoint, probe_checkpoint, state_features
from distill.networks.probing import fit_l1, probe


@pytest.mark.parametrize("seed", range(5))
def test_the_fit_has_the_least_absolute_error(seed):
    """An optimal fit passes through as many points as it has weights, so all such fits are tried."""
    rng = np.random.default_rng(seed)
    inputs, target = rng.normal(size=(9, 1)), rng.normal(size=9)
    best = min(
        np.abs(inputs @ np.array([w]) + c - target).sum()
        for i, j in itertools.combinations(range(9), 2)
        for w in [(target[i] - target[j]) / (inputs[i, 0] - inputs[j, 0])]
        for c in [target[i] - w * inputs[i, 0]]
    )
    weights = fit_l1(inputs, target)
    assert np.abs(inputs @ weights[:-1] + weights[-1] - target).sum() == pytest.approx(best)


def test_a_constant_feature_has_nothing_to_read():
    inputs = np.random.default_rng(0).normal(size=(20, 2))
    assert probe(inputs, np.ones(20), np.arange(20) > 10).share == 0


def test_a_feature_the_network_cannot_see_is_not_read(training_set):
    data = training_set("blocks-clear", 8).pick(np.arange(150))
    checkpoint = Checkpoint(RGNN(data.vocabulary, Architecture(layers=2, size=6)))
    noise = np.random.default_rng(0).normal(size=len(data))
    rows = probe_checkpoint(checkpoint, data, {"noise": noise})
    assert {row.place for row in rows} == {"layer 1", "layer 2", "readout"}
    assert all(row.trained.share < 0.3 for row in rows)


def test_numbers_of_atoms_are_features(training_set):
    data = training_set("blocks-clear", 8).pick(np.arange(30))
    features = state_features(data)
    assert np.array_equal(features["V*"], data.v_star)
    atoms = [sum(atom.startswith("(ontable ") for atom in data.atom_names(i)) for i in range(len(data))]
    assert np.array_equal(features["#ontable"], atoms)
    assert "#clear_G,T" in features
    assert all(len(np.unique(values)) > 1 for values in features.values())
