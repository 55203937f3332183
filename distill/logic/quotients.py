"""Evaluation on the rows of a quotient, where that is the same as on the states; otherwise it is refused.

What may be evaluated where:

- Predicates, Boolean operators and modals along a predicate: on quotients at least as deep as the formula.
- Boolean combinations of relations that name an atom: on quotients with joint messages.
- Closures (if what they reach is not counted), distances, formulas deeper than the quotient: on stable ones.
- What looks at all objects of a state from one of them (`all`, `~R`): on states only.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.errors import InputError
from distill.logic.evaluation import FROM_PARTS, meant_by, reaching
from distill.logic.features import Constant, Count, Distance, Number
from distill.logic.formulas import And, Atom, Modal, Or, Top, Truth
from distill.logic.nodes import Node
from distill.logic.relations import Closure, Everything, Identity, Relation, RelationAnd, RelationNot, Role
from distill.structures import Quotient

Booleans = NDArray[np.bool_]


class QuotientEvaluator:
    """Evaluates formulas on a quotient with multisets; what formulas share is computed once.

    Examples
    --------
    >>> from distill.logic import parse
    >>> from distill.structures import Options, Predicate, Structures, Vocabulary
    >>> words = Vocabulary([Predicate("clear", 1)])
    >>> two = Structures(words, 1, [0, 0, 0], {"clear": [[0], [2]]})
    >>> zero = np.zeros(1, dtype=np.int64)
    >>> rows = [np.array([1, 0, 1])] * 2  # objects that look the same are one row
    >>> quotient = Quotient(two, Options(), rows, True, zero, zero, zero, zero + 1)
    >>> QuotientEvaluator(quotient).number(parse("#clear"))
    array([2])
    """

    def __init__(self, quotient: Quotient) -> None:
        if quotient.options.sets:
            raise InputError("A quotient with sets forgets counts; build one with multisets.")
        self.quotient = quotient
        self._values: dict[Node, Any] = {}

    def holds(self, formula: Truth) -> Booleans:
        """(n_rows at the last depth,) whether it holds of each row, or (n_state_rows,) of each state row."""
        value = self._value(formula)
        return value if formula.of_state else self._lifted(formula, self.quotient.depth)

    def number(self, feature: Number) -> NDArray[np.int64]:
        """(n_state_rows,) the number each state row has."""
        return self._value(feature)  # type: ignore[no-any-return]

    def counts(self, relation: Relation) -> Any:
        """A sparse matrix (n_rows, n_rows) of a stable quotient: how often one leads to another."""
        return self._link(relation, self.quotient.depth)

    def _value(self, formula: Node) -> Any:
        for node in formula.walk():
            if node not in self._values and not isinstance(node, Relation):
                self._values[node] = _MEANINGS[type(node)](self, node)
        return self._values[formula]

    def _level(self, formula: Node) -> int:
        """The depth at which a formula is evaluated: its own, or the last if the rows are stable."""
        if self.quotient.stable:
            return self.quotient.depth
        if formula.depth > self.quotient.depth:
            raise InputError(
                f"The formula is {formula.depth} modals deep and the quotient only {self.quotient.depth} "
                "layers, which are not stable; build it deeper."
            )
        return formula.depth

    def _lifted(self, formula: Node, depth: int) -> Booleans:
        """The truth of an evaluated formula on the rows at a greater depth."""
        row = np.arange(len(self.quotient.layers[depth]))
        for layer in self.quotient.layers[depth : self._level(formula) : -1]:
            row = layer.parent[row]
        found: Booleans = self._values[formula][row]
        return found

    def _link(self, relation: Relation, level: int) -> Any:
        """How many objects of each row before `level` an object of a row at `level` is linked to."""
        if isinstance(relation, Role):
            names, source, target = _checked(self.quotient, relation)
            return sum(self.quotient.link(name, level, source, target) for name in names)
        if not relation.guarded or any(isinstance(part, Closure | Identity) for part in relation.walk()):
            raise InputError(
                f"{relation} looks further than the atoms of an object; evaluate the formula on states."
            )
        pairs = self.quotient.layers[level].pairs
        if pairs is None:
            raise InputError(f"{relation} needs a quotient with joint messages; build it with joint.")
        return self.quotient.pair_link(self._kinds(relation, pairs.kinds), level)

    def _kinds(self, relation: Relation, kinds: Booleans) -> Booleans:
        """(n_kinds,) which kinds of pairs stand in a relation."""
        binary = [predicate.name for predicate in self.quotient.vocabulary if predicate.arity == 2]
        found: dict[Node, Booleans] = {}
        for part in relation.walk():
            if isinstance(part, Role):
                names, source, target = _checked(self.quotient, part)
                if max(source, target) > 1:
                    raise InputError(f"{part} counts atoms, so it cannot be combined with other relations.")
                columns = [binary.index(name) + len(binary) * (source > target) for name in names]
                found[part] = np.logical_or.reduce(kinds[:, columns], axis=1)
            elif isinstance(part, Everything):
                found[part] = np.ones(len(kinds), dtype=bool)
            elif isinstance(part, RelationNot):
                found[part] = ~found[part.fields[0]]
            else:
                join = np.logical_and if isinstance(part, RelationAnd) else np.logical_or
                found[part] = join.reduce([found[one] for one in part.fields])
        return found[relation]

    def _atom(self, node: Atom) -> Booleans:
        [name] = node.fields
        meant = meant_by(self.quotient.vocabulary, name)
        if meant[0].arity > 1:
            raise InputError(f"{name} is a relation, so it holds of no single object; use <{name}>.")
        found = [self.quotient.holds(predicate.name, self._level(node)) for predicate in meant]
        return np.logical_or.reduce(found)  # type: ignore[no-any-return]

    def _modal(self, node: Modal) -> Booleans:
        relation, operand, threshold = node.fields
        level = self._level(node)
        if isinstance(relation, Identity):
            holds = self._lifted(operand, level)
            return holds if threshold == 0 else np.zeros_like(holds)
        if isinstance(relation, Closure):
            return self._follows(node, relation, self._values[operand])
        before = self.quotient.depth if self.quotient.stable else level - 1
        counts = self._link(relation, level) @ self._lifted(operand, before).astype(np.int64)
        return counts > threshold  # type: ignore[no-any-return]

    def _steps(self, relation: Relation) -> Any:
        """Which stable rows one step along a relation leads to."""
        if not self.quotient.stable:
            raise InputError(f"Steps along {relation} may lead out of sight; build a stable quotient.")
        return (self._link(relation, self.quotient.depth) > 0).astype(np.int64)

    def _follows(self, node: Modal, closure: Closure, inside: Booleans) -> Booleans:
        if node.fields[2]:
            raise InputError(f"What {closure} reaches can be counted on states only, not on a quotient.")
        steps = self._steps(closure.fields[0])
        return reaching(steps, inside, closure.fields[1])

    def _count(self, node: Count) -> NDArray[np.int64]:
        holds = self._lifted(node.fields[0], self.quotient.depth)
        return self.quotient.layers[-1].histogram @ holds.astype(np.int64)  # type: ignore[no-any-return]

    def _distance(self, node: Distance) -> NDArray[np.int64]:
        """Every object of a row has a way of the same length, so rows are enough."""
        first, relation, last = node.fields
        steps = self._steps(relation)
        begins, frontier = self._values[first], self._values[last]
        present = self.quotient.layers[-1].histogram
        reached, taken = frontier, 0
        result = np.zeros(len(self.quotient.v_star), dtype=np.int64)
        arrived = (present @ (begins & reached).astype(np.int64)) > 0
        while frontier.any():
            taken += 1
            frontier = ((steps @ frontier.astype(np.int64)) > 0) & ~reached
            reached = reached | frontier
            new = ((present @ (begins & frontier).astype(np.int64)) > 0) & ~arrived
            result[new] = taken
            arrived |= new
        return result


def _checked(quotient: Quotient, role: Role) -> tuple[list[str], int, int]:
    """The predicates that a role names, and its places."""
    name, source, target = role.fields
    meant = meant_by(quotient.vocabulary, name)
    arity = meant[0].arity
    if arity < 2 or max(source, target) >= arity:
        raise InputError(f"{name} has {arity} arguments, so there is no relation {role}.")
    return [predicate.name for predicate in meant], source, target


_MEANINGS: dict[type[Node], Callable[[Any, Any], Any]] = {
    **FROM_PARTS,
    Top: lambda e, node: np.ones(len(e.quotient.layers[e._level(node)]), dtype=bool),
    Atom: QuotientEvaluator._atom,
    And: lambda e, node: _joined(e, node, np.logical_and),
    Or: lambda e, node: _joined(e, node, np.logical_or),
    Modal: QuotientEvaluator._modal,
    Count: QuotientEvaluator._count,
    Constant: lambda e, node: np.full(len(e.quotient.v_star), node.fields[0]),
    Distance: QuotientEvaluator._distance,
}


def _joined(evaluator: QuotientEvaluator, node: Any, join: Any) -> Booleans:
    if node.of_state:
        parts = [evaluator._values[part] for part in node.fields]
    else:
        parts = [evaluator._lifted(part, evaluator._level(node)) for part in node.fields]
    return join.reduce(parts)  # type: ignore[no-any-return]
