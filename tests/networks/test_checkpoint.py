"""Checkpoints: ours, those of others, and files that mean no good."""

import pickle
from pathlib import Path

import numpy as np
import pytest
import torch

from distill.common import InputError
from distill.networks import RGNN, Architecture, Checkpoint, check_vocabulary, values
from distill.networks.tensors import write_tensors
from distill.structures import Predicate, Vocabulary
from tests.support.oracles import network_values
from tests.support.strategies import WORDS

BLOCKS = [("on", 2), ("handempty", 0), ("clear", 1), ("on_goal", 2), ("handempty_goal", 0), ("clear_goal", 1)]


def small_network(**options: object) -> RGNN:
    torch.manual_seed(0)
    return RGNN(WORDS, Architecture(layers=2, size=4, **options))  # type: ignore[arg-type]


def linear(name: str, inputs: int, outputs: int) -> dict[str, torch.Tensor]:
    return {f"{name}.weight": torch.randn(outputs, inputs) / inputs, f"{name}.bias": torch.randn(outputs)}


def kr22_file(path: Path, predicates: list[tuple[str, int]] = BLOCKS, size: int = 4) -> Path:
    torch.manual_seed(1)
    tensors = {"model.dummy": torch.empty(0)}
    for number, (_, arity) in enumerate(predicates):
        if arity:
            for part in (0, 2):
                name = f"model.relation_network.relation_modules.{number}.{part}"
                tensors |= linear(name, size * arity, size * arity)
    tensors |= linear("model.relation_network.update.0", 2 * size, 2 * size)
    tensors |= linear("model.relation_network.update.2", 2 * size, size)
    for name in ("readout", "solvable_readout"):
        tensors |= linear(f"{name}.pre.0", size, size) | linear(f"{name}.pre.2", size, size)
        tensors |= linear(f"{name}.post.0", size, size) | linear(f"{name}.post.2", size, 1)
    # The sizes in the options are wrong on purpose: those of the tensors count.
    options = {"predicates": predicates, "hidden_size": 999, "iterations": 3}
    torch.save({"state_dict": tensors, "hyper_parameters": options, "epoch": 7}, path)
    return path


def test_saved_and_loaded_networks_are_the_same(tmp_path, training_set):
    network = small_network(aggregation="max", readout="twice", layer_norm=True)
    checkpoint = Checkpoint(network, {"note": "trained by hand", "metrics": {"mae": 0.5}})
    checkpoint.save(tmp_path / "net.safetensors")
    again = Checkpoint.load(tmp_path / "net.safetensors")
    assert again.key == checkpoint.key
    assert again.record == checkpoint.record
    assert again.network.vocabulary == WORDS
    again.save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == (tmp_path / "net.safetensors").read_bytes()


def test_a_key_changes_with_the_weights():
    one, other = Checkpoint(small_network()), Checkpoint(small_network())
    assert one.key == other.key
    with torch.no_grad():
        other.network.update.inner.bias[0] += 1
    assert one.key != Checkpoint(other.network).key


def test_a_kr22_file_computes_what_its_authors_describe(tmp_path, training_set):
    checkpoint = Checkpoint.load(kr22_file(tmp_path / "net.ckpt"))
    assert checkpoint.source == "gnn-policy-kr22"
    assert checkpoint.network.settings.size == 4
    assert [p.name for p in checkpoint.network.vocabulary] == ["on", "clear", "on_G", "clear_G"]
    states = training_set("blocks-clear", 8).structures(slice(0, 40))
    expected = network_values(checkpoint.network, states)[1]
    np.testing.assert_allclose(values(checkpoint.network, states), expected, rtol=1e-4, atol=1e-4)
    assert (expected >= 0).all()


def test_a_python_rnn_file_is_read(tmp_path):
    torch.manual_seed(2)
    network, tensors = "_module._relation_network", {"_module._dummy": torch.empty(0)}
    for name, arity in (("on", 2), ("on_goal_true", 2), ("on_goal_false", 2), ("clear", 1)):
        for part in ("_inner", "_outer"):
            tensors |= linear(f"{network}._relation_mlps.relation_{name}.{part}", 4 * arity, 4 * arity)
    tensors |= linear(f"{network}._update_mlp._inner", 8, 8) | linear(f"{network}._update_mlp._outer", 8, 4)
    tensors |= linear("_readout._value._inner", 4, 4) | linear("_readout._value._outer", 4, 1)
    torch.save({"model": tensors, "hparams": {"num_layers": 5}, "optimizer": {}}, tmp_path / "net.pth")
    found = Checkpoint.load(tmp_path / "net.pth")
    assert found.source == "relational-neural-network-python"
    assert found.network.settings.goal_marking
    assert [p.name for p in found.network.vocabulary] == ["on", "on_G,T", "on_G,F", "clear"]
    assert found.network.settings.layers == 5


