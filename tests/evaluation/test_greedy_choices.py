"""Greedy choices: held against one state at a time, and the states that are looked at."""

import numpy as np
import pytest

from distill.evaluation import Inspection, choices_by_v_star, sample_by_v_star, tabulate_choices
from distill.explanations import ValueFunction
from distill.logic import parse
from distill.planning import Domain, Instance, expand, problem_class
from distill.structures import UNSOLVABLE, join
from tests.support.pddl import ODD, TASK


@pytest.fixture(scope="module")
def data():
    """All states of three small instances of Blocks."""
    return join([expand(instance, 500) for instance in problem_class("blocks-clear").make("train")[:3]])


def test_choices_are_those_of_each_state_looked_at_alone(data) -> None:
    distilled = ValueFunction(parse("#<on>top - 2*#holding + 3*[#clear_G > 0]"), ())
    network = np.random.default_rng(0).normal(size=len(data))
    found = tabulate_choices(data, range(len(data)), distilled, network).set_index("state")
    assert 0 < found["value_wrong"].sum() < len(found)
    assert 0 < found["apart"].sum() < len(found)
    for state, row in found.iterrows():
        looked = Inspection(data, int(data.state_instance[state]), distilled, network)
        after = [one for one in looked.successors(looked.stored(state)) if not one.stays]
        value = {one.action: one.value for one in after}
        net = {one.action: one.state.network for one in after}
        v_star = {one.action: one.state.v_star for one in after}
        by_value, by_network = (min(sorted(of), key=of.__getitem__) for of in (value, net))
        assert (row["by_value"], row["by_network"]) == (by_value, by_network)
        assert row["value_wrong"] == (v_star[by_value] > min(v_star.values()))
        assert row["network_wrong"] == (v_star[by_network] > min(v_star.values()))
        assert row["apart"] == (value[by_network] > min(value.values()) + 1e-6)
        assert v_star[row["by_v_star"]] == min(v_star.values())


def test_v_star_itself_is_never_wrong_and_without_a_network_there_is_no_choice_of_it(data) -> None:
    found = tabulate_choices(data, range(len(data)), ValueFunction(parse("0"), ()), data.v_star.astype(float))
    assert not found["network_wrong"].any()
    assert not found["apart"].any()  # to a function that is the same everywhere, all choices are as good
    alone = tabulate_choices(data, range(len(data)), ValueFunction(parse("0"), ()))
    assert set(alone["by_network"]) == {""}
    assert not alone[["network_wrong", "apart"]].any(axis=None)


def test_a_step_into_a_dead_end_is_wrong() -> None:
    odd = expand(Instance(Domain(ODD), TASK, "odd"), 100)
    assert (odd.v_star == UNSOLVABLE).any()
    states = np.flatnonzero(odd.v_star > 0)
    found = tabulate_choices(odd, states, ValueFunction(parse("0"), ()))
    for row in found.to_dict("records"):
        looked = Inspection(odd, 0, ValueFunction(parse("0"), ()))
        after = {one.action: one.state.v_star for one in looked.successors(looked.stored(row["state"]))}
        good = min(v for v in after.values() if v != UNSOLVABLE)
        assert row["value_wrong"] == (after[row["by_value"]] != good)


def test_states_with_an_unknown_successor_are_left_out(data) -> None:
    kept = np.flatnonzero(np.arange(len(data)) != 1)
    fewer = data.pick(kept)
    found = tabulate_choices(fewer, range(len(fewer)), ValueFunction(parse("0"), ()))
    everything = tabulate_choices(data, range(len(data)), ValueFunction(parse("0"), ()))
    assert 0 < len(found) < len(everything) - 1


def test_counts_add_up(data) -> None:
    found = tabulate_choices(data, range(len(data)), ValueFunction(parse("#holding"), ()))
    counted = choices_by_v_star(found)
    assert counted["states"].sum() == len(found)
    assert counted["value_wrong"].sum() == found["value_wrong"].sum()
    assert counted["v_star"].is_monotonic_increasing


def test_all_v_star_and_not_too_many_instances_are_looked_at() -> None:
    rng = np.random.default_rng(1)
    instance = np.sort(rng.integers(0, 80, 5_000))
    v_star = rng.integers(-1, 9, 5_000)
    v_star[4_321] = 30  # which one instance alone has
    numbers = sample_by_v_star(v_star, instance, 90, most_instances=10)
    assert len(numbers) <= 90
    assert len(set(numbers.tolist())) == len(numbers)
    assert set(v_star[numbers]) == set(v_star[v_star > 0])
    assert len(set(instance[numbers])) <= 11
    assert sample_by_v_star([0, -1], [0, 0], 5).tolist() == []
