"""Atoms that can be set aside: those that neither V* nor a value function can depend on.

An atom that no action looks at and the goal does not name changes nothing for V*. A value function does not
see it either if each of its formulas asks for the predicate only together with the predicate's goal: then
only atoms that the goal names count. This is a look at the formula alone, so it can miss such functions but
never takes another for one.
"""

from collections.abc import Sequence

from distill.logic import And, Atom, Number, Or, RelationAnd, RelationNot, RelationOr, Role
from distill.logic.formulas import Not
from distill.logic.nodes import Node
from distill.planning.scenes import Scenes
from distill.planning.schemas import asked_for
from distill.structures.vocabulary import ACHIEVED, GOAL, MISSING

_BOOLEAN = (And, Or, Not, RelationAnd, RelationOr, RelationNot)


def predicates_set_aside(scenes: Scenes, value: Number) -> list[str]:
    """The predicates of which only those atoms matter that the goal names.

    Examples
    --------
    >>> from distill.logic import parse
    >>> from distill.planning import problem_class
    >>> scenes = Scenes(problem_class("visitall").domain)
    >>> predicates_set_aside(scenes, parse("dist(visited_G & ~visited, connected, at-robot)"))
    ['visited']
    >>> predicates_set_aside(scenes, parse("#visited"))
    []
    """
    looked_at = asked_for(scenes.schemas)
    unseen = [scenes.vocabulary.predicates[number].name for number in scenes.fluent]
    return [name for name in unseen if name not in looked_at and goal_only(value, name)]


def goal_only(value: Node, name: str) -> bool:
    """Whether a formula asks for a predicate only where its goal is asked for too.

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
        # A conjunct is only asked for where the others hold; a modal looks at other objects.
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
