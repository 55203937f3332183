"""Ground actions on whole numbers against pymimir's own successor generation."""

import numpy as np
import pytest

from distill.common import InputError
from distill.planning import Domain, Instance, InstanceFamilies, Task, expand, problem_class
from distill.structures import join
from tests.support.pddl import HALL, LIGHTS


def reached(task: Task) -> list[int]:
    found = dict.fromkeys(task.starts)
    todo = list(found)
    for state in todo:
        for after in task.successors(state):
            if after not in found:
                found[after] = None
                todo.append(after)
    return list(found)


def instances() -> list[Instance]:
    names = ("blocks", "blocks-on", "gripper", "logistics", "miconic")
    return [
        *(problem_class(name).make("train")[1] for name in names),
        Instance(Domain(LIGHTS), HALL, "hall"),
    ]


@pytest.mark.parametrize("instance", instances(), ids=lambda one: one.name)
def test_the_same_states_and_goals_as_pymimir(instance):
    data = expand(instance, 10_000)
    families = InstanceFamilies(instance.domain, [name for name, _, holds in instance.goals if not holds])
    task = Task(families, families.of_instance(instance))
    states = reached(task)
    own = families.data([task.family], [[task.rows(state) for state in states]])
    assert len(own) == len(data) == len(join([data, own]).distinct())
    assert sum(map(task.is_goal, states)) == np.count_nonzero(data.v_star == 0)


def test_rows_and_states_are_two_ways_to_say_the_same():
    instance = problem_class("gripper").make("train")[0]
    families = InstanceFamilies(instance.domain)
    task = Task(families, families.of_instance(instance))
    for state in reached(task)[:50]:
        assert task.state(task.rows(state)) == state


def test_pddl_of_a_scene_is_that_of_its_instance():
    instance = Instance(Domain(LIGHTS), HALL, "hall")
    families = InstanceFamilies(instance.domain, ["power", "lit"])
    family = families.of_instance(instance)
    again = Instance(instance.domain, families.to_pddl(family, family.starts[0], "hall"), "hall")
    assert set(again.goals) == set(instance.goals)
    assert set(again.facts) == set(instance.facts)
    same = families.of_instance(again)
    assert set(families.atom_names(same.starts[0], same)) == set(
        families.atom_names(family.starts[0], family)
    )


def test_derived_predicates_are_refused():
    domain = Domain(
        "(define (domain d) (:requirements :strips :derived-predicates) (:predicates (p ?x) (q ?x))"
        " (:derived (q ?x) (p ?x)) (:action a :parameters (?x) :precondition (q ?x) :effect (not (p ?x))))"
    )
    with pytest.raises(InputError, match="derived predicates"):
        InstanceFamilies(domain)
