"""Families by what they say: terms that depend on a number of steps alone, whatever their formulas look like.

Of a relation and a concept, level k holds of the objects from which k steps are the fewest to the concept.
Terms of trees are long formulas that hold, on the states at hand, of such levels; that is how they are seen.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distill.logic import (
    And,
    Atom,
    Closure,
    Count,
    Evaluator,
    Modal,
    Not,
    Number,
    Or,
    Relation,
    Role,
    Scaled,
    Sum,
    Top,
    Truth,
    write,
)
from distill.logic.relations import RelationAnd, RelationNot
from distill.regression.family import LEAST, Array, Family, Term, line_from, snapped, values_of
from distill.structures import Structures, Vocabulary

Integers = NDArray[np.int64]
_SMALL = 3  # symbols of a part of the value function that may be an end of a distance
_CANDIDATES = 12  # that are looked at on all states
_HEAD = 2  # levels before a line begins, at most


def concepts(value: Number, vocabulary: Vocabulary) -> list[Truth]:
    """Where steps may begin and end: predicates, goals achieved and missing, small parts of the function."""
    found: set[Truth] = set()
    for predicate in vocabulary:
        goal = predicate.role == "goal" and not predicate.wants_absence and predicate.base in vocabulary
        if predicate.arity == 1:
            atom = Atom(predicate.name)
            found.add(atom)
            if goal:
                now = Atom(predicate.base)
                found |= {And(atom, Not(now)), And(atom, now)}
        elif predicate.arity == 2 and goal:
            wanted, now_there = Role(predicate.name), RelationNot(Role(predicate.base))
            for relation in (wanted, RelationAnd(wanted, now_there)):
                found |= {Modal(relation, Top()), Modal(relation.inverse(), Top())}
    for node in value.walk():
        if isinstance(node, Truth) and not node.of_state and node.size <= _SMALL:
            found.add(node)
    return sorted(found)


def relations(value: Number) -> list[Relation]:
    """The relations between two objects of which the function speaks, forwards and backwards."""
    found: set[Relation] = set()
    for node in value.walk():
        if isinstance(node, Role) and max(node.fields[1:]) == 1:
            found |= {node, node.inverse()}
    return sorted(found)


def levels(evaluator: Evaluator, relation: Relation, concept: Truth) -> Integers:
    """(n_objects,) the fewest steps from each object to one with the concept; -1 if no way leads there.

    Examples
    --------
    >>> from distill.logic import parse, parse_relation
    >>> from distill.structures import Predicate, Vocabulary
    >>> words = Vocabulary([Predicate("on", 2), Predicate("table", 1)])
    >>> tower = Structures(words, 1, [0, 0, 0], {"on": [[0, 1], [1, 2]], "table": [[2]]})
    >>> levels(Evaluator(tower), parse_relation("on"), parse("table"))
    array([2, 1, 0])
    """
    steps = evaluator.counts(relation)
    frontier = evaluator.holds(concept)
    found = np.where(frontier, 0, -1).astype(np.int64)
    taken = 0
    while frontier.any():
        taken += 1
        frontier = (steps @ frontier.astype(np.int64) > 0) & (found < 0)
        found[frontier] = taken
    return found


@dataclass(frozen=True)
class _Way:
    """Steps along a relation to a concept."""

    relation: Relation
    end: Truth

    def ball(self, k: int) -> Truth:
        """Objects from which at most k steps lead there."""
        found = self.end
        for _ in range(k):
            found = Or(self.end, Modal(self.relation, found))
        return found

    def level(self, k: int) -> Truth:
        """Objects from which k steps are the fewest."""
        return And(Modal(self.relation, self.ball(k - 1)), Not(self.ball(k - 1))) if k else self.end

    def from_on(self, k: int) -> Truth:
        """Objects from which k steps are the fewest, or more."""
        if k == 0:
            return Modal(Closure(self.relation, True), self.end)
        return And(Modal(Closure(self.relation), self.end), Not(self.ball(k - 1)))


class Sample:
    """Some states, with what terms say of them and where steps lead."""

    def __init__(self, terms: Sequence[Term], value: Number, states: Structures) -> None:
        self.evaluator = Evaluator(states)
        self.numbers = np.stack([self.evaluator.number(feature) for _, feature in terms], axis=1)
        self.state = states.state_of_object
        self.n_states = len(states)
        self.ends = self._distinct(concepts(value, states.vocabulary))
        self.ways = [_Way(relation, end) for relation in relations(value) for end in self.ends]

    def _distinct(self, candidates: Sequence[Truth]) -> list[Truth]:
        """Concepts that hold of some objects but not of all; of those that hold of the same the first."""
        found: dict[bytes, Truth] = {}
        for concept in candidates:
            holds = self.evaluator.holds(concept)
            if holds.any() and not holds.all():
                found.setdefault(holds.tobytes(), concept)
        return list(found.values())


def find_levels(terms: Sequence[Term], values: Array, sample: Sample, states: Structures) -> list[Family]:
    """Families of terms that count objects by their level alone, with weights on a line.

    Parameters
    ----------
    terms : weights and features.
    values : (n_states, n_terms) the features' values.
    sample : some of the states, with the same terms.
    states : all of them.
    """
    varies = (values != values[0]).any(axis=0)
    counted = [
        place for place, (_, feature) in enumerate(terms) if varies[place] and isinstance(feature, Count)
    ]
    if len(counted) < LEAST:
        return []
    holds = np.stack([sample.evaluator.holds(terms[place][1].fields[0]) for place in counted], axis=1)
    likely = []
    for way in sample.ways:
        steps = levels(sample.evaluator, way.relation, way.end)
        if steps.max(initial=0) < LEAST:
            continue
        _, first, group = np.unique(steps, return_index=True, return_inverse=True)
        whole = (holds[first][group.reshape(-1)] == holds).all(axis=0)
        mine = [place for place, fits in zip(counted, whole, strict=True) if fits]
        if len(mine) >= LEAST:
            likely.append((-len(mine), way.end.order, way.relation.order, way, mine))
    found = []
    for *_, way, mine in sorted(likely, key=lambda row: row[:3])[:_CANDIDATES]:
        family = _counting(way, mine, terms, values, sample, states)
        if family is not None:
            found.append(family)
    return found


def _by_level(sample: Sample, feature: Number, steps: Integers) -> Array:
    """(n_levels + 1,) 1 for levels on which the counted formula holds; unreachable objects come first."""
    holds = sample.evaluator.holds(feature.fields[0])
    by_level = np.zeros(int(steps.max()) + 2)
    by_level[steps[holds] + 1] = 1
    return by_level


def _counting(
    way: _Way,
    mine: list[int],
    terms: Sequence[Term],
    values: Array,
    sample: Sample,
    states: Structures,
) -> Family | None:
    steps = levels(sample.evaluator, way.relation, way.end)
    holds = np.stack([_by_level(sample, terms[place][1], steps) for place in mine])
    last = holds.shape[1] - 2
    features: list[Number] = [Count(Not(way.from_on(0))), *(Count(way.level(k)) for k in range(last + 1))]
    counts = values_of([*features, Count(way.from_on(last + 1))], states)
    right = [n for n, place in enumerate(mine) if (counts[:, :-1] @ holds[n] == values[:, place]).all()]
    if len(right) < LEAST:
        return None
    chosen = [terms[mine[n]] for n in right]
    away, *total = (np.array([weight for weight, _ in chosen]) @ holds[right]).tolist()
    line = next((one for one in (line_from(total, begin) for begin in range(2)) if one is not None), None)
    if line is None:
        return None
    rest = [Scaled(snapped(away), features[0])]
    rest += [Scaled(snapped(total[k]), Count(way.level(k))) for k in range(line.first)]
    if line.slope == 0:
        closed = Sum(*rest, Scaled(line.offset, Count(way.from_on(line.first))))
    else:
        longest = _longest(way, states)
        members = [
            Scaled(snapped(line.weight(k)), Count(way.level(k))) for k in range(line.first, longest + 1)
        ]
        closed = Sum(*rest, *members)
    notation = (
        f"{len(chosen)} terms that count objects by k, their fewest steps along {write(way.relation)} to "
        f"{write(way.end)}: sum over k={line.first}..{line.last} of {line} * #L_k "
        f"where L_0 = {write(way.end)}, "
        f"L_k+1 = <{write(way.relation)}>L_k & ~(L_0 | … | L_k)"
    )
    beyond = Count(way.from_on(line.last + 1))
    return Family("levels", tuple(chosen), line, closed, line.slope == 0, beyond, notation)


def _longest(way: _Way, states: Structures) -> int:
    """The largest level of any object."""
    return int(levels(Evaluator(states), way.relation, way.end).max(initial=0))
