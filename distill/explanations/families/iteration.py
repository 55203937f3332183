"""Families by form: each formula is the previous one inside the same context, F_k+1 = C[F_k]."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from distill.explanations.families.family import (
    LEAST,
    Term,
    TermFamily,
    WeightLine,
    longest_line,
    nearest_whole,
    values_of,
)
from distill.logic import Closure, Count, Modal, Node, Number, Or, Scaled, Sum, Truth, simplify, write
from distill.structures import Structures

_LARGEST = 3_000  # largest size of a formula whose form is compared
_SIMPLIFIED = 300  # largest size of a formula that is simplified for a comparison
_PLACES = 6  # largest number of occurrences of a part that may be the hole of a context
_FURTHEST = 64  # largest number of members of an extended sum
_HOLE = "F_k"


@dataclass(frozen=True)
class Context:
    """A formula with a hole at one occurrence, or at all occurrences, of a part.

    Attributes
    ----------
    whole, part : the formula, and the part that is replaced.
    path : the operands that lead to the occurrence; None for all occurrences.
    """

    whole: Node
    part: Node
    path: tuple[int, ...] | None = None

    def around(self, other: Node) -> Node:
        """The formula with another part in the hole."""
        if self.path is None:
            made: dict[Node, Node] = {self.part: other}
            for node in self.whole.walk():
                if node not in made:
                    made[node] = _with(node, [made[part] for part in node.parts])
            return made[self.whole]
        nodes = [self.whole]
        for number in self.path:
            nodes.append(nodes[-1].parts[number])
        found = other
        for node, number in zip(reversed(nodes[:-1]), reversed(self.path), strict=True):
            found = _with(node, [found if place == number else part for place, part in enumerate(node.parts)])
        return found


def _with(node: Node, parts: list[Node]) -> Node:
    """The node with other parts."""
    left = iter(parts)
    fields: list[Any] = [next(left) if isinstance(field, Node) else field for field in node.fields]
    made: Node = type(node)(*fields)
    return made


def _contexts(whole: Node, part: Node) -> Iterator[Context]:
    """The formula with a hole at each occurrence of a part, and with holes at all of them."""
    todo: list[tuple[Node, tuple[int, ...]]] = [(whole, ())]
    holds = {node for node in whole.walk() if node is part or any(one is part for one in node.walk())}
    places: list[tuple[int, ...]] = []
    while todo and len(places) < _PLACES:
        node, path = todo.pop()
        if node is part:
            places.append(path)
        elif node in holds:
            todo += [(one, (*path, number)) for number, one in enumerate(node.parts)]
    yield from (Context(whole, part, path) for path in places)
    if len(places) > 1:
        yield Context(whole, part)


def _differences(first: Node, second: Node) -> list[tuple[Node, Node, tuple[int, ...]]]:
    """Pairs of parts that are the only difference of two formulas, outermost first, with the path to them."""
    path: tuple[int, ...] = ()
    found = [(first, second, path)]
    while type(first) is type(second):
        own, other = first.parts, second.parts
        if [f for f in first.fields if not isinstance(f, Node)] != [
            f for f in second.fields if not isinstance(f, Node)
        ]:
            break
        if type(first).variadic:
            mine = [part for part in own if part not in other]
            theirs = [part for part in other if part not in own]
        else:
            differing = [pair for pair in zip(own, other, strict=True) if pair[0] is not pair[1]]
            mine, theirs = [pair[0] for pair in differing], [pair[1] for pair in differing]
        if len(mine) != 1 or len(theirs) != 1:
            break
        path = (*path, own.index(mine[0]))
        first, second = mine[0], theirs[0]
        found.append((first, second, path))
    return found


def find_iterated(terms: Sequence[Term], states: Structures) -> list[TermFamily]:
    """Families of at least three terms whose formulas iterate one context, with weights on a line.

    Parameters
    ----------
    terms : weights and features.
    states : sums are extended up to the first member that is 0 in all of them.
    """
    known: dict[Node, Term] = {}
    for weight, feature in terms:
        if feature.size <= _LARGEST:
            known.setdefault(simplify(feature), (weight, feature))
    ordered = sorted(known)
    found: dict[frozenset[Node], TermFamily] = {}
    for number, small in enumerate(ordered):
        for large in ordered[number + 1 :]:
            if any({small, large} <= members for members in found):
                continue
            for outer, step, start in _iterations(small, large):
                if not _goes_on(outer, step, start, known, (small, large)):
                    continue
                chain = _chain(outer, step, start, known)
                family = _family(outer, step, chain, known, states)
                if family is not None:
                    found.setdefault(frozenset(_member(outer, formula) for _, formula in chain), family)
                    break
    return list(found.values())


def _iterations(small: Node, large: Node) -> Iterator[tuple[Context, Context, Node]]:
    """All contexts that turn one formula into another, largest part first."""
    for part, grown, path in _differences(small, large):
        if _is_about_objects(part) and part is not grown and part in set(grown.walk()):
            outer = Context(small, part, path)
            yield from ((outer, step, part) for step in _contexts(grown, part))


def _goes_on(
    outer: Context, step: Context, start: Node, known: dict[Node, Term], before: tuple[Node, Node]
) -> bool:
    """Whether there is a third member; forms are compared first, as simplification is slow."""
    third = outer.around(step.around(step.around(start)))
    if third not in known and third.size <= _SIMPLIFIED:
        third = simplify(third)
    return third in known and third not in before


def _is_about_objects(node: Node) -> bool:
    return isinstance(node, Truth) and not node.of_state


def _member(outer: Context, formula: Node) -> Node:
    return simplify(outer.around(formula))


def _chain(outer: Context, step: Context, start: Node, known: dict[Node, Term]) -> list[tuple[int, Node]]:
    """The consecutive formulas F_k whose members are terms, with their k."""
    before = [start]
    while (inside := _inside(step, before[-1])) is not None:
        before.append(inside)
    first = len(before) - 1
    earlier = itertools.takewhile(lambda formula: _member(outer, formula) in known, before)
    formulas = list(reversed(list(earlier)))
    first -= len(formulas) - 1
    while True:
        further = simplify(step.around(formulas[-1]))
        # Iteration may be cyclic.
        if further in formulas or _member(outer, further) not in known:
            return list(enumerate(formulas, first))
        formulas.append(further)


def _inside(step: Context, formula: Node) -> Node | None:
    """The part of a formula inside the context, if the formula has this form."""
    for part in formula.walk():
        if part is not formula and _is_about_objects(part):
            again = step.around(part)
            if again is formula or (again.size <= _SIMPLIFIED and simplify(again) is formula):
                return part
    return None


def _family(
    outer: Context, step: Context, chain: list[tuple[int, Node]], known: dict[Node, Term], states: Structures
) -> TermFamily | None:
    if len(chain) < LEAST:
        return None
    weights = [known[_member(outer, formula)][0] for _, formula in chain]
    line = longest_line(weights, chain[0][0])
    if line is None:
        return None
    chosen = [formula for k, formula in chain if line.first <= k <= line.last]
    terms = tuple(known[_member(outer, formula)] for formula in chosen)
    before = _inside(step, chosen[0])
    notation = _notation(outer, step, line, chosen[0])
    closure = _closure(outer, step, line, before if before is not None else chosen[0], before is not None)
    if closure is not None:
        beyond: Number = Count(Modal(Closure(step.whole.fields[0]), _truth(chosen[-1])))
        once = Scaled(line.offset, Count(Or(*map(_truth, chosen))))
        return TermFamily("iterated", terms, line, closure, True, beyond, notation, once)
    return _carried_on(outer, step, line, terms, chosen[-1], notation, states)


def _closure(outer: Context, step: Context, line: WeightLine, base: Node, follows: bool) -> Number | None:
    """Σ_k w·#(⟨R⟩^k φ) is w·#⟨R+⟩φ if no object is counted twice."""
    counts = isinstance(outer.whole, Count) and outer.path == (0,)
    is_step = isinstance(step.whole, Modal) and step.whole.fields[1:] == (step.part, 0)
    if not counts or not is_step or line.slope != 0:
        return None
    return Scaled(line.offset, Count(Modal(Closure(step.whole.fields[0], not follows), _truth(base))))


