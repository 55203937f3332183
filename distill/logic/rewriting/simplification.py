"""Simplification by laws that hold in every structure.

Weights that are not whole numbers are added in floating point, so sums are equal up to rounding.
"""

import math
from collections.abc import Callable
from typing import Any

from distill.logic import syntax as fo
from distill.logic.rewriting import boolean_laws
from distill.logic.rewriting.entailment import ALL, NOTHING, TOP, constant, entails, reflexive
from distill.logic.syntax.nodes import MAX_THRESHOLD

_ITSELF = fo.Identity()


def simplify(formula: fo.Node) -> fo.Node:
    """An equivalent formula that is never larger. Simplification is idempotent.

    Examples
    --------
    >>> from distill.logic import parse
    >>> simplify(parse("(clear & <on>top > 2) | ~~(clear & <on>top > 1)"))
    clear & <on>top > 1
    >>> simplify(parse("<on>a | <on>(b & ~b) | <id>bot"))
    <on>a
    """
    done: dict[fo.Node, fo.Node] = {}
    uniform: set[fo.Node] = set()
    todo: list[tuple[fo.Node, fo.Node | None]] = [(formula, None)]
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


def _rebuilt(node: fo.Node, done: dict[fo.Node, fo.Node]) -> fo.Node:
    if all(done[part] is part for part in node.parts):
        return node
    return type(node)(*(done[field] if isinstance(field, fo.Node) else field for field in node.fields))


def _better(node: fo.Node, uniform: set[fo.Node]) -> fo.Node:
    if isinstance(node, fo.Modal):
        relation, inside, threshold = node.fields
        if threshold == 0 and inside in uniform and reflexive(relation):
            return inside  # type: ignore[no-any-return]
    return _LAWS[type(node)](node) if type(node) in _LAWS else node


def _is_uniform(node: fo.Node, uniform: set[fo.Node]) -> bool:
    """Whether it holds of all objects of a state or of none."""
    if isinstance(node, fo.Modal):
        return isinstance(node.fields[0], fo.Everything)
    return node is TOP or (
        isinstance(node, fo.And | fo.Or | fo.Not) and all(part in uniform for part in node.fields)
    )


def _closure(node: Any) -> fo.Node:
    inner, stays = node.fields
    if isinstance(inner, fo.Closure):
        return fo.Closure(inner.fields[0], stays or inner.fields[1])
    if inner in (ALL, _ITSELF):
        return inner  # type: ignore[no-any-return]
    if inner is NOTHING:
        return _ITSELF if stays else NOTHING
    if isinstance(inner, fo.RelationOr) and _ITSELF in inner.fields:
        return fo.Closure(fo.RelationOr(*(part for part in inner.fields if part is not _ITSELF)), True)
    return node  # type: ignore[no-any-return]


def _modal(node: Any) -> fo.Node:
    relation, inside, threshold = node.fields
    if relation is NOTHING or inside is fo.BOTTOM:
        return fo.BOTTOM
    if relation is _ITSELF:
        return fo.BOTTOM if threshold else inside
    if threshold and isinstance(relation, fo.RelationAnd) and _ITSELF in relation.fields:
        return fo.BOTTOM
    if isinstance(inside, fo.Modal):
        onward, there, least = inside.fields
        if relation is ALL and onward is ALL and least >= threshold:
            return inside
        if threshold == least == 0:
            way = _composed(relation, onward)
            return fo.Modal(way, there) if way else node
    return node  # type: ignore[no-any-return]


def _composed(first: Any, second: Any) -> fo.Closure | None:
    """One closure for the composition of two, if one of them is reflexive."""
    steps = [one.fields[0] if isinstance(one, fo.Closure) else one for one in (first, second)]
    stays = [isinstance(one, fo.Closure) and one.fields[1] for one in (first, second)]
    return fo.Closure(steps[0], all(stays)) if steps[0] is steps[1] and any(stays) else None


def _compare(node: Any) -> fo.Node:
    number, threshold = node.fields
    if isinstance(number, fo.Indicator):
        return constant(False, node) if threshold else number.fields[0]
    if isinstance(number, fo.Count) and isinstance(number.fields[0], fo.Modal):
        relation, inside, least = number.fields[0].fields
        if relation is ALL and least >= threshold:
            return fo.Compare(fo.Count(inside), least)
    terms = fo.weighted(number)
    bound = threshold - sum(weight * one.fields[0] for weight, one in terms if isinstance(one, fo.Constant))
    terms = [(weight, one) for weight, one in terms if not isinstance(one, fo.Constant)]
    if not terms:
        return constant(bound < 0, node)
    if not all(isinstance(weight, int) and _is_natural(one) for weight, one in terms):
        return node  # type: ignore[no-any-return]
    signs = {weight > 0 for weight, _ in terms}
    if signs == {bound < 0}:
        return constant(bound < 0, node)
    if not isinstance(bound, int) or not 0 <= bound <= MAX_THRESHOLD:
        return node  # type: ignore[no-any-return]
    step = math.gcd(*(int(weight) for weight, _ in terms))
    return fo.Compare(fo.Sum(*(fo.Scaled(int(weight) // step, one) for weight, one in terms)), bound // step)


def _is_natural(number: fo.Node) -> bool:
    """Whether its values are natural numbers."""
    factors = number.fields if isinstance(number, fo.Product) else (number,)
    return all(isinstance(one, fo.Count | fo.Distance | fo.Indicator) for one in factors)


def _indicator(node: Any) -> fo.Node:
    for value in (False, True):
        if node.fields[0] is constant(value, node.fields[0]):
            return fo.Constant(int(value))
    return node  # type: ignore[no-any-return]


def _product(node: Any) -> fo.Node:
    """Join indicators into one; [n > 0] · n is n."""
    conditions = [one.fields[0] for one in node.fields if isinstance(one, fo.Indicator)]
    numbers = [one for one in node.fields if not isinstance(one, fo.Indicator)]
    implied = {fo.Compare(one, 0) for one in numbers if _is_natural(one)}
    conditions = [part for one in conditions for part in (one.fields if isinstance(one, fo.And) else (one,))]
    conditions = [part for part in conditions if part not in implied]
    return fo.Product(*numbers, *([fo.Indicator(fo.And(*conditions))] if conditions else []))


def _distance(node: Any) -> fo.Node:
    first, relation, last = node.fields
    if relation in (NOTHING, _ITSELF) or entails(first, last) or entails(last, first):
        return fo.Constant(0)
    return node  # type: ignore[no-any-return]


def _count(node: Any) -> fo.Node:
    return fo.Constant(0) if node.fields[0] is fo.BOTTOM else node


_LAWS: dict[type[fo.Node], Callable[[Any], fo.Node]] = {
    **dict.fromkeys((fo.And, fo.Or, fo.RelationAnd, fo.RelationOr), boolean_laws.many),
    **dict.fromkeys((fo.Not, fo.RelationNot), boolean_laws.negation),
    fo.Closure: _closure,
    fo.Modal: _modal,
    fo.Compare: _compare,
    fo.Indicator: _indicator,
    fo.Product: _product,
    fo.Distance: _distance,
    fo.Count: _count,
}
