"""Formulas in plain English."""

from collections.abc import Callable
from typing import Any

from distill.logic.features import (
    Compare,
    Constant,
    Count,
    Distance,
    Indicator,
    Number,
    Product,
    Scaled,
    Sum,
    weighted,
)
from distill.logic.formulas import BOTTOM, And, Atom, Modal, Not, Or, Top
from distill.logic.nodes import Node
from distill.logic.relations import (
    Closure,
    Everything,
    Identity,
    RelationAnd,
    RelationNot,
    RelationOr,
    Role,
)
from distill.logic.writing import check_size


def explain(formula: Node) -> str:
    """Say in words what a formula means.

    Examples
    --------
    >>> from distill.logic import parse
    >>> explain(parse("clear_G & ~clear"))
    'an object that is clear in the goal and is not clear'
    >>> explain(parse("2*#<on+>clear_G - [#holding > 0]"))  # doctest: +NORMALIZE_WHITESPACE
    '2 times the number of objects that are linked by one or more steps of on to an object
    that is clear in the goal, minus 1 if some object is holding'
    """
    check_size(formula)
    said: dict[tuple[Node, bool], str] = {}
    for node in formula.walk():
        for many in (False, True):
            said[node, many] = _WORDS[type(node)](_Speaker(said, many), node)
    if isinstance(formula, Number) or getattr(formula, "of_state", True):
        return said[formula, False]
    return f"an object that {said[formula, False]}"


_GOALS = {"_G,T": " as the goal asks", "_G,F": " in the goal only", "_G": " in the goal"}


class _Speaker:
    """Speaks of one object, or of many."""

    def __init__(self, said: dict[tuple[Node, bool], str], many: bool) -> None:
        self.said = said
        self.many = many
        self.be = "are" if many else "is"

    def of(self, node: Node) -> str:
        return self.said[node, self.many]

    def atom(self, node: Atom) -> str:
        return f"{self.be} {_spoken(node.fields[0])}"

    def negation(self, node: Not) -> str:
        inner = node.fields[0]
        if node is BOTTOM:
            return "do not exist" if self.many else "does not exist"
        if isinstance(inner, Atom):
            return f"{self.be} not {_spoken(inner.fields[0])}"
        if isinstance(inner, Compare) and inner.fields[1] == 0 and isinstance(inner.fields[0], Count):
            return f"no object {self.said[inner.fields[0].fields[0], False]}"
        if isinstance(inner, Modal) and not isinstance(inner.fields[0], Everything):
            return self.of(inner).replace(f"{self.be} ", f"{self.be} not ", 1)
        such = "it is not so" if node.of_state else f"{self.be} not such"
        return f"{such} that [{self.of(inner)}]"

    def many_of(self, node: And | Or, word: str) -> str:
        parts = [f"[{self.of(p)}]" if isinstance(p, And | Or) else self.of(p) for p in node.fields]
        return f" {word} ".join(parts)

    def modal(self, node: Modal) -> str:
        relation, operand, threshold = node.fields
        other = _objects(self.said, operand, threshold)
        if isinstance(relation, Everything):
            return f"{self.be} in a state with {other}"
        if isinstance(relation, Identity):
            return self.of(operand) if threshold == 0 else f"{self.be} more than one"
        return f"{self.be} linked by {self.said[relation, False]} to {other}"

    def compare(self, node: Compare) -> str:
        number, threshold = node.fields
        if not isinstance(number, Count):
            return f"{self.said[number, False]} is more than {threshold}"
        if threshold == 0:
            return f"some object {self.said[number.fields[0], False]}"
        return f"{_more_than(threshold)} {self.said[number.fields[0], threshold > 1]}"

    def count(self, node: Count) -> str:
        [operand] = node.fields
        if isinstance(operand, Top):
            return "the number of objects"
        return f"the number of objects that {self.said[operand, True]}"

    def distance(self, node: Distance) -> str:
        first, relation, last = (self.said[part, False] for part in node.fields)
        return f"the least number of steps by {relation} from an object that {first} to one that {last}"

    def total(self, node: Number) -> str:
        shown = ""
        for weight, feature in weighted(node):
            constant = isinstance(feature, Constant)
            own = weight * feature.fields[0] if constant else weight
            term = f"{abs(own)}" if constant else self.said[feature, False]
            if not constant and abs(own) != 1:
                term = f"{abs(own)} if {term[5:]}" if term.startswith("1 if ") else f"{abs(own)} times {term}"
            if shown:
                shown = f"{shown}, {'minus' if own < 0 else 'plus'} {term}"
            else:
                shown = f"minus {term}" if own < 0 else term
        return shown


def _objects(said: dict[tuple[Node, bool], str], operand: Node, threshold: int) -> str:
    if threshold == 0:
        return "an object" if isinstance(operand, Top) else f"an object that {said[operand, False]}"
    many = _more_than(threshold)
    return many if isinstance(operand, Top) else f"{many} that {said[operand, threshold > 1]}"


def _more_than(threshold: int) -> str:
    return f"more than {threshold} object{'s' if threshold > 1 else ''}"


def _spoken(name: str) -> str:
    for ending, meaning in _GOALS.items():
        if name.endswith(ending):
            return name.removesuffix(ending) + meaning
    return name


def _role(node: Role) -> str:
    name, source, target = node.fields
    if {source, target} == {0, 1}:
        return _spoken(name) + (" backwards" if source else "")
    return f"{_spoken(name)} (from argument {source + 1} to {target + 1})"


_WORDS: dict[type[Node], Callable[[_Speaker, Any], str]] = {
    Identity: lambda s, node: "being the same",
    Everything: lambda s, node: "being in one state",
    Role: lambda s, node: _role(node),
    RelationNot: lambda s, node: f"not {s.of(node.fields[0])}",
    RelationAnd: lambda s, node: "[" + " and ".join(s.of(part) for part in node.fields) + "]",
    RelationOr: lambda s, node: "[" + " or ".join(s.of(part) for part in node.fields) + "]",
    Closure: lambda s, n: f"{'any number of' if n.fields[1] else 'one or more'} steps of {s.of(n.fields[0])}",
    Top: lambda s, node: "exist" if s.many else "exists",
    Atom: _Speaker.atom,
    Not: _Speaker.negation,
    And: lambda s, node: s.many_of(node, "and"),
    Or: lambda s, node: s.many_of(node, "or"),
    Modal: _Speaker.modal,
    Compare: _Speaker.compare,
    Count: _Speaker.count,
    Indicator: lambda s, node: f"1 if {s.said[node.fields[0], False]}",
    Product: lambda s, node: " times ".join(f"({s.said[part, False]})" for part in node.fields),
    Constant: _Speaker.total,
    Scaled: _Speaker.total,
    Sum: _Speaker.total,
    Distance: _Speaker.distance,
}