class Attack:
    """A pickle that would create a file when it is loaded."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self):
        return Path.touch, (self.target,)


@pytest.mark.parametrize("wrap", [lambda bad: bad, lambda bad: {"model": {}, "hparams": bad}])
@pytest.mark.parametrize("save", [torch.save, lambda content, path: path.write_bytes(pickle.dumps(content))])
def test_a_file_that_would_run_code_is_refused_and_runs_nothing(tmp_path, wrap, save):
    target, file = tmp_path / "pwned", tmp_path / "net.pth"
    save(wrap(Attack(target)), file)
    with pytest.raises(InputError, match="refused, nothing was run" if save is torch.save else "damaged"):
        Checkpoint.load(file)
    assert not target.exists()
    # The file is a real attack: an unrestricted load runs it.
    if save is torch.save:
        torch.load(file, weights_only=False)
    else:
        pickle.loads(file.read_bytes())  # noqa: S301
    assert target.exists()


@pytest.mark.parametrize("keep", [0, 10, 700])
@pytest.mark.parametrize("name", ["net.ckpt", "net.safetensors"])
def test_truncated_files_are_refused(tmp_path, keep, name):
    whole = tmp_path / name
    if name.endswith("ckpt"):
        kr22_file(whole)
    else:
        Checkpoint(small_network()).save(whole)
    whole.write_bytes(whole.read_bytes()[:keep])
    with pytest.raises(InputError, match="damaged"):
        Checkpoint.load(whole)


def test_missing_and_unknown_files(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        Checkpoint.load(tmp_path / "none.pth")
    with pytest.raises(InputError, match="No such file"):
        Checkpoint.load(tmp_path / "none.safetensors")
    torch.save({"weights": torch.ones(2)}, tmp_path / "other.pth")
    with pytest.raises(InputError, match="has no known format"):
        Checkpoint.load(tmp_path / "other.pth")
    write_tensors(tmp_path / "other.safetensors", {}, {"kind": "something else"})
    with pytest.raises(InputError, match="'something else', not 'network'"):
        Checkpoint.load(tmp_path / "other.safetensors")


def test_weights_that_are_not_numbers_are_refused(tmp_path):
    network = small_network()
    with torch.no_grad():
        network.readout.outer.bias[0] = float("nan")
    Checkpoint(network).save(tmp_path / "net.safetensors")
    with pytest.raises(InputError, match=r"not finite numbers \(readout.outer.bias\)"):
        Checkpoint.load(tmp_path / "net.safetensors")


def test_weights_that_do_not_fit_are_refused(tmp_path):
    file = kr22_file(tmp_path / "net.ckpt")
    content = torch.load(file, weights_only=True)
    content["state_dict"]["model.extra.weight"] = torch.ones(2)
    torch.save(content, file)
    with pytest.raises(InputError, match="unknown weights"):
        Checkpoint.load(file)
    del content["state_dict"]["model.extra.weight"]
    del content["state_dict"]["readout.post.0.bias"]
    torch.save(content, file)
    with pytest.raises(InputError, match="parts are missing"):
        Checkpoint.load(file)


def test_a_vocabulary_that_does_not_match_is_explained_predicate_by_predicate():
    words = Vocabulary([Predicate("on", 2), Predicate("lit", 1), Predicate("clear", 1)])
    domain = Vocabulary(
        [Predicate("on", 3), Predicate("clear", 1), Predicate("at", 2), Predicate("block", 1, "type")]
    )
    with pytest.raises(InputError) as caught:
        check_vocabulary(RGNN(words, Architecture(layers=1, size=2)), domain)
    told = str(caught.value)
    assert "on has arity 3 in the domain and 2 in the network" in told
    assert "lit is missing in the domain" in told
    assert "at is not known to the network" in told
    assert "clear" not in told
    assert "block" not in told


def test_goals_that_no_instance_has_are_no_mismatch():
    words = Vocabulary([Predicate("on", 2), Predicate("on_G,T", 2, "goal"), Predicate("object", 1, "type")])
    network = RGNN(words, Architecture(layers=1, size=2, goal_marking=True))
    check_vocabulary(network, Vocabulary([Predicate("on", 2)]))
    with pytest.raises(InputError, match="on_G,T is missing in the domain"):
        check_vocabulary(network, Vocabulary([Predicate("clear", 1)]))
