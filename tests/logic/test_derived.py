"""Exports to derived predicates of PDDL, by axioms read here and by Fast Downward."""

import re
from typing import Any

import pytest
from hypothesis import given

from distill.common import InputError
from distill.logic import parse, syntax as fo, write_derived, write_dlplan
from distill.logic.notation.pddl import MOST
from distill.logic.notation.python import write_python
from distill.planning import Domain, Instance, fast_downward, problem_class
from distill.planning.fast_downward import find_driver
from distill.structures import Predicate, Structures, Vocabulary
from tests.support.exports import by_axioms, formulas, halved, marked, rewritten, values
from tests.support.naive import truths
from tests.support.strategies import WORDS, batches


def pddl_has(formula: fo.Node) -> bool:
    if not isinstance(formula, fo.Truth):
        return False
    return all(isinstance(n.fields[0], fo.Count) for n in formula.walk() if isinstance(n, fo.Compare))


@given(batches(max_objects=3, max_states=3), formulas)
def test_derived_predicates_agree_or_are_refused(batch, formula):
    if pddl_has(formula):
        assert by_axioms(batch, formula) == values(batch, formula)
    else:
        with pytest.raises(InputError, match="PDDL has no"):
            write_derived(formula, batch.vocabulary)


@given(batches(max_objects=3, max_states=3), truths)
def test_derived_predicates_agree_under_goal_marking(batch, formula):
    formula = rewritten(formula, halved)
    assert by_axioms(marked(batch), formula) == values(marked(batch), formula)


def test_derived_predicates_count_atoms_and_objects():
    rows = [[0, 1, 2], [0, 2, 2], [0, 2, 1], [1, 2, 0]]
    batch = Structures(WORDS, 1, [0] * 3, {"between": rows, "on": [[0, 1], [0, 2]], "clear": [[1], [2]]})
    for text in ("<between[0,2]>clear > 2", "<between[0,2]>clear > 1", "<on>clear > 1", "<on>clear > 2"):
        assert by_axioms(batch, parse(text)) == values(batch, parse(text))
    assert values(batch, parse("<between[0,2]>clear > 2")) == [[0]]


def test_the_text_of_derived_predicates_grows_with_what_differs():
    formula = parse("<on>clear")
    for _ in range(60):
        formula = fo.And(fo.Modal(fo.Role("on"), formula), fo.Modal(fo.Role("on", 1, 0), formula))
    assert formula.size > 2**60
    assert len(write_derived(formula, WORDS)) < 20_000
    assert len(write_python(formula)) < 20_000
    with pytest.raises(InputError, match="symbols"):
        write_dlplan(formula)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#clear", "PDDL has no count"),
        ("2*#clear + 1", "PDDL has no sum"),
        ("dist(clear, on, clear)", "PDDL has no dist"),
        ("[dist(clear, on, clear) > 0]", "PDDL has no dist"),
        (f"<on>clear > {MOST + 1}", "threshold of 5"),
        (f"[#clear > {MOST + 1}]", "threshold of 5"),
    ],
)
def test_what_pddl_cannot_say(text, message):
    with pytest.raises(InputError, match=message):
        write_derived(parse(text), WORDS)


def test_names_of_derived_predicates():
    for name in ("clear", "Clear", "1x", "a b", ""):
        with pytest.raises(InputError, match="name"):
            write_derived(parse("clear"), WORDS, name)
    with pytest.raises(InputError, match="predicate far-1 already"):
        write_derived(parse("far-1"), Vocabulary([Predicate("far-1", 1)]), "far")
    clash = Vocabulary([Predicate("on_g", 2), Predicate("on", 2), Predicate("on_G", 2, "goal")])
    with pytest.raises(InputError, match="confuse on_G with on_g"):
        write_derived(parse("<on_G>top"), clash)


