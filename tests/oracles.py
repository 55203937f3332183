"""Slow and plain: a relational GNN and a formula evaluator that go atom by atom, to compare with.

Formulas are nested tuples. They hold of an object x if:

`("top",)`: always
`("is", p)`: the unary (or nullary) atom holds
`("not", f)`, `("and", f, g)`: as usual
`("modal", r, i, j, t, f)`: more than t atoms of r have x at position i and an object with f at position j
`("derived", op, r, s, t, f)`: more than t objects y with f have r(x, y) and also (op is `and`), or not (op is
    `but`), s(x, y)
`("closure", r, f)`: an object with f can be reached in one or more steps along r
"""

import itertools
from typing import Any

import numpy as np
from hypothesis import strategies as st

from distill.structures import Structures

Formula = tuple[Any, ...]


def atoms_of(batch: Structures, name: str) -> list[tuple[int, ...]]:
    return [tuple(row) for row in batch.relations[name].tolist()]


def truth(batch: Structures, formula: Formula) -> list[bool]:
    """Whether the formula holds, for each object."""
    objects = range(batch.n_objects)
    match formula:
        case ("top",):
            return [True] * batch.n_objects
        case ("is", name):
            if batch.vocabulary[name].arity == 0:
                states = {state for (state,) in atoms_of(batch, name)}
                return [int(batch.state_of_object[x]) in states for x in objects]
            return [(x,) in atoms_of(batch, name) for x in objects]
        case ("not", inner):
            return [not value for value in truth(batch, inner)]
        case ("and", first, second):
            return [a and b for a, b in zip(truth(batch, first), truth(batch, second), strict=True)]
        case ("modal", name, i, j, t, inner):
            holds = truth(batch, inner)
            return [sum(a[i] == x and holds[a[j]] for a in atoms_of(batch, name)) > t for x in objects]
        case ("derived", op, first, second, t, inner):
            holds, one, two = truth(batch, inner), set(atoms_of(batch, first)), set(atoms_of(batch, second))
            pairs = one & two if op == "and" else one - two
            return [sum(a == x and holds[b] for a, b in pairs) > t for x in objects]
        case ("closure", name, inner):
            holds = truth(batch, inner)
            return [any(holds[y] for y in _reachable(batch, name, x)) for x in objects]
    raise ValueError(formula)


def distances(batch: Structures, start: Formula, name: str, end: Formula) -> list[int]:
    """For each state the least number of steps along a relation from `start` to `end`; 0 if there is none."""
    first, last = truth(batch, start), truth(batch, end)
    found = []
    for state in range(len(batch)):
        members = range(int(batch.object_offsets[state]), int(batch.object_offsets[state + 1]))
        reached, steps = {x for x in members if first[x]}, 0
        while reached and not any(last[x] for x in reached):
            more = reached | {b for a, b in atoms_of(batch, name) if a in reached}
            steps, reached = (steps + 1, more) if more != reached else (0, set())
        found.append(steps if reached else 0)
    return found


def _reachable(batch: Structures, name: str, start: int) -> set[int]:
    reached: set[int] = set()
    todo = [start]
    while todo:
        x = todo.pop()
        for a, b in atoms_of(batch, name):
            if a == x and b not in reached:
                reached.add(b)
                todo.append(b)
    return reached


def formulas(
    batch: Structures, depth: int, *, counting: bool = True, nullary: bool = True
) -> st.SearchStrategy:
    """Random formulas of modal depth at most `depth` over the batch's predicates."""
    thresholds = st.integers(0, 2) if counting else st.just(0)
    arities = {p.name: p.arity for p in batch.vocabulary}
    unary = [name for name, arity in arities.items() if arity == 1 or (arity == 0 and nullary)]
    modals = [
        (name, i, j)
        for name, arity in arities.items()
        for i, j in itertools.permutations(range(arity), 2)
        if arity > 1
    ]
    base = st.one_of(st.just(("top",)), st.sampled_from(unary).map(lambda name: ("is", name)))

    def boolean(inner: st.SearchStrategy) -> st.SearchStrategy:
        return st.recursive(
            inner,
            lambda f: st.one_of(f.map(lambda x: ("not", x)), st.tuples(st.just("and"), f, f)),
            max_leaves=3,
        )

    level = boolean(base)
    for _ in range(depth):
        modal = st.tuples(st.sampled_from(modals), thresholds, level).map(
            lambda m: ("modal", *m[0], m[1], m[2])
        )
        level = boolean(st.one_of(base, modal))
    return level


def rgnn(
    batch: Structures, layers: int, seed: int, *, aggregation: str = "sum", size: int = 3
) -> list[np.ndarray]:
    """Embeddings (n_objects, size) after 0, 1, … layers of a relational GNN with random weights.

    As in thesis Algorithm 1: zero embeddings, one message function for each predicate, residual messages and
    updates. Nullary atoms hold of every object.
    """
    rng = np.random.default_rng(seed)
    weights = {
        p.name: rng.normal(size=(max(p.arity, 1) * size, max(p.arity, 1) * size)) for p in batch.vocabulary
    }
    bias = {p.name: rng.normal(size=max(p.arity, 1) * size) for p in batch.vocabulary}
    update, shift = rng.normal(size=(2 * size, size)), rng.normal(size=size)
    atoms: list[tuple[str, tuple[int, ...]]] = []
    for predicate in batch.vocabulary:
        if predicate.arity:
            atoms += [(predicate.name, row) for row in atoms_of(batch, predicate.name)]
        else:
            states = {state for (state,) in atoms_of(batch, predicate.name)}
            atoms += [
                (predicate.name, (x,)) for x, s in enumerate(batch.state_of_object.tolist()) if s in states
            ]
    x = np.zeros((batch.n_objects, size))
    found = [x]
    for _ in range(layers):
        inbox: list[list[np.ndarray]] = [[] for _ in range(batch.n_objects)]
        for name, row in atoms:
            heard = np.concatenate([x[o] for o in row])
            sent = heard + np.tanh(heard @ weights[name] + bias[name])
            for position, receiver in enumerate(row):
                inbox[receiver].append(sent[position * size : (position + 1) * size])
        gathered = np.array([_aggregate(messages, aggregation, size) for messages in inbox]).reshape(-1, size)
        x = x + np.tanh(np.concatenate([x, gathered], axis=1) @ update + shift)
        found.append(x)
    return found


def _aggregate(messages: list[np.ndarray], aggregation: str, size: int) -> np.ndarray:
    if not messages:
        return np.zeros(size)
    # Sorted first, so that the order of the atoms does not show in the last digits.
    stacked = np.sort(np.array(messages), axis=0)
    if aggregation == "logsumexp":
        return np.log(np.exp(stacked).sum(axis=0))
    return stacked.sum(axis=0) if aggregation == "sum" else stacked.max(axis=0)
