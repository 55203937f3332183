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


def to_json(formula: Node) -> list[list[Any]]:
    """Plain lists: `[kind, field, …]`; a field `{"@": n}` is the n-th node; the last node is the formula.

    Examples
    --------
    >>> from distill.logic import parse
    >>> to_json(parse("~clear"))
    [['atom', 'clear'], ['not', {'@': 0}]]
    """
    number: dict[Node, int] = {}
    rows: list[list[Any]] = []
    for node in formula.walk():
        number[node] = len(rows)
        fields = [{_REFERENCE: number[f]} if isinstance(f, Node) else f for f in node.fields]
        rows.append([node.kind, *fields])
    return rows


def from_json(rows: list[list[Any]]) -> Node:
    """Undo `to_json`."""
    made: list[Node] = []
    try:
        for kind, *fields in rows:
            made.append(_KINDS[kind](*(made[f[_REFERENCE]] if isinstance(f, dict) else f for f in fields)))
        return made[-1]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"This JSON holds no formula ({error!r}); write it with to_json.") from error
