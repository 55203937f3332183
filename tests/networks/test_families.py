"""A second family of networks, registered here alone, goes through all that the R-GNN goes through."""

from typing import ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from distill.common import InputError, Settings
from distill.distillation import Distillation, known_rows
from distill.distillation.sample import draw_sample
from distill.encodings import ENCODINGS, Encoding
from distill.evaluation import measure_layer_r2, network_policy
from distill.jobs import TrainingConfig, checkpoint_of, train_networks
from distill.logic import parse
from distill.networks import (
    FAMILIES,
    RGNN,
    Activations,
    Architecture,
    Bound,
    Checkpoint,
    Network,
    NetworkFamily,
    Site,
    Training,
    build_network,
    check_vocabulary,
    compute_predictions,
    predict,
    probe_checkpoint,
    quotient_for,
    replay,
    replay_states,
    values,
)
from distill.networks.network import StructureInputs
from distill.networks.tensors import read_tensors, write_tensors
from distill.planning import expand, problem_class
from distill.structures import DataSet, Options, Predicate, Vocabulary


class CountSettings(Settings):
    """The family has no settings."""


class Counts(Network):
    """V is a weighted sum of the numbers of atoms of unary predicates."""

    family: ClassVar[str] = "counts"

    def __init__(self, vocabulary: Vocabulary, settings: CountSettings) -> None:
        super().__init__()
        self.vocabulary, self.settings = vocabulary, settings
        self.names = [predicate.name for predicate in vocabulary if predicate.arity == 1]
        self.linear = nn.Linear(len(self.names), 1)

    @property
    def encoding(self) -> Encoding:
        return ENCODINGS["goal-marked"]

    @property
    def sites(self) -> tuple[Site, ...]:
        objects = Site("layer 0", "objects", 0), Site("layer 1", "objects", 1)
        return *objects, Site("pooled", "states", 1), Site("value", "states", 1)

    @property
    def bound(self) -> Bound:
        return Bound(Options(nullary=False), 1)

    def run(
        self, inputs: StructureInputs, *, keep: bool = True, layers: int | None = None
    ) -> Activations[Tensor]:
        states = inputs.states
        holds = torch.zeros(states.n_objects, len(self.names))
        for column, name in enumerate(self.names):
            holds[torch.from_numpy(states.atoms(name)[:, 0]).long(), column] = 1.0
        state = torch.from_numpy(states.state_of_object).long()
        pooled = torch.zeros(len(states), len(self.names)).index_add(0, state, holds)
        tables = (holds, holds * self.linear.weight, pooled, self.linear(pooled).view(-1))
        found = dict(zip(self.sites, tables, strict=True))
        return Activations({site: table for site, table in found.items() if keep or site.about == "states"})


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    def build(domain, settings):
        return Counts(domain.marked(), settings)

    def read(vocabulary, settings, tensors):
        return Counts(vocabulary, settings).with_weights(tensors)

    monkeypatch.setitem(FAMILIES, "counts", NetworkFamily("counts", CountSettings, build, read))


@pytest.fixture(scope="module")
def data() -> DataSet:
    return expand(problem_class("blocks-clear").make("train")[1], 1000)


@pytest.fixture
def network(data, registered) -> Network:
    return build_network(data.vocabulary, CountSettings(), seed=1)


def test_values_by_hand(network, data):
    weights = {"clear": 2.0, "ontable": -1.0}
    with torch.no_grad():
        network.linear.weight[0] = torch.tensor([weights.get(name, 0.0) for name in network.names])
        network.linear.bias[0] = 0.5
    expected = [
        0.5 + sum(2.0 * atom.startswith("(clear ") - atom.startswith("(ontable ") for atom in atoms)
        for atoms in ([a for a in data.atom_names(i) if "_G" not in a] for i in range(len(data)))
    ]
    assert values(network, network.encoding.structures(data)).tolist() == expected
    assert predict(network, {"all": data})["all"].tolist() == expected


def test_a_file_names_its_family(network, data, tmp_path):
    file = tmp_path / "counts.safetensors"
    Checkpoint(network).save(file)
    assert read_tensors(file, "network")[1]["family"] == "counts"
    again = Checkpoint.load(file)
    assert isinstance(again.network, Counts)
    assert again.key == Checkpoint(network).key
    states = network.encoding.structures(data)
    assert np.array_equal(values(again.network, states), values(network, states))


def test_files_of_rgnns_do_not_name_their_family(data, tmp_path):
    Checkpoint(RGNN(data.vocabulary, Architecture(layers=1, size=2))).save(tmp_path / "net.safetensors")
    assert "family" not in read_tensors(tmp_path / "net.safetensors", "network")[1]
    assert isinstance(Checkpoint.load(tmp_path / "net.safetensors").network, RGNN)


