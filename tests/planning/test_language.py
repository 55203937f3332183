"""PDDL is read as it is written, or refused by one sentence with the file and the line."""

import re
from pathlib import Path

import pytest

from distill.common import InputError
from distill.planning import Domain, Instance, problem_class, problem_classes
from distill.planning.language import MAX_NESTING, RESERVED, Text, check_domain, check_problem
from tests.support.hostile import pddl as hostile
from tests.support.labelled import label_task
from tests.support.pddl import LIGHTS, ODD, TASK
from tests.support.random_pddl import random_task
from tests.support.samples import some_and_all
from tests.support.translated import DEAD_END, TooLargeError, labels, translator

ROOM = """(define (domain room)
 (:requirements :strips :typing :negative-preconditions :disjunctive-preconditions :conditional-effects
  :equality :universal-preconditions :existential-preconditions :derived-predicates :action-costs)
 (:types ball box - thing thing place - object)
 (:constants hall - place)
 (:predicates (at ?x - thing ?p - place) (open ?x - box) (dark) (alone ?x - thing))
 (:functions (total-cost) - number)
 (:derived (alone ?x - thing)
  (exists (?p - place) (and (at ?x ?p) (forall (?y - thing) (imply (at ?y ?p) (= ?x ?y))))))
 (:action move :parameters (?x - thing ?p ?q - place)
  :precondition (and (at ?x ?p) (not (dark)))
  :effect (and (not (at ?x ?p)) (at ?x ?q) (increase (total-cost) 1)))
 (:action unlock :parameters (?x - box)
  :precondition (and (dark) (alone ?x))
  :effect (forall (?y - box) (when (not (= ?x ?y)) (and (open ?y) (not (dark)))))))
"""
MOVING = """(define (problem two) (:domain room)
 (:objects a - ball b c - box k - place)
 (:init (at a hall) (at b hall)
  (at c k) (dark) (= (total-cost) 0))
 (:goal (and (open b) (not (dark)) (at a k)))
 (:metric minimize (total-cost)))
"""
ACTION = "(:action move "
REFUSED = {
    # What is changed in the domain: the old text, the new one, the line and what is named.
    "either": ("(?x - box)\n", "(?x - (either ball box))\n", 13, "either ball box"),
    "either in a predicate": ("(open ?x - box)", "(open ?x - (either ball box))", 6, "either"),
    "text after the end": ("(not (dark)))))))\n", "(not (dark)))))))\n(:action c)", 16, "goes on"),
    "too few brackets": ("(not (dark)))))))", "(not (dark))))))", 1, "not closed"),
    "two actions of one name": (":action unlock", ":action MOVE", 13, "'move'"),
    "two predicates of one name": ("(dark)", "(Open)", 6, "'open'"),
    "a predicate named as a type": ("(dark)", "(box)", 6, "'box'"),
    "a predicate named number": ("(dark)", "(number)", 6, "'number'"),
    "a predicate named object": ("(dark)", "(object ?x)", 6, "'object'"),
    "a predicate named as one of ours": ("(dark)", "(is_hall)", 6, "'is_hall'"),
    "a predicate named as one of the parser": ("(dark)", "(axiom_3)", 6, "'axiom_3'"),
    "a parameter twice": ("?p ?q - place", "?p ?P - place", 10, "'?p'"),
    "a variable hides another": ("forall (?y - thing)", "forall (?x - thing)", 9, "'?x'"),
    "a type twice": ("ball box - thing", "ball ball - thing", 4, "'ball'"),
    "types in a circle": ("thing place - object", "thing - ball place", 4, "below itself"),
    "an undeclared type": ("?x - box)\n", "?x - crate)\n", 13, "'crate'"),
    "an undeclared supertype": ("thing place - object", "place", 4, "thing"),
    "an undeclared predicate": ("(not (dark)))\n", "(not (light)))\n", 11, "(light)"),
    "an undeclared variable": ("(at ?x ?q)", "(at ?x ?r)", 12, "?r"),
    "too many arguments": ("(at ?x ?q)", "(at ?x ?q ?p)", 12, "3 arguments"),
    "a variable of another type": ("(at ?x ?q)", "(at ?q ?x)", 12, "type place"),
    "an unknown requirement": (":strips", ":timed-initial-literals", 2, ":timed-initial-literals"),
    "an unknown section": ("(:functions", "(:constraints", 7, ":constraints"),
    "a durative action": (ACTION, "(:durative-action move ", 10, ":durative-action"),
    "a section twice": (" (:functions", " (:constants)\n (:functions", 7, ":constants"),
    "no predicates": ("(:predicates", "(:functions", 7, "too late|total-cost|order|(functions)"),
    "an unknown key": (":precondition (and (at", ":condition (and (at", 10, "move"),
    "neither parameters nor precondition": (
        "(?x - box)\n  :precondition (and (dark) (alone ?x))",
        "()",
        13,
        "unlock",
    ),
    "an effect that is a disjunction": ("(and (open ?y)", "(or (open ?y)", 15, "effect"),
    "an effect on a derived predicate": ("(and (open ?y)", "(and (alone ?y)", 15, "alone"),
    "another function increases": ("increase (total-cost)", "increase (fuel)", 12, "fuel"),
    "a cost with a fraction": ("(total-cost) 1)", "(total-cost) 1.5)", 12, "1.5"),
    "a quantifier in the condition of an effect": (
        "(when (not (= ?x ?y))",
        "(when (exists (?z - box) (open ?z))",
        15,
        "exists",
    ),
    "two disjunctions": (
        "(and (dark)",
        "(and (or (dark) (open ?x)) (or (open ?x) (dark))",
        14,
        "more than one",
    ),
    "a disjunction of one": ("(and (dark)", "(and (or (dark))", 14, "(or (...))"),
    "an empty conjunction": ("(and (dark)", "(and (not (and)) (dark)", 14, "(and)"),
    "an unused variable": ("(exists (?p - place)", "(exists (?p ?q - place)", 9, "?q"),
    "a control character": ("unlock", "un\x07lock", 13, re.escape("U+0007")),
    "a letter that only looks like ASCII": ("unlock", "unloc\u212a", 13, re.escape("U+212A")),
    "a line that ends otherwise": (" (:functions", " ; a comment\r (:functions", 7, re.escape("U+000D")),
    "many brackets": (
        "(and (dark)",
        "(and " + "(not " * MAX_NESTING + "(dark)" + ")" * MAX_NESTING,
        14,
        "nested",
    ),
}
REFUSED_INSTANCES = {
    "a second problem": ("(total-cost)))\n", "(total-cost)))\n(define (problem b))", 7, "goes on"),
    "another domain": (":domain room", ":domain hall", 1, "hall"),
    "an object twice": ("b c - box", "b B - box", 2, "'b'"),
    "an object that is a constant": ("b c - box", "b hall - box", 2, "'hall'"),
    "an undeclared object": ("(at c k)", "(at d k)", 4, "d is not declared"),
    "an object of another type": ("(at c k)", "(at c b)", 4, "type box"),
    "a derived atom": ("(dark)", "(alone a)", 4, "derived"),
    "a negated atom": ("(dark)", "(not (dark))", 4, "initial state"),
    "equality": ("(dark)", "(= a a)", 4, "number"),
    "no initial cost": ("(= (total-cost) 0)", "", 3, "no initial value"),
    "another metric": ("minimize", "maximize", 6, "metric"),
    "constraints": ("(:metric", "(:constraints (and)) (:metric", 6, ":constraints"),
    "exists in the goal": ("(open b)", "(exists (?x - box) (open ?x))", 5, "exists"),
    "forall in the goal": ("(open b)", "(forall (?x - box) (open ?x))", 5, "forall"),
    "equality in the goal": ("(open b)", "(= a a)", 5, "="),
    "or in the goal": ("(open b)", "(or (open b) (open c))", 5, "derived predicate"),
    "two goals": ("(at a k)))", "(at a k)) (dark))", 5, ":goal"),
    "two sections": (" (:goal", " (:init)\n (:goal", 5, ":init"),
}


