"""The bounds with which closures, distances and products have an equal form in two variables."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np

from distill.common import InputError, shown
from distill.logic import syntax as fo
from distill.logic.rewriting.simplification import simplify
from distill.logic.semantics.evaluation import Evaluator
from distill.structures import Structures


def has_closure(relation: fo.Node) -> bool:
    """Whether a relation contains a closure."""
    return any(isinstance(part, fo.Closure) for part in relation.walk())


def alternatives(
    relation: fo.Relation, whole: fo.Node
) -> tuple[fo.Relation | None, list[tuple[fo.Relation, bool]]]:
    """A union as its part without closures, and its closures: their steps, and whether no step counts too.

    Parameters
    ----------
    whole : the formula that is named if there is no such union.

    Examples
    --------
    >>> from distill.logic import parse
    >>> formula = parse("<on | (on_G | at*)+>clear")
    >>> alternatives(formula.fields[0], formula)
    (on, [(at | on_G, True)])
    """
    relation = simplify(relation)  # type: ignore[assignment]
    parts = relation.fields if isinstance(relation, fo.RelationOr) else (relation,)
    plain = [part for part in parts if not has_closure(part)]
    closures = [_steps(part, whole) for part in parts if has_closure(part)]
    return fo.RelationOr(*plain) if plain else None, closures


def bounds_of(
    formula: fo.Node, batches: Iterable[Structures], *, counting: bool = False
) -> dict[fo.Node, int]:
    """The least bounds with which the bounded form equals a formula in some states.

    For a closure this is the length of the longest shortest path to an object that it asks for, and for a
    distance or a count that is a factor it is the largest value.

    Parameters
    ----------
    counting : see `unroll`.

    Examples
    --------
    >>> from distill.logic import parse
    >>> from distill.structures import Predicate, Vocabulary
    >>> words = Vocabulary([Predicate("on", 2), Predicate("clear", 1)])
    >>> tower = Structures(words, 1, [0, 0, 0], {"on": [[0, 1], [1, 2]], "clear": [[2]]})
    >>> bounds_of(parse("#<on+>clear"), [tower])
    {<on+>clear: 2}
    """
    found = dict.fromkeys(_bounded_parts(formula, counting), 1)
    for batch in batches if found else ():
        evaluator = Evaluator(batch)
        for part in found:
            found[part] = max(found[part], _needed(part, evaluator))
    return found


def condition(part: fo.Node, most: int) -> str:
    """When the bounded form of a part equals it."""
    if isinstance(part, fo.Modal):
        relation, end, _ = part.fields
        steps = f"{most} step{'s' * (most > 1)}"
        return f"{brief(relation)} leads to {brief(end)} within {steps}, wherever it leads there"
    return f"{brief(part)} is at most {most}"


def brief(part: fo.Node) -> str:
    """A part as typed, for a message."""
    return shown(str(part))


def path_of(distance: fo.Distance) -> fo.Modal | None:
    """What a distance along a closure asks for, as one of its steps leads as far as several; else None."""
    _, relation, last = distance.fields
    return fo.Modal(relation, last) if has_closure(relation) else None


def _steps(relation: fo.Relation, whole: fo.Node) -> tuple[fo.Relation, bool]:
    """The steps of a closure; a closure inside a closure is the same as its own steps."""
    steps: list[fo.Relation] = []
    reflexive = False
    todo = [relation]
    while todo:
        part = todo.pop()
        if isinstance(part, fo.Closure):
            reflexive |= part.fields[1]
            todo.append(part.fields[0])
        elif isinstance(part, fo.RelationOr):
            todo += part.fields
        elif has_closure(part):
            raise InputError(
                f"{brief(whole)} has no bounded form with two variables: in {brief(part)} the two ends of "
                "a path are compared in another way too."
            )
        else:
            steps.append(part)
    return fo.RelationOr(*steps), reflexive


def _bounded_parts(formula: fo.Node, counting: bool) -> list[fo.Node]:
    """The parts that need a bound, as far as they have bounded forms."""
    found: dict[fo.Node, None] = {}
    for node in formula.walk():
        if isinstance(node, fo.Modal) and has_closure(node.fields[0]):
            with suppress(InputError):
                alternatives(node.fields[0], node)
                found[node] = None
        elif isinstance(node, fo.Distance):
            with suppress(InputError):
                path = path_of(node)
                if path:
                    alternatives(path.fields[0], node)
                found[path or node] = None
        elif counting and (
            isinstance(node, fo.Product)
            or (isinstance(node, fo.Compare) and not isinstance(node.fields[0], fo.Count))
        ):
            found.update(dict.fromkeys(_counts(node)))
    return list(found)


def _counts(number: fo.Node) -> list[fo.Node]:
    """The counts that a number is made of."""
    found: dict[fo.Node, None] = {}
    todo = [number]
    while todo:
        node = todo.pop()
        if isinstance(node, fo.Count):
            found[node] = None
        else:
            todo += [part for part in node.parts if isinstance(part, fo.Number)]
    return list(found)


def _needed(part: fo.Node, evaluator: Evaluator) -> int:
    if not isinstance(part, fo.Modal):
        return int(evaluator.number(part).max(initial=0))  # type: ignore[arg-type]
    relation, end, _ = part.fields
    inside = evaluator.holds(end)
    _, closures = alternatives(relation, part)
    return max((_longest(evaluator.counts(one), inside, reflexive) for one, reflexive in closures), default=0)


def _longest(steps: Any, inside: Any, reflexive: bool) -> int:
    """The length of the longest shortest path into a set; without steps only if `reflexive`."""
    found = inside if reflexive else np.zeros_like(inside)
    frontier, length = inside, 0
    while True:
        frontier = ((steps @ frontier.astype(np.int64)) > 0) & ~found
        if not frontier.any():
            return length
        length += 1
        found = found | frontier
