"""Readable distillation: exact, short, the same under other names, and honest where it falls short."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from distill.common import InputError
from distill.distillation import Distillation, DistillationResult, distil
from distill.explanations import ValueFunction, has_integer_weights
from distill.logic import Evaluator, hand_made, renamed
from distill.networks import RGNN, Architecture, Checkpoint
from distill.planning import prepare, problem_class
from distill.structures import V_STAR, DataSet, Vocabulary, join
from tests.support.blocks import ALL_NAMES, CHECKPOINTS, error, expanded, rewritten, small_instances
from tests.support.clock import count_looks

pytestmark = pytest.mark.slow
FUNCTIONS = Path(__file__).parents[1] / "golden" / "expected" / "values"
Small = Callable[..., DistillationResult]


@pytest.fixture(autouse=True)
def work_not_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    count_looks(monkeypatch)


@pytest.fixture(scope="module")
def data() -> DataSet:
    return expanded(small_instances())


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    return Checkpoint.load(CHECKPOINTS / "blocks-clear.safetensors")


@pytest.fixture(scope="module")
def small(checkpoint: Checkpoint, data: DataSet) -> Small:
    """The distillation of the small instances; tests with the same settings share it."""
    return cache(lambda **settings: distil(checkpoint, {"train": data}, Distillation(**settings)))


def test_a_network_becomes_a_short_exact_value_function(small: Small, data: DataSet) -> None:
    result = small()
    distilled = result.explanation
    assert result.fit["exact"]
    assert error(distilled.value, data) == 0
    assert has_integer_weights(distilled.value)
    assert distilled.value.size <= hand_made("blocks-clear-closure").value_function(2).size
    assert len(distilled.terms()) <= 8
    assert {feature.provenance.pool for feature in distilled.pool} == {"ridt"}
    # what holds of up to five blocks holds of nine, too
    test = prepare(problem_class("blocks-clear").split("validation"))[0]
    assert error(distilled.value, test) == 0


@pytest.mark.parametrize(
    ("name", "largest"), [("blocks-on", 60), ("gripper", 60), ("miconic", 78), ("visitall", 10)]
)
def test_other_shipped_networks_do_too(training_set, name: str, largest: int) -> None:
    """Golden tests compare these functions with what the networks become."""
    distilled = ValueFunction.load(FUNCTIONS / name / "model.json")
    assert error(distilled.value, training_set(name)) == 0
    assert has_integer_weights(distilled.value)
    assert len(distilled.terms()) <= 8
    assert distilled.value.size <= largest


def test_what_trees_said_stays_with_the_short_formula(small: Small, data: DataSet) -> None:
    distilled = small().explanation
    evaluator = Evaluator(data.structures())
    compared = 0
    for feature in distilled.pool:
        if feature.kind == "numerical" and feature.provenance.formula is not None:
            short = evaluator.holds(feature.number.fields[0])
            assert np.array_equal(short, evaluator.holds(feature.provenance.formula))
            compared += 1
    assert compared > 10


def test_nothing_depends_on_names_and_order(small: Small, checkpoint: Checkpoint, data: DataSet) -> None:
    same = expanded(rewritten(small_instances()))
    assert sorted(same.v_star) == sorted(data.v_star)
    one = small().explanation
    other = distil(Checkpoint(with_names(checkpoint.network, ALL_NAMES, same)), {"train": same}).explanation
    assert renamed(one.value, ALL_NAMES) is other.value


def with_names(network: RGNN, names: dict[str, str], data: DataSet) -> RGNN:
    """The same network for other names, in the order of the data's vocabulary."""
    old = [names[predicate.name] for predicate in network.vocabulary]
    words = Vocabulary([data.vocabulary[name] for name in sorted(old)])
    made = RGNN(words, network.settings)
    weights = {}
    for key, tensor in network.state_dict().items():
        parts = key.split(".")
        if parts[0] == "messages":
            parts[1] = str(words.index(old[int(parts[1])]))
        weights[".".join(parts)] = tensor
    made.load_state_dict(weights)
    return made


def test_the_same_settings_give_the_same_bytes(
    small: Small, checkpoint: Checkpoint, data: DataSet, tmp_path: Path
) -> None:
    for name, result in (("one.json", small()), ("other.json", distil(checkpoint, {"train": data}))):
        result.explanation.save(tmp_path / name)
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "other.json").read_bytes()
    again = ValueFunction.load(tmp_path / "one.json")
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "one.json").read_bytes()
    assert any(feature.provenance.formula is not None for feature in again.pool)


@pytest.mark.parametrize("pool", ["ridt+polish", "enumerate", "both"])
def test_pools_are_labelled(checkpoint: Checkpoint, data: DataSet, pool: str) -> None:
    network = None if pool == "enumerate" else checkpoint
    result = distil(network, {"train": data}, Distillation(pool=pool, time_limit=10.0))
    distilled = result.explanation
    assert distilled.label == pool
    assert result.fit["exact"]
    assert error(distilled.value, data) == 0
    expected = {"ridt+polish": {"ridt", "polish"}, "enumerate": {"enumerate"}}
    assert {feature.provenance.pool for feature in distilled.pool} <= expected.get(
        pool, {"ridt", "enumerate"}
    )


def test_networks_that_see_marked_goals(data: DataSet, tmp_path: Path) -> None:
    torch.manual_seed(1)
    words = data.vocabulary.marked()
    marked = Checkpoint(RGNN(words, Architecture(layers=3, size=8, goal_marking=True)))
    distilled = distil(marked, {"train": data}, Distillation(time_limit=5.0)).explanation
    assert distilled.goal_marking
    values = distilled.values(data.structures(goal_marking=True))
    assert np.abs(values - data.v_star).mean() < data.v_star.std()
    distilled.save(tmp_path / "model.json")
    assert ValueFunction.load(tmp_path / "model.json").value is distilled.value


