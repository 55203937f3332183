"""Ground actions on whole numbers against pymimir's own successor generation."""

import numpy as np
import pytest

from distill.errors import InputError
from distill.planning import Domain, Instance, expand, join, problem_class
from distill.planning.grounding import Task
from distill.planning.scenes import Scenes

LIGHTS = """(define (domain lights)
  (:requirements :strips :typing :negative-preconditions :equality :conditional-effects)
  (:types lamp - thing thing switch - object)
  (:constants main - lamp)
  (:predicates (lit ?x - lamp) (wired ?s - switch ?x - lamp) (power) (used ?s - switch))
  (:action press :parameters (?s - switch ?x - lamp)
    :precondition (and (power) (wired ?s ?x) (not (lit ?x)))
    :effect (and (used ?s) (forall (?y - lamp) (when (wired ?s ?y) (lit ?y)))))
  (:action swap :parameters (?x - lamp ?y - lamp)
    :precondition (and (lit ?x) (not (lit ?y)) (not (= ?x ?y)) (not (= ?y main)))
    :effect (and (not (lit ?x)) (lit ?y)))
  (:action toggle :parameters () :precondition (power) :effect (not (power))))"""
HALL = """(define (problem hall) (:domain lights)
  (:objects a b c - lamp s t - switch)
  (:init (power) (wired s a) (wired s main) (wired t b) (lit c))
  (:goal (and (lit main) (not (power)) (not (lit c)))))"""


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
    scenes = Scenes(instance.domain, [name for name, _, holds in instance.goals if not holds])
    task = Task(scenes, scenes.of_instance(instance))
    states = reached(task)
    own = scenes.data([task.scene], [[task.rows(state) for state in states]])
    assert len(own) == len(data) == len(join([data, own]).distinct())
    assert sum(map(task.is_goal, states)) == np.count_nonzero(data.v_star == 0)


def test_rows_and_states_are_two_ways_to_say_the_same():
    instance = problem_class("gripper").make("train")[0]
    scenes = Scenes(instance.domain)
    task = Task(scenes, scenes.of_instance(instance))
    for state in reached(task)[:50]:
        assert task.state(task.rows(state)) == state


def test_pddl_of_a_scene_is_that_of_its_instance():
    instance = Instance(Domain(LIGHTS), HALL, "hall")
    scenes = Scenes(instance.domain, ["power", "lit"])
    scene = scenes.of_instance(instance)
    again = Instance(instance.domain, scenes.to_pddl(scene, scene.starts[0], "hall"), "hall")
    assert set(again.goals) == set(instance.goals)
    assert set(again.facts) == set(instance.facts)
    same = scenes.of_instance(again)
    assert set(scenes.written(same.starts[0], same)) == set(scenes.written(scene.starts[0], scene))


def test_derived_predicates_are_refused():
    domain = Domain(
        "(define (domain d) (:requirements :strips :derived-predicates) (:predicates (p ?x) (q ?x))"
        " (:derived (q ?x) (p ?x)) (:action a :parameters (?x) :precondition (q ?x) :effect (not (p ?x))))"
    )
    with pytest.raises(InputError, match="derived predicates"):
        Scenes(domain)
