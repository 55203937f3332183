"""Rankings from states and transitions: situations, teachers, and whole distillations."""

from dataclasses import replace

import numpy as np
import pytest

from distill.common import InputError
from distill.distillation import (
    Distillation,
    Situations,
    allowed_transitions,
    distil_policy,
    find_situations,
)
from distill.evaluation import descending_policy
from distill.explanations import Ranking, descends
from distill.networks import Checkpoint
from distill.planning import SOLVED, expand, problem_class, transitions
from distill.structures import V_STAR, DataSet, Options, join
from distill.symmetry import build_quotient_of
from tests.support.blocks import CHECKPOINTS
from tests.support.gripper import carry_all

ENUMERATE = Distillation(pool="enumerate", feature_size=5)


@pytest.fixture(scope="module")
def gripper() -> DataSet:
    return join([expand(carry_all(n), 10_000) for n in (1, 2, 3)])


def violations(ranking: Ranking, data: DataSet) -> int:
    """States, one by one, without a descending transition, or with one into a dead end."""
    keys = ranking.keys(data.structures())
    steps = transitions(data)
    falls = descends(keys[steps.source], keys[steps.target])
    dead = data.v_star[steps.target] < 0
    solved = np.zeros(len(data), dtype=bool)
    solved[steps.source[falls & ~dead]] = True
    lost = np.zeros(len(data), dtype=bool)
    lost[steps.source[falls & dead]] = True
    return int(((data.v_star > 0) & (~solved | lost)).sum())


def test_situations_are_the_solvable_states_with_their_successors(gripper: DataSet) -> None:
    built = build_quotient_of({"train": gripper}, None, Options(joint=True))
    found = find_situations({"train": gripper}, built)
    steps = transitions(gripper)
    assert found.count.sum() == (gripper.v_star > 0).sum()
    rows = built.state_row
    known = {
        (int(rows[state]), frozenset(rows[steps.target[steps.source == state]].tolist()) - {int(rows[state])})
        for state in np.flatnonzero(gripper.v_star > 0)
    }
    merged = [
        (
            int(found.state[number]),
            frozenset(found.target[found.first[number] : found.first[number + 1]].tolist()),
        )
        for number in range(len(found))
    ]
    assert set(merged) == known
    assert len(merged) == len(known)
    v_star = built.quotient.labels[V_STAR]
    assert np.array_equal(found.optimal, v_star[found.target] == v_star[found.state[found.source]] - 1)


def test_taking_situations_keeps_their_transitions(gripper: DataSet) -> None:
    found = find_situations(
        {"train": gripper}, build_quotient_of({"train": gripper}, None, Options(joint=True))
    )
    some = found.take([4, 1])
    assert some.state.tolist() == found.state[[4, 1]].tolist()
    parts = [found.target[found.first[number] : found.first[number + 1]] for number in (4, 1)]
    assert some.target.tolist() == np.concatenate(parts).tolist()


def test_a_ranking_of_full_gripper_holds_for_more_balls(gripper: DataSet) -> None:
    found = distil_policy(None, gripper, ENUMERATE)
    assert (found.violations, violations(found.ranking, gripper)) == (0, 0)
    assert len(found.ranking.levels) <= 4
    assert violations(found.ranking, expand(carry_all(4), 10_000)) == 0
    assert descending_policy(found.ranking)(carry_all(9)).status == SOLVED


def test_a_changed_ranking_is_wrong(gripper: DataSet) -> None:
    ranking = distil_policy(None, gripper, ENUMERATE).ranking
    assert violations(replace(ranking, levels=ranking.levels[1:]), gripper) > 0
    assert violations(replace(ranking, levels=ranking.levels[::-1]), gripper) > 0


def test_equal_inputs_give_equal_rankings(gripper: DataSet) -> None:
    first, second = (distil_policy(None, gripper, ENUMERATE).ranking for _ in range(2))
    assert first.to_json() == second.to_json()


def test_teachers_allow_a_living_successor_of_each_situation() -> None:
    found = Situations(
        state=np.array([0, 1]),
        count=np.array([1, 1]),
        first=np.array([0, 3, 5]),
        target=np.array([2, 3, 4, 2, 5]),
        dead=np.array([False, False, True, False, False]),
        optimal=np.array([True, False, False, True, False]),
    )
    values = np.array([2.0, 2.0, 1.0, 1.1, 0.0, 3.0])
    assert allowed_transitions(found, "optimal").tolist() == [True, False, False, True, False]
    assert allowed_transitions(found, "free").tolist() == [True, True, False, True, True]
    # The network prefers the dead successor 4; of the others 2 and 3 are near its best.
    assert allowed_transitions(found, "model", values).tolist() == [True, True, False, True, False]
    # Where the network contradicts itself, every living successor is allowed.
    values[1] = 7.0
    assert allowed_transitions(found, "model", values).tolist() == [True, True, False, True, True]
    with pytest.raises(InputError, match="Teacher model needs a network"):
        allowed_transitions(found, "model")


@pytest.mark.slow
def test_a_network_teaches_a_ranking() -> None:
    network = Checkpoint.load(CHECKPOINTS / "blocks-clear.safetensors").network
    spaces = (expand(one, 2000) for one in problem_class("blocks-clear").make("train")[:12])
    data = join([one for one in spaces if one is not None])
    found = distil_policy(network, data, Distillation(pool="ridt", inner_width=4), teacher="model")
    assert violations(found.ranking, data) == found.violations == 0
    assert found.ranking.label == "ridt"


def test_bad_input_is_explained(gripper: DataSet) -> None:
    goals = gripper.pick(np.flatnonzero(gripper.v_star == 0))
    with pytest.raises(InputError, match="No state with a path to a goal"):
        distil_policy(None, goals, ENUMERATE)
    with pytest.raises(InputError, match="Pool ridt needs a network"):
        distil_policy(None, gripper, Distillation())
    instances = tuple({**one, "exhaustive": False} for one in gripper.instances)
    sampled = replace(gripper, instances=instances, transitions=None)
    with pytest.raises(InputError, match="no transitions are known"):
        distil_policy(None, sampled, ENUMERATE)
