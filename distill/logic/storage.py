"""Formulas as JSON: a list of nodes, each naming its parts by number, so that shared parts stay shared."""

from collections.abc import Iterable
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
    return all_to_json([formula])[0]


def from_json(rows: list[list[Any]]) -> Node:
    """Undo `to_json`."""
    return all_from_json(rows, [len(rows) - 1])[0]


def all_to_json(formulas: Iterable[Node]) -> tuple[list[list[Any]], list[int]]:
    """Many formulas in one list of nodes, what they share only once; and the number of each one's node."""
    number: dict[Node, int] = {}
    rows: list[list[Any]] = []
    roots = []
    for formula in formulas:
        for node in formula.walk() if formula not in number else ():
            if node not in number:
                number[node] = len(rows)
                fields = [{_REFERENCE: number[f]} if isinstance(f, Node) else f for f in node.fields]
                rows.append([node.kind, *fields])
        roots.append(number[formula])
    return rows, roots


def all_from_json(rows: list[list[Any]], roots: Iterable[int]) -> list[Node]:
    """Undo `all_to_json`."""
    made: list[Node] = []
    try:
        for kind, *fields in rows:
            made.append(_KINDS[kind](*(made[f[_REFERENCE]] if isinstance(f, dict) else f for f in fields)))
        return [made[root] for root in roots]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"This JSON holds no formula ({error!r}); write it with to_json.") from error
