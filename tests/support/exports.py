"""What tests of exports share: values by our own evaluation, changed formulas, planning states."""

import itertools
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from distill.logic import (
    Evaluator,
    dlplan_name,
    from_json,
    syntax as fo,
    to_json,
    write_derived,
    write_dlplan,
)
from distill.logic.notation.python import write_python
from distill.structures import Structures
from tests.support.naive import comparisons, numbers, truths

formulas = st.one_of(truths, comparisons, numbers)


def values(batch: Structures, formula: fo.Node) -> list[Any]:
    """For each state: the objects that have it, whether the state has it, or its number."""
    evaluator = Evaluator(batch)
    if isinstance(formula, fo.Number):
        return evaluator.number(formula).tolist()
    holds = evaluator.holds(formula)
    if formula.of_state:
        return holds.tolist()
    bounds = itertools.pairwise(batch.object_offsets)
    return [np.flatnonzero(holds[begin:end]).tolist() for begin, end in bounds]


def marked(batch: Structures) -> Structures:
    """Goals told apart by whether they are achieved."""
    atoms = {name: set(map(tuple, rows.tolist())) for name, rows in batch.relations.items()}
    goal = atoms.pop("on_G")
    split = {"on_G,T": sorted(goal & atoms["on"]), "on_G,F": sorted(goal - atoms["on"])}
    relations = {name: rows for name, rows in batch.relations.items() if name != "on_G"} | split
    return Structures(batch.vocabulary.marked(), len(batch), batch.state_of_object, relations)


def rewritten(formula: fo.Node, change: Any) -> Any:
    """The formula with other names or thresholds."""
    return from_json([change(row) for row in to_json(formula)])


def halved(row: list[Any]) -> list[Any]:
    """One of the two halves instead of a goal, depending on the direction."""
    return ["role", f"on_G,{'TF'[row[2]]}", *row[2:]] if row[:2] == ["role", "on_G"] else row


def simple(row: list[Any]) -> list[Any]:
    """Without thresholds and nullary predicates."""
    if row[0] in ("modal", "compare"):
        return [*row[:-1], 0]
    return ["atom", "clear"] if row == ["atom", "handempty"] else row


FORMULAS = {
    "blocks": [
        "<on^-1+>clear",
        "<on*>(ontable & <on_G>top)",
        "<on_G \\ on>top",
        "<on & on_G>~clear",
        "<(on | on_G)+>holding",
        "~<on_G^-1>top & clear",
        "<~(on | id)>clear",
        "#<on_G,T>top",
        "#<on+>~clear",
        "dist(clear, on, ontable)",
        "dist(holding, on_G | on_G^-1, clear)",
        "[#<on_G,F>top > 0]",
        "~[#holding > 0] | [#(clear & ontable) > 0]",
        "[#handempty > 0]",
    ],
    "gripper": [
        "<at>at-robby",
        "<at_G>at-robby & ~<at>at-robby",
        "<carry>~free",
        "#<at_G,F>top",
        "#<carry^-1 | at>top",
        "dist(at-robby, at^-1 | at_G, <at_G,F^-1>top)",
        "~[#<at_G \\ at>top > 0]",
    ],
}


def planning_states(name: str, training_set: Any) -> Structures:
    data = training_set(name, 8)
    chosen = [*np.linspace(0, len(data) - 1, 40).astype(int), *np.flatnonzero(data.v_star == 0)[:5]]
    return data.structures(chosen, goal_marking=True)


def in_c2(formula: fo.Node) -> bool:
    return not any(
        isinstance(node, fo.Closure | fo.Product | fo.Distance)
        or (isinstance(node, fo.Role) and max(node.fields[1:]) > 1)
        or (isinstance(node, fo.Compare) and not isinstance(node.fields[0], fo.Count))
        for node in formula.walk()
    )


Condition = list[Any]


def conditions(text: str) -> list[Condition]:
    """S-expressions as lists."""
    stack: list[Condition] = [[]]
    for part in re.findall(r"[()]|[^\s()]+", re.sub(r";[^\n]*", "", text)):
        if part == "(":
            stack.append([])
        elif part == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(part)
    return stack[0]


