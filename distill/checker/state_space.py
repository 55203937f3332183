"""All states of an instance, without any reduction, and how many they are up to isomorphism."""

import hashlib
import math
from collections import deque
from collections.abc import Collection, Sequence
from functools import cached_property

from .errors import CannotCheckError, CertificateError
from .formulas import Interpretation
from .instances import PlainInstance, State
from .nodes import Rows
from .symmetry import Symmetries

EQUAL = 1e-6  # numbers that differ by less are equal


class StateSpace:
    """The states that can be reached, their V* and V, and the properties that do not hold in them.

    Attributes
    ----------
    states : every state that can be reached; of states that differ only in irrelevant atoms, one.
    after : the numbers of the successors of each state, one for each applicable action.
    v_star, values : V* (-1 if no goal can be reached) and V of each state.
    classes : the number of the isomorphism class of each state, irrelevant atoms left out; these states are
        all that are isomorphic to one that can be reached.
    """

    def __init__(
        self,
        instance: PlainInstance,
        starts: Sequence[State],
        rows: Rows,
        *,
        irrelevant: Collection[str],
        symmetry: bool,
        max_states: int,
    ) -> None:
        self.instance, self._irrelevant, self._most = instance, irrelevant, max_states
        self._symmetries = Symmetries(list(instance.objects), instance.fixed_atoms) if symmetry else None
        self._numbers: dict[State, int] = {}
        self.states: list[State] = []
        self.after: list[list[int]] = []
        self.classes: dict[State, int] = {}
        self.n_classes = 0
        for start in starts:
            if self.relevant(start) in self.classes:
                raise CertificateError("one of its initial states can be reached from another one")
            self._number(start)
            while len(self.after) < len(self.states):
                state = self.states[len(self.after)]
                self.after.append([self._number(successor) for successor in instance.successors(state)])
        self.v_star = steps_to_goal([instance.is_goal(state) for state in self.states], self.after)
        names = list(instance.objects)
        self.values = [
            Interpretation(rows, names, instance.structure(state)).value() for state in self.states
        ]

    def relevant(self, state: State) -> State:
        """The atoms of a state that matter."""
        if not self._irrelevant:
            return state
        goal = self.instance.goal_atoms
        return frozenset(atom for atom in state if atom[0] not in self._irrelevant or atom in goal)

    def _number(self, state: State) -> int:
        seen = self.relevant(state)
        if seen not in self._numbers:
            self._numbers[seen] = len(self.states)
            self.states.append(state)
            if seen not in self.classes:
                alike = self._symmetries.orbit(seen, self._most) if self._symmetries else [seen]
                self.classes |= dict.fromkeys(alike, self.n_classes)
                self.n_classes += 1
            if len(self.classes) > self._most:
                raise CannotCheckError(
                    f"it has more than {self._most} states; allow more, or choose smaller instances"
                )
        return self._numbers[seen]

    @cached_property
    def violations(self) -> list[list[str]]:
        """For each state the properties that do not hold."""
        found = []
        for state, (own, value) in enumerate(zip(self.v_star, self.values, strict=True)):
            least = min((self.values[one] for one in self.after[state]), default=0.0)
            best = [one for one in self.after[state] if self.values[one] <= least + EQUAL]
            wrong = {
                "value": own >= 0 and abs(value - own) > EQUAL,
                "greedy": own > 0 and any(self.v_star[one] != own - 1 for one in best),
                "goal": (abs(value) <= EQUAL) != (own == 0),
            }
            found.append([name for name, fails in wrong.items() if fails])
        return found

    def rank(self, state: int) -> tuple[int, float, int]:
        """The key by which the smallest wrong state is chosen: objects, V*, atoms."""
        own = self.v_star[state] if self.v_star[state] >= 0 else math.inf
        return len(self.instance.objects), own, len(self.instance.facts) + len(self.states[state])

    def summary(self) -> dict[str, object]:
        """What a certificate says about the space; counts are of isomorphism classes."""
        own = [self.classes[self.relevant(state)] for state in self.states]
        first = {one: state for state, one in reversed(list(enumerate(own)))}
        wrong = {
            name: len({own[state] for state, broken in enumerate(self.violations) if name in broken})
            for name in ("value", "greedy", "goal")
        }
        return {
            "objects": len(self.instance.objects),
            "classes": self.n_classes,
            "states": len(self.classes),
            "steps": sum(len(self.after[state]) for state in first.values()),
            "dead_ends": sum(self.v_star[state] < 0 for state in first.values()),
            "max_v_star": max(0, *self.v_star),
            "wrong": wrong,
            "profile": self._profile(),
        }

    def _profile(self) -> str:
        """A digest of V* and V (in millionths) of each state and its successors, without names."""
        labels = [(own, round(value * 1e6)) for own, value in zip(self.v_star, self.values, strict=True)]
        lines = {f"{labels[s]} {sorted(labels[t] for t in after)}" for s, after in enumerate(self.after)}
        return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:32]


def steps_to_goal(goal: list[bool], after: list[list[int]]) -> list[int]:
    """The least number of steps to a goal from each state; -1 if no goal is reachable.

    Examples
    --------
    >>> steps_to_goal([False, True, False], [[1, 2], [], [2]])
    [1, 0, -1]
    """
    before: list[list[int]] = [[] for _ in after]
    for state, successors in enumerate(after):
        for successor in successors:
            before[successor].append(state)
    steps = [0 if is_goal else -1 for is_goal in goal]
    todo = deque(state for state, is_goal in enumerate(goal) if is_goal)
    while todo:
        state = todo.popleft()
        for earlier in before[state]:
            if steps[earlier] < 0:
                steps[earlier] = steps[state] + 1
                todo.append(earlier)
    return steps
