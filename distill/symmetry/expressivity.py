"""Which states a colouring, and so a network, cannot distinguish (`symmetries.txt`, Tables 1 and 2).

Each colouring is computed on first use, since 2-FWL can take long.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.structures import DataSet, Structures
from distill.symmetry.classes import isomorphism_classes
from distill.symmetry.conflicts import COLOURINGS, VARIANTS, Conflicts, Groups
from distill.symmetry.interning import Integers

Progress = Callable[[int, int], None]
_BATCH = 100  # states between two calls of progress
_TRAINING_STATES = 10_000  # of an instance for training in the paper
_WEAKER = {"1-WL": "1-WL set", "1-WL joint": "1-WL", "2-FWL": "1-WL", "2-FWL set": "1-WL set"}


@dataclass(eq=False)
class Expressivity:
    """Isomorphism classes of states, and the conflicts of colourings among them.

    Attributes
    ----------
    data : the states; conflicts are complete if these are all states of their instances.
    state_class : (n_states,) the isomorphism class of each.
    representative : (n_classes,) a state of each class.
    conflicts_by_colouring : the conflicts of the colourings computed so far.
    """

    data: DataSet
    state_class: Integers
    representative: Integers
    conflicts_by_colouring: dict[str, Conflicts] = field(default_factory=dict)

    @staticmethod
    def of(data: DataSet, progress: Progress | None = None) -> "Expressivity":
        """Find the isomorphism classes of states.

        Examples
        --------
        >>> from distill.planning import expand, problem_class
        >>> analysis = Expressivity.of(expand(problem_class("blocks-clear").make("train")[1], 1000))
        >>> len(analysis.data), len(analysis.representative), analysis.conflicts("1-WL").e
        (22, 12, 0)
        """
        repeats = data.repeats()
        distinct = np.unique(repeats)
        place = np.empty(len(data), dtype=np.int64)
        place[distinct] = np.arange(len(distinct))

        def batches() -> Iterator[Structures]:
            for begin in range(0, len(distinct), _BATCH):
                if progress is not None:
                    progress(begin, len(distinct))
                yield data.structures(distinct[begin : begin + _BATCH], goal_marking=True)
            if progress is not None:
                progress(len(distinct), len(distinct))

        state_class = isomorphism_classes(batches())[place[repeats]]
        _, representative = np.unique(state_class, return_index=True)
        return Expressivity(data, state_class, representative.astype(np.int64))

    @cached_property
    def classes(self) -> list[list[int]]:
        """The distinct classes of each solvable instance; other instances have no conflicts."""
        owner = self.data.state_instance
        return [
            np.unique(self.state_class[owner == number]).tolist()
            for number, instance in enumerate(self.data.instances)
            if instance["solvable"]
        ]

    @property
    def v_star(self) -> NDArray[np.integer]:
        """(n_classes,) V*."""
        return self.data.v_star[self.representative]

    def conflicts(self, name: str, progress: Progress | None = None) -> Conflicts:
        """The conflicts of a colouring."""
        if name not in self.conflicts_by_colouring:
            colouring, groups = COLOURINGS[name], self._candidates(name)
            done, todo = 0, len(self.suspects(name))

            def report() -> None:
                nonlocal done
                if progress is not None and (colouring.pairs or done % _BATCH == 0):
                    progress(min(done, todo), todo)
                done += 1

            encode = partial(self.states_of, marked=colouring.marked)
            self.conflicts_by_colouring[name] = Conflicts(
                colouring.split(groups, encode, report), self.v_star
            )
        return self.conflicts_by_colouring[name]

    def states_of(self, classes: list[int], *, marked: bool = False) -> Structures:
        """A state of each of some classes, with marked goals if `marked`."""
        return self.data.structures(self.representative[classes], goal_marking=marked)

    def suspects(self, name: str) -> Integers:
        """The classes to compare: those in conflict under the weaker colouring, if there is one."""
        return np.unique(np.array([one for group in self._candidates(name) for one in group], dtype=np.int64))

    def work(self, name: str) -> float:
        """An estimate of the work: for 2-FWL the sum of cubes of the numbers of vertices."""
        suspects = self.suspects(name)
        if not COLOURINGS[name].pairs:
            return float(len(suspects))
        states = self.representative[suspects]
        owner = self.data.state_instance[states]
        width = np.array([predicate.arity for predicate in self.data.vocabulary])
        of_atom = width[self.data.atom_predicate]
        fixed = np.array(
            [
                of_atom[begin : begin + n].sum()
                for begin, n in zip(self.data.atom_offsets[:-1], self.data.n_fixed, strict=True)
            ]
        )
        entries = np.concatenate([[0], np.cumsum(of_atom[self.data.state_atoms])])
        changing = entries[self.data.state_offsets[states + 1]] - entries[self.data.state_offsets[states]]
        return float(((self.data.n_objects[owner] + fixed[owner] + changing) ** 3.0).sum())

    def distinguished_by(self, pair: tuple[int, int]) -> tuple[list[str], list[str]]:
        """The colourings that distinguish two classes, and those that were not computed yet."""
        known = self.conflicts_by_colouring
        unknown = [name for name in COLOURINGS if name not in known]
        return [name for name in COLOURINGS if name in known and pair not in known[name]], unknown

    def members(self, pair: tuple[int, int]) -> tuple[int, int]:
        """A state of each of two classes, in the first solvable instance that has both."""
        for number, instance in enumerate(self.data.instances):
            if not instance["solvable"]:
                continue
            mine = self.data.state_instance == number
            first, second = (np.flatnonzero(mine & (self.state_class == one)) for one in pair)
            if len(first) and len(second):
                return int(first[0]), int(second[0])
        return int(self.representative[pair[0]]), int(self.representative[pair[1]])

    def summary(self) -> dict[str, Any]:
        """The counts of Tables 1 and 2, for which all their colourings are computed."""
        counts = self.data.summary()
        by_instance = np.unique(np.column_stack([self.data.state_instance, self.state_class]), axis=0)
        solvable = {number for classes in self.classes for number in classes}
        conflicts = {name: self.conflicts(name) for name in VARIANTS}
        return {
            "instances": counts["instances"],
            "solvable_instances": counts["solvable_instances"],
            "states": counts["states"],
            "states_of_solvable_instances": counts["states_of_solvable_instances"],
            "unsolvable_states": counts["unsolvable_states"],
            "classes_summed_over_instances": len(by_instance),
            "classes_across_solvable_instances": len(solvable),
            **self._training_counts(),
            "max_v_star": counts["max_v_star"],
            "conflicts_E_V": {name: [own.e, own.v] for name, own in conflicts.items()},
        }

    def _training_counts(self) -> dict[str, int]:
        """The counts of Table 2: solvable instances of at most 10 000 states, of which not all are goals."""
        n_states = np.bincount(self.data.state_instance, minlength=len(self.data.instances))
        goals = np.bincount(self.data.state_instance, self.data.v_star == 0, minlength=len(n_states))
        solvable = np.array([bool(instance["solvable"]) for instance in self.data.instances])
        chosen = solvable & (n_states <= _TRAINING_STATES) & (goals < n_states)
        classes = np.unique(self.state_class[chosen[self.data.state_instance]])
        return {"training_states": int(n_states[chosen].sum()), "training_classes": len(classes)}

    def _candidates(self, name: str) -> Groups:
        weaker = _weaker(name)
        return self.classes if weaker is None else self.conflicts(weaker).groups


def _weaker(name: str) -> str | None:
    """A colouring that this one refines; None for the weakest one."""
    kind, marking, _ = name.partition("+")
    if kind in _WEAKER:
        return f"{_WEAKER[kind]}{'+G' if marking else ''}"
    return kind if marking else None


def whole_instances(data: DataSet, at_most: int) -> Integers:
    """(n,) ascending numbers of the states of whole instances, the smallest instances first.

    A conflict is between two states of one instance, so a part of an instance has fewer conflicts. If even
    the smallest instance has more than `at_most` states, they are sampled at even distances.

    Examples
    --------
    >>> from distill.planning import expand, problem_class
    >>> from distill.structures import join
    >>> data = join([expand(one, 1000) for one in problem_class("blocks-clear").make("train")[:3]])
    >>> np.bincount(data.state_instance), np.bincount(data.state_instance[whole_instances(data, 30)])
    (array([  5,  22, 125]), array([ 5, 22]))
    """
    sizes = np.bincount(data.state_instance, minlength=len(data.instances))
    order = np.argsort(sizes, kind="stable")
    order = order[sizes[order] > 0]
    taken = order[np.cumsum(sizes[order]) <= at_most]
    if len(taken) or not len(order):
        return np.flatnonzero(np.isin(data.state_instance, taken)).astype(np.int64)
    own = np.flatnonzero(data.state_instance == order[0])
    return own[np.linspace(0, len(own) - 1, at_most).astype(np.int64)]
