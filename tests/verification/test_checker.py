"""The parts of the checker: what it reads, what it refuses, the text of functions, and symmetries."""

import itertools
import random

import pytest
from hypothesis import given, strategies as st

from distill.checker import CannotCheckError
from distill.checker.formulas import Interpretation, occurs_only_with_goal
from distill.checker.instances import PlainInstance, vocabulary
from distill.checker.nodes import check_nodes, written
from distill.checker.pddl import parse as parse_pddl, read_domain
from distill.checker.symmetry import Symmetries, colours, isomorphism
from distill.logic import from_json, parse, syntax as fo, to_json
from distill.planning import problem_class
from distill.verification.irrelevant_predicates import goal_only
from tests.support.naive import numbers, sharing, value_functions
from tests.support.pddl import HALL, LIGHTS
from tests.support.samples import more_examples

WORDS = {"clear": 1, "handempty": 0, "on": 2, "on_G": 2, "between": 3, "p": 1, "p_G": 1, "p_G,F": 1, "all": 1}
ODD_NAMES = ["at-robby", "clear_G,T", "top", "dist", "x-", "1st", "all"]
odd = st.sampled_from(ODD_NAMES)
odd_numbers = st.builds(
    lambda name, other, i, j, weight: fo.Scaled(
        weight, fo.Count(fo.Modal(fo.Closure(fo.Role(other, i, i + 1 + j), bool(i)), fo.Atom(name), j))
    ),
    odd,
    odd,
    st.integers(0, 2),
    st.integers(0, 2),
    st.sampled_from([-1, 1, 2.5, 1e-9, 10**18, -0.5]),
)


@more_examples(4)
@given(st.one_of(value_functions, sharing(), st.builds(fo.Sum, odd_numbers, odd_numbers, numbers)))
def test_the_text_of_nodes_is_that_of_the_typed_notation(value):
    assert written(to_json(value), 10**7) == str(value)


SORTS = {
    "pairs": [("role", "on"), ("rnot", "pairs"), ("rand", "pairs"), ("ror", "pairs"), ("closure", "pairs")],
    "objects": [("atom", "p"), ("not", "objects"), ("and", "objects"), ("or", "objects"), ("modal", "")],
    "states": [("compare", ""), ("not", "states"), ("and", "states"), ("or", "states")],
    "number": [
        *(("count", "objects"), ("indicator", "states"), ("sum", "number"), ("product", "number")),
        *(("scaled", ""), ("constant", ""), ("dist", "")),
    ],
}


def random_rows(rng: random.Random) -> list:
    """Nodes in forms that the constructors of formulas do not leave as they are."""
    rows = [["role", "on", 1, 0], ["atom", "p"], ["count", {"@": 1}], ["compare", {"@": 2}, 0], ["top"]]
    sorts = ["pairs", "objects", "number", "states", "objects"]

    def some(sort: str) -> dict:
        return {"@": rng.choice([place for place, own in enumerate(sorts) if own == sort])}

    for _ in range(rng.randrange(1, 14)):
        sort = rng.choice(list(SORTS))
        kind, part = rng.choice(SORTS[sort])
        special = {
            "role": lambda: ["on", *rng.choice([(0, 1), (1, 0)])],
            "atom": lambda: [rng.choice(["p", "p_G", "clear", "all"])],
            "closure": lambda: [some("pairs"), rng.random() < 0.5],
            "modal": lambda: [some("pairs"), some("objects"), rng.randrange(3)],
            "compare": lambda: [some("number"), rng.randrange(3)],
            "scaled": lambda: [rng.choice([-1, 0.5, 2, -3]), some("number")],
            "constant": lambda: [rng.choice([-2, 0.5, 3])],
            "dist": lambda: [some("objects"), some("pairs"), some("objects")],
        }
        if kind in special:
            fields = special[kind]()
        else:
            fields = [some(part) for _ in range(1 if kind in ("not", "rnot", "count", "indicator") else 2)]
        rows.append([kind, *fields])
        sorts.append(sort)
    return [*rows, ["scaled", 2, some("number")]]