def _carried_on(
    outer: Context,
    step: Context,
    line: WeightLine,
    terms: tuple[Term, ...],
    last: Node,
    notation: str,
    states: Structures,
) -> TermFamily | None:
    """The same sum, extended to the first member that is 0 in all states; None if there is none."""
    further: list[Number] = []
    while len(further) < _FURTHEST:
        last = simplify(step.around(last))
        member = _member(outer, last)
        if last.size > _LARGEST or not isinstance(member, Number):
            return None
        if not values_of([member], states).any():
            break
        further.append(member)
    else:
        return None
    later = [Scaled(nearest_whole(line.weight(line.last + n)), one) for n, one in enumerate(further, 1)]
    members = [Scaled(line.weight(line.first + n), feature) for n, (_, feature) in enumerate(terms)]
    beyond = Sum(*further) if further else Scaled(0, terms[0][1])
    return TermFamily("iterated", terms, line, Sum(*members, *later), False, beyond, notation)


def _truth(node: Node) -> Truth:
    if not isinstance(node, Truth):
        raise TypeError(f"{node} is no formula about objects")
    return node


def _notation(outer: Context, step: Context, line: WeightLine, first: Node) -> str:
    from distill.logic import Atom

    hole = Atom(_HOLE)
    member, grown = (write(one.around(hole)).replace(f'"{_HOLE}"', _HOLE) for one in (outer, step))
    weight = "" if str(line) == "1" else f"{line} * "
    return (
        f"sum over k={line.first}..{line.last} of {weight}{member} where F_{line.first} = {write(first)}, "
        f"F_k+1 = {grown}"
    )
