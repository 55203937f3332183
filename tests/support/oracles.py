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


def network_values(network: Any, batch: Structures) -> tuple[list[np.ndarray], np.ndarray]:
    """Embeddings by depth and V of a network, atom by atom and state by state, in 64 bits.

    Thesis Algorithm 1 with the options of `Architecture`, written down as plainly as possible.
    """
    weights = {name: value.numpy().astype(np.float64) for name, value in network.state_dict().items()}
    options, size = network.settings, network.settings.size
    names = [predicate.name for predicate in network.vocabulary]
    known = [predicate.name for predicate in batch.vocabulary]
    atoms = [
        (names.index(name), []) if not batch.vocabulary[name].arity else (names.index(name), list(row))
        for name in names
        if name in known
        for row in atoms_of(batch, name)
    ]
    nullary = [
        (names.index(name), [x])
        for name in names
        if name in known and not batch.vocabulary[name].arity
        for x, state in enumerate(batch.state_of_object.tolist())
        if (state,) in atoms_of(batch, name)
    ]
    atoms = [atom for atom in atoms if atom[1]] + nullary

    def perceptron(name: str, x: np.ndarray, activation: str) -> np.ndarray:
        inner = weights[f"{name}.inner.weight"] @ x + weights[f"{name}.inner.bias"]
        hidden = np.maximum(inner, 0) if activation == "relu" else inner * np.tanh(np.log1p(np.exp(inner)))
        return weights[f"{name}.outer.weight"] @ hidden + weights[f"{name}.outer.bias"]

    x = np.zeros((batch.n_objects, size))
    found = [x]
    for _ in range(options.layers):
        inbox: list[list[np.ndarray]] = [[] for _ in range(batch.n_objects)]
        for number, row in atoms:
            heard = np.concatenate([x[o] for o in row])
            sent = perceptron(f"messages.{number}", heard, options.activation)
            sent = sent + heard if options.message_residual else sent
            for position, receiver in enumerate(row):
                inbox[receiver].append(sent[position * size : (position + 1) * size])
        most = max((m.max() for messages in inbox for m in messages), default=0.0)
        after = []
        for own, messages in zip(x, inbox, strict=True):
            gathered = _gathered(messages, options, size, most)
            both = [own, gathered] if options.update_order == "embedding" else [gathered, own]
            change = perceptron("update", np.concatenate(both), options.activation)
            if options.layer_norm:
                change = (change - change.mean()) / np.sqrt(change.var() + 1e-5)
                change = change * weights["norm.weight"] + weights["norm.bias"]
            after.append(own + change if options.update_residual else change)
        x = np.array(after).reshape(-1, size)
        found.append(x)
    result = []
    for state in range(len(batch)):
        rows = list(x[batch.state_of_object == state])
        if options.readout == "two-part":
            rows = [perceptron("first_readout", row, options.readout_activation) for row in rows]
        pooled = np.zeros(size)
        if rows:
            pooled = np.sum(rows, axis=0) if options.pooling == "sum" else np.max(rows, axis=0)
        if options.readout == "twice":
            pooled = perceptron("first_readout", pooled, options.readout_activation)
        [value] = perceptron("readout", pooled, options.readout_activation)
        result.append(abs(value) if options.absolute else value)
    return found, np.array(result)


def _gathered(messages: list[np.ndarray], options: Any, size: int, most: float) -> np.ndarray:
    smooth = options.smoothness
    if options.aggregation != "logsumexp":
        if not messages:
            return np.zeros(size)
        return {"sum": np.sum, "mean": np.mean, "max": np.max}[options.aggregation](messages, axis=0)
    if options.floor == "none":
        if not messages:
            return np.zeros(size)
        return np.log(np.sum(np.exp(smooth * np.array(messages)), axis=0)) / smooth
    shift = np.max(messages, axis=0, initial=-np.inf) if messages else np.zeros(size)
    shift = np.full(size, most) if options.floor == "batch" else shift
    total = sum((np.exp(smooth * (m - shift)) for m in messages), start=np.full(size, 1e-16))
    return np.log(total) / smooth + shift