@pytest.mark.parametrize("control", ["untrained", "permuted"])
def test_controls_are_labelled_and_differ(
    small: Small, checkpoint: Checkpoint, data: DataSet, control: str
) -> None:
    trained = small(time_limit=5.0).explanation
    weights = [parameter.clone() for parameter in checkpoint.network.parameters()]
    distilled = distil(checkpoint, {"train": data}, Distillation(control=control, time_limit=5.0)).explanation
    assert distilled.label == f"ridt, {control}"
    assert [f.number for f in distilled.pool] != [f.number for f in trained.pool]
    assert all((a == b).all() for a, b in zip(weights, checkpoint.network.parameters(), strict=True))


def test_distances_come_from_chains_alone() -> None:
    """The network for Visitall counts steps; without chains there are no distances."""
    visitall = Checkpoint.load(CHECKPOINTS / "visitall.safetensors")
    states = prepare(problem_class("visitall").split("train"))[0]
    some = states.pick(np.arange(0, len(states), 12))
    settings = Distillation(states=200, inner_width=6, time_limit=10.0)
    distilled = distil(visitall, {"train": some}, settings).explanation
    chained = [feature for feature in distilled.pool if feature.kind == "distance"]
    assert chained
    assert all(feature.provenance.chain is not None for feature in chained)
    first, last = chained[0].provenance.chain.steps
    assert last - first + 1 >= settings.chain_steps
    assert error(distilled.value, states) == 0
    # too long a chain is asked for
    none = distil(
        visitall, {"train": some}, settings.replace(chain_steps=50, rounds=0, time_limit=0.05)
    ).explanation
    assert not any(feature.kind == "distance" for feature in none.pool)


def test_contradictory_labels_are_told(checkpoint: Checkpoint, data: DataSet) -> None:
    """Two states that look the same with different V*: nothing can be exact."""
    twice = join([data, replace(data, labels={V_STAR: np.where(data.v_star == 3, 4, data.v_star)})])
    result = distil(checkpoint, {"train": twice}, Distillation(time_limit=5.0, rounds=0))
    distilled = result.explanation
    assert not result.fit["exact"]
    one, other = result.fit["conflict"]
    assert {one["v_star"], other["v_star"]} == {3, 4}
    assert "clear_G(o" in one["atoms"]
    assert result.fit["blocking"]
    assert np.isfinite(distilled.values(twice.structures())).all()


def test_packages_in_the_wrong_trucks_look_like_those_in_the_right_ones() -> None:
    """The pair of Logistics states of the papers: two variables cannot follow a package through a truck."""
    airports = problem_class(str(Path(__file__).parents[2] / "benchmarks/airports.yaml"))
    data = expanded(airports.make("train")[:2])
    result = distil(None, {"train": data}, Distillation(pool="enumerate", time_limit=1.0))
    assert not result.fit["exact"]
    assert {state["v_star"] for state in result.fit["conflict"]} == {2, 9}


def test_a_second_is_enough_to_say_something(checkpoint: Checkpoint, data: DataSet) -> None:
    result = distil(checkpoint, {"train": data}, Distillation(time_limit=1.0, rounds=0))
    distilled = result.explanation
    assert len(distilled.terms()) > 0
    assert isinstance(result.fit["exact"], bool)


def test_the_networks_own_values_can_be_explained(checkpoint: Checkpoint, data: DataSet) -> None:
    distilled = distil(checkpoint, {"train": data}, Distillation(target="model", time_limit=5.0)).explanation
    values = distilled.values(data.structures())
    spread = data.v_star[data.v_star >= 0].std()
    assert np.abs(values - data.v_star).mean() < 0.5 * spread


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (Distillation(regression="squares"), "no regression squares"),
        (Distillation(), "needs a network"),
        (Distillation(pool="enumerate", target="model"), "needs a network"),
        (Distillation(mode="thesis", regression="squares"), "needs a network"),
    ],
)
def test_what_cannot_be_done_is_told(data: DataSet, settings: Distillation, told: str) -> None:
    with pytest.raises(InputError, match=told):
        distil(None, {"train": data}, settings)


def test_one_state_only(checkpoint: Checkpoint, data: DataSet) -> None:
    goal = data.pick(np.flatnonzero(data.v_star == 0)[:1])
    result = distil(checkpoint, {"train": goal})
    distilled = result.explanation
    assert result.fit["exact"]
    assert distilled.values(goal.structures()).tolist() == [0]


def test_signs_and_the_constant_can_be_bound(checkpoint: Checkpoint, data: DataSet) -> None:
    settings = Distillation(nonnegative=True, intercept=False, time_limit=5.0)
    distilled = distil(checkpoint, {"train": data}, settings).explanation
    assert distilled.constant == 0
    assert distilled.terms()
    assert all(weight > 0 for weight, _ in distilled.terms())


def test_trees_on_what_is_wrong_help(checkpoint: Checkpoint, data: DataSet) -> None:
    """With tiny trees the first fit is not exact; a round of trees on the residual comes closer."""
    tiny = Distillation(control="permuted", inner_depth=1, final_depth=1, inner_width=1, feature_size=1)
    tiny = tiny.replace(chain_size=2, time_limit=2.0)
    errors = []
    for rounds in (0, 1):
        result = distil(checkpoint, {"train": data}, tiny.replace(rounds=rounds))
        distilled = result.explanation
        assert rounds or not result.fit["exact"]
        errors.append(np.abs(distilled.values(data.structures()) - data.v_star).mean())
    assert errors[1] < errors[0]