def test_the_text_of_any_nodes_is_read_as_their_function():
    rng = random.Random(0)
    for _ in range(500):
        rows = random_rows(rng)
        assert parse(written(rows, 10**7)) is from_json(rows), rows


def test_a_text_that_is_longer_than_the_claim_is_not_written_out():
    rows = [["atom", "p"], ["count", {"@": 0}]]
    rows += [["sum", {"@": place}, {"@": place}] for place in range(1, 200)]
    assert written(rows, 10_000) is None


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "0 nodes"),
        ([["atom", "p"]], "not a number"),
        ([["atom", "q"], ["count", {"@": 0}]], "no predicate 'q'"),
        ([["atom", "on"], ["count", {"@": 0}]], "has 2 arguments"),
        ([["role", "on", 0, 2], ["rnot", {"@": 0}]], "has 2 arguments"),
        ([["role", "on", 1, 1], ["rnot", {"@": 0}]], "has 2 arguments"),
        ([["atom", "p"], ["count", {"@": 1}]], "no node before it"),
        ([["atom", "p"], ["count", {"@": -1}]], "no node before it"),
        ([["atom", "p"], ["count", {"@": True}]], "no node before it"),
        ([["atom", "p"], ["count", {"@": 0, "x": 1}]], "no node before it"),
        ([["atom", "p"], ["count", 0]], "0 is no formula about objects"),
        ([["atom", "p"], ["count", {"@": 0}, {"@": 0}]], "does not take 2"),
        ([["atom", "p"], ["indicator", {"@": 0}]], "is no formula about states"),
        ([["atom", "p"], ["and", {"@": 0}], ["count", {"@": 1}]], "does not take 1"),
        ([["atom", "p"], ["top"], ["count", {"@": 0}]], "no part of"),
        ([["role", "between", 0, 1], ["rnot", {"@": 0}]], "cannot be combined"),
        ([["role", "between", 0, 1], ["all"], ["rand", {"@": 0}, {"@": 1}]], "cannot be combined"),
        ([["all"], ["role", "between", 0, 1], ["ror", {"@": 0}, {"@": 1}]], "cannot be combined"),
        ([["constant", True]], "is no weight"),
        ([["constant", "1"]], "is no weight"),
        ([["constant", float("inf")]], "is no weight"),
        ([["constant", 10**400]], "is no weight"),
        ([["all"], ["top"], ["modal", {"@": 0}, {"@": 1}, -1], ["count", {"@": 2}]], "is no threshold"),
        ([["__init__"]], "does not take 0"),
        ([["value"]], "does not take 0"),
    ],
)
def test_nodes_that_are_no_function_are_refused(rows, reason):
    with pytest.raises(CannotCheckError, match=reason):
        check_nodes(rows, WORDS)


def test_numbers_that_grow_without_end_are_refused():
    rows = [["constant", 3]] + [["product", {"@": place}, {"@": place}] for place in range(60)]
    check_nodes(rows, {})
    with pytest.raises(CannotCheckError, match="too large"):
        Interpretation(rows, ["a"], {})


@given(numbers)
def test_irrelevant_predicates_are_those_of_the_verifier(value):
    for name in ("on", "clear"):
        assert occurs_only_with_goal(to_json(value), name) == goal_only(value, name)


def test_deep_and_shared_formulas_need_no_recursion():
    deep = [["atom", "p"], *(["not", {"@": place}] for place in range(50_000))]
    assert not occurs_only_with_goal([*deep, ["count", {"@": 50_000}]], "p")
    shared = [["atom", "p"], ["atom", "p_G"], ["and", {"@": 0}, {"@": 1}]]
    shared += [["or", {"@": place}, {"@": place}] for place in range(2, 300)]
    assert occurs_only_with_goal([*shared, ["count", {"@": 300}]], "p")


DOMAIN = """(define (domain d) (:requirements :strips) (:types t) (:constants c - t)
 (:predicates (p ?x) (q ?x ?y)) (:action a :parameters (?x) :precondition (p ?x) :effect (not (p ?x))))"""
