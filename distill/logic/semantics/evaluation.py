"""Evaluation of formulas and features on a batch of structures."""

import difflib
import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from distill.common import InputError
from distill.logic import syntax as fo
from distill.structures import ACHIEVED, MISSING, Predicate, Structures, Vocabulary

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]
Pairs = tuple[Any, bool]  # a sparse matrix of pairs, and whether it lists the complement


class Evaluator:
    """Evaluates formulas on a batch of structures; shared parts are computed once.

    Examples
    --------
    >>> from distill.logic import parse
    >>> from distill.structures import Vocabulary
    >>> words = Vocabulary([Predicate("on", 2), Predicate("clear", 1)])
    >>> tower = Structures(words, 1, [0, 0, 0], {"on": [[0, 1], [1, 2]], "clear": [[0]]})
    >>> evaluator = Evaluator(tower)
    >>> evaluator.holds(parse("<on^-1+>clear"))
    array([False,  True,  True])
    >>> evaluator.number(parse("#<on^-1+>clear"))
    array([2])
    """

    def __init__(self, batch: Structures) -> None:
        self.batch = batch
        self._values: dict[fo.Node, Any] = {}
        self._pairs_of: dict[fo.Closure, Any] = {}

    def holds(self, formula: fo.Truth) -> Booleans:
        """The truth of a formula about objects (n_objects,), or about states (n_states,)."""
        return self._value(formula)  # type: ignore[no-any-return]

    def number(self, feature: fo.Number) -> Integers:
        """(n_states,) the value of a feature."""
        return self._value(feature)  # type: ignore[no-any-return]

    def counts(self, relation: fo.Relation) -> Any:
        """The sparse matrix (n_objects, n_objects) of a relation: the number of atoms between two objects."""
        pairs, inverted = self._value(relation)
        return self._steps(relation) if inverted or isinstance(relation, fo.Closure) else pairs

    def _value(self, formula: fo.Node) -> Any:
        if formula not in self._values:
            for node in formula.walk():
                if node not in self._values:
                    self._values[node] = _MEANINGS[type(node)](self, node)
        return self._values[formula]

    def predicate(self, name: str) -> Predicate:
        """The predicate called `name`; the error suggests similar names."""
        return resolve_predicate(self.batch.vocabulary, name)[0]

    def _atom(self, node: fo.Atom) -> Booleans:
        [name] = node.fields
        arity = self.predicate(name).arity
        if arity > 1:
            raise InputError(f"{name} has {arity} arguments, so it holds of no single object; use <{name}>.")
        atoms = self.batch.atoms(name)[:, 0]
        holds = np.zeros(self.batch.n_objects if arity else len(self.batch), dtype=bool)
        holds[atoms] = True
        return holds if arity else holds[self.batch.state_of_object]

    def _role(self, node: fo.Role) -> Pairs:
        name, source, target = node.fields
        arity = self.predicate(name).arity
        if arity < 2 or max(source, target) >= arity:
            raise InputError(f"{name} has {arity} arguments, so there is no relation {node}.")
        atoms = self.batch.atoms(name).astype(np.int64)
        return self._matrix(atoms[:, source], atoms[:, target]), False

    def _matrix(self, source: Integers, target: Integers) -> Any:
        n = self.batch.n_objects
        counts = sp.csr_array((np.ones(len(source), dtype=np.int64), (source, target)), shape=(n, n))
        counts.sum_duplicates()
        return counts

    def _everywhere(self) -> Integers:
        return np.arange(self.batch.n_objects)

    def _joined(self, node: fo.Relation, both: bool) -> Pairs:
        """Intersection or union; each part may be given by its complement."""
        plain = [self._set(part) for part in node.fields if not self._values[part][1]]
        inverted = [self._set(part) for part in node.fields if self._values[part][1]]
        # ¬A ∧ ¬B = ¬(A ∨ B), and A ∧ ¬B is A without B; dually for unions.
        kept, dropped = (plain, inverted) if both else (inverted, plain)
        if not kept:
            return _united(dropped), both
        found = kept[0]
        for other in kept[1:]:
            found = found.multiply(other).tocsr()
        for other in dropped:
            found = _without(found, other)
        return found, not both

    def _set(self, relation: fo.Relation) -> Any:
        """The pairs of a relation, each once: Boolean operators combine sets."""
        if isinstance(relation, fo.Role) and self.predicate(relation.fields[0]).arity > 2:
            raise InputError(
                f"{relation} counts atoms, so it cannot be combined with other relations; use it on its own."
            )
        return self._reached(relation) if isinstance(relation, fo.Closure) else self._values[relation][0]

    def _closure(self, node: fo.Closure) -> Pairs:
        """The steps of a closure instead of its pairs; reachability is computed on demand."""
        return self._steps(node.fields[0]), False

    def _steps(self, relation: fo.Relation) -> Any:
        pairs, inverted = self._values[relation]
        if isinstance(relation, fo.Closure):
            pairs = self._reached(relation)
        if inverted:
            pairs = _without(self._all_pairs(), pairs)
        return pairs.astype(bool).astype(np.int64)

    def _all_pairs(self) -> Any:
        sizes = np.diff(self.batch.object_offsets)
        first = np.repeat(self._everywhere(), sizes[self.batch.state_of_object])
        begin = np.repeat(self.batch.object_offsets[:-1], sizes**2)
        ends = np.repeat(np.cumsum(sizes**2) - sizes**2, sizes**2)
        second = begin + (np.arange(len(first)) - ends) % np.repeat(sizes, sizes**2)
        return self._matrix(first, second)

    def _reached(self, closure: fo.Closure) -> Any:
        """All pairs of a closure."""
        if closure not in self._pairs_of:
            found = self._values[closure][0]
            while True:
                more = ((found + found @ found) > 0).astype(np.int64)
                if more.nnz == found.nnz:
                    break
                found = more.tocsr()
            if closure.fields[1]:
                itself = self._matrix(self._everywhere(), self._everywhere())
                found = ((found + itself) > 0).astype(np.int64)
            self._pairs_of[closure] = found.tocsr()
        return self._pairs_of[closure]

    def _modal(self, node: fo.Modal) -> Booleans:
        relation, operand, threshold = node.fields
        inside = self._values[operand]
        if isinstance(relation, fo.Closure) and threshold == 0:
            return self._follows(relation, inside)
        pairs, inverted = self._values[relation]
        if isinstance(relation, fo.Closure):
            pairs = self._reached(relation)
        counts = pairs @ inside.astype(np.int64)
        if inverted:
            counts = self._per_state(inside)[self.batch.state_of_object] - counts
        return counts > threshold  # type: ignore[no-any-return]

    def _follows(self, closure: fo.Closure, inside: Booleans) -> Booleans:
        return reaching(self._values[closure][0], inside, closure.fields[1])

    def _per_state(self, holds: Booleans) -> Integers:
        return np.bincount(self.batch.state_of_object[holds], minlength=len(self.batch))

    def _distance(self, node: fo.Distance) -> Integers:
        first, relation, last = node.fields
        target = self._values[last]
        forward = self._steps(relation).T.tocsr()
        reached = self._values[first]
        frontier, steps = reached, 0
        result = np.zeros(len(self.batch), dtype=np.int64)
        arrived = self._per_state(reached & target) > 0
        while frontier.any():
            steps += 1
            frontier = ((forward @ frontier.astype(np.int64)) > 0) & ~reached
            frontier &= ~arrived[self.batch.state_of_object]
            reached = reached | frontier
            new = (self._per_state(frontier & target) > 0) & ~arrived
            result[new] = steps
            arrived |= new
        return result


