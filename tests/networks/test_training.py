"""Training: it learns, it is deterministic, and an interruption leaves no trace."""

from pathlib import Path

import numpy as np
import pytest
import torch

from distill.common import InputError
from distill.jobs import TrainingConfig, checkpoint_of, train_networks
from distill.networks import (
    Architecture,
    Checkpoint,
    Epoch,
    Examples,
    Training,
    build_network,
    predict,
    train,
)
from distill.planning import expand, problem_class
from distill.structures import join
from distill.symmetry import build_quotient_of

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "artifacts" / "checkpoints"
SMALL = Architecture(layers=3, size=8)


@pytest.fixture(scope="module")
def examples():
    data = join([expand(one, 1000) for one in problem_class("blocks-clear").make("train")[:3]])
    sets = {"train": data, "validation": data}
    quotient = build_quotient_of(sets).quotient
    network = build_network(data.vocabulary, SMALL)
    return network, *(Examples.of_quotient(network, quotient, split) for split in range(2))


def same_weights(one, other) -> bool:
    pairs = zip(one.network.state_dict().values(), other.network.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("loss", ["l1", pytest.param("mse", marks=pytest.mark.slow)])
@pytest.mark.parametrize("batch_size", [0, 16])
def test_training_lowers_the_error(examples, loss, batch_size):
    settings = Training(
        epochs=6, batches=30, batch_size=batch_size, learning_rate=0.01, loss=loss, layer_spread=1
    )
    trained = train(*examples, settings, seed=0)
    assert trained.validation_mae < 0.4 * trained.history[0].validation_mae
    error = np.abs(examples[2].values(trained.network) - examples[2].label).mean()
    assert error == pytest.approx(trained.validation_mae, abs=1e-6)


def test_the_seed_decides_the_weights(examples):
    settings = Training(epochs=2, batches=5, batch_size=8)
    one, same, other = (train(*examples, settings, seed=s) for s in (1, 1, 2))
    assert same_weights(one, same)
    assert not same_weights(one, other)


class KilledError(Exception):
    pass


def test_an_interrupted_training_ends_with_the_same_weights(examples, tmp_path):
    settings = Training(epochs=4, batches=5, batch_size=8, layer_spread=1)
    whole = train(*examples, settings, seed=3)
    file = tmp_path / "training.safetensors"

    def stop(epoch: Epoch) -> None:
        if epoch.number == 2:
            raise KilledError

    with pytest.raises(KilledError):
        train(*examples, settings, seed=3, file=file, progress=stop)
    seen: list[int] = []
    resumed = train(
        *examples,
        settings,
        seed=3,
        file=file,
        progress=lambda e: seen.append(e.number),
    )
    assert seen == [3, 4]
    assert same_weights(whole, resumed)
    assert [e.loss for e in whole.history] == [e.loss for e in resumed.history]
    again = train(*examples, settings, seed=3, file=file, progress=pytest.fail)
    assert same_weights(whole, again)
    with pytest.raises(InputError, match="other settings"):
        train(*examples, settings, seed=4, file=file)


def test_patience_ends_training_and_the_best_epoch_counts(examples):
    settings = Training(epochs=50, batches=1, batch_size=4, learning_rate=1.0, patience=3)
    trained = train(*examples, settings, seed=0)
    errors = [epoch.validation_mae for epoch in trained.history]
    assert trained.validation_mae == min(errors)
    assert len(errors) == min(50, trained.best + 3)


def test_a_training_that_diverges_is_told(examples):
    settings = Training(epochs=3, batches=20, batch_size=8, learning_rate=1e6, clip=0)
    with pytest.raises(InputError, match="seed 0 diverged in epoch"):
        train(*examples, settings, seed=0)


def test_no_states_are_refused(examples):
    none = examples[1].part(np.zeros(0, dtype=np.int64))
    with pytest.raises(InputError, match="no labelled states"):
        train(examples[0], none, examples[2], Training(), seed=0)


def test_states_are_drawn_by_inverse_frequency(examples):
    weights, v_star = examples[1].weights(), examples[1].label
    totals = [weights[v_star == value].sum() for value in np.unique(v_star)]
    np.testing.assert_allclose(totals, 1 / len(totals))


CONFIG = """
problem: blocks-clear
network: {layers: 2, size: 4}
training: {epochs: 2, batches: 2, batch_size: 8, seeds: 2}
"""


@pytest.mark.slow
def test_seeds_trained_in_parallel_are_the_same(tmp_path, training_set):
    (tmp_path / "small.yaml").write_text(CONFIG)
    config = TrainingConfig.read(tmp_path / "small.yaml")
    data = training_set("blocks-clear")
    sets = {"train": data.pick(np.arange(50)), "validation": data.pick(np.arange(50, 90))}
    told: list[tuple[int, int]] = []
    one = train_networks(config, sets, workers=1, cache=tmp_path / "a")
    two = train_networks(
        config, sets, workers=2, cache=tmp_path / "b", progress=lambda s, e: told.append((s, e.number))
    )
    assert [trained.seed for trained in one] == [trained.seed for trained in two]
    assert all(same_weights(a, b) for a, b in zip(one, two, strict=True))
    assert one[0].validation_mae <= one[1].validation_mae
    record = checkpoint_of(config, one).record
    assert record["seed"] == one[0].seed
    assert record["config"]["training"]["patience"] == Training().patience


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("problem: [", "not YAML"),
        ("just words", "has no entries"),
        ("problem: gripper\nlayers: 3", "no entry layers"),
        ("problem: gripper\nnetwork: {layers: many}", "layers must be a whole number"),
        ("problem: gripper\nnetwork: {aggregation: median}", "aggregation must be one of sum, mean, max"),
        ("problem: gripper\nnetwork: 5", "network must hold settings"),
        ("problem: gripper\ntraining: {speed: 3}", "no setting speed"),
    ],
)
def test_bad_configs_are_explained(tmp_path, text, told):
    (tmp_path / "bad.yaml").write_text(text)
    with pytest.raises(InputError, match=told):
        TrainingConfig.read(tmp_path / "bad.yaml")


def test_a_config_without_instances_is_explained(tmp_path):
    (tmp_path / "empty.yaml").write_text("network: {layers: 1}")
    with pytest.raises(InputError, match="must name a problem"):
        TrainingConfig.read(tmp_path / "empty.yaml").splits()


@pytest.mark.slow
def test_a_shipped_network_scores_what_its_record_says(training_set):
    data = training_set("blocks-clear")
    network = Checkpoint.load(SHIPPED / "blocks-clear.safetensors")
    error = np.abs(predict(network.network, {"train": data})["train"] - data.v_star)
    recorded = network.record["metrics"]["train"]
    assert np.average(error, weights=data.multiplicity) == pytest.approx(recorded["mae"], abs=1e-4)
    assert data.multiplicity.sum() == recorded["states"]


def test_shipped_networks_belong_to_their_configs():
    shipped = sorted(SHIPPED.glob("*.safetensors"))
    assert [file.stem for file in shipped] == ["blocks-clear", "blocks-on", "gripper", "miconic", "visitall"]
    for file in shipped:
        assert file.stat().st_size < 1_000_000
        found = Checkpoint.load(file)
        config = TrainingConfig.read(ROOT / "configs" / "training" / f"{file.stem}.yaml")
        assert found.record["config"] == config.to_mapping()
        metrics = found.record["metrics"]
        assert metrics["train"]["mae"] < 0.02
        assert metrics["test"]["known_within_half"] >= 0.99
        assert metrics["test"]["solved"] >= 0.95 * metrics["test"]["instances"]
