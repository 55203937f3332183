import numpy as np
import pytest

from distill.common import InputError
from distill.planning import (
    Domain,
    Instance,
    Labelling,
    Limits,
    expand,
    find_plan,
    label,
    problem_class,
    sample,
)
from distill.planning.fast_downward import find_driver
from distill.structures import UNSOLVABLE

# A one-way street: from the start one may drive to the goal or into a dead end.
STREET = """(define (domain street) (:requirements :strips) (:predicates (road ?x ?y) (at ?x))
(:action drive :parameters (?x ?y) :precondition (and (at ?x) (road ?x ?y))
 :effect (and (at ?y) (not (at ?x)))))"""
TASK = """(define (problem p) (:domain street) (:objects a b c d)
(:init (at {start}) (road a b) (road b c) (road a d)) (:goal (at c)))"""


def street(start: str) -> Instance:
    return Instance(Domain(STREET), TASK.format(start=start), "p")


def values(data) -> dict[str, int]:
    return {
        next(name for name in data.atom_names(state) if name.startswith("(at ")): int(value)
        for state, value in enumerate(data.v_star)
    }


def test_dead_ends_are_marked_not_dropped() -> None:
    expected = {"(at a)": 2, "(at b)": 1, "(at c)": 0, "(at d)": UNSOLVABLE}
    data = expand(street("a"), 100)
    assert data is not None
    assert values(data) == expected
    assert data.summary()["unsolvable_states"] == 1
    assert data.weights().tolist() == [0 if v == UNSOLVABLE else 3 for v in data.v_star]
    walked = sample(street("a"), Labelling(walks=20, walk_length=3), 60)
    assert values(walked) == expected


def test_an_unsolvable_instance_keeps_its_states() -> None:
    for data in (expand(street("d"), 100), sample(street("d"), Labelling(), 60)):
        assert data is not None
        assert values(data) == {"(at d)": UNSOLVABLE}
        assert data.summary()["solvable_instances"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("search", ["astar", pytest.param("cegar", marks=pytest.mark.slow), "lmcut"])
@pytest.mark.parametrize(
    ("name", "number"), [("blocks-on", 3), ("blocks", 5), ("gripper", 0), ("miconic", 6), ("logistics", 0)]
)
def test_sampled_labels_agree_with_exhaustive_ones(name: str, number: int, search: str) -> None:
    if search != "astar" and find_driver() is None:
        pytest.skip("Fast Downward (extra `planners`) is not installed")
    instance = problem_class(name).make("train")[number]
    everything = expand(instance, 200_000)
    assert everything is not None
    length = 40 if search == "astar" else 6
    some = sample(instance, Labelling(walks=2, walk_length=length, search=(search,)), 600)
    v_star = {tuple(sorted(everything.atom_names(i))): v for i, v in enumerate(everything.v_star)}
    found = {tuple(sorted(some.atom_names(i))): v for i, v in enumerate(some.v_star)}
    assert len(found) == len(some) > length / 4
    assert {state: v_star[state] for state in found} == found


def test_v_star_falls_by_one_along_some_successor_and_never_faster() -> None:
    """An independent check: V* is the unique function with V* = 1 + min over successors, 0 at goals."""
    instance = problem_class("blocks-on").make("train")[3]
    data = expand(instance, 10_000)
    assert data is not None
    label_of = {frozenset(data.atom_names(i)): int(v) for i, v in enumerate(data.v_star)}
    start = frozenset(data.atom_names(0))
    fixed = start - {
        f"({' '.join([name, *args])})" for name, args in instance.fluent_atoms(instance.initial_state)
    }
    seen, todo = set(), [instance.initial_state]
    while todo:
        state = todo.pop()
        if state in seen:
            continue
        seen.add(state)
        after = [successor for _, successor in instance.successors(state)]
        todo += after

        def v(s) -> int:
            return label_of[
                fixed | {f"({' '.join([name, *args])})" for name, args in instance.fluent_atoms(s)}
            ]

        assert v(state) == (0 if instance.is_goal(state) else 1 + min(map(v, after)))
    assert len(seen) == len(data)


def test_what_the_limits_leave_out_is_reported() -> None:
    instance = problem_class("blocks-clear").make("test")[5]
    hard = Labelling(max_states=100, walk_length=3, search_states=50)
    data = label(instance, hard)
    assert data.instances[0]["unlabelled"] > 0
    assert data.summary()["unlabelled_states"] == data.instances[0]["unlabelled"]
    with pytest.raises(InputError, match="has more than 100 states"):
        label(instance, hard.replace(walks=0))


def test_large_instances_are_labelled_near_the_goal() -> None:
    """The initial state is out of reach, but the end of some plan is not."""
    instance = problem_class("blocks-clear").make("test")[5]
    near = label(instance, Labelling(max_states=100, walk_length=5, search_states=1000))
    assert near.instances[0]["unlabelled"] > 0
    assert near.summary()["solvable_instances"] == 1
    assert 0 < near.v_star.max() < len(find_plan("gbfs", instance).plan)
    exact = problem_class("blocks-clear").labelling("test")
    for state in range(len(near)):
        start = Instance(instance.domain, pddl_of(instance, near.atom_names(state)), "p")
        again = sample(start, exact.replace(walk_length=0), 60)
        assert again.v_star.max() == near.v_star[state]


def pddl_of(instance: Instance, atoms: list[str]) -> str:
    init = " ".join(atom for atom in atoms if "_G" not in atom)
    head, _, rest = instance.text.partition("(:init")
    return f"{head}(:init {init}) (:goal{rest.partition('(:goal')[2]}"


def test_state_limits_hold_for_each_search_alone() -> None:
    """An earlier search on the same instance must not use up the limit of a later one."""
    instance = problem_class("blocks-clear").make("test")[5]
    assert find_plan("astar", instance, None, Limits(states=3000)).status == "gave up"
    *_, before_last, _ = instance.follow(instance.initial_state, find_plan("gbfs", instance).plan)
    assert find_plan("astar", instance, before_last, Limits(states=100)).status == "solved"


def test_walks_are_seeded() -> None:
    instance = problem_class("gripper").make("test")[0]
    one, again, other = (sample(instance, Labelling(walk_length=30, seed=seed), 600) for seed in (1, 1, 2))
    assert one.same_as(again)
    assert not one.same_as(other)


def test_action_costs_are_refused_where_a_search_would_minimise_them() -> None:
    costly = (
        STREET.replace("(:action", "(:functions (total-cost) - number) (:action")
        .replace(":requirements :strips", ":requirements :strips :action-costs")
        .replace("(not (at ?x))", "(not (at ?x)) (increase (total-cost) 5)")
    )
    task = TASK.format(start="a").replace("(:init", "(:init (= (total-cost) 0)")
    instance = Instance(Domain(costly), task[:-1] + "(:metric minimize (total-cost)))", "p")
    data = expand(instance, 100)
    assert data is not None
    assert int(np.max(data.v_star)) == 2
    with pytest.raises(InputError, match="action costs"):
        sample(instance, Labelling(), 60)


def test_searches_must_be_optimal() -> None:
    with pytest.raises(InputError, match="gbfs does not find shortest plans"):
        sample(street("a"), Labelling(search=("gbfs",)), 60)
    with pytest.raises(InputError, match="no planner 'dijkstra'; choose from astar"):
        sample(street("a"), Labelling(search=("dijkstra",)), 60)
