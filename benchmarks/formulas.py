"""Evaluating 200 random formulas of size up to 20 on 50 000 Blocks states, against dlplan's evaluator.

Both count the objects that a formula holds of, in every state, and must find the same numbers. Both keep what
formulas share: we for the whole batch, dlplan in its cache, which is emptied now and then because it would
not fit the memory. Neither the encoding of our structures nor that of dlplan's states is timed.
"""

import random
import time
from typing import Any

import dlplan.core
import numpy as np
from comparing import Row, report

from distill.logic import (
    And,
    Atom,
    Closure,
    Count,
    Evaluator,
    Modal,
    Not,
    Or,
    Relation,
    RelationAnd,
    RelationNot,
    Role,
    Top,
    Truth,
    dlplan_name,
    write_dlplan,
)
from distill.planning import prepare, problem_class
from distill.structures import Structures, concatenate

_STATES, _FORMULAS, _LARGEST = 50_000, 200, 20
_STATES_IN_CACHE = 200


def blocks() -> Structures:
    """Training states of both Blocks classes, which have the same predicates."""
    parts = [
        prepare(problem_class(name).split("train"), reduce="none", workers=2)[0]
        for name in ("blocks-on", "blocks-clear")
    ]
    return concatenate([data.structures() for data in parts])[:_STATES]


def random_relation(chance: random.Random) -> Relation:
    """A predicate, backwards or not; a difference, an intersection or a closure."""
    role = Role(chance.choice(["on", "on_G"]))
    relation: Relation = chance.choice([role, role.inverse()])
    kind = chance.random()
    if kind < 0.2:
        return Closure(relation, chance.random() < 0.3)
    if kind < 0.3:
        other = Role("on") if role.fields[0] == "on_G" else Role("on_G")
        return RelationAnd(role, chance.choice([other, RelationNot(other)]))
    return relation


def random_formula(chance: random.Random, words: list[str], size: int) -> Truth:
    """A formula of about this size."""
    if size <= 1:
        return Top() if chance.random() < 0.1 else Atom(chance.choice(words))
    kind = chance.random()
    if kind < 0.2:
        return Not(random_formula(chance, words, size - 1))
    if kind < 0.6:
        return Modal(random_relation(chance), random_formula(chance, words, size - 2))
    left = chance.randint(1, max(1, size - 2))
    parts = random_formula(chance, words, left), random_formula(chance, words, size - 1 - left)
    return And(*parts) if kind < 0.8 else Or(*parts)


def random_formulas(words: list[str]) -> list[Truth]:
    """Distinct formulas of all sizes."""
    chance = random.Random(0)
    found: dict[Truth, None] = {}
    while len(found) < _FORMULAS:
        formula = random_formula(chance, words, chance.randint(2, _LARGEST))
        if formula.size <= _LARGEST:
            found[formula] = None
    return list(found)


def dlplan_states(batch: Structures) -> tuple[Any, list[Any]]:
    """The same states for dlplan, one instance for all states of one size."""
    words = dlplan.core.VocabularyInfo()
    for predicate in batch.vocabulary:
        words.add_predicate(dlplan_name(predicate.name), predicate.arity)
    sizes = np.diff(batch.object_offsets)
    instances: dict[int, Any] = {}
    states = []
    for number in range(len(batch)):
        size = int(sizes[number])
        if size not in instances:
            instances[size] = dlplan.core.InstanceInfo(len(instances), words)
            for x in range(size):
                instances[size].add_object(f"o{x}")
        instance = instances[size]
        atoms = [
            instance.add_atom(dlplan_name(name), [f"o{x}" for x in row]) for name, row in batch.decode(number)
        ]
        states.append(dlplan.core.State(number, instance, atoms))
    return dlplan.core.SyntacticElementFactory(words), states


def by_dlplan(features: list[Any], states: list[Any]) -> np.ndarray:
    """(n_features, n_states) state after state, so that the cache serves."""
    found = np.empty((len(features), len(states)), dtype=np.int64)
    for begin in range(0, len(states), _STATES_IN_CACHE):
        caches = dlplan.core.DenotationsCaches()
        for number, state in enumerate(states[begin : begin + _STATES_IN_CACHE], begin):
            found[:, number] = [feature.evaluate(state, caches) for feature in features]
    return found


def main() -> None:
    """Compare; a ratio below 1 means that we are faster."""
    batch = blocks()
    words = [p.name for p in batch.vocabulary if p.arity == 1]
    formulas = random_formulas(words)
    numbers = [Count(formula) for formula in formulas]
    begun = time.perf_counter()
    evaluator = Evaluator(batch)
    ours = np.stack([evaluator.number(number) for number in numbers])
    our_time = time.perf_counter() - begun
    factory, states = dlplan_states(batch)
    features = [factory.parse_numerical(write_dlplan(number, batch.vocabulary)) for number in numbers]
    begun = time.perf_counter()
    theirs = by_dlplan(features, states)
    peer_time = time.perf_counter() - begun
    assert np.array_equal(ours, theirs)
    name = f"{len(formulas)} formulas on {len(batch)} Blocks states / dlplan"
    report("evaluation of formulas, ours / the peer's", [Row(name, our_time, peer_time)], 0.1)


if __name__ == "__main__":
    main()
