"""Networks trained by others: what their authors' own programs, or the notes that came with them, give."""

from pathlib import Path

import pytest
import torch

from distill.cli.evaluate import scores_as_json
from distill.common import InputError
from distill.evaluation import evaluate_checkpoint, network_policy
from distill.networks import Checkpoint, check_vocabulary, values
from distill.planning import Domain, Instance, Labelling, Split, expand, prepare, problem_class, validate

SHARED = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture
def published() -> Path:
    folder = SHARED / "checkpoints"
    if not folder.is_dir():
        pytest.skip("the networks trained by others (../shared/data/checkpoints) are not here")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "instance", "expected"),
    [
        ("kr22-gripper.ckpt", "gripper/train/prob01", (256, 254, 254, 1.42, 1.94)),
        ("kr22-blocks.ckpt", "blocks/train/probBLOCKS-4-0", (125, 124, 124, 1.25, 1.93)),
        ("kr22-blocks.ckpt", "blocks/train/probBLOCKS-5-0", (866, 863, 865, 1.20, 1.89)),
        ("rnn-python-blocks-158ce4c.pth", "blocks/train/probBLOCKS-4-0", 0.016),
        ("rnn-python-blocks-158ce4c.pth", "blocks/train/probBLOCKS-5-0", 0.021),
    ],
)
def test_published_networks_replay_as_their_notes_say(published, shared_pddl, network, instance, expected):
    file = shared_pddl / "kr22" / f"{instance}.pddl"
    one = Instance.read(Domain.read(file.parent / "domain.pddl"), file)
    split = Split("test", [one], Labelling())
    data, _ = prepare(split, reduce="none")
    found = evaluate_checkpoint(Checkpoint.load(published / network), [split], {"test": data})
    scores = scores_as_json(found)
    assert scores["solved"] == 1
    if isinstance(expected, float):
        assert round(scores["mae"], 3) == expected
    else:
        keys = ("states", "greedy_optimal_steps", "greedy_steps")
        assert (*(scores[key] for key in keys),) == expected[:3]
        assert (round(scores["ratio_min"], 2), round(scores["ratio_max"], 2)) == expected[3:]


@pytest.mark.slow
def test_a_published_policy_solves_seventeen_blocks(published, shared_pddl):
    folder = shared_pddl / "kr22" / "blocks" / "test"
    one = Instance.read(Domain.read(folder / "domain.pddl"), folder / "probBLOCKS-17-0.pddl")
    outcome = network_policy(Checkpoint.load(published / "rnn-python-blocks-158ce4c.pth").network)(one)
    assert len(outcome.plan) == 46
    assert validate(one, outcome.plan).valid


def test_a_published_network_refuses_another_domain(published):
    network = Checkpoint.load(published / "kr22-gripper.ckpt").network
    with pytest.raises(InputError, match="room is missing in the domain"):
        check_vocabulary(network, problem_class("blocks-on").domain.vocabulary())


AGGREGATIONS = ["Mean", "Sum", "HardMaximum", "SmoothMaximum"]


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("name", ["blocks-on", "miconic"])
def test_values_equal_those_of_pymimir_rgnn(tmp_path, name, aggregation):
    rgnn = pytest.importorskip("pymimir_rgnn", reason="pymimir-rgnn (extra foreign) is not installed")
    mimir = pytest.importorskip("pymimir")
    instance = problem_class(name).make("train")[3]
    (tmp_path / "domain.pddl").write_text(instance.domain.text)
    (tmp_path / "problem.pddl").write_text(instance.text)
    domain = mimir.Domain(str(tmp_path / "domain.pddl"))
    problem = mimir.Problem(domain, str(tmp_path / "problem.pddl"))
    torch.manual_seed(len(aggregation))
    options = rgnn.HyperparameterConfig(
        domain=domain,
        embedding_size=8,
        num_layers=4,
        normalize_updates=aggregation in ("Sum", "SmoothMaximum"),
        residual_updates=aggregation != "Mean",
    )
    encoders = (rgnn.StateEncoder(), rgnn.GoalEncoder())
    modules = rgnn.ModuleConfig(
        aggregation_function=getattr(rgnn, f"{aggregation}Aggregation")(),
        message_function=rgnn.PredicateMLPMessages(options, encoders),
        update_function=rgnn.MLPUpdates(options),
    )
    decoder = rgnn.ObjectsScalarDecoder(options)
    theirs = rgnn.RelationalGraphNeuralNetwork(options, modules, encoders, [("value", decoder)])
    theirs.save(tmp_path / "net.pth")
    checkpoint = Checkpoint.load(tmp_path / "net.pth")
    assert checkpoint.source == "pymimir-rgnn 0.2"
    data = expand(instance, 1000)
    check_vocabulary(checkpoint.network, data.vocabulary)
    ours = values(checkpoint.network, data.structures(goal_marking=True))
    number = {_fluent(data.atom_names(state)): state for state in range(len(data))}
    states = [problem.get_initial_state()]
    states += [action.apply(states[0]) for action in states[0].generate_applicable_actions()]
    goal = problem.get_goal_condition()
    for state in states:
        named = [[a.get_predicate(), *a.get_terms()] for a in state.get_atoms()]
        written = [f"({' '.join(part.get_name() for part in atom)})" for atom in named]
        with torch.no_grad():
            expected = theirs.forward([(state, goal)]).readout("value").item()
        assert ours[number[_fluent(written)]] == pytest.approx(expected, rel=1e-5, abs=1e-5)


