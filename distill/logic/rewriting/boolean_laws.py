"""Laws of ∧, ∨ and ¬, for formulas and relations."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations
from typing import Any, NamedTuple

from distill.logic.rewriting.entailment import ANDS, NOTS, ORS, complement, constant, entails
from distill.logic.syntax.features import Compare, Count
from distill.logic.syntax.formulas import And, Modal, Or
from distill.logic.syntax.nodes import Node
from distill.logic.syntax.relations import Closure, Identity, RelationAnd, RelationOr

_PAIRS = 40_000  # limit on comparisons between the operands of one ∧ or ∨


class _Side(NamedTuple):
    """∧ or ∨; the laws of one are dual to those of the other."""

    this: Any
    other: Any
    is_and: bool

    def stronger(self, one: Node, other: Node) -> bool:
        """Whether the operand `other` is redundant beside `one`."""
        return entails(one, other) if self.is_and else entails(other, one)

    def excludes(self, one: Node, other: Node) -> bool:
        """Whether the negation of the operand `other` is redundant beside `one`."""
        if self.is_and:
            return entails(one, other, weak_holds=False)
        return entails(other, one, strong_holds=False)

    def members(self, node: Node) -> list[Node]:
        """The operands of an operand: those of ∨ inside ∧, also in the form ¬(… ∧ …)."""
        if isinstance(node, self.other):
            return list(node.fields)
        if isinstance(node, NOTS) and isinstance(node.fields[0], self.this):
            return [complement(part) for part in node.fields[0].fields]
        return [node]

    def flat(self, operands: Iterable[Node]) -> list[Node]:
        """The operands in canonical order, with ¬(… ∨ …) inside ∧ flattened."""
        mirror = _Side(self.other, self.this, not self.is_and)
        found = {part: None for one in operands for part in mirror.members(one)}
        return sorted(found)

    def joined(self, operands: Iterable[Node]) -> Node:
        """The operands joined, with negations factored out: ¬a ∧ ¬b is ¬(a ∨ b)."""
        plain = [one for one in operands if not isinstance(one, NOTS)]
        denied: list[Node] = [one for one in operands if isinstance(one, NOTS)]
        if len(denied) > 1:
            denied = [complement(self.other(*(one.fields[0] for one in denied)))]
        return self.this(*plain, *denied)  # type: ignore[no-any-return]


_SIDES: dict[type[Node], _Side] = {
    And: _Side(And, Or, True),
    Or: _Side(Or, And, False),
    RelationAnd: _Side(RelationAnd, RelationOr, True),
    RelationOr: _Side(RelationOr, RelationAnd, False),
}


def many(node: Any) -> Node:
    """Simplify an ∧ or ∨ of simplified operands."""
    side = _SIDES[type(node)]
    neutral, absorbing = constant(side.is_and, node), constant(not side.is_and, node)
    operands = [one for one in side.flat(node.fields) if one is not neutral]
    present = set(operands)
    if absorbing in present or any(one.fields[0] in present for one in operands if isinstance(one, NOTS)):
        return absorbing
    if len(operands) ** 2 <= _PAIRS:
        if any(side.excludes(one, other) for one, other in combinations(operands, 2)):
            return absorbing
        operands = _needed(side, operands)
        operands = _in_context(side, operands)
        if absorbing in operands:
            return absorbing
    if not side.is_and:
        operands = _reached_together(operands)
    operands = _factored(side, operands)
    better = side.joined(operands) if operands else neutral
    return better if better.size < node.size else node


def _needed(side: _Side, operands: list[Node]) -> list[Node]:
    """Drop operands that follow from another one; of equivalent ones the first is kept."""
    kept = list(operands)
    for one in reversed(operands):
        if any(other is not one and side.stronger(other, one) for other in kept):
            kept.remove(one)
    return kept


def _in_context(side: _Side, operands: list[Node]) -> list[Node]:
    """Drop inside an operand what the other operands imply.

    So a ∧ (¬a ∨ b) is a ∧ b, and a ∧ (b ∨ (a ∧ c)) is a ∧ (b ∨ c).
    """
    members = [side.members(one) for one in operands]
    if sum(map(len, members)) * len(operands) > _PAIRS:
        return operands
    mirror = _SIDES[side.other]
    current = list(operands)
    for place, inside in enumerate(members):
        if len(inside) < 2:
            continue
        others = [one for number, one in enumerate(current) if number != place]
        kept = [part for part in inside if not any(side.excludes(one, part) for one in others)]
        if not kept:
            return [constant(not side.is_and, operands[0])]
        shorter = [_remaining(side, part, others) for part in kept]
        if shorter != inside:
            current[place] = mirror.joined(shorter)
    return current


def _remaining(side: _Side, member: Node, others: list[Node]) -> Node:
    """The part of an operand's operand that the other operands do not imply."""
    parts = side.flat([member])
    if len(parts) < 2 or len(parts) * len(others) > _PAIRS // 100:
        return member
    left = [part for part in parts if not any(side.stronger(one, part) for one in others)]
    if len(left) == len(parts):
        return member
    return side.joined(left) if left else constant(side.is_and, member)