TYPED = Domain(
    "(define (domain d) (:requirements :typing) (:types room ball) (:constants hall - room)"
    " (:predicates (at ?b - ball ?r - room) (lit)) (:action move :parameters (?b - ball ?r ?s - room)"
    " :precondition (at ?b ?r) :effect (and (at ?b ?s) (not (at ?b ?r)))))"
)
TYPED_INSTANCE = Instance(
    TYPED,
    "(define (problem p) (:domain d) (:objects a b - ball r - room) (:init (at a r) (at b hall))"
    " (:goal (and (at a hall) (at b hall))))",
    "typed",
)
BY_FAST_DOWNWARD = {
    "blocks": [
        "top",
        "bot",
        "<on^-1+>clear",
        "<on*>(ontable & <on_G>top)",
        "<on_G \\ on>top & ~<on_G,T>top",
        "<~(on | id)>clear > 1",
        "<(on | on_G^-1)+>(ontable & ~clear)",
        "handempty & ~<on>top",
        "[#<on_G,F>top > 1] & ~[#holding > 0]",
        "[#<all>clear > 2]",
    ],
    "gripper": ["<at>at-robby", "<at_G,F>~at-robby", "<carry>~free | <at^-1>top > 1", "[#<carry>top > 0]"],
    "typed": ["ball", "room & ~is_hall", "<at>is_hall", "~lit & <at_G,T>top", "[#room > 1]", "<~at>ball"],
}


@pytest.mark.skipif(find_driver() is None, reason="Fast Downward (extra `planners`) is missing")
@pytest.mark.parametrize("name", BY_FAST_DOWNWARD)
def test_fast_downward_understands_derived_predicates(name):
    instance = TYPED_INSTANCE if name == "typed" else problem_class(name).make("train")[1]
    states = [instance.initial_state]
    for _ in range(2):
        states.append(sorted(instance.successors(states[-1]), key=lambda step: step[0])[0][1])
    formulas = {f"f{number}": parse(text) for number, text in enumerate(BY_FAST_DOWNWARD[name])}
    vocabulary = instance.domain.vocabulary().marked()
    texts = [write_derived(formula, vocabulary, own) for own, formula in formulas.items()]
    declared = {one for text in texts for one in re.findall(r"\([^)]*\)", text.splitlines()[0])[1:]}
    domain = instance.domain.text.replace("(:predicates", f"(:predicates {' '.join(sorted(declared))}", 1)
    domain = domain.replace("(:action", "\n".join(texts) + "\n(:action", 1)
    goals = " ".join(f"({p}_G {' '.join(xs)})" for p, xs, _ in instance.goals)
    for state in (states[0], states[-1]):
        batch = encoded(instance, state, vocabulary)
        literals = []
        for own, formula in formulas.items():
            [value] = values(batch, formula)
            atoms = (
                [((), value)]
                if formula.of_state
                else [((o,), x in value) for x, o in enumerate(instance.objects)]
            )
            for xs, holds in atoms:
                atom = f"({' '.join([own, *xs])})"
                literals.append((atom, f"(not {atom})") if holds else (f"(not {atom})", atom))
        problem = instance.to_pddl(state).replace("(:init", f"(:init {goals}", 1)
        problem = problem[: problem.index("(:goal")]

        def solved_at_once(wanted: list[str], problem: str = problem) -> bool:
            text = f"{problem} (:goal (and {' '.join(wanted)})))"
            outcome = fast_downward.run(domain, text, ("--search", "astar(blind())"), 60)
            return outcome.status == "solved" and outcome.plan == ()

        assert solved_at_once([agreed for agreed, _ in literals])
        assert not solved_at_once([literals[len(literals) // 2][1]])


def encoded(instance: Instance, state: Any, vocabulary: Vocabulary) -> Structures:
    """One state with marked goals."""
    number = {name: x for x, name in enumerate(instance.objects)}
    holding = {*instance.facts, *instance.fluent_atoms(state)}
    atoms = [*holding, *((f"is_{name}", (name,)) for name in instance.domain.constants)]
    atoms += [(f"{p}_G,{'T' if (p, xs) in holding else 'F'}", xs) for p, xs, _ in instance.goals]
    relations: dict[str, list[list[int]]] = {}
    for name, xs in atoms:
        relations.setdefault(name, []).append([number[x] for x in xs] or [0])
    return Structures(vocabulary, 1, [0] * len(number), relations)
