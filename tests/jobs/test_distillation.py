"""From a network to a value function, and back from its file."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from distill.errors import InputError
from distill.jobs import Distilled, RunConfig, distil
from distill.logic import Evaluator, Sum
from distill.models import Checkpoint, Network
from distill.planning import DataSet, expand, join, problem_class
from distill.settings import Architecture, Distillation

ROOT = Path(__file__).parents[2]
SMALL = Distillation(mode="quotient", inner_width=2, final_width=2, regression="squares", nonnegative=True)


@pytest.fixture(scope="module")
def data() -> DataSet:
    instances = problem_class("blocks-clear").make("train")[:4]
    expanded = [expand(instance, 10_000) for instance in instances]
    return join([found for found in expanded if found is not None])


@pytest.fixture(scope="module")
def network(data: DataSet) -> Checkpoint:
    torch.manual_seed(1)
    return Checkpoint(Network(data.vocabulary, Architecture(layers=3, size=8)))


def test_a_shipped_network_becomes_an_exact_value_function(training_set) -> None:
    checkpoint = Checkpoint.load(ROOT / "artifacts/checkpoints/gripper.safetensors")
    states = training_set("gripper")
    settings = Distillation(mode="quotient", regression="absolute", nonnegative=True, features=("combined",))
    distilled, effort = distil(checkpoint, {"train": states}, settings)
    values = distilled.values(states.structures())
    assert np.abs(values - states.v_star).max() < 1e-9
    assert len(distilled.terms()) <= 15
    assert set(effort.seconds) == {"replay", "distil", "regress"}


@pytest.mark.parametrize("marking", [False, True])
def test_what_is_stored_predicts_the_same(data, tmp_path, marking) -> None:
    torch.manual_seed(2)
    words = data.vocabulary.marked() if marking else data.vocabulary
    given = Checkpoint(Network(words, Architecture(layers=2, size=8, goal_marking=marking)))
    distilled, _ = distil(given, {"train": data}, SMALL)
    distilled.save(tmp_path / "model.json")
    again = Distilled.load(tmp_path / "model.json")
    states = data.structures(goal_marking=marking)
    assert np.array_equal(again.values(states), distilled.values(states))
    assert again.value is distilled.value
    assert [f.origin for f in again.pool] == [f.origin for f in distilled.pool]
    (tmp_path / "again.json").write_bytes((tmp_path / "model.json").read_bytes())
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


def test_the_value_function_is_its_terms_and_its_constant(data, network, tmp_path) -> None:
    distilled, _ = distil(network, {"train": data}, SMALL)
    states = data.structures()
    evaluator = Evaluator(states)
    total = sum(weight * evaluator.number(feature.number) for weight, feature in distilled.terms())
    assert np.allclose(total + distilled.constant, distilled.values(states))
    assert all(feature.kind in ("numerical", "boolean", "combined") for _, feature in distilled.terms())


def test_the_same_settings_give_the_same_formulas(data, network, tmp_path) -> None:
    for mode in ("quotient", "thesis"):
        settings = replace(SMALL, mode=mode, inner_sample=200, final_sample=200)
        one, other = (distil(network, {"train": data}, settings)[0] for _ in range(2))
        assert one.value is other.value
        assert [f.number for f in one.pool] == [f.number for f in other.pool]


@pytest.mark.parametrize("target", ["optimal", "model"])
def test_what_is_explained(data, network, tmp_path, target) -> None:
    """A network's own value is a sum over objects of what trees can tell apart, up to their depth."""
    settings = replace(SMALL, target=target, nonnegative=False, regression="squares")
    distilled, _ = distil(network, {"train": data}, settings)
    assert isinstance(distilled.value, Sum)
    assert len(distilled.terms()) > 0


@pytest.mark.parametrize(
    ("method", "nonnegative", "intercept"),
    [("squares", True, False), ("absolute", False, True), ("sgd", True, True)],
)
def test_regressions(data, network, tmp_path, method, nonnegative, intercept) -> None:
    settings = replace(SMALL, regression=method, nonnegative=nonnegative, intercept=intercept)
    distilled, _ = distil(network, {"train": data}, settings)
    if nonnegative:
        assert all(weight >= 0 for weight, _ in distilled.terms())
    if not intercept:
        assert distilled.constant == 0


def test_one_state_and_a_constant_target(network, tmp_path, data) -> None:
    goal = data.pick(np.flatnonzero(data.v_star == 0)[:1])
    distilled, _ = distil(network, {"train": goal}, SMALL)
    assert distilled.values(goal.structures()).tolist() == [0]


def test_no_states_and_broken_files(network, data, tmp_path) -> None:
    with pytest.raises(InputError, match="no labelled states"):
        distil(network, {"train": data.pick(np.zeros(0, dtype=int))}, SMALL)
    for text in ("", "{}", '{"nodes": [["top"]], "value": 0, "pool": [], "goal_marking": false}'):
        (tmp_path / "model.json").write_text(text)
        with pytest.raises(InputError, match="holds no value function"):
            Distilled.load(tmp_path / "model.json")


def test_weights_that_are_no_numbers_are_refused(data, tmp_path) -> None:
    torch.manual_seed(0)
    network = Network(data.vocabulary, Architecture(layers=1, size=4))
    with torch.no_grad():
        for weights in network.parameters():
            weights.fill_(float("nan"))
    with pytest.raises(InputError, match="NaN"):
        distil(Checkpoint(network), {"train": data}, SMALL)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("problem: gripper", "must name a checkpoint"),
        ("checkpoint: a\nproblem: gripper\ndistillation: {inner_deph: 3}", "did you mean inner_depth?"),
        ("checkpoint: a\nproblm: gripper", "there is no entry problm"),
        ("checkpoint: a\nproblem: gripper\ndistillation: {linkage: war}", "must be one of ward"),
        (
            "checkpoint: a\nproblem: gripper\ndistillation: {features: [boolean, some]}",
            "must be some of boolean",
        ),
        ("[", "is not YAML"),
    ],
)
def test_configs_are_checked(tmp_path, text, told) -> None:
    (tmp_path / "run.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        RunConfig.read(tmp_path / "run.yaml")
    assert told in str(caught.value)


@pytest.mark.parametrize(
    "file",
    sorted((ROOT / "configs/thesis").glob("*.yaml")) + sorted((ROOT / "configs/runs").glob("*.yaml")),
    ids=lambda f: f"{f.parent.name}-{f.stem}",
)
def test_the_configs_that_come_along_can_be_read(file) -> None:
    config = RunConfig.read(file)
    assert config.checkpoint.exists()
    assert config.source["problem"] == file.stem
