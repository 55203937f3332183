"""State spaces up to isomorphism: all reachable states of an instance family, and V*."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from distill.common import InputError
from distill.planning import InstanceFamilies, InstanceFamily, Row, Task
from distill.structures import UNSOLVABLE, Structures
from distill.symmetry import canonical_forms, canonical_orders, group_sizes, object_graphs

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class QuotientStateSpace:
    """The reachable states of an instance family, one for each isomorphism class.

    Attributes
    ----------
    task : its atoms, actions and goal.
    states : the first state of each class, with all its atoms.
    keys : the canonical form of each class.
    orbits : the number of states of each class.
    v_star : (n_classes,) least number of steps to a goal; -1 if there is no path.
    source, target : (n_edges,) the classes before and after each applicable action.
    starts : initial states from which all classes can be reached.
    """

    task: Task
    states: Sequence[int]
    keys: Sequence[bytes]
    orbits: Sequence[int]
    v_star: Integers
    source: Integers
    target: Integers
    starts: Sequence[int]


def merge_equal(given: Iterable[InstanceFamily]) -> list[InstanceFamily]:
    """Merge equal instance families, and join their initial states; see `canonicalise`."""
    kept: dict[tuple[int, tuple[Row, ...]], tuple[InstanceFamily, dict[tuple[Row, ...], None]]] = {}
    for family in given:
        key = (len(family.objects), family.fixed)
        _, starts = kept.setdefault(key, (family, {}))
        starts.update(dict.fromkeys(family.starts))
    return [replace(family, starts=tuple(starts)) for family, starts in kept.values()]


def canonicalise(families: InstanceFamilies, given: Sequence[InstanceFamily]) -> list[InstanceFamily]:
    """Each instance family with its objects in a canonical order: isomorphic families become equal.

    Examples
    --------
    >>> from distill.planning import problem_class
    >>> from distill.planning.enumeration import Layouts
    >>> families = InstanceFamilies(problem_class("blocks-clear").domain)
    >>> given = [Layouts({"": ["a", "b"]}, [], [("clear", name)], []) for name in "ab"]
    >>> one, other = canonicalise(families, [families.of_layouts(layouts) for layouts in given])
    >>> one.fixed == other.fixed, one.objects == other.objects[::-1]
    (True, True)
    """
    settings = families.data(given, [[()] for _ in given]).structures()
    found = zip(given, canonical_orders(settings), group_sizes(settings), strict=True)
    return [replace(one.reorder(order), symmetries=size) for one, order, size in found]


def expand_family(
    families: InstanceFamilies,
    family: InstanceFamily,
    *,
    irrelevant_predicates: Sequence[str] = (),
    symmetry: bool = True,
    max_states: int = 1_000_000,
) -> QuotientStateSpace:
    """Find all reachable states of an instance family, and their V*.

    Parameters
    ----------
    irrelevant_predicates : predicates of which only atoms in the goal matter.
    symmetry : whether isomorphic states are merged.
    max_states : largest number of classes.

    Examples
    --------
    >>> from distill.planning import problem_class
    >>> instance = problem_class("blocks-clear").make("train")[2]
    >>> families = InstanceFamilies(instance.domain)
    >>> space = expand_family(families, families.of_instance(instance))
    >>> len(space.states), sum(space.orbits), int(space.v_star.max())
    (24, 125, 5)
    """
    task = Task(families, family)
    symmetries = (family.symmetries or _symmetries(families, family)) if symmetry else 1
    search = _Search(task, _seen(task, irrelevant_predicates), symmetries, max_states)
    begins = search.number(task.starts)
    source: list[int] = []
    target: list[int] = []
    done = 0
    while done < len(search.states):
        layer = range(done, len(search.states))
        done = len(search.states)
        after = [task.successors(search.states[number]) for number in layer]
        found = search.number([state for states in after for state in states])
        source += [number for number, states in zip(layer, after, strict=True) for _ in states]
        target += found
    edges = np.array([source, target], dtype=np.int64).reshape(2, -1)
    goals = [number for number, state in enumerate(search.states) if task.is_goal(state)]
    needed = _needed(begins, len(search.states), *edges)
    return QuotientStateSpace(
        task=task,
        states=search.states,
        keys=search.keys,
        orbits=search.orbits(),
        v_star=_steps(goals, len(search.states), *edges),
        source=edges[0],
        target=edges[1],
        starts=[task.starts[position] for position in needed],
    )


def _seen(task: Task, irrelevant_predicates: Sequence[str]) -> int:
    """The relevant atoms, as bits."""
    hidden = {task.families.number[name] for name in irrelevant_predicates}
    return ~sum(task.predicate_mask(number) for number in hidden) | task.goal_atoms


def _symmetries(families: InstanceFamilies, family: InstanceFamily) -> int:
    return group_sizes(families.data([family], [[()]]).structures())[0]


class _Search:
    """Numbers the classes of states in order of discovery."""

    def __init__(self, task: Task, seen: int, symmetries: int, max_states: int) -> None:
        self.task, self._seen, self._symmetries, self._most = task, seen, symmetries, max_states
        nullary = [n for n, p in enumerate(task.families.vocabulary) if p.role == "nullary"]
        # Object graphs have no nullary atoms.
        self._nullary = sum(task.predicate_mask(n) for n in nullary if n in task.families.fluent)
        self.states: list[int] = []
        self.keys: list[bytes] = []
        self._of_state: dict[int, int] = {}
        self._of_key: dict[bytes, int] = {}

    def number(self, states: Sequence[int]) -> list[int]:
        """The class of each state."""
        new: dict[int, int] = {}
        for state in states:
            new.setdefault(state & self._seen, state)
        new = {seen: state for seen, state in new.items() if seen not in self._of_state}
        for key, (seen, state) in zip(self._keys(list(new)), new.items(), strict=True):
            self._of_state[seen] = self._of_key.setdefault(key, len(self.states))
            if self._of_state[seen] == len(self.states):
                self.states.append(state)
                self.keys.append(key)
        if len(self.states) > self._most:
            raise InputError(
                f"An instance with {len(self.task.family.objects)} objects has more than {self._most} states "
                "up to isomorphism; allow more with --max-states, or verify fewer objects."
            )
        return [self._of_state[state & self._seen] for state in states]

    def _keys(self, states: Sequence[int]) -> list[bytes]:
        if not states:
            return []
        if self._symmetries == 1:
            return [b"%x" % state for state in states]
        forms = canonical_forms(object_graphs(self._structures(states)))
        return [b"%x " % (state & self._nullary) + form for state, form in zip(states, forms, strict=True)]

    def _structures(self, states: Sequence[int]) -> Structures:
        rows = [self.task.rows(state) for state in states]
        return self.task.families.data([self.task.family], [rows]).structures()

    def orbits(self) -> list[int]:
        """For each class the number of its states: the index of its automorphism group."""
        if self._symmetries == 1:
            return [1] * len(self.states)
        own = group_sizes(self._structures([state & self._seen for state in self.states]))
        return [self._symmetries // size for size in own]


def _needed(begins: Sequence[int], n_classes: int, source: Integers, target: Integers) -> list[int]:
    """Positions of initial states from which all classes can be reached."""
    after = _neighbours(n_classes, source, target)
    reached = np.zeros(n_classes, dtype=bool)
    needed = []
    for position, begin in enumerate(begins):
        if not reached[begin]:
            needed.append(position)
            todo = [begin]
            reached[begin] = True
            while todo:
                for state in after[todo.pop()]:
                    if not reached[state]:
                        reached[state] = True
                        todo.append(state)
    return needed


def _steps(goals: Sequence[int], n_classes: int, source: Integers, target: Integers) -> Integers:
    """(n_classes,) the least number of steps to a goal, by breadth-first search backwards."""
    before = _neighbours(n_classes, target, source)
    steps = [UNSOLVABLE] * n_classes
    for goal in goals:
        steps[goal] = 0
    todo = deque(goals)
    while todo:
        state = todo.popleft()
        for earlier in before[state]:
            if steps[earlier] == UNSOLVABLE:
                steps[earlier] = steps[state] + 1
                todo.append(earlier)
    return np.array(steps, dtype=np.int64)


def _neighbours(n_classes: int, source: Integers, target: Integers) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in range(n_classes)]
    for one, other in zip(source.tolist(), target.tolist(), strict=True):
        found[one].append(other)
    return found
