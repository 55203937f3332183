"""Bounded forms: closures and distances become chains of modals, which are exact up to a number of steps.

The chain of `<R+>φ` is η_1 = <R>φ, η_{k+1} = <R>(φ | η_k), as in thesis 4.7: η_k holds where R leads to φ
in 1 to k steps. Distances use the same chain (thesis 5.51-5.57): if D_k says that the distance is at most k,
then up to N it is N·[D_N] − Σ_{k<N} [D_k], which is 0 where there is no path. Each chain is made once, so the
number of distinct parts grows linearly with N.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from distill.common import InputError
from distill.logic import syntax as fo
from distill.logic.rewriting.bounds import alternatives, brief, condition, has_closure, path_of
from distill.logic.rewriting.counting import Counting, never
from distill.logic.syntax.nodes import MAX_LEVELS, MAX_PARTS, MOST_STEPS

_STEP = 4  # parts of a step of a chain, with operands

Bounds = int | Mapping[fo.Node, int]
"""One bound for all parts, or one for each part that needs a bound, as from `bounds_of`."""


@dataclass(frozen=True)
class Unrolled:
    """A formula in bounded form.

    Attributes
    ----------
    formula : the bounded form.
    bounds : the bound of each part that has one: a closure under a modal, a distance or a count.
    chains : the steps η_1, η_2, … of each chain.
    """

    formula: Any
    bounds: Mapping[fo.Node, int]
    chains: tuple[tuple[fo.Truth, ...], ...]

    @property
    def conditions(self) -> list[str]:
        """Lines that tell in which states it equals the formula; none if in all."""
        if not self.bounds:
            return []
        told = ["Bounded form, equal to the unbounded one in every state in which"]
        for number, (part, most) in enumerate(self.bounds.items(), 1):
            told.append(f"- {condition(part, most)}{',' if number < len(self.bounds) else '.'}")
        [most, *others] = sorted(set(self.bounds.values()))
        if not others:
            told.append(f"These are, among others, all states of at most {most} object{'s' * (most > 1)}.")
        return told


def unroll(formula: fo.Node, most: Bounds, *, counting: bool = False) -> Unrolled:
    """Replace closures and distances by chains of at most `most` steps.

    Closures that are intersected, complemented or counted have no such form, which is an error.

    Parameters
    ----------
    counting : for C2, replace also products and comparisons of several numbers: by counts and sentences that
        are exact as long as the counts that are factors are at most `most`.

    Examples
    --------
    >>> from distill.logic import parse
    >>> bounded = unroll(parse("#<on+>clear"), 2)
    >>> bounded.formula
    #<on>(clear | <on>clear)
    >>> print("\\n".join(bounded.conditions))
    Bounded form, equal to the unbounded one in every state in which
    - on+ leads to clear within 2 steps, wherever it leads there.
    These are, among others, all states of at most 2 objects.
    >>> unroll(parse("dist(a, E, b)"), 2).formula
    2*[#(a & (b | <E>(b | <E>b))) > 0] - [#(a & b) > 0] - [#(a & (b | <E>b)) > 0]
    """
    if isinstance(most, int):
        _checked(most)
    found = _Unroller(most, counting).unrolled(formula)
    if found.formula.height > MAX_LEVELS:
        raise InputError(
            f"The bounded form is nested in {found.formula.height:,} levels, and the limit is "
            f"{MAX_LEVELS:,}; give a smaller bound."
        )
    return found


def _checked(most: int) -> int:
    if not 1 <= most <= MOST_STEPS:
        raise InputError(f"The bound of a bounded form is a number from 1 to {MOST_STEPS:,}, not {most:,}.")
    return most


class _Unroller:
    def __init__(self, most: Bounds, counting: bool) -> None:
        self.most = most
        self.bounds: dict[fo.Node, int] = {}
        self.chains: dict[tuple[fo.Relation, fo.Truth], list[fo.Truth]] = {}
        self.done: dict[fo.Node, Any] = {}
        self.counts: dict[fo.Node, fo.Node] = {}  # counts in bounded form, and what they were
        self.counting = (
            Counting(lambda count: self.bound(self.counts.get(count, count))) if counting else None
        )
        self.parts = 0

    def unrolled(self, formula: fo.Node) -> Unrolled:
        for node in formula.walk():
            if isinstance(node, fo.Relation):
                continue
            new = self.done[node] = self.made(node)
            if isinstance(new, fo.Count):
                self.counts.setdefault(new, node)
        found = self.done.get(formula, formula)
        return Unrolled(found, self.bounds, tuple(map(tuple, self.chains.values())))

    def bound(self, node: fo.Node) -> int:
        own = self.most if isinstance(self.most, int) else self.most.get(node)
        if own is None:
            raise InputError(f"No bound of {brief(node)} is known; give one bound for all parts.")
        self.bounds[node] = _checked(own)
        return own

    def made(self, node: fo.Node) -> Any:
        """A node in bounded form, after its parts."""
        if isinstance(node, fo.Modal) and has_closure(node.fields[0]):
            return self.modal(node)
        if isinstance(node, fo.Distance):
            *nearer, whole = map(fo.Indicator, self.within(node))
            return fo.Sum(fo.Scaled(len(nearer), whole), *(fo.Scaled(-1, one) for one in nearer))
        if isinstance(node, fo.Compare) and isinstance(node.fields[0], fo.Distance):
            return self.farther(*node.fields)
        fields = [self.done.get(one, one) if isinstance(one, fo.Node) else one for one in node.fields]
        if self.counting and isinstance(node, fo.Product):
            return self.counting.product(fields)
        if self.counting and isinstance(node, fo.Compare):
            return self.counting.compare(*fields)
        return type(node)(*fields)

    def modal(self, node: fo.Modal) -> fo.Truth:
        relation, operand, threshold = node.fields
        plain, closures = alternatives(relation, node)
        end = self.done[operand]
        if threshold and closures:
            raise InputError(
                f"{brief(node)} has no bounded form with two variables: it counts the ends of paths, and "
                "several paths may have the same end."
            )
        ways: list[fo.Truth] = [fo.Modal(plain, end, threshold)] if plain else []
        for steps, reflexive in closures:
            if reflexive:
                ways.append(end)
            if not isinstance(end, fo.Top):
                ways.append(self.chain(steps, end, self.bound(node))[-1])
            elif not reflexive:
                ways.append(fo.Modal(steps, end))
        return fo.Or(*ways)

    def chain(self, steps: fo.Relation, end: fo.Truth, most: int) -> list[fo.Truth]:
        """For k = 1, …, most: whether 1 to k steps lead to the end."""
        known = self.chains.setdefault((steps, end), [])
        self.parts += _STEP * max(0, most - len(known))
        if self.parts > MAX_PARTS:
            raise InputError(
                f"The bounded form has more than {MAX_PARTS:,} parts, which is the limit; give a smaller "
                "bound."
            )
        while len(known) < most:
            known.append(fo.Modal(steps, fo.Or(end, known[-1]) if known else end))
        return known[:most]

    def within(self, node: fo.Distance) -> list[fo.Truth]:
        """For k = 0, 1, …: whether the distance is at most k and there is a path."""
        first, relation, last = node.fields
        begin, end = self.done[first], self.done[last]
        path = path_of(node)
        if path is None:
            steps = self.chain(relation, end, self.bound(node))
        else:
            plain, closures = alternatives(relation, node)
            if plain or len(closures) > 1:
                raise InputError(
                    f"{brief(node)} has no bounded form: some of its steps are paths themselves."
                )
            steps = [self.modal(path)]
        near = [end, *(fo.Or(end, step) for step in steps)]
        return [fo.Compare(fo.Count(fo.And(begin, one))) for one in near]

    def farther(self, node: fo.Distance, threshold: int) -> fo.Truth:
        """That a distance exceeds a threshold."""
        near = self.within(node)
        return never() if threshold >= len(near) - 1 else fo.And(near[-1], fo.Not(near[threshold]))
