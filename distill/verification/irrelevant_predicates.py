"""Irrelevant predicates: neither V* nor a value function depends on their atoms outside the goal.

V* does not depend on an atom that occurs in no precondition and not in the goal. A value function does not
depend on it either if its formulas use the predicate only in conjunction with the goal predicate. This is a
syntactic test: it is sound, but not complete.
"""

from collections.abc import Sequence

from distill.logic import And, Atom, Node, Not, Number, Or, RelationAnd, RelationNot, RelationOr, Role
from distill.planning import InstanceFamilies, condition_predicates
from distill.structures import ACHIEVED, GOAL, MISSING

_BOOLEAN = (And, Or, Not, RelationAnd, RelationOr, RelationNot)


def find_irrelevant_predicates(families: InstanceFamilies, value: Number) -> list[str]:
    """The predicates of which only atoms in the goal matter.

    Examples
    --------
    >>> from distill.logic import parse
    >>> from distill.planning import problem_class
    >>> families = InstanceFamilies(problem_class("visitall").domain)
    >>> find_irrelevant_predicates(families, parse("dist(visited_G & ~visited, connected, at-robot)"))
    ['visited']
    >>> find_irrelevant_predicates(families, parse("#visited"))
    []
    """
    used = condition_predicates(families.schemas)
    names = [families.vocabulary.predicates[number].name for number in families.fluent]
    return [name for name in names if name not in used and goal_only(value, name)]


def goal_only(value: Node, name: str) -> bool:
    """Whether a formula uses a predicate only in conjunction with its goal predicate.

    Examples
    --------
    >>> from distill.logic import parse
    >>> [goal_only(parse(text), "p") for text in ("#(p & p_G)", "#(p_G & (q | ~p))", "#(p & <r>p_G)")]
    [True, True, False]
    >>> goal_only(parse("#<r_G & ~r>top"), "r"), goal_only(parse("#<r_G & r^-1>top"), "r")
    (True, False)
    """
    todo: list[tuple[Node, tuple[Node, ...]]] = [(value, ())]
    seen = set()
    while todo:
        entry = todo.pop()
        if entry in seen:
            continue
        seen.add(entry)
        node, beside = entry
        if isinstance(node, Atom | Role) and node.fields[0] == name:
            if not any(_is_goal_of(other, node) for other in beside):
                return False
            continue
        parts = [field for field in node.fields if isinstance(field, Node)]
        # A conjunct matters only where the others hold; a modal refers to other objects.
        inside = beside if isinstance(node, _BOOLEAN) else ()
        if isinstance(node, And | RelationAnd):
            inside = (*inside, *_goals(parts, name))
        todo += [(part, inside) for part in parts]
    return True


def _goals(parts: Sequence[Node], name: str) -> list[Node]:
    return [part for part in parts if isinstance(part, Atom | Role) and part.fields[0] in _goal_names(name)]


def _is_goal_of(other: Node, node: Node) -> bool:
    return type(other) is type(node) and other.fields[1:] == node.fields[1:]


def _goal_names(name: str) -> tuple[str, ...]:
    return name + GOAL, name + GOAL + ACHIEVED, name + GOAL + MISSING
