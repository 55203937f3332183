"""Shorter formulas that mean the same in every structure, found by laws that look at their form alone.

Weights that are no whole numbers are added as floating-point numbers, so sums are the same up to rounding.
"""

import math
from collections.abc import Callable
from typing import Any

from distill.logic import boolean_laws
from distill.logic.entailment import ALL, NOTHING, TOP, constant, entails, reflexive
from distill.logic.features import (
    Compare,
    Constant,
    Count,
    Distance,
    Indicator,
    Product,
    Scaled,
    Sum,
    weighted,
)
from distill.logic.formulas import BOTTOM, And, Modal, Not, Or
from distill.logic.nodes import Node
from distill.logic.relations import Closure, Everything, Identity, RelationAnd, RelationNot, RelationOr

_ITSELF = Identity()


def simplify(formula: Node) -> Node:
    """A formula with the same meaning in every structure, never larger; simplifying it again changes nothing.

    Examples
    --------
    >>> from distill.logic import parse
    >>> simplify(parse("(clear & <on>top > 2) | ~~(clear & <on>top > 1)"))
    clear & <on>top > 1
    >>> simplify(parse("<on>a | <on>(b & ~b) | <id>bot"))
    <on>a
    """
    done: dict[Node, Node] = {}
    uniform: set[Node] = set()
    todo: list[tuple[Node, Node | None]] = [(formula, None)]
    while todo:
        node, becomes = todo.pop()
        if becomes is not None:
            done[node] = done[becomes]
        elif node not in done:
            waiting = [part for part in node.parts if part not in done]
            if waiting:
                todo.append((node, None))
                todo += [(part, None) for part in waiting]
                continue
            better = _rebuilt(node, done)
            if better is node:
                better = _better(node, uniform)
            if better is node or better.size > node.size:
                done[node] = node
                if _is_uniform(node, uniform):
                    uniform.add(node)
            else:
                todo += [(node, better), (better, None)]
    return done[formula]


def _rebuilt(node: Node, done: dict[Node, Node]) -> Node:
    if all(done[part] is part for part in node.parts):
        return node
    return type(node)(*(done[field] if isinstance(field, Node) else field for field in node.fields))


def _better(node: Node, uniform: set[Node]) -> Node:
    if isinstance(node, Modal):
        relation, inside, threshold = node.fields
        if threshold == 0 and inside in uniform and reflexive(relation):
            return inside  # type: ignore[no-any-return]
    return _LAWS[type(node)](node) if type(node) in _LAWS else node


def _is_uniform(node: Node, uniform: set[Node]) -> bool:
    """Whether it holds of all objects of a state or of none."""
    if isinstance(node, Modal):
        return isinstance(node.fields[0], Everything)
    return node is TOP or (isinstance(node, And | Or | Not) and all(part in uniform for part in node.fields))


def _closure(node: Any) -> Node:
    inner, stays = node.fields
    if isinstance(inner, Closure):
        return Closure(inner.fields[0], stays or inner.fields[1])
    if inner in (ALL, _ITSELF):
        return inner  # type: ignore[no-any-return]
    if inner is NOTHING:
        return _ITSELF if stays else NOTHING
    if isinstance(inner, RelationOr) and _ITSELF in inner.fields:
        return Closure(RelationOr(*(part for part in inner.fields if part is not _ITSELF)), True)
    return node  # type: ignore[no-any-return]


def _modal(node: Any) -> Node:
    relation, inside, threshold = node.fields
    if relation is NOTHING or inside is BOTTOM:
        return BOTTOM
    if relation is _ITSELF:
        return BOTTOM if threshold else inside
    if threshold and isinstance(relation, RelationAnd) and _ITSELF in relation.fields:
        return BOTTOM
    if isinstance(inside, Modal):
        onward, there, least = inside.fields
        if relation is ALL and onward is ALL and least >= threshold:
            return inside
        if threshold == least == 0:
            way = _composed(relation, onward)
            return Modal(way, there) if way else node
    return node  # type: ignore[no-any-return]


def _composed(first: Any, second: Any) -> Closure | None:
    """One closure for two steps after each other, if one of them need not be taken."""
    steps = [one.fields[0] if isinstance(one, Closure) else one for one in (first, second)]
    stays = [isinstance(one, Closure) and one.fields[1] for one in (first, second)]
    return Closure(steps[0], all(stays)) if steps[0] is steps[1] and any(stays) else None


def _compare(node: Any) -> Node:
    number, threshold = node.fields
    if isinstance(number, Indicator):
        return constant(False, node) if threshold else number.fields[0]
    if isinstance(number, Count) and isinstance(number.fields[0], Modal):
        relation, inside, least = number.fields[0].fields
        if relation is ALL and least >= threshold:
            return Compare(Count(inside), least)
    terms = weighted(number)
    bound = threshold - sum(weight * one.fields[0] for weight, one in terms if isinstance(one, Constant))
    terms = [(weight, one) for weight, one in terms if not isinstance(one, Constant)]
    if not terms:
        return constant(bound < 0, node)
    if not all(isinstance(weight, int) and _is_natural(one) for weight, one in terms):
        return node  # type: ignore[no-any-return]
    signs = {weight > 0 for weight, _ in terms}
    if signs == {bound < 0}:
        return constant(bound < 0, node)
    if bound < 0 or not isinstance(bound, int):
        return node  # type: ignore[no-any-return]
    step = math.gcd(*(int(weight) for weight, _ in terms))
    return Compare(Sum(*(Scaled(int(weight) // step, one) for weight, one in terms)), bound // step)


def _is_natural(number: Node) -> bool:
    """Whether it is 0, 1, 2, … in every state."""
    factors = number.fields if isinstance(number, Product) else (number,)
    return all(isinstance(one, Count | Distance | Indicator) for one in factors)


def _indicator(node: Any) -> Node:
    for value in (False, True):
        if node.fields[0] is constant(value, node.fields[0]):
            return Constant(int(value))
    return node  # type: ignore[no-any-return]


def _product(node: Any) -> Node:
    """Conditions are joined to one; [n > 0] · n is n."""
    conditions = [one.fields[0] for one in node.fields if isinstance(one, Indicator)]
    numbers = [one for one in node.fields if not isinstance(one, Indicator)]
    said = {Compare(one, 0) for one in numbers if _is_natural(one)}
    conditions = [part for one in conditions for part in (one.fields if isinstance(one, And) else (one,))]
    conditions = [part for part in conditions if part not in said]
    return Product(*numbers, *([Indicator(And(*conditions))] if conditions else []))


def _distance(node: Any) -> Node:
    first, relation, last = node.fields
    if relation in (NOTHING, _ITSELF) or entails(first, last) or entails(last, first):
        return Constant(0)
    return node  # type: ignore[no-any-return]


def _count(node: Any) -> Node:
    return Constant(0) if node.fields[0] is BOTTOM else node


_LAWS: dict[type[Node], Callable[[Any], Node]] = {
    **dict.fromkeys((And, Or, RelationAnd, RelationOr), boolean_laws.many),
    **dict.fromkeys((Not, RelationNot), boolean_laws.negation),
    Closure: _closure,
    Modal: _modal,
    Compare: _compare,
    Indicator: _indicator,
    Product: _product,
    Distance: _distance,
    Count: _count,
}