def refusal(domain: str, problem: str) -> str:
    with pytest.raises(InputError) as caught:
        Instance(Domain(domain, "d.pddl"), problem, "p", source="p.pddl")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_domain_of_these_tests_is_read_as_written() -> None:
    assert label_task(ROOM, MOVING, 1_000) == ("labels", labels(ROOM, MOVING))


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused_domains(name: str) -> None:
    old, new, line, told = REFUSED[name]
    assert old in ROOM
    message = refusal(ROOM.replace(old, new, 1), MOVING)
    assert re.search(rf"^d\.pddl, line {line}: .*{told}", message), message


@pytest.mark.parametrize("name", sorted(REFUSED_INSTANCES))
def test_refused_instances(name: str) -> None:
    old, new, line, told = REFUSED_INSTANCES[name]
    assert old in MOVING
    message = refusal(ROOM, MOVING.replace(old, new, 1))
    assert re.search(rf"^p\.pddl, line {line}: .*{told}", message), message


@pytest.mark.parametrize("name", sorted(RESERVED - {"=", "-"}))
def test_reserved_names(name: str) -> None:
    for changed in (ODD.replace("seen", name), LIGHTS.replace("lamp", name)):
        assert f"{name!r} is reserved" in refusal(changed, TASK)


def test_an_instance_needs_an_object() -> None:
    domain = "(define (domain d) (:predicates (p)) (:action a :parameters () :precondition (p) :effect (p)))"
    assert "no objects" in refusal(domain, "(define (problem e) (:domain d) (:init (p)) (:goal (p)))")


