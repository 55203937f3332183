"""Evaluation on the rows of a quotient. A formula whose value is not determined there raises an error.

Requirements:

- Predicates, Boolean operators and modals along a predicate: on quotients at least as deep as the formula.
- Boolean combinations of relations that contain an atom: on quotients with joint messages.
- Closures (without counting), distances, formulas deeper than the quotient: on stable quotients.
- Relations to all objects of a state (`all`, `~R`): on states only.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.common import InputError
from distill.logic import syntax as fo
from distill.logic.semantics.evaluation import FROM_PARTS, reaching, resolve_predicate
from distill.structures import Quotient

Booleans = NDArray[np.bool_]


class QuotientEvaluator:
    """Evaluates formulas on a quotient with multisets; shared parts are computed once.

    Examples
    --------
    >>> from distill.logic import parse
    >>> from distill.structures import Options, Predicate, Structures, Vocabulary
    >>> words = Vocabulary([Predicate("clear", 1)])
    >>> two = Structures(words, 1, [0, 0, 0], {"clear": [[0], [2]]})
    >>> zero = np.zeros(1, dtype=np.int64)
    >>> rows = [np.array([1, 0, 1])] * 2  # equivalent objects share a row
    >>> quotient = Quotient(two, Options(), rows, True, zero, {}, zero, zero + 1)
    >>> QuotientEvaluator(quotient).number(parse("#clear"))
    array([2])
    """

    def __init__(self, quotient: Quotient) -> None:
        if quotient.options.sets:
            raise InputError("A quotient with sets forgets counts; build one with multisets.")
        self.quotient = quotient
        self._values: dict[fo.Node, Any] = {}

    def holds(self, formula: fo.Truth) -> Booleans:
        """The truth of a formula about objects (n_last_rows,), or about states (n_state_rows,)."""
        value = self._value(formula)
        return value if formula.of_state else self._lifted(formula, self.quotient.depth)

    def number(self, feature: fo.Number) -> NDArray[np.int64]:
        """(n_state_rows,) the value of a feature."""
        return self._value(feature)  # type: ignore[no-any-return]

    def counts(self, relation: fo.Relation) -> Any:
        """The sparse matrix (n_rows, n_rows) of a relation on a stable quotient: counts of linked objects."""
        return self._link(relation, self.quotient.depth)

    def _value(self, formula: fo.Node) -> Any:
        for node in formula.walk():
            if node not in self._values and not isinstance(node, fo.Relation):
                self._values[node] = _MEANINGS[type(node)](self, node)
        return self._values[formula]

    def _level(self, formula: fo.Node) -> int:
        """The depth at which a formula is evaluated: its own, or the last if the rows are stable."""
        if self.quotient.stable:
            return self.quotient.depth
        if formula.depth > self.quotient.depth:
            raise InputError(
                f"The formula is {formula.depth} modals deep and the quotient only {self.quotient.depth} "
                "layers, which are not stable; build it deeper."
            )
        return formula.depth

    def _lifted(self, formula: fo.Node, depth: int) -> Booleans:
        """The truth of an evaluated formula on the rows at a greater depth."""
        row = np.arange(len(self.quotient.layers[depth]))
        for layer in self.quotient.layers[depth : self._level(formula) : -1]:
            row = layer.parent[row]
        found: Booleans = self._values[formula][row]
        return found

    def _link(self, relation: fo.Relation, level: int) -> Any:
        """The number of objects of each row before `level` linked to an object of a row at `level`."""
        if isinstance(relation, fo.Role):
            names, source, target = _checked(self.quotient, relation)
            return sum(self.quotient.link(name, level, source, target) for name in names)
        if not relation.guarded or any(
            isinstance(part, fo.Closure | fo.Identity) for part in relation.walk()
        ):
            raise InputError(
                f"{relation} looks further than the atoms of an object; evaluate the formula on states."
            )
        pairs = self.quotient.layers[level].pairs
        if pairs is None:
            raise InputError(f"{relation} needs a quotient with joint messages; build it with joint.")
        return self.quotient.pair_link(self._kinds(relation, pairs.kinds), level)

    def _kinds(self, relation: fo.Relation, kinds: Booleans) -> Booleans:
        """(n_kinds,) which kinds of pairs belong to a relation."""
        binary = [predicate.name for predicate in self.quotient.vocabulary if predicate.arity == 2]
        found: dict[fo.Node, Booleans] = {}
        for part in relation.walk():
            if isinstance(part, fo.Role):
                names, source, target = _checked(self.quotient, part)
                if max(source, target) > 1:
                    raise InputError(f"{part} counts atoms, so it cannot be combined with other relations.")
                columns = [binary.index(name) + len(binary) * (source > target) for name in names]
                found[part] = np.logical_or.reduce(kinds[:, columns], axis=1)
            elif isinstance(part, fo.Everything):
                found[part] = np.ones(len(kinds), dtype=bool)
            elif isinstance(part, fo.RelationNot):
                found[part] = ~found[part.fields[0]]
            else:
                join = np.logical_and if isinstance(part, fo.RelationAnd) else np.logical_or
                found[part] = join.reduce([found[one] for one in part.fields])
        return found[relation]

    def _atom(self, node: fo.Atom) -> Booleans:
        [name] = node.fields
        meant = resolve_predicate(self.quotient.vocabulary, name)
        if meant[0].arity > 1:
            raise InputError(f"{name} is a relation, so it holds of no single object; use <{name}>.")
        found = [self.quotient.holds(predicate.name, self._level(node)) for predicate in meant]
        return np.logical_or.reduce(found)  # type: ignore[no-any-return]

    def _modal(self, node: fo.Modal) -> Booleans:
        relation, operand, threshold = node.fields
        level = self._level(node)
        if isinstance(relation, fo.Identity):
            holds = self._lifted(operand, level)
            return holds if threshold == 0 else np.zeros_like(holds)
        if isinstance(relation, fo.Closure):
            return self._follows(node, relation, self._values[operand])
        before = self.quotient.depth if self.quotient.stable else level - 1
        counts = self._link(relation, level) @ self._lifted(operand, before).astype(np.int64)
        return counts > threshold  # type: ignore[no-any-return]

    def _steps(self, relation: fo.Relation) -> Any:
        """The stable rows that one step along a relation leads to."""
        if not self.quotient.stable:
            raise InputError(f"Steps along {relation} may lead out of sight; build a stable quotient.")
        return (self._link(relation, self.quotient.depth) > 0).astype(np.int64)

    def _follows(self, node: fo.Modal, closure: fo.Closure, inside: Booleans) -> Booleans:
        if node.fields[2]:
            raise InputError(f"What {closure} reaches can be counted on states only, not on a quotient.")
        steps = self._steps(closure.fields[0])
        return reaching(steps, inside, closure.fields[1])

    def _count(self, node: fo.Count) -> NDArray[np.int64]:
        holds = self._lifted(node.fields[0], self.quotient.depth)
        return self.quotient.layers[-1].histogram @ holds.astype(np.int64)  # type: ignore[no-any-return]

    def _distance(self, node: fo.Distance) -> NDArray[np.int64]:
        """Distances on rows: all objects of a row have shortest paths of the same length."""
        first, relation, last = node.fields
        steps = self._steps(relation)
        begins, frontier = self._values[first], self._values[last]
        present = self.quotient.layers[-1].histogram
        reached, taken = frontier, 0
        result = np.zeros(self.quotient.n_state_rows, dtype=np.int64)
        arrived = (present @ (begins & reached).astype(np.int64)) > 0
        while frontier.any():
            taken += 1
            frontier = ((steps @ frontier.astype(np.int64)) > 0) & ~reached
            reached = reached | frontier
            new = ((present @ (begins & frontier).astype(np.int64)) > 0) & ~arrived
            result[new] = taken
            arrived |= new
        return result


def _checked(quotient: Quotient, role: fo.Role) -> tuple[list[str], int, int]:
    """The predicates of a role, and its two arguments."""
    name, source, target = role.fields
    meant = resolve_predicate(quotient.vocabulary, name)
    arity = meant[0].arity
    if arity < 2 or max(source, target) >= arity:
        raise InputError(f"{name} has {arity} arguments, so there is no relation {role}.")
    return [predicate.name for predicate in meant], source, target


_MEANINGS: dict[type[fo.Node], Callable[[Any, Any], Any]] = {
    **FROM_PARTS,
    fo.Top: lambda e, node: np.ones(len(e.quotient.layers[e._level(node)]), dtype=bool),
    fo.Atom: QuotientEvaluator._atom,
    fo.And: lambda e, node: _joined(e, node, np.logical_and),
    fo.Or: lambda e, node: _joined(e, node, np.logical_or),
    fo.Modal: QuotientEvaluator._modal,
    fo.Count: QuotientEvaluator._count,
    fo.Constant: lambda e, node: np.full(e.quotient.n_state_rows, node.fields[0]),
    fo.Distance: QuotientEvaluator._distance,
}


def _joined(evaluator: QuotientEvaluator, node: Any, join: Any) -> Booleans:
    if node.of_state:
        parts = [evaluator._values[part] for part in node.fields]
    else:
        parts = [evaluator._lifted(part, evaluator._level(node)) for part in node.fields]
    return join.reduce(parts)  # type: ignore[no-any-return]
