"""Instances beyond all splits, and the hand-made functions that label them."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from distill.common import InputError
from distill.evaluation import BeyondSplit, greedy_policy, label_beyond, validate_labels
from distill.evaluation.beyond import _in_parts
from distill.explanations import ValueFunction
from distill.logic import Evaluator, hand_made, parse
from distill.planning import ProblemClass, collect, expand, find_plan, label, problem_class
from distill.structures import DataSet
from tests.support.hand_made import FUNCTIONS, states

SIZES = {
    "blocks-clear": (45, 45),
    "blocks-on": (45, 45),
    "gripper": (200, 200),
    "miconic": (300, 300),
    "visitall": (205, 217),
}
SEARCHABLE = {"blocks-clear": 9, "blocks-on": 8, "gripper": 30, "miconic": 45, "visitall": 60}
# The instances of these two take seconds.
FAR = [pytest.param(name, marks=[pytest.mark.slow] * (name in ("blocks-on", "miconic"))) for name in SIZES]
Few = Callable[[str], BeyondSplit]
FOUR_FEATURES = "2*#<on+>clear_G + #holding*#(clear_G & ~clear) - #<on>clear_G"


def changed(name: str, **declared: object) -> ProblemClass:
    """A class that declares something else beyond its splits."""
    problem = problem_class(name)
    return replace(problem, beyond={**problem.declared("beyond"), **declared})


def small_set(name: str) -> DataSet:
    problem = problem_class(name)
    return label(problem.make("train")[1], problem.labelling("train"))


def short(name: str, **declared: object) -> BeyondSplit:
    """One instance and short walks."""
    settings = {"walks": 2, "walk_length": 25, "seed": declared.pop("seed", 0)}
    problem = changed(name, instances=1, labelling=settings, **declared)
    return label_beyond(problem, {"train": small_set(name)})


@pytest.fixture(scope="module")
def few() -> Few:
    """What `short` gives, made once for all tests."""
    return cache(short)


@pytest.mark.parametrize("name", FAR)
def test_the_declared_sizes_hold_and_nothing_is_trained_on_them(name: str) -> None:
    problem = problem_class(name)
    spec = problem.declared("beyond")
    assert "beyond" not in problem.splits
    assert tuple(spec["objects"]) == SIZES[name]
    assert spec["objects"][0] > 2 * problem.splits["test"]["objects"][1]
    made = changed(name, instances=2).make("beyond")
    assert {len(instance.objects) for instance in made} == set(SIZES[name])
    if name == "visitall":
        for instance in made:
            cells = [tuple(map(int, re.findall(r"\d+", cell))) for cell in instance.objects]
            assert np.max(cells, axis=0).tolist() == [15, 15]


@pytest.mark.parametrize("name", FAR)
def test_labels_are_those_of_the_thesis_evaluated_directly(name: str, few: Few) -> None:
    data = few(name).data
    assert len(data) > 30
    assert [FUNCTIONS[name](state) for state, _ in states(data)] == data.v_star.tolist()


@pytest.mark.parametrize("name", FAR)
def test_zero_is_for_goal_states_and_only_for_them(name: str, few: Few) -> None:
    far = few(name)
    [(goal, _, _)] = far.split.instances[0].goals
    batch = far.data.structures()
    holding = set(map(tuple, batch.atoms(goal).tolist()))
    at_goal = [tuple(wanted) in holding for wanted in batch.atoms(f"{goal}_G").tolist()]
    assert any(at_goal)
    assert np.array_equal(far.data.v_star == 0, at_goal)


@pytest.mark.parametrize("name", FAR)
def test_no_step_brings_the_goal_closer_by_more_than_one_and_some_step_does_by_one(
    name: str, few: Few
) -> None:
    far = few(name)
    [instance] = far.split.instances
    value = hand_made(far.labels).value_function(SIZES[name][1])
    state, label_of_state = instance.initial_state, int(far.data.v_star[0])
    assert label_of_state > 0
    for number in range(3):
        after = [successor for _, successor in instance.successors(state)]
        labels = Evaluator(collect(instance, after, np.zeros(len(after))).structures()).number(value)
        if label_of_state:
            assert labels.min() == label_of_state - 1
        state, label_of_state = after[number % len(after)], int(labels[number % len(after)])


@pytest.mark.parametrize("name", SIZES)
def test_where_search_still_works_it_agrees(name: str) -> None:
    far = short(name, objects=[SEARCHABLE[name]] * 2)
    outcome = find_plan("astar", far.split.instances[0])
    assert len(outcome.plan) == far.data.v_star[0]


def test_it_is_the_same_every_time(few: Few) -> None:
    assert short("gripper").data.same_as(few("gripper").data)
    assert not short("gripper", seed=1).data.same_as(few("gripper").data)


@pytest.mark.slow
def test_blocks_clear_beyond(training_set: Callable[[str], DataSet]) -> None:
    problem = problem_class("blocks-clear")
    training = training_set("blocks-clear")
    far = label_beyond(problem, {"train": training})
    assert far.validated_states == training.multiplicity.sum() == 49643
    assert far.sentence == (
        "labelled by the hand-made function @blocks-clear-closure, validated on 49643 states"
    )
    [row] = re.findall(
        r"^\| Blocks-Clear \|(.*)\|$",
        (Path(__file__).parents[2] / "docs/problem-classes.md").read_text(),
        re.MULTILINE,
    )
    counts = [far.data.n_objects.max(), len(far.split.instances), len(far.data), far.data.v_star.max()]
    assert row.split("|")[:4] == [f" {count} " for count in counts]
    score = far.evaluate(ValueFunction(parse(FOUR_FEATURES), ()).predict).splits["beyond"]
    assert (score.states, score.mae, score.max_error) == (len(far.data), 0, 0)
    chain = hand_made("blocks-clear").value_function(45)
    assert far.evaluate(ValueFunction(chain, ()).predict).splits["beyond"].max_error == 0
    short = hand_made("blocks-clear").value_function(9)
    assert far.evaluate(ValueFunction(short, ()).predict).splits["beyond"].max_error > 10
    batch = far.data.structures()
    towers = np.bincount(batch.states_of_atoms("ontable"))
    assert towers.min() <= 2
    assert towers.max() >= 20
    assert len(set(far.data.v_star.tolist())) > 30


def test_its_policy_is_executed_if_asked_for(few: Few) -> None:
    far = few("blocks-clear")
    distilled = ValueFunction(parse(FOUR_FEATURES), ())
    found = far.evaluate(distilled.predict, greedy_policy(distilled, 100))
    score = found.splits["beyond"]
    assert (score.instances, score.solved) == (1, 1)
    assert score.plan_length == score.optimal_length == far.data.v_star[0] > 0


def test_a_function_that_is_wrong_is_refused() -> None:
    wrong = changed("blocks-on", labels="blocks-clear-closure")
    with pytest.raises(InputError) as caught:
        validate_labels(wrong, {"train": small_set("blocks-on")})
    told = str(caught.value)
    assert "@blocks-clear-closure cannot label blocks-on: it gives 0 where V* is" in told
    assert "in a state of blocks-on-train-002: (" in told
    # In goal states it happens to be right, but then there is no plan of the length it promises.
    goals = small_set("blocks-on").pick(np.flatnonzero(small_set("blocks-on").v_star == 0))
    assert validate_labels(wrong, {"train": goals}) == len(goals)
    with pytest.raises(InputError, match="predicts a plan of 0 steps"):
        label_beyond(wrong, {"train": goals})
    with pytest.raises(InputError, match="no hand-made function 'chess'"):
        validate_labels(changed("blocks-on", labels="chess"), {"train": goals})
    with pytest.raises(InputError, match="no labelled states to validate"):
        validate_labels(problem_class("blocks-on"), {"train": goals.pick([])})


def test_a_class_without_such_instances_is_told() -> None:
    logistics = problem_class("logistics")
    for use in (
        lambda: validate_labels(logistics, {}),
        lambda: label_beyond(logistics, {}),
        lambda: logistics.make("beyond"),
    ):
        with pytest.raises(InputError, match="logistics declares no instances beyond its splits"):
            use()


def test_parts_are_small_and_put_together_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    data = expand(problem_class("blocks-clear").make("train")[3], 1000)
    assert data is not None
    monkeypatch.setattr("distill.evaluation.beyond._AT_ONCE", 100)
    sizes = []

    def values(part: DataSet) -> np.ndarray:
        sizes.append(len(part))
        return part.v_star.astype(float)

    assert np.array_equal(_in_parts(values, data), data.v_star)
    assert len(sizes) > 5
    assert max(sizes) <= 100 // 6 + 1


@pytest.mark.parametrize(
    ("beyond", "told"),
    [
        ("{objects: [9, 9], instances: 1}", "beyond: lacks labels"),
        ("{objects: [4, 9], instances: 1, labels: blocks-clear}", "beyond: objects must be"),
        ("{objects: [9, 9], instances: 1, labels: x, steps: 3}", "beyond: has the unknown key steps"),
        ("{objects: [9, 9], instances: 1, labels: x, parameters: {height: 2}}", "takes the parameters"),
    ],
)
def test_what_is_declared_is_checked(tmp_path: Path, beyond: str, told: str) -> None:
    text = f"""
name: mine
title: My towers
goal: clear(x)
domain: blocks.pddl
generator: blocks
parameters: {{goal: clear}}
splits:
  train: {{objects: [3, 4], instances: 2}}
beyond: {beyond}
"""
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(InputError, match=re.escape(told)):
        problem_class(str(tmp_path / "mine.yaml"))