def resolve_predicate(vocabulary: Vocabulary, name: str) -> list[Predicate]:
    """The predicate called `name`, or the achieved and missing goals that it is the union of.

    Examples
    --------
    >>> words = Vocabulary([Predicate("clear", 1), Predicate("clear_G", 1, "goal")])
    >>> [p.name for p in resolve_predicate(words.marked(), "clear_G")]
    ['clear_G,T', 'clear_G,F']
    >>> resolve_predicate(words, "cleer")
    Traceback (most recent call last):
        ...
    distill.common.errors.InputError: There is no predicate 'cleer'; did you mean clear?
    """
    if name in vocabulary:
        return [vocabulary[name]]
    if name + ACHIEVED in vocabulary:
        return [vocabulary[name + ACHIEVED], vocabulary[name + MISSING]]
    names = [predicate.name for predicate in vocabulary]
    near = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean {near[0]}?" if near else f"choose from {', '.join(names)}."
    raise InputError(f"There is no predicate {name!r}; {hint}")


def reaching(steps: Any, inside: Booleans, reflexive: bool) -> Booleans:
    """The rows from which a path leads into a set, by backward breadth-first search.

    Parameters
    ----------
    steps : (n, n) sparse, one step from row to column.
    inside : (n,) the set.
    reflexive : whether paths of length 0 count.
    """
    found: Booleans = (steps @ inside.astype(np.int64)) > 0
    frontier = found
    while frontier.any():
        frontier = ((steps @ frontier.astype(np.int64)) > 0) & ~found
        found = found | frontier
    return found | inside if reflexive else found


