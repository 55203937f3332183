"""Formulas as JSON: a list of nodes that refer to their parts by number, so shared parts are stored once."""

from typing import Any

from distill.common import InputError, shown
from distill.logic.syntax import features, formulas, relations
from distill.logic.syntax.nodes import Node, PartCount

_REFERENCE = "@"
_KINDS: dict[str, type[Node]] = {
    node.kind: node
    for module in (relations, formulas, features)
    for node in vars(module).values()
    if isinstance(node, type) and issubclass(node, Node) and node.kind
}


class NodeTable:
    """Many formulas in one list of nodes; shared parts are stored once.

    Attributes
    ----------
    rows : plain lists, as in `to_json`.

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
        """Add a formula if it is new, and return its number."""
        number = self._number
        for node in formula.walk() if formula not in number else ():
            if node not in number:
                number[node] = len(self.rows)
                fields = [{_REFERENCE: number[f]} if isinstance(f, Node) else f for f in node.fields]
                self.rows.append([node.kind, *fields])
        return number[formula]


def read_nodes(rows: list[list[Any]]) -> list[Node]:
    """The nodes of the rows of a `NodeTable`; their number and nesting are bounded."""
    made: list[Node] = []
    counted = PartCount()
    try:
        for kind, *fields in rows:
            node = _KINDS[kind](*(made[_place(f)] if isinstance(f, dict) else f for f in fields))
            counted.add(node)
            made.append(node)
    except InputError as error:
        raise InputError(f"Node {len(made)} of the JSON: {error}") from error
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        reason = shown(repr(error))
        raise InputError(f"This JSON holds no formula ({reason}); write it with to_json.") from error
    return made


def _place(reference: dict[str, Any]) -> int:
    [(sign, place)] = reference.items()
    if sign != _REFERENCE or type(place) is not int or place < 0:
        raise ValueError(f"{reference} is no reference")
    return place


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
