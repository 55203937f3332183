"""The settings of thesis 5.3: constant rate, frequencies of the data, time limit, layers by the states."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.utils import parameters_to_vector

from distill.common import InputError
from distill.jobs import TrainingConfig, checkpoint_of, train_networks
from distill.networks import (
    AUTO,
    Architecture,
    Checkpoint,
    Examples,
    Training,
    build_network,
    diameters,
    layers_to_cross,
    train,
)
from distill.planning import SPLITS, Labelling, collect, expand, label, problem_class
from distill.structures import Predicate, Structures, Vocabulary, join
from distill.symmetry import build_quotient_of

ROOT = Path(__file__).parents[2]
SMALL = Architecture(layers=2, size=4)
PLAIN = Training(epochs=2, batches=5, batch_size=16, schedule="none", clip=0, multiplicity=True)


@pytest.fixture(scope="module")
def walked():
    instances = problem_class("blocks-clear").make("train")[1:4]
    settings = Labelling(states="walks", walks=3, walk_length=12)
    return join([label(one, settings) for one in instances])


@pytest.fixture(scope="module")
def examples(walked):
    network = build_network(walked.vocabulary, SMALL)
    quotient = build_quotient_of({"train": walked, "validation": walked}).quotient
    return network, *(Examples.of_quotient(network, quotient, split) for split in range(2))


def test_states_are_drawn_as_often_as_they_occur(walked, examples):
    """Each V* has the same weight, and each state of it the same: rows weigh as many states as they have."""
    weights, v_star = examples[1].weights(), examples[1].label
    values, counts = np.unique(walked.v_star, return_counts=True)
    assert np.unique(v_star).tolist() == values.tolist()
    for value, count in zip(values, counts, strict=True):
        mine = v_star == value
        expected = examples[1].multiplicity[mine] / count / len(values)
        np.testing.assert_allclose(weights[mine], expected)
        assert examples[1].multiplicity[mine].sum() == count


def test_the_validation_error_is_that_of_all_states(walked, examples):
    trained = train(*examples, PLAIN, seed=0)
    network = trained.network
    quotient_error = examples[2].mae(network)
    plainly = np.abs(network.run(network.inputs(walked.structures())).value.detach().numpy() - walked.v_star)
    assert quotient_error == pytest.approx(plainly.mean(), rel=1e-5)
    assert trained.validation_mae == pytest.approx(quotient_error, rel=1e-6)
    once = train(*examples, PLAIN.replace(multiplicity=False), seed=0)
    assert once.validation_mae != pytest.approx(trained.validation_mae, rel=1e-3)


def test_a_constant_rate_is_plain_adam(examples):
    """One epoch, batch by batch, with torch's Adam as its documentation gives it."""
    network, training, _ = examples
    found = train(*examples, PLAIN.replace(epochs=1), seed=5).network
    own = network.untrained(5)
    adam = torch.optim.Adam(own.parameters(), lr=1e-3, weight_decay=5e-4)
    rng = np.random.default_rng([5, 0])
    for _ in range(PLAIN.batches):
        rng.integers(2, 3)  # the number of layers
        drawn = rng.choice(len(training), 16, p=training.weights())
        errors = [
            (training.part(np.array([one])).run(own) - float(training.label[one])).abs() for one in drawn
        ]
        adam.zero_grad()
        torch.cat(errors).mean().backward()
        adam.step()
    one, other = (parameters_to_vector(net.parameters()).detach() for net in (found, own))
    torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)


def test_a_cosine_is_the_default_and_differs(examples):
    default = train(*examples, PLAIN.replace(schedule="cosine"), seed=0)
    assert Training().schedule == "cosine"
    assert default.history[-1].loss != train(*examples, PLAIN, seed=0).history[-1].loss


def test_a_time_limit_ends_training_and_a_greater_one_goes_on(examples, tmp_path):
    file = tmp_path / "training.safetensors"
    few = train(*examples, PLAIN.replace(epochs=3, time_limit=1e-9), seed=0, file=file)
    assert len(few.history) == 1
    more = train(*examples, PLAIN.replace(epochs=3), seed=0, file=file)
    assert len(more.history) == 3
    assert more.history[0] == few.history[0]


def test_keys_of_stored_trainings_do_not_change():
    assert not Training().identity().keys() & {"schedule", "multiplicity", "time_limit"}
    assert not Training().of_one_seed().keys() & {"schedule", "multiplicity", "time_limit"}
    assert Training(schedule="none").of_one_seed()["schedule"] == "none"