def _reached_together(operands: list[Node]) -> list[Node]:
    """Merge <r>a ∨ <r>b into <r>(a ∨ b), likewise comparisons with 0; φ ∨ <r+>φ is <r*>φ, id ∨ r+ is r*."""
    groups: dict[Any, list[Any]] = defaultdict(list)
    for one in operands:
        if isinstance(one, Modal) and one.fields[2] == 0:
            groups[one.fields[0]].append(one.fields[1])
        elif isinstance(one, Compare) and one.fields[1] == 0 and isinstance(one.fields[0], Count):
            groups[Count].append(one.fields[0].fields[0])
        else:
            groups[one].append(one)
    found: dict[Any, None] = {}
    for key, inside in groups.items():
        if key is Count:
            one = Compare(Count(Or(*inside)), 0)
        elif inside == [key]:
            one = key
        else:
            one = Modal(key, Or(*inside))
        found[one] = None
    return sorted(_reflexive(found))


def _reflexive(operands: dict[Any, None]) -> dict[Any, None]:
    found = dict(operands)
    for one in operands:
        is_modal = isinstance(one, Modal) and one.fields[2] == 0
        relation: Any = one.fields[0] if is_modal else one
        here: Any = one.fields[1] if is_modal else Identity()
        if isinstance(relation, Closure) and not relation.fields[1]:
            parts = here.fields if isinstance(here, Or) else (here,)
            if all(part in found for part in parts):
                for part in (*parts, one):
                    del found[part]
                star = Closure(relation.fields[0], True)
                found[Modal(star, here) if is_modal else star] = None
    return found


def _factored(side: _Side, operands: list[Node]) -> list[Node]:
    """Factor (a ∧ b) ∨ (a ∧ c) into a ∧ (b ∨ c)."""
    mirror = _SIDES[side.other]
    factors = {one: mirror.flat([one]) for one in operands}
    having: dict[Node, list[Node]] = defaultdict(list)
    for one, inside in factors.items():
        for factor in inside:
            having[factor].append(one)
    shared = [factor for factor, group in having.items() if len(group) > 1]
    shared.sort(key=lambda factor: ((1 - len(having[factor])) * (factor.size + 1), factor.order))
    left = dict.fromkeys(operands)
    for factor in shared:
        group = [one for one in having[factor] if one in left]
        if len(group) < 2:
            continue
        common = set(factors[group[0]]).intersection(*(factors[one] for one in group[1:]))
        rests = [[part for part in factors[one] if part not in common] for one in group]
        made: Node = mirror.joined(sorted(common))
        if all(rests):
            made = side.other(made, side.joined(sorted({mirror.joined(rest) for rest in rests})))
        if made.size < sum(one.size for one in group) + len(group) - 1:
            for one in group:
                del left[one]
            left[made] = None
    return sorted(left)


def negation(node: Any) -> Node:
    """Simplify the negation of a simplified formula."""
    inner = node.fields[0]
    turned: Node = complement(inner)
    if turned is not node:
        return turned
    if isinstance(inner, (*ANDS, *ORS)):
        denied = [one for one in inner.fields if isinstance(one, NOTS)]
        rest = [one for one in inner.fields if not isinstance(one, NOTS)]
        if denied:
            back = [complement(type(inner)(*rest))] if rest else []
            turned = _SIDES[type(inner)].other(*(one.fields[0] for one in denied), *back)
    return turned
