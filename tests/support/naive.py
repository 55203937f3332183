"""Slow and plain: formulas evaluated object by object, with sets of pairs; and random formulas."""

import itertools
import math
from typing import Any

from hypothesis import strategies as st

from distill.logic import parse, syntax as fo
from distill.logic.notation.parser import parse_relation
from distill.structures import Structures

Pair = tuple[int, int]


class Naive:
    def __init__(self, batch: Structures) -> None:
        self.batch = batch
        self.state = batch.state_of_object.tolist()
        self.known: dict[Any, Any] = {}

    def once(self, meaning: Any, node: fo.Node, *place: int) -> Any:
        """What a node means at an object or in a state, computed once."""
        key = (meaning.__name__, node, *place)
        if key not in self.known:
            self.known[key] = meaning(node, *place)
        return self.known[key]

    def known_parts(self, formula: fo.Node) -> "Naive":
        """Compute all parts of a deep formula, each before those that contain it."""
        for node in formula.walk():
            if isinstance(node, fo.Relation):
                self.pairs(node)
            elif isinstance(node, fo.Number) or node.of_state:
                for state in range(len(self.batch)):
                    self.value(node, state)
            else:
                for x in range(len(self.state)):
                    self.holds(node, x)
        return self

    def atoms(self, name: str) -> list[tuple[int, ...]]:
        return [tuple(row) for row in self.batch.relations[name].tolist()]

    def objects(self, state: int) -> list[int]:
        return [x for x, own in enumerate(self.state) if own == state]

    def pairs(self, relation: fo.Relation) -> set[Pair]:
        return self.once(self._pairs, relation)

    def _pairs(self, relation: fo.Relation) -> set[Pair]:
        every = {p for s in range(len(self.batch)) for p in itertools.product(self.objects(s), repeat=2)}
        match relation:
            case fo.Identity():
                return {(x, x) for x in range(len(self.state))}
            case fo.Everything():
                return every
            case fo.Role():
                name, i, j = relation.fields
                return {(a[i], a[j]) for a in self.atoms(name)}
            case fo.RelationNot():
                return every - self.pairs(relation.fields[0])
            case fo.RelationAnd():
                return set.intersection(*map(self.pairs, relation.fields))
            case fo.RelationOr():
                return set.union(*map(self.pairs, relation.fields))
            case fo.Closure():
                steps = self.pairs(relation.fields[0])
                found = set(steps)
                while more := {(a, d) for a, b in found for c, d in steps if b == c} - found:
                    found |= more
                return found | {(x, x) for x in range(len(self.state))} if relation.fields[1] else found
        raise AssertionError(relation)

    def holds(self, f: fo.Truth, x: int) -> bool:
        return self.once(self._holds, f, x)

    def _holds(self, f: fo.Truth, x: int) -> bool:
        match f:
            case fo.Top():
                return True
            case fo.Atom():
                if self.batch.vocabulary[f.fields[0]].arity == 0:
                    return (self.state[x],) in self.atoms(f.fields[0])
                return (x,) in self.atoms(f.fields[0])
            case fo.Not():
                return not self.holds(f.fields[0], x)
            case fo.And():
                return all(self.holds(part, x) for part in f.fields)
            case fo.Or():
                return any(self.holds(part, x) for part in f.fields)
            case fo.Modal():
                relation, inner, threshold = f.fields
                if isinstance(relation, fo.Role):
                    name, i, j = relation.fields
                    return sum(a[i] == x and self.holds(inner, a[j]) for a in self.atoms(name)) > threshold
                return sum(a == x and self.holds(inner, b) for a, b in self.pairs(relation)) > threshold
        raise AssertionError(f)

    def value(self, f: Any, state: int) -> Any:
        return self.once(self._value, f, state)

    def _value(self, f: Any, state: int) -> Any:
        match f:
            case fo.Count():
                return sum(self.holds(f.fields[0], x) for x in self.objects(state))
            case fo.Compare():
                return int(self.value(f.fields[0], state) > f.fields[1])
            case fo.Indicator():
                return self.value(f.fields[0], state)
            case fo.Constant():
                return f.fields[0]
            case fo.Scaled():
                return f.fields[0] * self.value(f.fields[1], state)
            case fo.Distance():
                return self.distance(*f.fields, self.objects(state))
        parts = [self.value(part, state) for part in f.fields]
        joins: dict[type, Any] = {fo.And: min, fo.Or: max, fo.Sum: sum, fo.Product: math.prod}
        return joins[type(f)](parts) if type(f) in joins else 1 - parts[0]

    def distance(self, first: fo.Truth, relation: fo.Relation, last: fo.Truth, members: list[int]) -> int:
        pairs = self.pairs(relation)
        reached = {x for x in members if self.holds(first, x)}
        for steps in range(len(members) + 1):
            if any(self.holds(last, x) for x in reached):
                return steps
            reached |= {b for a, b in pairs if a in reached}
        return 0


