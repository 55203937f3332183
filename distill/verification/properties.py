"""The properties that a value function must have in every state.

| property | states | condition |
| --- | --- | --- |
| `value` | solvable states | V is V* |
| `greedy` | solvable states that are no goals | every successor of least V is one step closer to a goal |
| `goal` | all states | V is 0 in goals, and nowhere else |

If several successors have the least V, all of them must be closer.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.logic import Evaluator, Number
from distill.planning import InstanceFamilies, InstanceFamily, Row
from distill.structures import EQUAL, UNSOLVABLE, best_successors
from distill.symmetry import canonical_forms, object_graphs
from distill.verification.quotient_state_space import QuotientStateSpace, expand_family

Floats = NDArray[np.float64]
PROPERTIES = {
    "value": "V = V*",
    "greedy": "every successor of least V is one step closer to a goal",
    "goal": "V = 0 in goals and nowhere else",
}
_NEVER = 2**31  # steps to a goal that cannot be reached


@dataclass(frozen=True)
class Violation:
    """A state in which a value function is wrong.

    Attributes
    ----------
    rank : number of objects, V*, number of atoms, and a canonical form; the smallest state ranks first.
    family : its instance family.
    state : its fluent atoms.
    v_star, value : V* is -1 if no goal can be reached.
    broken : the properties that do not hold.
    """

    rank: tuple[int, int, int, bytes]
    family: InstanceFamily
    state: tuple[Row, ...]
    v_star: int
    value: float
    broken: tuple[str, ...]


@dataclass(frozen=True)
class Record:
    """The result for one instance family.

    Attributes
    ----------
    family : the family, with enough initial states to reach all its states.
    classes, states : the number of states up to isomorphism, and in total.
    steps : number of actions applicable in the classes.
    dead_ends : number of classes from which no goal can be reached.
    max_v_star : the largest V*.
    wrong : for each property the number of classes in which it does not hold.
    digest : of the classes and their V*.
    profile : of V* and V of classes and their successors, without any names or keys.
    """

    family: InstanceFamily
    classes: int
    states: int
    steps: int
    dead_ends: int
    max_v_star: int
    wrong: dict[str, int]
    digest: str
    profile: str


@dataclass(frozen=True, eq=False)
class PropertyChecker:
    """Checks the properties of a value function.

    Attributes
    ----------
    families : the domain and its encoding.
    value : the value function.
    goal_marking : whether it refers to achieved and missing goals.
    irrelevant_predicates : predicates of which only atoms in the goal matter.
    symmetry : whether isomorphic states are checked once.
    max_states : largest number of states of an instance family, up to isomorphism.

    Examples
    --------
    >>> from distill.logic import parse
    >>> from distill.planning import problem_class
    >>> instance = problem_class("blocks-clear").make("train")[0]
    >>> families = InstanceFamilies(instance.domain)
    >>> checker = PropertyChecker(families, parse("#<on+>clear_G"))
    >>> [record], wrong = checker.check([families.of_instance(instance)])
    >>> record.classes, record.wrong, wrong.v_star, wrong.value
    (5, {'value': 1, 'greedy': 0, 'goal': 1}, 1, 0.0)
    """

    families: InstanceFamilies
    value: Number
    goal_marking: bool = False
    irrelevant_predicates: Sequence[str] = ()
    symmetry: bool = True
    max_states: int = 1_000_000

    def check(self, given: Sequence[InstanceFamily]) -> tuple[list[Record], Violation | None]:
        """Look at all states of some families: what was seen, and the smallest state that is wrong."""
        spaces = [self.space(family) for family in given]
        values = self.values(spaces)
        records, found = [], []
        for space, value in zip(spaces, values, strict=True):
            broken = property_violations(space, value)
            records.append(_record(space, value, broken))
            found += self._smallest(space, value, broken)
        return records, self._first(found)

    def space(self, family: InstanceFamily) -> QuotientStateSpace:
        """All states of an instance family."""
        return expand_family(
            self.families,
            family,
            irrelevant_predicates=self.irrelevant_predicates,
            symmetry=self.symmetry,
            max_states=self.max_states,
        )

    def values(self, spaces: Sequence[QuotientStateSpace]) -> list[Floats]:
        """For each space (n_classes,) the value of each class."""
        rows = [[space.task.rows(state) for state in space.states] for space in spaces]
        data = self.families.data([space.task.family for space in spaces], rows)
        parts = [
            Evaluator(states).number(self.value).astype(np.float64)
            for states in (data.structures(part, goal_marking=self.goal_marking) for part in data.slices())
        ]
        ends = np.cumsum([len(space.states) for space in spaces])[:-1]
        return np.split(np.concatenate(parts), ends)

    def _smallest(
        self, space: QuotientStateSpace, value: Floats, broken: dict[str, NDArray[np.bool_]]
    ) -> list[Violation]:
        """The smallest wrong states of a space."""
        wrong = np.flatnonzero(np.logical_or.reduce(list(broken.values())))
        if not len(wrong):
            return []
        roles = [predicate.role for predicate in self.families.vocabulary]
        facts = sum(roles[row[0]] in ("state", "nullary") for row in space.task.family.fixed)
        v_star = space.v_star.tolist()
        ranks = [
            (
                _NEVER if v_star[number] == UNSOLVABLE else v_star[number],
                facts + space.states[number].bit_count(),
                number,
            )
            for number in wrong.tolist()
        ]
        least = min(rank[:2] for rank in ranks)
        n_objects = len(space.task.family.objects)
        return [
            Violation(
                (n_objects, *least, b""),
                space.task.family,
                tuple(space.task.rows(space.states[number])),
                int(space.v_star[number]),
                float(value[number]),
                tuple(name for name, where in broken.items() if where[number]),
            )
            for *rank, number in ranks
            if tuple(rank) == least
        ]

    def _first(self, found: Sequence[Violation]) -> Violation | None:
        """The smallest state; ties are broken by canonical forms, which do not depend on names."""
        if not found:
            return None
        least = min(one.rank for one in found)
        tied = [one for one in found if one.rank == least]
        states = self.families.data([one.family for one in tied], [[one.state] for one in tied]).structures()
        forms = canonical_forms(object_graphs(states))
        ranked = [
            Violation((*one.rank[:3], form), one.family, one.state, one.v_star, one.value, one.broken)
            for one, form in zip(tied, forms, strict=True)
        ]
        return min(ranked, key=lambda one: one.rank)


def property_violations(space: QuotientStateSpace, value: Floats) -> dict[str, NDArray[np.bool_]]:
    """For each property (n_classes,) the classes in which it does not hold.

    Parameters
    ----------
    value : (n_classes,) the value of each class.
    """
    solvable, goal = space.v_star != UNSOLVABLE, space.v_star == 0
    chosen = best_successors(value, space.source, space.target)
    closer = space.v_star[space.target] == space.v_star[space.source] - 1
    astray = np.zeros(len(value), dtype=bool)
    astray[space.source[chosen & ~closer]] = True
    return {
        "value": solvable & (np.abs(value - space.v_star) > EQUAL),
        "greedy": astray & solvable & ~goal,
        "goal": (np.abs(value) <= EQUAL) != goal,
    }


def _record(space: QuotientStateSpace, value: Floats, broken: dict[str, NDArray[np.bool_]]) -> Record:
    family = space.task.family
    starts = tuple(tuple(space.task.rows(start)) for start in space.starts)
    pairs = sorted(zip(space.keys, space.v_star.tolist(), strict=True))
    return Record(
        family=InstanceFamily(family.objects, family.kinds, family.fixed, starts, family.symmetries),
        classes=len(space.states),
        states=sum(space.orbits),
        steps=len(space.source),
        dead_ends=int((space.v_star == UNSOLVABLE).sum()),
        max_v_star=int(space.v_star.max(initial=0)),
        wrong={name: int(where.sum()) for name, where in broken.items()},
        digest=hashlib.sha256(b"".join(b"%b %d\n" % pair for pair in pairs)).hexdigest()[:32],
        profile=_profile(space, value),
    )


def _profile(space: QuotientStateSpace, value: Floats) -> str:
    """A digest of V* and V (in millionths) of each state and its successors.

    Isomorphic states have the same values, so it does not depend on which of them were checked.
    """
    own_values = list(zip(space.v_star.tolist(), np.rint(value * 1e6).astype(np.int64).tolist(), strict=True))
    after: list[list[Any]] = [[] for _ in own_values]
    for one, other in zip(space.source.tolist(), space.target.tolist(), strict=True):
        after[one].append(own_values[other])
    lines = {f"{own} {sorted(others)}" for own, others in zip(own_values, after, strict=True)}
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:32]
