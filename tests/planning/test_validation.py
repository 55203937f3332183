import random

import pytest

from distill.planning import (
    PLANNERS,
    Domain,
    Instance,
    Limits,
    fast_downward,
    find_plan,
    problem_class,
    validate,
)
from distill.planning.fast_downward import find_driver
from distill.planning.validation import _Replay

CLASSES = ["blocks-on", "blocks", "gripper", "miconic", "visitall", "logistics"]


def planners() -> list:
    missing = pytest.mark.skipif(find_driver() is None, reason="Fast Downward (extra `planners`) is missing")
    ours = {"astar", "gbfs", "policy-ff"}
    return [pytest.param(name, marks=[] if name in ours else [missing]) for name in PLANNERS]


@pytest.mark.parametrize("planner", planners())
@pytest.mark.parametrize("name", CLASSES)
def test_plans_of_all_planners_are_valid(name: str, planner: str) -> None:
    instance = problem_class(name).make("train")[3]
    outcome = find_plan(planner, instance, None, Limits(seconds=60))
    if planner == "policy-ff" and outcome.status != "solved":
        assert outcome.note
        return
    assert outcome.status == "solved"
    assert validate(instance, outcome.plan).valid
    best = find_plan("astar", instance)
    if PLANNERS[planner].optimal:
        assert len(outcome.plan) == len(best.plan)
    else:
        assert len(outcome.plan) >= len(best.plan)


@pytest.mark.parametrize("name", CLASSES)
def test_every_step_of_random_walks_agrees_with_pymimir(name: str) -> None:
    instance = problem_class(name).make("train")[5]
    replay = _Replay(instance)
    rng = random.Random(name)
    state = instance.initial_state
    for _ in range(60):
        steps = sorted(instance.successors(state), key=lambda step: step[0])
        atoms = frozenset(instance.fluent_atoms(state))
        for action, after in steps:
            assert replay.apply(atoms, action) == frozenset(instance.fluent_atoms(after))
        state = rng.choice(steps)[1]


def test_actions_that_pymimir_refuses_are_refused() -> None:
    instance = problem_class("blocks-on").make("train")[2]
    replay = _Replay(instance)
    state = instance.initial_state
    atoms = frozenset(instance.fluent_atoms(state))
    applicable = {action for action, _ in instance.successors(state)}
    one = [f"({name} {x})" for name in ("pickup", "putdown") for x in instance.objects]
    two = [
        f"({name} {x} {y})"
        for name in ("stack", "unstack")
        for x in instance.objects
        for y in instance.objects
    ]
    assert {action for action in one + two if not isinstance(replay.apply(atoms, action), str)} == applicable


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        (["(fly b1)"], "step 1, (fly b1): there is no such action"),
        ([""], "step 1, : there is no such action"),
        (["(pickup)"], "it takes 1 objects, not 0"),
        (["(pickup b9)"], "there is no object b9"),
        (["(pickup b1)"], "(clear b1) does not hold"),
        ([], "at the end (clear b1) does not hold"),
        (["(unstack b2 b1)", "(stack b2 b1)"], "at the end (clear b1) does not hold"),
    ],
)
def test_wrong_plans_are_told_why(plan: list[str], reason: str) -> None:
    task = (
        "(define (problem p) (:domain blocks) (:objects b1 b2) "
        "(:init (handempty) (ontable b1) (on b2 b1) (clear b2)) (:goal (clear b1)))"
    )
    instance = Instance(problem_class("blocks").domain, task, "p")
    verdict = validate(instance, plan)
    assert not verdict.valid
    assert reason in verdict.reason
    assert validate(instance, ["(UNSTACK b2 b1)"]).valid


@pytest.mark.skipif(find_driver() is None, reason="Fast Downward (extra `planners`) is missing")
def test_only_a_proof_makes_an_instance_unsolvable() -> None:
    """Two blocks on the same one: a complete search proves it, an incomplete one only gives up."""
    task = """(define (problem p) (:domain blocks) (:objects a b c)
        (:init (handempty) (ontable a) (ontable b) (ontable c) (clear a) (clear b) (clear c))
        (:goal (and (on a c) (on b c))))"""
    domain = problem_class("blocks").domain
    proof = fast_downward.run(domain.text, task, ("--search", "astar(blind())"), 60)
    hunch = fast_downward.run(domain.text, task, ("--search", "ehc(goalcount())"), 60)
    assert (proof.status, hunch.status) == ("unsolvable", "gave up")
    assert find_plan("astar", Instance(domain, task, "p")).status == "unsolvable"


def test_conditional_quantified_effects_and_derived_predicates() -> None:
    domain = Domain(
        """(define (domain lamps)
        (:requirements :strips :equality :negative-preconditions :conditional-effects :derived-predicates
          :universal-preconditions :existential-preconditions :disjunctive-preconditions)
        (:predicates (lit ?x) (wired ?x ?y) (reached ?x ?y) (broken ?x))
        (:derived (reached ?x ?y) (or (wired ?x ?y) (exists (?z) (and (wired ?x ?z) (reached ?z ?y)))))
        (:action press :parameters (?x)
          :precondition (and (not (lit ?x)) (not (broken ?x)))
          :effect (and (lit ?x) (forall (?y) (when (and (reached ?x ?y) (not (broken ?y))) (lit ?y)))))
        (:action wire :parameters (?x ?y) :precondition (and (not (= ?x ?y)) (not (wired ?x ?y)))
          :effect (wired ?x ?y)))"""
    )
    task = """(define (problem p) (:domain lamps) (:objects a b c)
        (:init (wired a b)) (:goal (and (lit a) (lit b) (lit c))))"""
    instance = Instance(domain, task, "p")
    assert validate(instance, ["(wire b c)", "(press a)"]).valid
    assert validate(instance, ["(press a)"]).reason == "at the end (lit c) does not hold"
    assert validate(instance, ["(wire b b)"]).reason.endswith("(not (= b b)) does not hold")
    assert len(find_plan("astar", instance).plan) == 2
