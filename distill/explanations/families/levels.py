"""Families by denotation: terms that depend on a number of steps only, whatever the form of their formulas.

Level k of a relation and a concept contains the objects from which the shortest path to the concept has k
steps. The terms of trees are long formulas whose denotations on given states are such levels.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distill.explanations.families.family import (
    LEAST,
    Array,
    Term,
    TermFamily,
    line_from,
    nearest_whole,
    values_of,
)
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
    RelationAnd,
    RelationNot,
    Role,
    Scaled,
    Sum,
    Top,
    Truth,
    write,
)
from distill.structures import Structures, Vocabulary

Integers = NDArray[np.int64]
_SMALL = 3  # largest size of a part of the value function that may be an end of a distance
_CANDIDATES = 12  # checked on all states


def concepts(value: Number, vocabulary: Vocabulary) -> list[Truth]:
    """Candidate ends of paths: predicates, achieved and missing goals, small parts of the function."""
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
    """The binary relations of the function and their inverses."""
    found: set[Relation] = set()
    for node in value.walk():
        if isinstance(node, Role) and max(node.fields[1:]) == 1:
            found |= {node, node.inverse()}
    return sorted(found)


def levels(evaluator: Evaluator, relation: Relation, concept: Truth) -> Integers:
    """(n_objects,) the length of a shortest path from each object to the concept; -1 if there is no path.

    Examples
    --------
    >>> from distill.logic import parse
    >>> from distill.logic.notation.parser import parse_relation
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
class _Paths:
    """Paths along a relation to a concept."""

    relation: Relation
    end: Truth

    def ball(self, k: int) -> Truth:
        """Objects at distance at most k."""
        found = self.end
        for _ in range(k):
            found = Or(self.end, Modal(self.relation, found))
        return found

    def level(self, k: int) -> Truth:
        """Objects at distance k."""
        return And(Modal(self.relation, self.ball(k - 1)), Not(self.ball(k - 1))) if k else self.end

    def from_on(self, k: int) -> Truth:
        """Objects at distance k or more."""
        if k == 0:
            return Modal(Closure(self.relation, True), self.end)
        return And(Modal(Closure(self.relation), self.end), Not(self.ball(k - 1)))


def distinct(formulas: Iterable[Truth], evaluator: Evaluator) -> dict[Truth, NDArray[np.bool_]]:
    """The formulas that are not constant with the truth values; of equal ones the first."""
    found: dict[bytes, tuple[Truth, NDArray[np.bool_]]] = {}
    for formula in formulas:
        holds = evaluator.holds(formula)
        if holds.any() and not holds.all():
            found.setdefault(holds.tobytes(), (formula, holds))
    return dict(found.values())


class StateSample:
    """Some states, with the values of terms and the candidate paths."""

    def __init__(self, terms: Sequence[Term], value: Number, states: Structures) -> None:
        self.evaluator = Evaluator(states)
        self.numbers = np.stack([self.evaluator.number(feature) for _, feature in terms], axis=1)
        self.state = states.state_of_object
        self.n_states = len(states)
        self.ends = list(distinct(concepts(value, states.vocabulary), self.evaluator))
        self.paths = [_Paths(relation, end) for relation in relations(value) for end in self.ends]


def find_levels(
    terms: Sequence[Term], values: Array, sample: StateSample, states: Structures
) -> list[TermFamily]:
    """Families of terms that count objects by their level, with weights on a line.

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
    for paths in sample.paths:
        steps = levels(sample.evaluator, paths.relation, paths.end)
        if steps.max(initial=0) < LEAST:
            continue
        _, first, group = np.unique(steps, return_index=True, return_inverse=True)
        whole = (holds[first][group.reshape(-1)] == holds).all(axis=0)
        mine = [place for place, fits in zip(counted, whole, strict=True) if fits]
        if len(mine) >= LEAST:
            likely.append((-len(mine), paths.end.order, paths.relation.order, paths, mine))
    best = sorted(likely, key=lambda row: row[:3])[:_CANDIDATES]
    found = (_counting(paths, mine, terms, values, sample, states) for *_, paths, mine in best)
    return [family for family in found if family is not None]


def _by_level(sample: StateSample, feature: Number, steps: Integers) -> Array:
    """(n_levels + 1,) 1 for levels in which the counted formula holds; first for unreachable objects."""
    holds = sample.evaluator.holds(feature.fields[0])
    by_level = np.zeros(int(steps.max()) + 2)
    by_level[steps[holds] + 1] = 1
    return by_level


def _counting(
    paths: _Paths,
    mine: list[int],
    terms: Sequence[Term],
    values: Array,
    sample: StateSample,
    states: Structures,
) -> TermFamily | None:
    steps = levels(sample.evaluator, paths.relation, paths.end)
    holds = np.stack([_by_level(sample, terms[place][1], steps) for place in mine])
    last = holds.shape[1] - 2
    features: list[Number] = [Count(Not(paths.from_on(0))), *(Count(paths.level(k)) for k in range(last + 1))]
    counts = values_of([*features, Count(paths.from_on(last + 1))], states)
    right = [n for n, place in enumerate(mine) if (counts[:, :-1] @ holds[n] == values[:, place]).all()]
    if len(right) < LEAST:
        return None
    chosen = [terms[mine[n]] for n in right]
    away, *total = (np.array([weight for weight, _ in chosen]) @ holds[right]).tolist()
    line = next((one for one in (line_from(total, begin) for begin in range(2)) if one is not None), None)
    if line is None:
        return None
    rest = [Scaled(nearest_whole(away), features[0])]
    rest += [Scaled(nearest_whole(total[k]), Count(paths.level(k))) for k in range(line.first)]
    if line.slope == 0:
        closed = Sum(*rest, Scaled(line.offset, Count(paths.from_on(line.first))))
    else:
        longest = _longest(paths, states)
        members = [
            Scaled(nearest_whole(line.weight(k)), Count(paths.level(k)))
            for k in range(line.first, longest + 1)
        ]
        closed = Sum(*rest, *members)
    notation = (
        f"{len(chosen)} terms that count objects by k, their fewest steps along {write(paths.relation)} to "
        f"{write(paths.end)}: sum over k={line.first}..{line.last} of {line} * #L_k "
        f"where L_0 = {write(paths.end)}, "
        f"L_k+1 = <{write(paths.relation)}>L_k & ~(L_0 | … | L_k)"
    )
    beyond = Count(paths.from_on(line.last + 1))
    return TermFamily("levels", tuple(chosen), line, closed, line.slope == 0, beyond, notation)


def _longest(paths: _Paths, states: Structures) -> int:
    """The largest level of any object."""
    return int(levels(Evaluator(states), paths.relation, paths.end).max(initial=0))
