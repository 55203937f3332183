"""Families by form: each formula is the one before with the same step around it, F_k+1 = C[F_k]."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from distill.logic import Closure, Count, Modal, Node, Number, Or, Scaled, Sum, Truth, simplify, write
from distill.regression.family import LEAST, Family, Line, Term, longest_line, snapped, values_of
from distill.structures import Structures

_LARGEST = 3_000  # symbols of a formula whose form is looked at
_SIMPLIFIED = 300  # symbols of a formula that is simplified to see whether it is known
_PLACES = 6  # of the same part in a formula, at most, that may be the hole of a step
_FURTHEST = 64  # members to which a sum is carried on
_HOLE = "F_k"


@dataclass(frozen=True)
class Context:
    """A formula with a hole: what is around one place, or around all places, of a part.

    Attributes
    ----------
    whole, part : the formula, and what is to be replaced in it.
    path : the operands that lead to the place; None for all places.
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
        way = [self.whole]
        for number in self.path:
            way.append(way[-1].parts[number])
        found = other
        for node, number in zip(reversed(way[:-1]), reversed(self.path), strict=True):
            found = _with(node, [found if place == number else part for place, part in enumerate(node.parts)])
        return found


def _with(node: Node, parts: list[Node]) -> Node:
    """The same node made of other parts."""
    left = iter(parts)
    fields: list[Any] = [next(left) if isinstance(field, Node) else field for field in node.fields]
    made: Node = type(node)(*fields)
    return made


def _contexts(whole: Node, part: Node) -> Iterator[Context]:
    """The formula with a hole at each place of a part, and with holes at all of them."""
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
    """Pairs of parts in which alone two formulas differ, from the outside in, and the way in the first."""
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


def find_iterated(terms: Sequence[Term], states: Structures) -> list[Family]:
    """Families of three and more terms whose formulas are one step iterated, with weights on a line.

    Parameters
    ----------
    terms : weights and features.
    states : how far sums are carried on: up to the first member that is 0 in all of them.
    """
    known: dict[Node, Term] = {}
    for weight, feature in terms:
        if feature.size <= _LARGEST:
            known.setdefault(simplify(feature), (weight, feature))
    ordered = sorted(known)
    found: dict[frozenset[Node], Family] = {}
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
    """All ways to see a formula as another with a step around one part, the largest part first."""
    for part, grown, path in _differences(small, large):
        if _is_about_objects(part) and part is not grown and part in set(grown.walk()):
            outer = Context(small, part, path)
            yield from ((outer, step, part) for step in _contexts(grown, part))


def _goes_on(
    outer: Context, step: Context, start: Node, known: dict[Node, Term], before: tuple[Node, Node]
) -> bool:
    """Whether there is a third member; a look at the form comes first, as simplifying takes long."""
    third = outer.around(step.around(step.around(start)))
    if third not in known and third.size <= _SIMPLIFIED:
        third = simplify(third)
    return third in known and third not in before


def _is_about_objects(node: Node) -> bool:
    return isinstance(node, Truth) and not node.of_state


def _member(outer: Context, formula: Node) -> Node:
    return simplify(outer.around(formula))


def _chain(outer: Context, step: Context, start: Node, known: dict[Node, Term]) -> list[tuple[int, Node]]:
    """The formulas F_k in a row whose members are known, with their k: how often the step is around F_0."""
    before = [start]
    while (inside := _inside(step, before[-1])) is not None:
        before.append(inside)
    first = len(before) - 1
    earlier = itertools.takewhile(lambda formula: _member(outer, formula) in known, before)
    formulas = list(reversed(list(earlier)))
    first -= len(formulas) - 1
    while True:
        further = simplify(step.around(formulas[-1]))
        # A step may come back to where it was.
        if further in formulas or _member(outer, further) not in known:
            return list(enumerate(formulas, first))
        formulas.append(further)


def _inside(step: Context, formula: Node) -> Node | None:
    """What the step is around in a formula, if it is."""
    for part in formula.walk():
        if part is not formula and _is_about_objects(part):
            again = step.around(part)
            if again is formula or (again.size <= _SIMPLIFIED and simplify(again) is formula):
                return part
    return None


def _family(
    outer: Context,
    step: Context,
    chain: list[tuple[int, Node]],
    known: dict[Node, Term],
    states: Structures,
) -> Family | None:
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
        return Family("iterated", terms, line, closure, True, beyond, notation, once)
    return _carried_on(outer, step, line, terms, chosen[-1], notation, states)


def _closure(outer: Context, step: Context, line: Line, base: Node, follows: bool) -> Number | None:
    """Σ_k w·#(⟨R⟩^k φ) is w·#⟨R+⟩φ, where no object is counted twice."""
    counts = isinstance(outer.whole, Count) and outer.path == (0,)
    is_step = isinstance(step.whole, Modal) and step.whole.fields[1:] == (step.part, 0)
    if not counts or not is_step or line.slope != 0:
        return None
    return Scaled(line.offset, Count(Modal(Closure(step.whole.fields[0], not follows), _truth(base))))


def _carried_on(
    outer: Context,
    step: Context,
    line: Line,
    terms: tuple[Term, ...],
    last: Node,
    notation: str,
    states: Structures,
) -> Family | None:
    """The same sum, up to the first member that is 0 in all states; None if there is none."""
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
    later = [Scaled(snapped(line.weight(line.last + n)), one) for n, one in enumerate(further, 1)]
    members = [Scaled(line.weight(line.first + n), feature) for n, (_, feature) in enumerate(terms)]
    beyond = Sum(*further) if further else Scaled(0, terms[0][1])
    return Family("iterated", terms, line, Sum(*members, *later), False, beyond, notation)


def _truth(node: Node) -> Truth:
    if not isinstance(node, Truth):
        raise TypeError(f"{node} is no formula about objects")
    return node


def _notation(outer: Context, step: Context, line: Line, first: Node) -> str:
    from distill.logic import Atom

    hole = Atom(_HOLE)
    member, grown = (write(one.around(hole)).replace(f'"{_HOLE}"', _HOLE) for one in (outer, step))
    weight = "" if str(line) == "1" else f"{line} * "
    return (
        f"sum over k={line.first}..{line.last} of {weight}{member} where F_{line.first} = {write(first)}, "
        f"F_k+1 = {grown}"
    )
