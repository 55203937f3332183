from collections import Counter

import numpy as np
import pytest

from distill.common import InputError
from distill.planning import Labelling, data_key, expand, label, problem_class, thesis_classes
from distill.planning.walks import walk

KEY = "a42254e6d2acd67eb72d53b07eebfe21"
WALKS = Labelling(states="walks", walks=3, walk_length=25)


def atoms(data) -> list[frozenset[str]]:
    return [frozenset(data.atom_names(state)) for state in range(len(data))]


@pytest.mark.parametrize(("name", "number"), [("blocks-on", 2), ("gripper", 0), ("miconic", 3)])
def test_labels_are_those_of_expansion(name: str, number: int) -> None:
    instance = problem_class(name).make("train")[number]
    truth = expand(instance, 50_000)
    v_star = dict(zip(atoms(truth), truth.v_star.tolist(), strict=True))
    data = label(instance, WALKS)
    assert [v_star[state] for state in atoms(data)] == data.v_star.tolist()
    assert not data.instances[0]["exhaustive"]
    assert data.summary()["unlabelled_states"] == 0


def test_every_visit_gives_the_states_of_one_optimal_plan() -> None:
    instance = problem_class("blocks-clear").make("train")[5]
    data = label(instance, WALKS)
    falls = data.v_star.tolist()
    # Each plan counts down to 0, so there are as many goal states as visits.
    visits = list(walk(instance, WALKS))
    assert len(visits) == 3 * 26
    assert falls.count(0) == len(visits)
    begins = [0, *(np.flatnonzero(data.v_star == 0) + 1)][:-1]
    names = {state: frozenset(instance_atoms(instance, state)) for state in set(visits)}
    fluent = [{atom for atom in found if "_G" not in atom} for found in atoms(data)]
    assert [fluent[begin] for begin in begins] == [names[state] for state in visits]
    for begin in begins:
        plan = falls[begin : begin + falls[begin] + 1]
        assert plan == list(range(falls[begin], -1, -1))


def instance_atoms(instance, state) -> list[str]:
    return [f"({' '.join([name, *arguments])})" for name, arguments in instance.fluent_atoms(state)]


def test_a_state_counts_as_often_as_it_is_visited() -> None:
    instance = problem_class("blocks-clear").make("train")[2]
    data = label(instance, WALKS)
    distinct = data.distinct()
    assert Counter(atoms(data)) == dict(zip(atoms(distinct), distinct.multiplicity.tolist(), strict=True))
    assert distinct.multiplicity.max() > 3


def test_an_instance_of_any_size_is_walked() -> None:
    few = Labelling(states="walks", walks=1, walk_length=3, max_states=1_000_000)
    small = problem_class("gripper").make("train")[0]
    assert len(label(small, few)) < 30 < len(expand(small, 10_000))


def test_states_beyond_the_search_are_left_out_and_counted() -> None:
    instance = problem_class("blocks-on").make("train")[-1]
    data = label(instance, Labelling(states="walks", walks=1, walk_length=30, search_states=2))
    assert data.summary()["unlabelled_states"] > 0
    assert (
        data.v_star.max(initial=0) < expand(problem_class("blocks-on").make("train")[3], 50_000).v_star.max()
    )


def test_a_planner_with_longer_plans_is_refused() -> None:
    instance = problem_class("gripper").make("train")[0]
    with pytest.raises(InputError, match="does not find shortest plans"):
        label(instance, Labelling(states="walks", search=("gbfs",)))


def test_the_keys_of_other_data_do_not_change() -> None:
    # Written before there were walks at every size.
    assert data_key(problem_class("gripper").split("validation"), "none") == KEY
    assert "states" not in Labelling().identity()
    assert Labelling(states="walks").identity()["states"] == "walks"


def test_the_classes_of_the_thesis() -> None:
    sizes = {
        "gripper-walks": [(8, 16), (18, 20), (22, 46)],
        "miconic-walks": [(3, 24), (27, 33), (36, 90)],
        "blocks-clear-walks": [(2, 9), (10, 11), (12, 17)],
        "blocks-on-walks": [(2, 9), (10, 11), (12, 17)],
        "visitall-walks": [(25, 49), (64, 64), (81, 100)],
    }
    assert sorted(sizes) == thesis_classes()
    for name, wanted in sizes.items():
        declared = problem_class(name)
        assert [tuple(one["objects"]) for one in declared.splits.values()] == wanted
        assert {declared.labelling(split).states for split in declared.splits} == {"walks"}