binary = st.sampled_from(["on", "on_G"])
roles = st.builds(lambda name, back: fo.Role(name, back, 1 - back), binary, st.integers(0, 1))
ternary = st.permutations(range(3)).map(lambda p: fo.Role("between", p[0], p[1]))
relations = st.recursive(
    st.one_of(roles, st.just(fo.Identity()), st.just(fo.Everything())),
    lambda r: st.one_of(
        r.map(fo.RelationNot),
        st.builds(fo.RelationAnd, r, r),
        st.builds(fo.RelationOr, r, r),
        st.builds(fo.Closure, r, st.booleans()),
    ),
    max_leaves=4,
)
truths = st.recursive(
    st.one_of(st.just(fo.Top()), st.sampled_from(["clear", "handempty"]).map(fo.Atom)),
    lambda f: st.one_of(
        f.map(fo.Not),
        st.builds(fo.And, f, f),
        st.builds(fo.Or, f, f, f),
        st.builds(fo.Modal, st.one_of(relations, ternary), f, st.integers(0, 2)),
    ),
    max_leaves=6,
)
counts = st.one_of(truths.map(fo.Count), st.builds(fo.Distance, truths, relations, truths))
comparisons = st.recursive(
    st.builds(fo.Compare, counts, st.integers(0, 2)),
    lambda c: st.one_of(c.map(fo.Not), st.builds(fo.And, c, c), st.builds(fo.Or, c, c)),
    max_leaves=3,
)
numbers = st.recursive(
    st.one_of(counts, comparisons.map(fo.Indicator), st.integers(-3, 9).map(fo.Constant)),
    lambda n: st.one_of(
        st.builds(fo.Product, n, n),
        st.builds(fo.Sum, n, n, n),
        st.builds(fo.Scaled, st.sampled_from([-2, -1, 0.5, 3, 1e-7]), n),
    ),
    max_leaves=4,
)


@st.composite
def sharing(draw):
    """Sums whose terms are made of few formulas and relations, so that much occurs again."""
    kept = st.sampled_from(draw(st.lists(truths, min_size=1, max_size=3)))
    along = st.sampled_from(draw(st.lists(relations, min_size=1, max_size=2)))
    objects = st.recursive(
        kept, lambda f: st.builds(fo.And, f, f) | st.builds(fo.Not, f) | st.builds(fo.Modal, along, f)
    )
    counted = st.builds(fo.Count, objects) | st.builds(fo.Distance, objects, along, objects)
    compared = st.builds(fo.Compare, counted, st.integers(0, 2)).map(fo.Indicator)
    terms = st.builds(fo.Scaled, st.sampled_from([-7, -1, 0.5, 1, 4]), counted | compared)
    return fo.Sum(*draw(st.lists(terms | st.builds(fo.Product, terms, terms), min_size=1, max_size=6)))


value_functions = st.one_of(numbers, sharing())
# Few parts, joined often: what the laws are about.
role_texts = st.sampled_from(
    ["on", "on_G", "on & on_G", "on | on_G", "on+", "on*", "all", "id", "between[0,1]"]
)
small_truths = st.recursive(
    st.sampled_from([parse("clear"), parse("handempty"), parse("top"), parse("<on>clear")]),
    lambda f: st.one_of(
        f.map(fo.Not),
        st.builds(fo.And, f, f, f),
        st.builds(fo.Or, f, f, f),
        st.builds(lambda r, one, t: fo.Modal(parse_relation(r), one, t), role_texts, f, st.integers(0, 2)),
    ),
    max_leaves=12,
)
small_comparisons = st.recursive(
    st.builds(lambda f, t: fo.Compare(fo.Count(f), t), small_truths, st.integers(0, 2)),
    lambda c: st.one_of(c.map(fo.Not), st.builds(fo.And, c, c), st.builds(fo.Or, c, c)),
    max_leaves=5,
)
