"""Is a value function right in every state of a scene? Three questions are asked of each state.

| property | asked of | right if |
| --- | --- | --- |
| `value` | states from which a goal can be reached | V is V* |
| `greedy` | those that are no goals | every successor of least V is one step closer to a goal |
| `goal` | all states | V is 0 in goals, and nowhere else |

Ties do not help: where several successors have the least V, all of them must be closer.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.jobs.batches import batches
from distill.jobs.spaces import Space, expand_scene
from distill.logic import Evaluator, Number
from distill.planning import UNSOLVABLE
from distill.planning.scenes import Row, Scene, Scenes
from distill.symmetry import canonical_forms, object_graphs

Floats = NDArray[np.float64]
PROPERTIES = {
    "value": "V = V*",
    "greedy": "every successor of least V is one step closer to a goal",
    "goal": "V = 0 in goals and nowhere else",
}
_EQUAL = 1e-6  # values closer than this are the same
_NEVER = 2**31  # steps to a goal that cannot be reached


@dataclass(frozen=True)
class Wrong:
    """A state in which a value function is wrong.

    Attributes
    ----------
    rank : what makes it small: objects, V*, atoms, and an order that does not depend on names.
    scene : where it occurs.
    state : its atoms that are not fixed.
    v_star, value : -1 for V* if no goal can be reached.
    broken : which properties do not hold.
    """

    rank: tuple[int, int, int, bytes]
    scene: Scene
    state: tuple[Row, ...]
    v_star: int
    value: float
    broken: tuple[str, ...]


@dataclass(frozen=True)
class Record:
    """What was seen of a scene.

    Attributes
    ----------
    scene : with only those initial states from which all states of the others can be reached.
    classes, states : how many states up to isomorphism, and how many there are if names are kept.
    steps : actions that can be applied in the classes.
    dead_ends : classes from which no goal can be reached.
    max_v_star : the largest V*.
    wrong : for each property the number of classes in which it does not hold.
    digest : of the classes and their V*.
    profile : of V* and V of classes and their successors, without any names or keys.
    """

    scene: Scene
    classes: int
    states: int
    steps: int
    dead_ends: int
    max_v_star: int
    wrong: dict[str, int]
    digest: str
    profile: str


@dataclass(frozen=True, eq=False)
class Judge:
    """Asks all questions of a value function.

    Attributes
    ----------
    scenes : how atoms are to be read.
    value : the value function.
    goal_marking : whether it speaks of achieved and missing goals.
    aside : predicates of which only atoms matter that the goal names.
    symmetry : whether isomorphic states are asked once.
    max_states : of a scene.

    Examples
    --------
    >>> from distill.logic import parse
    >>> from distill.planning import problem_class
    >>> instance = problem_class("blocks-clear").make("train")[0]
    >>> scenes = Scenes(instance.domain)
    >>> [record], wrong = Judge(scenes, parse("#<on+>clear_G")).ask([scenes.of_instance(instance)])
    >>> record.classes, record.wrong, wrong.v_star, wrong.value
    (5, {'value': 1, 'greedy': 0, 'goal': 1}, 1, 0.0)
    """

    scenes: Scenes
    value: Number
    goal_marking: bool = False
    aside: Sequence[str] = ()
    symmetry: bool = True
    max_states: int = 1_000_000

    def ask(self, given: Sequence[Scene]) -> tuple[list[Record], Wrong | None]:
        """Look at all states of some scenes: what was seen, and the smallest state that is wrong."""
        spaces = [self.space(scene) for scene in given]
        values = self.values(spaces)
        records, found = [], []
        for space, value in zip(spaces, values, strict=True):
            broken = broken_in(space, value)
            records.append(_record(space, value, broken))
            found += self._smallest(space, value, broken)
        return records, self._first(found)

    def space(self, scene: Scene) -> Space:
        """All states of a scene."""
        return expand_scene(
            self.scenes, scene, aside=self.aside, symmetry=self.symmetry, max_states=self.max_states
        )

    def values(self, spaces: Sequence[Space]) -> list[Floats]:
        """For each space (n_classes,) the value of each class."""
        rows = [[space.task.rows(state) for state in space.states] for space in spaces]
        data = self.scenes.data([space.task.scene for space in spaces], rows)
        parts = [
            Evaluator(states).number(self.value).astype(np.float64)
            for _, states in batches(data, goal_marking=self.goal_marking)
        ]
        ends = np.cumsum([len(space.states) for space in spaces])[:-1]
        return np.split(np.concatenate(parts), ends)

    def _smallest(self, space: Space, value: Floats, broken: dict[str, NDArray[np.bool_]]) -> list[Wrong]:
        """The states of a space that are wrong and as small as any."""
        wrong = np.flatnonzero(np.logical_or.reduce(list(broken.values())))
        if not len(wrong):
            return []
        roles = [predicate.role for predicate in self.scenes.vocabulary]
        facts = sum(roles[row[0]] in ("state", "nullary") for row in space.task.scene.fixed)
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
        n_objects = len(space.task.scene.objects)
        return [
            Wrong(
                (n_objects, *least, b""),
                space.task.scene,
                tuple(space.task.rows(space.states[number])),
                int(space.v_star[number]),
                float(value[number]),
                tuple(name for name, where in broken.items() if where[number]),
            )
            for *rank, number in ranks
            if tuple(rank) == least
        ]

    def _first(self, found: Sequence[Wrong]) -> Wrong | None:
        """The smallest state; among equally small ones an order decides that does not depend on names."""
        if not found:
            return None
        least = min(one.rank for one in found)
        tied = [one for one in found if one.rank == least]
        states = self.scenes.data([one.scene for one in tied], [[one.state] for one in tied]).structures()
        forms = canonical_forms(object_graphs(states))
        ranked = [
            Wrong((*one.rank[:3], form), one.scene, one.state, one.v_star, one.value, one.broken)
            for one, form in zip(tied, forms, strict=True)
        ]
        return min(ranked, key=lambda one: one.rank)


def broken_in(space: Space, value: Floats) -> dict[str, NDArray[np.bool_]]:
    """For each property (n_classes,) where it does not hold.

    Parameters
    ----------
    value : (n_classes,) the value of each class.
    """
    solvable, goal = space.v_star != UNSOLVABLE, space.v_star == 0
    least = np.full(len(value), np.inf)
    np.minimum.at(least, space.source, value[space.target])
    chosen = value[space.target] <= least[space.source] + _EQUAL
    closer = space.v_star[space.target] == space.v_star[space.source] - 1
    astray = np.zeros(len(value), dtype=bool)
    astray[space.source[chosen & ~closer]] = True
    return {
        "value": solvable & (np.abs(value - space.v_star) > _EQUAL),
        "greedy": astray & solvable & ~goal,
        "goal": (np.abs(value) <= _EQUAL) != goal,
    }


def _record(space: Space, value: Floats, broken: dict[str, NDArray[np.bool_]]) -> Record:
    scene = space.task.scene
    starts = tuple(tuple(space.task.rows(start)) for start in space.starts)
    pairs = sorted(zip(space.keys, space.v_star.tolist(), strict=True))
    return Record(
        scene=Scene(scene.objects, scene.kinds, scene.fixed, starts, scene.symmetries),
        classes=len(space.states),
        states=sum(space.orbits),
        steps=len(space.source),
        dead_ends=int((space.v_star == UNSOLVABLE).sum()),
        max_v_star=int(space.v_star.max(initial=0)),
        wrong={name: int(where.sum()) for name, where in broken.items()},
        digest=hashlib.sha256(b"".join(b"%b %d\n" % pair for pair in pairs)).hexdigest()[:32],
        profile=_profile(space, value),
    )


def _profile(space: Space, value: Floats) -> str:
    """A digest of what is said of states: of each its V*, its V in millionths, and those of its successors.

    Isomorphic states say the same, so it does not matter which of them, and how many, were looked at.
    """
    said = list(zip(space.v_star.tolist(), np.rint(value * 1e6).astype(np.int64).tolist(), strict=True))
    after: list[list[Any]] = [[] for _ in said]
    for one, other in zip(space.source.tolist(), space.target.tolist(), strict=True):
        after[one].append(said[other])
    lines = {f"{own} {sorted(others)}" for own, others in zip(said, after, strict=True)}
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:32]