def test_case_and_comments_and_line_ends_do_not_matter() -> None:
    loud = "; one )\r\n" + ODD.upper().replace("\n", " ; (\u212a)\r\n")
    assert label_task(loud, TASK.upper(), 1_000) == label_task(ODD, TASK, 1_000)


def test_deep_and_long_texts_do_not_end_the_process() -> None:
    for text in ("(" * 1_000_000, ")" * 1_000_000, "(define " + "a" * 1_000_000, "", "a", "(", ";"):
        with pytest.raises(InputError, match=r"^p\.pddl, line 1: "):
            Text(text, "p.pddl")


@pytest.mark.parametrize("name", problem_classes())
def test_what_the_generators_write_is_supported(name: str) -> None:
    known = problem_class(name)
    declared = check_domain(known.domain.text, name)
    instances = known.make("train")
    for instance in [*instances[:3], *instances[-3:]]:
        check_problem(declared, instance.text, instance.name)
        check_problem(declared, instance.to_pddl(instance.initial_state), instance.name)


needs_translator = pytest.mark.skipif(translator() is None, reason="Fast Downward is not installed")


@needs_translator
@some_and_all(10)
def test_what_is_accepted_agrees_with_another_reading(step: int) -> None:
    compared = 0
    used: set[str] = set()
    for number in range(0, 480, step):
        domain, problem = random_task(f"agreement {number}")
        if not hostile.is_accepted(domain, problem):
            continue
        try:
            truth = labels(domain, problem, hostile.MOST_STATES)
        except TooLargeError:
            continue
        result, found = label_task(domain, problem, hostile.MOST_STATES)
        if result == "refused":
            assert "alternatives" in found, f"{found}\n{domain}\n{problem}"
            continue
        # The parser does not expand an instance whose goal has a static atom that does not hold.
        agrees = set(truth) == {DEAD_END} if result == "none" else (result, found) == ("labels", truth)
        assert agrees, f"{result} {found} {truth}\n{domain}\n{problem}"
        compared += result == "labels"
        used |= set(re.findall(r"\((:?[a-z]+)", domain + problem))
    assert compared >= 200 // step
    wanted = {":derived", ":constants", ":types", ":functions", ":metric", "when", "forall", "exists", "or"}
    assert step > 1 or used >= wanted | {"and", "not", "imply", "increase"}


@needs_translator
@some_and_all(10)
def test_damaged_pddl(step: int, tmp_path: Path) -> None:
    cases = list(hostile.cases(400, seed=0))[::step]
    assert cases
    failures = [(case.name, hostile.failure(case, tmp_path)) for case in cases]
    assert not [one for one in failures if one[1]]


@needs_translator
def test_the_independent_reading_by_hand() -> None:
    # A lamp is lit by one switch; the other one is a dead end.
    domain = """(define (domain lamp) (:requirements :strips :negative-preconditions :derived-predicates
      :conditional-effects) (:predicates (on ?s) (broken) (lit)) (:derived (lit) (and (on s) (not (broken))))
     (:action press :parameters (?s) :precondition (not (on ?s))
      :effect (and (on ?s) (when (on t) (broken)))))"""
    domain = domain.replace("(:predicates", "(:constants s t) (:predicates")
    problem = "(define (problem p) (:domain lamp) (:init) (:goal (lit)))"
    # {}, {s}, {t}, {s, t}, {s, t, broken}: pressing s first and then t breaks nothing.
    assert labels(domain, problem) == {0: 2, 1: 1, -1: 2}
