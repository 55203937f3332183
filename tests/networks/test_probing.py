"""Linear probes."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from distill.networks import (
    KNOWN,
    RGNN,
    Architecture,
    Checkpoint,
    ProbeRow,
    draw_probes,
    evaluate,
    known_places,
    probe_checkpoint,
    state_features,
)
from distill.networks.probing import ProbeScore, fit_l1, probe


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


@given(st.integers(0, 10_000), st.sampled_from([1e-3, 1.0, 1e5]), st.sampled_from([0.0, 1e-9]))
def test_the_fit_does_not_depend_on_the_axes_of_its_inputs(seed, size, noise):
    """A copy, a constant and rounding errors as further inputs change nothing; nor do shift and scale."""
    rng = np.random.default_rng(seed)
    inputs, target = rng.normal(size=(40, 3)), rng.integers(4, size=40).astype(float)
    copies = inputs @ rng.normal(size=(3, 6)) + noise * rng.normal(size=(40, 6))
    wide = size * (np.column_stack([inputs, copies, np.ones(40)]) + 5)

    def error(given):
        weights = fit_l1(given, target)
        return np.abs(given @ weights[:-1] + weights[-1] - target).sum()

    assert error(wide) == pytest.approx(error(inputs), abs=1e-4)


def test_inputs_that_do_not_vary_leave_the_median():
    assert fit_l1(np.ones((5, 2)), np.array([1.0, 2, 7, 9, 9])).tolist() == [0, 0, 7]


def test_a_constant_feature_has_nothing_to_read():
    inputs = np.random.default_rng(0).normal(size=(20, 2))
    assert probe(inputs, np.ones(20), np.arange(20) > 10) == ProbeScore(0.0, 0.0, None)


def test_both_errors_of_a_probe_are_those_of_its_map():
    rng = np.random.default_rng(3)
    inputs, target, held_out = rng.normal(size=(30, 2)), rng.normal(size=30), np.arange(30) % 2 == 0
    weights = fit_l1(inputs[~held_out], target[~held_out])
    error = np.abs(inputs @ weights[:-1] + weights[-1] - target)
    score = probe(inputs, target, held_out)
    assert score.train_mae == pytest.approx(error[~held_out].mean())
    assert score.mae == pytest.approx(error[held_out].mean())
    assert score.train_mae <= np.abs(target[~held_out] - np.median(target[~held_out])).mean()


def test_a_feature_the_network_cannot_see_is_not_read(training_set):
    data = training_set("blocks-clear", 8).pick(np.arange(150))
    checkpoint = Checkpoint(RGNN(data.vocabulary, Architecture(layers=2, size=6)))
    noise = np.random.default_rng(0).normal(size=len(data))
    rows = probe_checkpoint(checkpoint, data, {"noise": noise})
    assert [row.place for row in rows] == ["layer 1", "layer 2", "readout", "pool vector"]
    assert all(row.trained.share < 0.3 for row in rows)


def test_numbers_of_atoms_are_features(training_set):
    data = training_set("blocks-clear", 8).pick(np.arange(30))
    features = state_features(data)
    assert np.array_equal(features["V*"], data.v_star)
    atoms = [sum(atom.startswith("(ontable ") for atom in data.atom_names(i)) for i in range(len(data))]
    assert np.array_equal(features["#ontable"], atoms)
    assert "#clear_G,T" in features
    assert all(len(np.unique(values)) > 1 for values in features.values())


def test_the_pool_vector_has_what_any_of_its_places_has(training_set):
    """Pooled embedding, inner values and V are linear in their concatenation (p of thesis 3.2)."""
    data = training_set("blocks-clear").pick(np.arange(60))
    network = RGNN(data.vocabulary, Architecture(layers=2, size=3))
    sites = evaluate(network, network.encoding.structures(data))
    features = {
        "pooled": sites.pooled[:, 0].detach().numpy(),
        "inner": sites["inner"][:, 1].detach().numpy(),
        "V": sites.value.detach().numpy(),
    }
    rows = probe_checkpoint(Checkpoint(network), data, features)
    errors = {(row.feature, row.place): row.trained.mae for row in rows}
    assert all(errors[name, "pool vector"] < 1e-4 for name in features)
    assert errors["pooled", "layer 2"] < 1e-4
    assert errors["inner", "readout"] < 1e-4


def rows_of(*shares: tuple[float | None, float | None]) -> list[ProbeRow]:
    scores = [[ProbeScore(0.0, 0.0, share) for share in pair] for pair in shares]
    return [ProbeRow("f", f"layer {depth}", 0.5, *pair) for depth, pair in enumerate(scores, 1)]


def test_a_feature_is_known_from_the_first_good_probe_on():
    [known] = known_places(rows_of((KNOWN - 0.01, 0.0), (KNOWN, 0.0), (0.2, 1.0)))
    assert (known.trained, known.untrained) == ("layer 2", "layer 3")
    [known] = known_places(rows_of((None, None), (0.0, 0.0)))
    assert (known.trained, known.untrained) == (None, None)


def test_scores_are_drawn_and_missing_ones_too(tmp_path):
    draw_probes(rows_of((0.5, -3.0), (None, None)), tmp_path / "probes.svg")
    text = (tmp_path / "probes.svg").read_text()
    assert "trained network" in text
    assert "untrained network" in text
