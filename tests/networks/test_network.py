"""Plain and lifted execution against a loop over atoms, and against each other."""

import sys

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st

from distill.common import InputError
from distill.networks import (
    RGNN,
    Activations,
    Architecture,
    Bags,
    Examples,
    evaluate,
    replay,
    values,
    wire_quotient,
)
from distill.structures import Options, Predicate, Structures, Vocabulary
from distill.symmetry import LabelledBatch, build_quotient
from tests.support.oracles import network_values
from tests.support.strategies import batches

SIZE = 4
architectures = st.builds(
    Architecture,
    layers=st.integers(1, 4),
    size=st.just(SIZE),
    aggregation=st.sampled_from(["sum", "mean", "max", "logsumexp"]),
    pooling=st.sampled_from(["sum", "max"]),
    smoothness=st.sampled_from([1.0, 8.0]),
    floor=st.sampled_from(["none", "object", "batch"]),
    activation=st.sampled_from(["mish", "relu"]),
    message_residual=st.booleans(),
    update_residual=st.booleans(),
    update_order=st.sampled_from(["embedding", "aggregate"]),
    layer_norm=st.booleans(),
    readout=st.sampled_from(["pooled", "two-part", "twice"]),
    readout_activation=st.sampled_from(["relu", "mish"]),
    absolute=st.booleans(),
)


def network_for(vocabulary: Vocabulary, architecture: Architecture, seed: int) -> RGNN:
    torch.manual_seed(seed)
    return RGNN(vocabulary, architecture).double()


def labelled(batch: Structures) -> list[LabelledBatch]:
    return [LabelledBatch(batch, {"state": np.arange(len(batch))}, np.zeros(len(batch)))]


