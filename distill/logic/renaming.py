"""The same formula with other names of predicates."""

from collections.abc import Mapping
from typing import Any, TypeVar

from distill.logic.formulas import Atom
from distill.logic.nodes import Node
from distill.logic.relations import Role

Formula = TypeVar("Formula", bound=Node)


def renamed(formula: Formula, names: Mapping[str, str], known: dict[Node, Any] | None = None) -> Formula:
    """Put other names for those of predicates.

    Parameters
    ----------
    names : the new name of each; what is missing keeps its name.
    known : results for other formulas, which share parts with this one; it is added to.

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
