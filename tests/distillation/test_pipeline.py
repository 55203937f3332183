"""From a network to a value function, and back from its file."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from distill.common import InputError
from distill.distillation import Distillation, distil
from distill.explanations import ValueFunction
from distill.jobs import RunConfig
from distill.logic import Evaluator
from distill.networks import RGNN, Architecture, Checkpoint, predict
from distill.planning import expand, problem_class
from distill.structures import DataSet, join

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
    return Checkpoint(RGNN(data.vocabulary, Architecture(layers=3, size=8)))


@pytest.mark.slow
def test_a_shipped_network_becomes_an_exact_value_function(training_set) -> None:
    checkpoint = Checkpoint.load(ROOT / "artifacts/checkpoints/gripper.safetensors")
    states = training_set("gripper")
    settings = Distillation(mode="quotient", regression="absolute", nonnegative=True, features=("combined",))
    result = distil(checkpoint, {"train": states}, settings)
    distilled = result.explanation
    values = distilled.values(states.structures())
    assert np.abs(values - states.v_star).max() < 1e-9
    assert len(distilled.terms()) <= 15
    assert set(result.seconds) == {"replay", "distil", "regress"}


@pytest.mark.parametrize("marking", [False, True])
def test_what_is_stored_predicts_the_same(data, tmp_path, marking) -> None:
    torch.manual_seed(2)
    words = data.vocabulary.marked() if marking else data.vocabulary
    given = Checkpoint(RGNN(words, Architecture(layers=2, size=8, goal_marking=marking)))
    distilled = distil(given, {"train": data}, SMALL).explanation
    distilled.save(tmp_path / "model.json")
    again = ValueFunction.load(tmp_path / "model.json")
    states = data.structures(goal_marking=marking)
    assert np.array_equal(again.values(states), distilled.values(states))
    assert again.value is distilled.value
    assert [f.provenance for f in again.pool] == [f.provenance for f in distilled.pool]
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


def test_the_value_function_is_its_terms_and_its_constant(data, network, tmp_path) -> None:
    distilled = distil(network, {"train": data}, SMALL).explanation
    states = data.structures()
    evaluator = Evaluator(states)
    assert distilled.terms()
    total = sum(weight * evaluator.number(feature.number) for weight, feature in distilled.terms())
    assert np.allclose(total + distilled.constant, distilled.values(states))
    assert all(feature.kind in ("numerical", "boolean", "combined") for _, feature in distilled.terms())


def test_the_same_settings_give_the_same_formulas(data, network, tmp_path) -> None:
    for mode in ("quotient", "thesis"):
        settings = SMALL.replace(mode=mode, inner_sample=200, final_sample=200)
        one, other = (distil(network, {"train": data}, settings).explanation for _ in range(2))
        assert one.value is other.value
        assert [f.number for f in one.pool] == [f.number for f in other.pool]


@pytest.mark.parametrize("target", ["optimal", "model"])
def test_what_is_explained(data, network, tmp_path, target) -> None:
    """What is explained is closer to the function than what is not: V*, or what the network computes."""
    settings = SMALL.replace(target=target, nonnegative=False, regression="squares")
    distilled = distil(network, {"train": data}, settings).explanation
    values = distilled.values(data.structures())
    known = {"optimal": data.v_star, "model": predict(network.network, {"train": data})["train"]}
    errors = {name: np.square(values - one).mean() for name, one in known.items()}
    assert min(errors, key=errors.get) == target
    assert errors[target] < known[target].var()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "nonnegative", "intercept"),
    [("squares", True, False), ("absolute", False, True), ("sgd", True, True)],
)
def test_regressions(data, network, tmp_path, method, nonnegative, intercept) -> None:
    """Each exact one is best by its own measure, and all keep to their limits."""

    def fitted(regression: str) -> ValueFunction:
        settings = SMALL.replace(regression=regression, nonnegative=nonnegative, intercept=intercept)
        return distil(network, {"train": data}, settings).explanation

    def error(found: ValueFunction) -> float:
        power = 2 if method == "squares" else 1
        return float((np.abs(found.values(data.structures()) - data.v_star) ** power).mean())

    distilled = fitted(method)
    if method == "sgd":  # an approximation, but better than any constant
        assert error(distilled) < np.abs(data.v_star - np.median(data.v_star)).mean()
    else:
        assert error(distilled) < error(fitted("absolute" if method == "squares" else "squares"))
    assert distilled.terms()
    if nonnegative:
        assert all(weight >= 0 for weight, _ in distilled.terms())
    if not intercept:
        assert distilled.constant == 0


def test_one_state_and_a_constant_target(network, tmp_path, data) -> None:
    goal = data.pick(np.flatnonzero(data.v_star == 0)[:1])
    distilled = distil(network, {"train": goal}, SMALL).explanation
    assert distilled.values(goal.structures()).tolist() == [0]


def test_no_states_and_broken_files(network, data, tmp_path) -> None:
    with pytest.raises(InputError, match="no labelled states"):
        distil(network, {"train": data.pick(np.zeros(0, dtype=int))}, SMALL)
    for text in ("", "{}", '{"nodes": [["top"]], "value": 0, "pool": [], "goal_marking": false}'):
        (tmp_path / "model.json").write_text(text)
        with pytest.raises(InputError, match="holds no value function"):
            ValueFunction.load(tmp_path / "model.json")


def test_weights_that_are_no_numbers_are_refused(data, tmp_path) -> None:
    torch.manual_seed(0)
    network = RGNN(data.vocabulary, Architecture(layers=1, size=4))
    with torch.no_grad():
        for weights in network.parameters():
            weights.fill_(float("nan"))
    with pytest.raises(InputError, match="not finite numbers, first at layer 1"):
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
    problem = file.stem if file.parent.name == "runs" else file.stem.removesuffix("-good")
    problem = re.sub("-(a|b|bad)$", "", problem)
    states = {"runs": problem, "thesis": f"{problem}-walks"}[file.parent.name]
    assert config.source["problem"] == states
    folder = {"runs": "checkpoints", "thesis": "thesis"}[file.parent.name]
    assert config.checkpoint.parent.name == folder
    assert config.checkpoint.stem.startswith(problem)