PROBLEM = "(define (problem e) (:domain d) (:objects o) (:init (p o)) (:goal (p c)))"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(?x) :pre", "(?x - (either t t)) :pre"),
        ("(:types t)", "(:types t - (either t t))"),
        ("(:types t)", "(:types t - u)"),
        ("(:types t)", "(:types t - u u - t)"),
        ("(:types t)", "(:types t t)"),
        ("(:types t)", "(:types t p)"),
        ("(:types t)", "(:types t object)"),
        ("(:types t)", "(:types t) (:types u)"),
        ("(:types t)", "(:types t) (:functions (cost))"),
        ("(:types t)", "(:types t) (:derived (p ?x) (q ?x ?x))"),
        ("(q ?x ?y)", "(q ?x ?x)"),
        ("(q ?x ?y)", "(p ?x ?y)"),
        ("(q ?x ?y)", "(number ?x ?y)"),
        ("(q ?x ?y)", "(is_c ?x ?y)"),
        ("(q ?x ?y)", "(q ?x y)"),
        ("ion (p ?x)", "ion (or (p ?x) (p c))"),
        ("ion (p ?x)", "ion (forall (?y) (p ?y))"),
        ("ion (p ?x)", "ion (exists (?y) (p ?y))"),
        ("ion (p ?x)", "ion (imply (p ?x) (p c))"),
        ("ion (p ?x)", "ion (not (and (p ?x) (p c)))"),
        ("ion (p ?x)", "ion (not (not (p ?x)))"),
        ("ion (p ?x)", "ion (p ?y)"),
        ("ion (p ?x)", "ion (p o)"),
        ("ion (p ?x)", "ion (q ?x)"),
        ("ion (p ?x)", "ion (r ?x)"),
        ("ion (p ?x)", "ion p"),
        ("ion (p ?x)", "ion (p ?x) :precondition (p c)"),
        ("ion (p ?x)", "ion (p ?x) :cost (p c)"),
        ("ect (not (p ?x))", "ect (increase (cost) 1)"),
        ("ect (not (p ?x))", "ect (= ?x c)"),
        ("ect (not (p ?x))", "ect (oneof (p ?x) (p c))"),
        ("ect (not (p ?x))", "ect (forall (?x) (p ?x))"),
        ("ect (not (p ?x))", "ect (when (p ?x) (when (p c) (p ?x)))"),
        ("ect (not (p ?x)))", "ect (not (p ?x))) (:action a :effect (p c))"),
        ("ect (not (p ?x))))", "ect (not (p ?x)))) (:action b :effect (p c))"),
        ("ect (not (p ?x))))", "ect (not (p ?x)))"),
        ("ect (not (p ?x))))", "ect (not (p ?x)))))"),
        ("(define (domain d)", "(define (problem d)"),
        ("(define (domain d)", "define (domain d)"),
        ("(:action a", "(:durative-action a"),
        ("(:action a", "(:action ?a"),
        ("p ?x) (q", "p ?\uff58) (q"),
        ("p ?x) (q", "p ?x\x00) (q"),
        ("p ?x) (q", "p ?\u212a) (q"),  # the sign for Kelvin, which is k in lower case
        ("(:objects o)", "(:objects o o)"),
        ("(:objects o)", "(:objects c)"),
        ("(:objects o)", "(:objects o - u)"),
        ("(:objects o)", "(:objects - t)"),
        ("(:objects o)", "(:objects o -)"),
        ("(:objects o)", "(:objects ?o)"),
        ("(:init (p o))", "(:init (not (p o)))"),
        ("(:init (p o))", "(:init (p o c))"),
        ("(:init (p o))", "(:init (p x))"),
        ("(:init (p o))", "(:init (= (cost) 1))"),
        ("(:init (p o))", "(:init (t o))"),
        ("(:init (p o))", ""),
        ("(:goal (p c))", ""),
        ("(:goal (p c))", "(:goal (p c) (p o))"),
        ("(:goal (p c))", "(:goal (or (p c) (p o)))"),
        ("(:goal (p c))", "(:goal (exists (?x) (p ?x)))"),
        ("(:goal (p c))", "(:goal (= c o))"),
        ("(:goal (p c))", "(:goal (p c)) (:metric minimize (cost))"),
        ("(:goal (p c)))", "(:goal (p c))) (define (problem f) (:domain d) (:init) (:goal (and)))"),
        ("(:goal (p c))", "(:goal " + "(and " * 200 + ")" * 200 + ")"),
        ("(:domain d)", "(:domain e)"),
    ],
)
def test_pddl_that_cannot_be_checked_is_refused(old, new):
    assert old in DOMAIN + PROBLEM
    PlainInstance(read_domain(DOMAIN), PROBLEM)
    with pytest.raises(CannotCheckError):
        PlainInstance(read_domain(DOMAIN.replace(old, new)), PROBLEM.replace(old, new))