def _united(parts: list[Any]) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return (total > 0).astype(np.int64).tocsr()


def _without(pairs: Any, dropped: Any) -> Any:
    kept = pairs - pairs.multiply(dropped)
    kept.eliminate_zeros()
    return kept.tocsr()


_EXACT = float(2**53)  # integers up to this are exact in floats too


def _product(factors: list[Any]) -> Any:
    """A product of numbers and arrays; integers that might not fit are multiplied as floats."""
    largest = math.prod(float(np.max(np.abs(one), initial=0)) for one in factors)
    if largest > _EXACT:
        factors = [np.asarray(one, dtype=np.float64) for one in factors]
    with np.errstate(over="ignore"):
        return _finite(functools.reduce(operator.mul, factors))


def _sum(parts: list[Any]) -> Any:
    """A sum of arrays; integers that might not fit are added as floats."""
    if sum(float(np.max(np.abs(one), initial=0)) for one in parts) > _EXACT:
        parts = [one.astype(np.float64) for one in parts]
    with np.errstate(over="ignore"):
        return _finite(np.sum(parts, axis=0))


def _finite(values: Any) -> Any:
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InputError("The formula has a value that is too large for a number; give smaller weights.")
    return values


# These depend on the values of parts only, so they are the same on states and on quotients.
FROM_PARTS: dict[type[fo.Node], Callable[[Any, Any], Any]] = {
    fo.Not: lambda e, node: ~e._values[node.fields[0]],
    fo.Compare: lambda e, node: e._values[node.fields[0]] > node.fields[1],
    fo.Indicator: lambda e, node: e._values[node.fields[0]].astype(np.int64),
    fo.Product: lambda e, node: _product([e._values[part] for part in node.fields]),
    fo.Scaled: lambda e, node: _product([node.fields[0], e._values[node.fields[1]]]),
    fo.Sum: lambda e, node: _sum([e._values[part] for part in node.fields]),
}
_MEANINGS: dict[type[fo.Node], Callable[[Any, Any], Any]] = {
    **FROM_PARTS,
    fo.Identity: lambda e, node: (e._matrix(e._everywhere(), e._everywhere()), False),
    fo.Everything: lambda e, node: (e._matrix(np.zeros(0, dtype=int), np.zeros(0, dtype=int)), True),
    fo.Role: Evaluator._role,
    fo.RelationNot: lambda e, node: (e._set(node.fields[0]), not e._values[node.fields[0]][1]),
    fo.RelationAnd: lambda e, node: e._joined(node, True),
    fo.RelationOr: lambda e, node: e._joined(node, False),
    fo.Closure: Evaluator._closure,
    fo.Top: lambda e, node: np.ones(e.batch.n_objects, dtype=bool),
    fo.Atom: Evaluator._atom,
    fo.And: lambda e, node: np.logical_and.reduce([e._values[part] for part in node.fields]),
    fo.Or: lambda e, node: np.logical_or.reduce([e._values[part] for part in node.fields]),
    fo.Modal: Evaluator._modal,
    fo.Count: lambda e, node: e._per_state(e._values[node.fields[0]]),
    fo.Constant: lambda e, node: np.full(len(e.batch), node.fields[0]),
    fo.Distance: Evaluator._distance,
}