def test_an_unknown_family_gets_one_sentence(network, tmp_path):
    file = tmp_path / "counts.safetensors"
    Checkpoint(network).save(file)
    tensors, metadata = read_tensors(file, "network")
    write_tensors(file, tensors, {**metadata, "family": "transformer"})
    with pytest.raises(InputError, match="there is no family of networks transformer; choose from rgnn"):
        Checkpoint.load(file)


def test_training_lowers_the_error_and_is_kept(data, tmp_path):
    settings = Training(epochs=8, batches=40, batch_size=16, learning_rate=0.05)
    config = TrainingConfig("counts", {"problem": "blocks-clear"}, CountSettings(), settings)
    sets = {"train": data, "validation": data}
    [trained] = train_networks(config, sets, cache=tmp_path)
    assert trained.validation_mae < 0.7 * trained.history[0].validation_mae
    again = train_networks(config, sets, cache=tmp_path, progress=lambda *_: pytest.fail("trained again"))
    keys = [checkpoint_of(config, networks).key for networks in ([trained], again)]
    assert keys[0] == keys[1]
    other = TrainingConfig("counts", config.source, CountSettings(), Training(layer_spread=1))
    with pytest.raises(InputError, match="set layer_spread to 0"):
        train_networks(other, sets, cache=tmp_path)


def test_a_replay_holds_the_activations_of_every_object(network, data):
    built = quotient_for(network, {"all": data})
    found = replay(network, built.quotient)
    states = network.encoding.structures(data)
    with torch.no_grad():
        plain = network.run(network.inputs(states))
    assert [site.name for site in found.sites] == ["layer 0", "layer 1", "pooled", "value"]
    for site, table in found.sites.items():
        rows = built.rows(states, site.depth) if site.about == "objects" else built.state_row
        np.testing.assert_allclose(table[rows], plain[site.name].numpy(), rtol=1e-6)


def test_activations_of_every_object_are_written(network, data, tmp_path):
    replay_states(Checkpoint(network), {"train": data}).save(tmp_path / "all.npz")
    archive = np.load(tmp_path / "all.npz", allow_pickle=False)
    holds = archive["layer 0"][archive["row/layer 0"]]
    state = len(data) // 2
    clear = archive["object"][(archive["state"] == state) & (holds[:, network.names.index("clear")] == 1)]
    atoms = data.atom_names(state)
    assert sorted(clear) == sorted(a[7:-1] for a in atoms if a.startswith("(clear "))


def test_probes_read_what_the_network_counts(network, data):
    with torch.no_grad():
        network.linear.weight.fill_(1.0)
    features = {"clear": [sum(a.startswith("(clear ") for a in data.atom_names(i)) for i in range(len(data))]}
    rows = probe_checkpoint(Checkpoint(network), data, features)
    assert [row.place for row in rows] == ["layer 1", "pool vector"]
    assert [row.trained.share for row in rows] == pytest.approx([1.0, 1.0])


def test_controls_and_analyses(network, data):
    checkpoint = Checkpoint(network)
    whole = known_rows({"train": data}, goal_marking=True)
    plain, untrained, permuted = (
        draw_sample(checkpoint, whole, Distillation(control=control, seed=3)).activations
        for control in ("none", "untrained", "permuted")
    )
    assert np.array_equal(plain["layer 0"], untrained["layer 0"])
    assert not np.array_equal(plain["layer 1"], untrained["layer 1"])
    assert not np.array_equal(plain["layer 0"], permuted["layer 0"])
    assert np.array_equal(np.sort(plain["layer 0"], axis=0), np.sort(permuted["layer 0"], axis=0))
    assert np.array_equal(plain.value, permuted.value)
    shares = measure_layer_r2(checkpoint, data, [], parse("#clear + #holding"))
    assert {one.layer for one in shares} == {1}
    assert compute_predictions(checkpoint, {"train": data}).points["train"].shape[0] == 2


def test_its_policy_is_executed(network):
    instance = problem_class("blocks-clear").make("train")[1]
    assert network_policy(network, 5)(instance) is not None
    with pytest.raises(InputError, match="is missing in the domain"):
        check_vocabulary(network, Vocabulary([Predicate("at", 2)]))


@pytest.mark.parametrize("readout", ["pooled", "two-part"])
def test_an_untrained_network_is_one_that_was_just_made(data, readout):
    settings = Architecture(layers=2, size=4, readout=readout, layer_norm=True)
    trained = build_network(data.vocabulary, settings, seed=1)
    with torch.no_grad():
        for weights in trained.parameters():
            weights.add_(1.0)
    before = Checkpoint(trained).key
    torch.manual_seed(7)
    made = RGNN(data.vocabulary, settings)
    state = torch.random.get_rng_state()
    assert Checkpoint(trained.untrained(7)).key == Checkpoint(made).key
    assert Checkpoint(trained).key == before
    assert torch.equal(torch.random.get_rng_state(), state)