def _fluent(atoms: list[str]) -> frozenset[str]:
    return frozenset(a for a in atoms if "_G" not in a and not a.startswith(("(object ", "(number ", "(= ")))


def test_parts_of_pymimir_rgnn_that_we_do_not_replay_are_named(tmp_path):
    rgnn = pytest.importorskip("pymimir_rgnn", reason="pymimir-rgnn (extra foreign) is not installed")
    mimir = pytest.importorskip("pymimir")
    (tmp_path / "domain.pddl").write_text(problem_class("blocks-on").domain.text)
    options = rgnn.HyperparameterConfig(
        domain=mimir.Domain(str(tmp_path / "domain.pddl")), embedding_size=4, global_readout=True
    )
    encoders = (rgnn.StateEncoder(), rgnn.GoalEncoder())
    modules = rgnn.ModuleConfig(
        aggregation_function=rgnn.SumAggregation(),
        message_function=rgnn.PredicateMLPMessages(options, encoders),
        update_function=rgnn.MLPUpdates(options),
    )
    decoder = rgnn.ObjectsScalarDecoder(options)
    rgnn.RelationalGraphNeuralNetwork(options, modules, encoders, [("v", decoder)]).save(tmp_path / "net.pth")
    with pytest.raises(InputError, match="it uses global_readout, which cannot be replayed"):
        Checkpoint.load(tmp_path / "net.pth")


def test_pymimir_rgnn_01_files_are_read(tmp_path, monkeypatch):
    """The two versions cannot be installed together, so the file is made from stand-ins of the classes."""
    import enum
    import sys
    import types

    def kind(module: str, name: str, **members: str) -> type[enum.Enum]:
        made = enum.Enum(name, members, module=module)
        monkeypatch.setitem(sys.modules, module, sys.modules.get(module) or types.ModuleType(module))
        monkeypatch.setattr(sys.modules[module], name, made, raising=False)
        return made

    inputs = kind("pymimir_rgnn.encodings", "InputType", State="state", Goal="goal")
    aggregation = kind("pymimir_rgnn.model", "AggregationFunction", HardMaximum="hmax")
    message = kind("pymimir_rgnn.model", "MessageFunction", PredicateMLP="predicate_mlp")
    update = kind("pymimir_rgnn.model", "UpdateFunction", MLP="mlp")
    size, tensors = 4, {"_dummy": torch.empty(0)}

    def perceptron(name: str, width: int, outputs: int) -> None:
        for part, out in (("_inner", width), ("_outer", outputs)):
            tensors[f"{name}.{part}.weight"] = torch.randn(out, width)
            tensors[f"{name}.{part}.bias"] = torch.randn(out)

    for relation, arity in (("on", 2), ("on_goal_true", 2), ("on_goal_false", 2), ("object", 1)):
        width = size * arity
        perceptron(f"_mpnn_module._relation_network._relation_mlps.relation_{relation}", width, width)
    perceptron("_mpnn_module._relation_network._update", 2 * size, size)
    perceptron("_readouts.value._object_readout._value", size, 1)
    config = {
        "input_specification": (inputs.State, inputs.Goal),
        "embedding_size": size,
        "num_layers": 6,
        "message_aggregation": aggregation.HardMaximum,
        "message_function": message.PredicateMLP,
        "update_function": update.MLP,
        "normalize_updates": False,
        "global_readout": False,
    }
    torch.save({"model": tensors, "config": config, "extras": {}}, tmp_path / "net.pth")
    found = Checkpoint.load(tmp_path / "net.pth")
    assert found.source == "pymimir-rgnn 0.1"
    assert found.network.settings.aggregation == "max"
    assert found.network.settings.layers == 6
    assert [p.name for p in found.network.vocabulary] == ["on", "on_G,T", "on_G,F", "object"]
    bias = tensors["_mpnn_module._relation_network._update._inner.bias"]
    assert torch.equal(found.network.update.inner.bias, bias)