def test_instances_that_are_too_large_are_refused():
    many = " ".join(f"o{number}" for number in range(8))
    domain = DOMAIN.replace("(?x) :pre", "(?x ?a ?b ?e ?f ?g ?h ?i ?j ?k ?l ?m) :pre")
    instance = PlainInstance(read_domain(domain), PROBLEM.replace("objects o", f"objects o {many}"))
    with pytest.raises(CannotCheckError, match="bindings"):
        instance.successors(instance.start)
    most = " ".join(f"o{number}" for number in range(60_000))
    with pytest.raises(CannotCheckError, match="objects"):
        PlainInstance(read_domain(DOMAIN), PROBLEM.replace("objects o", f"objects o {most}"))


def test_the_vocabulary_is_that_of_the_domain():
    for problem in map(problem_class, ("logistics", "gripper", "blocks-on")):
        plain, words = read_domain(problem.domain.text), problem.domain.vocabulary()
        for marked in (False, True):
            known = {one.name: one.arity for one in (words.marked() if marked else words)}
            assert known.items() <= vocabulary(plain, marked).items()
    assert not any(name.endswith(",T") for name in vocabulary(read_domain(LIGHTS), False))


structures = st.lists(st.tuples(st.sampled_from("pq"), *[st.sampled_from("abcd")] * 2), max_size=6)


@given(structures, st.lists(st.tuples(st.just("r"), st.sampled_from("abcd")), max_size=3))
def test_symmetries_are_those_of_brute_force(fixed, state):
    atoms, state = frozenset(fixed), frozenset(state)
    moved = [dict(zip("abcd", other, strict=True)) for other in itertools.permutations("abcd")]

    def image(some, mapping):
        return frozenset((name, *(mapping[one] for one in objects)) for name, *objects in some)

    own = [mapping for mapping in moved if image(atoms, mapping) == atoms]
    found = Symmetries("abcd", atoms)
    assert found.orbit(state, 99) == {image(state, mapping) for mapping in own}
    assert all(image(atoms, mapping) == atoms for mapping in found.generators)


@given(structures, structures, st.permutations("abcd"))
def test_isomorphisms_are_those_of_brute_force(one, other, order):
    mapping = dict(zip("abcd", order, strict=True))
    first = frozenset(one)
    for second in (frozenset(other), frozenset((p, mapping[x], mapping[y]) for p, x, y in one)):
        every = (dict(zip("abcd", some, strict=True)) for some in itertools.permutations("abcd"))
        known = any(frozenset((p, m[x], m[y]) for p, x, y in first) == second for m in every)
        found = isomorphism(
            ("abcd", first), ("abcd", second), {}, colours("abcd", first), colours("abcd", second)
        )
        assert (found is not None) == known
        if found:
            assert frozenset((p, found[x], found[y]) for p, x, y in first) == second


def test_many_equal_objects_have_few_generators():
    names = [f"o{number}" for number in range(60)]
    found = Symmetries(names, frozenset({("goal", "o0")}))
    assert len(found.generators) == 58
    assert len(found.orbit(frozenset({("on", "o1", "o2")}), 10**6)) == 59 * 58


def test_effects_on_all_objects_are_read():
    instance = PlainInstance(read_domain(LIGHTS), HALL)
    pressed = [state for state in instance.successors(instance.start) if ("used", "s") in state]
    assert {name for state in pressed for kind, *name in state if kind == "lit" for name in name} == {
        *("a", "c", "main")
    }
    assert parse_pddl("((a) ; b\n)") == [["a"]]