@given(batches(), architectures, st.integers(0, 99))
def test_plain_execution_equals_a_loop_over_atoms(batch, architecture, seed):
    network = network_for(batch.vocabulary, architecture, seed)
    with torch.no_grad():
        found = evaluate(network, batch)
    embeddings, value = network_values(network, batch)
    for own, expected in zip(found.embeddings, embeddings, strict=True):
        np.testing.assert_allclose(own.numpy(), expected, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(found.value.numpy(), value, rtol=1e-7, atol=1e-7)


@given(batches(), architectures, st.integers(0, 99))
def test_single_precision_is_close(batch, architecture, seed):
    network = network_for(batch.vocabulary, architecture, seed).float()
    _, value = network_values(network, batch)
    np.testing.assert_allclose(values(network, batch), value, rtol=1e-5, atol=1e-5)


@given(batches(), architectures, st.integers(0, 99), st.booleans(), st.booleans())
def test_lifted_execution_equals_plain_execution(batch, architecture, seed, joint, stable):
    network = network_for(batch.vocabulary, architecture, seed)
    depth = None if stable else architecture.layers
    built = build_quotient(labelled(batch), depth, Options(joint=joint))
    with torch.no_grad():
        plain, lifted = evaluate(network, batch), network.run(network.rows(built.quotient))
    rows = built.state_rows(*labelled(batch))
    np.testing.assert_array_equal(rows, built.state_row)
    np.testing.assert_allclose(lifted.value[rows], plain.value, rtol=1e-9, atol=1e-9)
    for level in range(architecture.layers + 1):
        own = built.rows(batch, min(level, built.quotient.depth))
        np.testing.assert_allclose(
            lifted.embeddings[level][own], plain.embeddings[level], rtol=1e-9, atol=1e-9
        )


@given(batches(), architectures, st.integers(0, 99))
def test_gradients_are_the_same_lifted_and_plain(batch, architecture, seed):
    network = network_for(batch.vocabulary, architecture, seed)
    built = build_quotient(labelled(batch), architecture.layers)

    def gradients(found: Activations, rows: np.ndarray) -> list[torch.Tensor]:
        network.zero_grad()
        found.value[torch.from_numpy(rows)].square().sum().backward()
        return [p.grad.clone() for p in network.parameters() if p.grad is not None]

    plain = gradients(evaluate(network, batch), np.arange(len(batch)))
    lifted = gradients(network.run(network.rows(built.quotient)), built.state_row)
    for one, other in zip(plain, lifted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
@given(batch=batches(), architecture=architectures, seed=st.integers(0, 99))
def test_replay_is_the_same_wherever_lifting_ends(share, batch, architecture, seed):
    network = network_for(batch.vocabulary, architecture, seed).float()
    quotient = build_quotient(labelled(batch), architecture.layers).quotient
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["distill.networks.rgnn"], "_WORTH_LIFTING", share)
        patch.setattr(sys.modules["distill.networks.execution"], "AT_ONCE", 5)
        found = replay(network, quotient)
    with torch.no_grad():
        lifted = network.run(network.rows(quotient))
    assert list(found.sites) == list(lifted.sites)
    for site, table in found.sites.items():
        np.testing.assert_allclose(table, lifted.sites[site], rtol=1e-4, atol=1e-4)


def test_a_replay_is_the_same_after_saving(tmp_path):
    words = Vocabulary([Predicate("on", 2), Predicate("clear", 1)])
    tower = Structures(words, 1, [0, 0, 0], {"on": [[0, 1], [1, 2]], "clear": [[0]]})
    quotient = build_quotient(labelled(tower), 2).quotient
    found = replay(network_for(words, Architecture(layers=2, size=3), 0).float(), quotient)
    found.save(tmp_path / "replay.npz")
    again = type(found).load(tmp_path / "replay.npz")
    assert all(np.array_equal(a, b) for a, b in zip(found.embeddings, again.embeddings, strict=True))
    assert np.array_equal(found.value, again.value)
    quotient.save(tmp_path / "quotient.npz")
    loaded = type(quotient).load(tmp_path / "quotient.npz")
    assert [len(layer) for layer in loaded.layers] == [len(layer) for layer in quotient.layers]
    assert (loaded.layers[2].histogram != quotient.layers[2].histogram).nnz == 0
    assert (loaded.link("on", 2) != quotient.link("on", 2)).nnz == 0


@given(batches(), st.integers(0, 99))
def test_part_of_the_examples_gives_the_same_values(batch, seed):
    network = network_for(batch.vocabulary, Architecture(layers=3, size=SIZE), seed)
    examples = Examples.of_quotient(network, build_quotient(labelled(batch)).quotient, 0, "state")
    whole = examples.values(network)
    chosen = np.flatnonzero(np.random.default_rng(seed).random(len(examples)) < 0.5)
    np.testing.assert_allclose(examples.part(chosen).values(network), whole[chosen], rtol=1e-9, atol=1e-9)


def test_random_first_embeddings_are_seeded_and_zero_in_replay():
    words = Vocabulary([Predicate("on", 2)])
    pair = Structures(words, 1, [0, 0], {"on": [[0, 1]]})
    network = network_for(words, Architecture(layers=1, size=4, random_initial=2), 0)
    one, same, other = (evaluate(network, pair, seed=seed).embeddings[0] for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
    assert not one[:, :2].any()
    assert one[:, 2:].all()
    assert not evaluate(network, pair).embeddings[0].any()


def test_an_object_without_messages():
    words = Vocabulary([Predicate("on", 2)])
    alone = Structures(words, 1, [0], {})
    for aggregation in ("sum", "mean", "max", "logsumexp"):
        network = network_for(words, Architecture(layers=1, size=2, aggregation=aggregation), 0)
        _, value = network_values(network, alone)
        assert evaluate(network, alone).value.item() == pytest.approx(value[0])


def test_a_quotient_that_is_too_shallow_is_refused():
    words = Vocabulary([Predicate("on", 2)])
    tower = Structures(words, 1, [0] * 5, {"on": [[i, i + 1] for i in range(4)]})
    quotient = build_quotient(labelled(tower), 1).quotient
    with pytest.raises(InputError, match="too shallow for layer 2"):
        wire_quotient(quotient, 2, words)


def test_bags_by_hand():
    bags = Bags(np.array([0, 2, 2, 3]), np.array([0, 1, 1]), np.array([1.0, 2.0, 1.0]))
    table = torch.tensor([[1.0, -1.0], [3.0, 5.0]], dtype=torch.float64)
    assert bags.reduce(table, "sum").tolist() == [[7, 9], [0, 0], [3, 5]]
    assert bags.reduce(table, "mean").tolist() == [[7 / 3, 3], [0, 0], [3, 5]]
    assert bags.reduce(table, "max").tolist() == [[3, 5], [0, 0], [3, 5]]
    expected = np.log(np.exp(1) + 2 * np.exp(3))
    assert bags.reduce(table, "logsumexp")[0, 0].item() == pytest.approx(expected)