def test_a_training_begins_with_given_weights(walked, tmp_path):
    first = build_network(walked.vocabulary, SMALL, seed=9)
    Checkpoint(first).save(tmp_path / "first.safetensors")
    text = "problem: blocks-clear\nstart: {}.safetensors\nnetwork: {{layers: 3, size: {}}}\ntraining: {{}}\n"
    (tmp_path / "go.yaml").write_text(text.format("first", 4))
    config = TrainingConfig.read(tmp_path / "go.yaml")
    still = replace(config, training=PLAIN.replace(epochs=1, learning_rate=0.0))
    [done] = train_networks(still, {"train": walked, "validation": walked}, cache=tmp_path / "cache")
    assert done.network.layers == 3
    for name, value in first.state_dict().items():
        torch.testing.assert_close(done.network.state_dict()[name], value)
    assert checkpoint_of(still, [done]).record["config"]["start"] == "first.safetensors"
    (tmp_path / "wide.yaml").write_text(text.format("first", 5))
    wide = TrainingConfig.read(tmp_path / "wide.yaml")
    with pytest.raises(InputError, match="the weights do not fit"):
        train_networks(wide, {"train": walked, "validation": walked}, cache=tmp_path / "cache")


def naive_layers(structures: Structures) -> int:
    """One more than the longest of all shortest paths, by breadth-first search from each object."""
    longest = 0
    edges: dict[int, set[int]] = {one: set() for one in range(structures.n_objects)}
    for predicate in structures.vocabulary:
        if predicate.arity:
            for atom in structures.relations[predicate.name].tolist():
                for one in atom:
                    edges[one] |= set(atom) - {one}
    for begin in edges:
        reached, distance = {begin}, 0
        while more := set().union(*(edges[one] for one in reached)) - reached:
            reached |= more
            distance += 1
        longest = max(longest, distance)
    return longest + 1


@pytest.mark.parametrize("name", ["blocks-on", "gripper", "miconic", "logistics"])
def test_the_number_of_layers_is_that_of_a_search(name):
    data = expand(problem_class(name).make("train")[0], 20_000)
    some = data.structures(range(0, len(data), max(1, len(data) // 40)))
    assert layers_to_cross([some]) == naive_layers(some)
    each = [naive_layers(some[[state]]) - 1 for state in range(len(some))]
    assert diameters(some).tolist() == each


def test_an_atom_of_three_objects_links_them_all():
    words = Vocabulary([Predicate("way", 3)])
    states = Structures(words, 1, [0] * 5, {"way": [[0, 1, 2], [2, 3, 4]]})
    assert layers_to_cross([states]) == 3
    assert layers_to_cross([Structures(words, 1, [0], {"way": np.zeros((0, 3), dtype=int)})]) == 1


@pytest.mark.parametrize(
    ("name", "layers"),
    [
        ("gripper-walks", 5),
        pytest.param("miconic-walks", 4, marks=pytest.mark.slow),
        ("blocks-clear-walks", 17),
        pytest.param("visitall-walks", 20, marks=pytest.mark.slow),
    ],
)
def test_the_layers_of_the_thesis_classes(name, layers):
    """From the initial states alone; the thesis takes 5, 5, 17 and 20."""
    instances = [one for split in SPLITS for one in problem_class(name).make(split)]
    batches = (collect(one, [one.initial_state]).structures() for one in instances)
    assert layers_to_cross(batches) == layers


def test_layers_auto_in_a_config(walked, tmp_path):
    (tmp_path / "a.yaml").write_text(
        "problem: blocks-clear\nnetwork: {layers: auto, size: 2}\ntraining: {epochs: 1, batches: 1}\n"
    )
    config = TrainingConfig.read(tmp_path / "a.yaml")
    assert config.network.layers == AUTO
    assert config.network.to_mapping()["layers"] == "auto"
    assert Architecture.from_mapping(config.network.to_mapping(), "again") == config.network
    higher = expand(problem_class("blocks-clear").make("train")[4], 20_000)
    sets = {"train": walked, "validation": walked, "test": higher}
    [found] = train_networks(config, sets, cache=tmp_path / "cache")
    needed = layers_to_cross([higher.structures()])
    assert found.network.layers == needed > layers_to_cross([walked.structures()])
    with pytest.raises(InputError, match="layers is auto"):
        build_network(walked.vocabulary, config.network)
    with pytest.raises(InputError, match="a whole number from 1 to 1000 or auto, not 'many'"):
        Architecture.from_mapping({"layers": "many"}, "a config")
    with pytest.raises(InputError, match="a whole number from 1 to 1000 or auto, not -1"):
        Architecture.from_mapping({"layers": -1}, "a config")


@pytest.mark.parametrize("file", sorted((ROOT / "configs" / "training" / "thesis").glob("*.yaml")), ids=str)
def test_the_configs_are_those_of_the_thesis(file):
    config = TrainingConfig.read(file)
    given = config.training
    assert (given.loss, given.learning_rate, given.weight_decay) == ("l1", 1e-3, 5e-4)
    assert (given.batch_size, given.patience, given.epochs) == (64, 20, 1000)
    assert (given.schedule, given.clip, given.multiplicity, given.layer_spread) == ("none", 0, True, 0)
    assert given.batches == 300
    assert config.network.size == (16 if file.stem == "gripper" else 32)
    assert config.source["problem"].removesuffix("-walks") in file.stem
