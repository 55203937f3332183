"""Formulas as JSON: a list of nodes, each naming its parts by number, so that shared parts stay shared."""

from typing import Any

from distill.errors import InputError
from distill.logic import features, formulas, relations
from distill.logic.nodes import Node

_REFERENCE = "@"
_KINDS: dict[str, type[Node]] = {
    node.kind: node
    for module in (relations, formulas, features)
    for node in vars(module).values()
    if isinstance(node, type) and issubclass(node, Node) and node.kind
}


class NodeTable:
    """Many formulas in one list of nodes, what they share only once.

    Attributes
    ----------
    rows : plain lists, as `to_json` makes them.

    Examples
    --------
    >>> from distill.logic import parse
    >>> table = NodeTable()
    >>> [table.add(parse(text)) for text in ("~clear", "clear")], table.rows
    ([1, 0], [['atom', 'clear'], ['not', {'@': 0}]])
    >>> read_nodes(table.rows)
    [clear, ~clear]
    """

    def __init__(self) -> None:
        self.rows: list[list[Any]] = []
        self._number: dict[Node, int] = {}

    def add(self, formula: Node) -> int:
        """Make sure that a formula is in the list, and tell its number."""
        number = self._number
        for node in formula.walk() if formula not in number else ():
            if node not in number:
                number[node] = len(self.rows)
                fields = [{_REFERENCE: number[f]} if isinstance(f, Node) else f for f in node.fields]
                self.rows.append([node.kind, *fields])
        return number[formula]


def read_nodes(rows: list[list[Any]]) -> list[Node]:
    """All nodes of a list that a `NodeTable` made."""
    made: list[Node] = []
    try:
        for kind, *fields in rows:
            made.append(_KINDS[kind](*(made[f[_REFERENCE]] if isinstance(f, dict) else f for f in fields)))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"This JSON holds no formula ({error!r}); write it with to_json.") from error
    return made


def to_json(formula: Node) -> list[list[Any]]:
    """Plain lists: `[kind, field, …]`; a field `{"@": n}` is the n-th node; the last node is the formula.

    Examples
    --------
    >>> from distill.logic import parse
    >>> to_json(parse("~clear"))
    [['atom', 'clear'], ['not', {'@': 0}]]
    """
    table = NodeTable()
    table.add(formula)
    return table.rows


def from_json(rows: list[list[Any]]) -> Node:
    """Undo `to_json`."""
    nodes = read_nodes(rows)
    if not nodes:
        raise InputError("This JSON holds no formula; write it with to_json.")
    return nodes[-1]
