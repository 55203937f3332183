"""Renaming of predicates in formulas."""

from collections.abc import Mapping
from typing import Any, TypeVar

from distill.logic.syntax.formulas import Atom
from distill.logic.syntax.nodes import Node
from distill.logic.syntax.relations import Role

Formula = TypeVar("Formula", bound=Node)


def renamed(formula: Formula, names: Mapping[str, str], known: dict[Node, Any] | None = None) -> Formula:
    """Rename the predicates of a formula.

    Parameters
    ----------
    names : the new name of each predicate; others keep their names.
    known : results for nodes of earlier formulas; the call adds its own.

    Examples
    --------
    >>> from distill.logic import parse
    >>> renamed(parse("<on+>clear_G & ~clear"), {"on": "under", "clear": "free"})
    ~free & <under+>clear_G
    """
    made: dict[Node, Any] = {} if known is None else known
    for node in formula.walk():
        if node not in made:
            fields = [made[field] if isinstance(field, Node) else field for field in node.fields]
            if isinstance(node, Atom | Role):
                fields[0] = names.get(fields[0], fields[0])
            made[node] = type(node)(*fields)
    return made[formula]  # type: ignore[no-any-return]