def true(c: Condition, atoms: dict[str, set], n: int, at: dict[str, int]) -> bool:
    match c:
        case ["and", *parts]:
            return all(true(part, atoms, n, at) for part in parts)
        case ["or", *parts]:
            return any(true(part, atoms, n, at) for part in parts)
        case ["not", part]:
            return not true(part, atoms, n, at)
        case ["exists", names, part]:
            found = itertools.product(range(n), repeat=len(names))
            return any(true(part, atoms, n, {**at, **dict(zip(names, xs, strict=True))}) for xs in found)
        case ["=", one, other]:
            return at[one] == at[other]
        case [name, *arguments]:
            return tuple(at[a] for a in arguments) in atoms[name]
    raise AssertionError(c)


def by_axioms(batch: Structures, formula: fo.Truth) -> list[Any]:
    axioms = conditions(write_derived(formula, batch.vocabulary, "shown"))
    found = []
    for state in range(len(batch)):
        n = int((batch.state_of_object == state).sum())
        atoms: dict[str, set] = {p.name.partition(",")[0]: set() for p in batch.vocabulary}
        for name, row in batch.decode(state):
            atoms[name.partition(",")[0]].add(row)
        for keyword, (name, *variables), condition in axioms:
            assert keyword == ":derived"
            atoms[name] = set()
            while True:
                rows = itertools.product(range(n), repeat=len(variables))
                new = {r for r in rows if true(condition, atoms, n, dict(zip(variables, r, strict=True)))}
                if new == atoms[name]:
                    break
                atoms[name] = new
        found.append(() in atoms["shown"] if formula.of_state else sorted(x for (x,) in atoms["shown"]))
    return found


def dlplan_states(batch: Structures) -> tuple[Any, list[Any]]:
    dlplan = pytest.importorskip("dlplan.core", reason="dlplan is not installed; `make setup` tries to")
    words = dlplan.VocabularyInfo()
    names = {p.name: dlplan_name(p.name.partition(",")[0]) for p in batch.vocabulary}
    for name, arity in {names[p.name]: p.arity for p in batch.vocabulary}.items():
        words.add_predicate(name, arity)
    states = []
    for number in range(len(batch)):
        instance = dlplan.InstanceInfo(number, words)
        for x in range(np.bincount(batch.state_of_object, minlength=len(batch))[number]):
            instance.add_object(f"o{x}")
        atoms = [instance.add_atom(names[name], [f"o{x}" for x in row]) for name, row in batch.decode(number)]
        states.append(dlplan.State(number, instance, atoms))
    return dlplan.SyntacticElementFactory(words), states


def by_dlplan(batch: Structures, formula: fo.Node) -> list[Any]:
    factory, states = dlplan_states(batch)
    text = write_dlplan(formula, batch.vocabulary)
    if text.startswith("c_"):
        concept = factory.parse_concept(text)
        return [sorted(concept.evaluate(state).to_sorted_vector()) for state in states]
    if text.startswith("b_"):
        boolean = factory.parse_boolean(text)
        return [boolean.evaluate(state) for state in states]
    feature = factory.parse_numerical(text)
    return [0 if (value := feature.evaluate(state)) == 2**31 - 1 else value for state in states]


def by_python(batch: Structures, formula: fo.Node) -> list[Any]:
    source = write_python(formula, "shown")
    assert re.findall(r"^(?:import|from).*", source, re.MULTILINE) == ["import numpy as np"]
    module: dict[str, Any] = {}
    exec(compile(source, "shown.py", "exec"), module)  # noqa: S102
    found = []
    for state in range(len(batch)):
        n = int((batch.state_of_object == state).sum())
        atoms: dict[str, list[tuple[Any, ...]]] = {}
        for name, row in batch.decode(state):
            atoms.setdefault(name, []).append(row)
        value = module["shown"](n, atoms)
        if isinstance(formula, fo.Number):
            assert type(value) in (int, float)
        elif formula.of_state:
            assert type(value) is bool
        else:
            assert value.shape == (n,)
            assert value.dtype == bool
            value = np.flatnonzero(value).tolist()
        found.append(value)
    return found
