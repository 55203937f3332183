"""Networks that compute infinite values: reported with their file and site, never a result."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from distill.common import InputError
from distill.distillation import Distillation, distil
from distill.networks import (
    Architecture,
    Checkpoint,
    Training,
    build_network,
    check_network,
    compute_predictions,
    predict,
    probe_checkpoint,
    replay_states,
    values,
)
from distill.networks.examples import Examples
from distill.networks.state_values import quotient_for
from distill.networks.training import train
from distill.planning import problem_class
from distill.structures import DataSet, Options
from tests.support.blocks import expanded

LARGE = 3e38


@pytest.fixture(scope="module")
def data() -> DataSet:
    return expanded(problem_class("blocks-clear").make("train")[:3])


def broken(data: DataSet, folder: Path, part: str, value: float = LARGE) -> Checkpoint:
    """A checkpoint with very large weights in one part, from its file."""
    network = build_network(data.vocabulary, Architecture(layers=2, size=4))
    with torch.no_grad():
        for name, weights in network.named_parameters():
            if name.startswith(part):
                weights.fill_(value)
    Checkpoint(network).save(folder / "large.safetensors")
    return Checkpoint.load(folder / "large.safetensors")


@pytest.mark.parametrize(
    ("part", "site"),
    [("messages", "layer 1"), ("update", "layer 1"), ("readout.inner", "inner"), ("readout.outer", "value")],
)
def test_every_use_of_a_network_names_file_and_site(data, tmp_path, part, site):
    checkpoint = broken(data, tmp_path, part)
    sets = {"train": data}
    uses = [
        lambda: predict(checkpoint.network, sets),
        lambda: values(checkpoint.network, checkpoint.network.encoding.structures(data)),
        lambda: compute_predictions(checkpoint, sets),
        lambda: replay_states(checkpoint, sets),
        lambda: probe_checkpoint(checkpoint, data),
        lambda: distil(checkpoint, sets, Distillation(rounds=0)),
    ]
    for use in uses:
        with pytest.raises(InputError) as caught:
            use()
        told = str(caught.value)
        assert told.startswith(
            f"{tmp_path / 'large.safetensors'} computes values that are not finite numbers"
        )
        assert f"first at {site};" in told
        assert "\n" not in told


def test_weights_that_are_no_numbers_are_refused(data, tmp_path):
    with pytest.raises(InputError, match="weights are not finite numbers"):
        broken(data, tmp_path, "update", float("nan"))


def test_a_usual_network_is_not_refused(data, tmp_path):
    assert np.isfinite(predict(broken(data, tmp_path, "none").network, {"train": data})["train"]).all()


def test_a_training_that_overflows_is_told(data):
    network = build_network(data.vocabulary, Architecture(layers=2, size=4))
    quotient = quotient_for(network, {"train": data}, Options(), stable=True).quotient
    examples = Examples.of_quotient(network, quotient, 0)
    settings = Training(epochs=2, batches=3, batch_size=8, learning_rate=1e6, clip=0)
    with pytest.raises(InputError, match=r"The training with seed 0 diverged in epoch 1"):
        train(network, replace(examples, label=examples.label * 1e38), examples, settings, seed=0)


def test_a_network_beyond_the_memory_is_refused_before_it_is_made(data):
    with pytest.raises(InputError, match=r"with \d+ parameters needs at least .* GiB of memory"):
        check_network(
            data.vocabulary, Architecture(layers=1000, size=8192).model_copy(update={"size": 10**6})
        )


def test_more_random_numbers_than_an_embedding_has_are_refused(data):
    with pytest.raises(InputError, match="random_initial must be at most size, 4"):
        build_network(data.vocabulary, Architecture(size=4, random_initial=5))
