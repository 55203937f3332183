"""What colourings, and so networks, confuse among the states of a run, one colouring at a time.

`analyse` does all of it at once; here 2-FWL, which can take long, comes when it is asked for, and colourings
in which all atoms of a pair of objects are one message (`joint`) are counted besides.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from distill.planning import DataSet
from distill.structures import Structures
from distill.symmetry import Options, PairRefinement, Refinement, isomorphism_classes
from distill.symmetry.conflicts import Groups, confused

Integers = NDArray[np.int64]
Progress = Callable[[int, int], None]
_BATCH = 100  # states between two calls of progress


@dataclass(frozen=True)
class Colouring:
    """A colouring of states.

    Attributes
    ----------
    name : as in the table of conflicts, such as `1-WL set+G`.
    options : of the refinement of objects.
    pairs : whether pairs of vertices are refined (2-FWL), which takes much longer.
    marked : whether goals are marked as achieved or missing.
    """

    name: str
    options: Options
    pairs: bool
    marked: bool

    def keys(self) -> Callable[[Structures], Iterable[Hashable]]:
        """From states to keys, equal if and only if it cannot tell the states apart."""
        if self.pairs:
            return PairRefinement(sets=self.options.sets).keys
        refinement = Refinement(self.options)
        return refinement.keys

    def tells_apart(self, two: Structures) -> bool:
        """Whether it tells two states apart.

        Examples
        --------
        >>> from distill.structures import Predicate, Vocabulary
        >>> words = Vocabulary([Predicate("on", 2)])
        >>> two = Structures(words, 2, [0] * 3 + [1] * 3, {"on": [[0, 1], [0, 2], [3, 4]]})
        >>> COLOURINGS["1-WL"].tells_apart(two), COLOURINGS["1-WL"].tells_apart(two[[0, 0]])
        (True, False)
        """
        first, second = self.keys()(two)
        return bool(first != second)


def _colourings() -> Iterator[Colouring]:
    kinds = (
        ("1-WL", Options(nullary=False), False),
        ("1-WL set", Options(sets=True, nullary=False), False),
        ("1-WL joint", Options(joint=True, nullary=False), False),
        ("2-FWL", Options(nullary=False), True),
        ("2-FWL set", Options(sets=True, nullary=False), True),
    )
    for name, options, pairs in kinds:
        for marked in (False, True):
            yield Colouring(f"{name}{'+G' if marked else ''}", options, pairs, marked)


COLOURINGS = {colouring.name: colouring for colouring in _colourings()}


@dataclass(frozen=True, eq=False)
class Confused:
    """What a colouring confuses.

    Attributes
    ----------
    groups : for each instance classes that are confused with each other.
    v_star : (n_classes,) V* of all classes.
    """

    groups: Groups
    v_star: NDArray[np.int32]

    @property
    def e(self) -> int:
        """The number of E-conflicts: pairs of classes of one instance that are confused."""
        return sum(len(group) * (len(group) - 1) // 2 for group in self.groups)

    @property
    def v(self) -> int:
        """The number of V-conflicts: those of them with different V*."""
        equal = (
            n * (n - 1) // 2 for group in self.groups for n in Counter(self.v_star[group].tolist()).values()
        )
        return self.e - sum(equal)

    def pairs(self, kind: str, at_most: int) -> list[tuple[int, int]]:
        """Some pairs of classes, each once: `V` with different V*, or `E` with equal ones.

        Examples
        --------
        >>> found = Confused([[0, 2, 3]], np.array([1, 5, 1, 4]))
        >>> found.e, found.v, found.pairs("E", 9), found.pairs("V", 9)
        (3, 2, [(0, 2)], [(0, 3), (2, 3)])
        """
        found: dict[tuple[int, int], None] = {}
        for group in self.groups:
            for first, second in combinations(sorted(group), 2):
                if (self.v_star[first] != self.v_star[second]) == (kind == "V"):
                    found.setdefault((first, second))
                    if len(found) == at_most:
                        return list(found)
        return list(found)


@dataclass(eq=False)
class Expressivity:
    """Classes of isomorphic states, and what colourings confuse among them.

    Attributes
    ----------
    data : the states that are looked at.
    state_class : (n_states,) the isomorphism class of each.
    representative : (n_classes,) a state of each class.
    found : what the colourings that were asked for so far confuse.
    """

    data: DataSet
    state_class: Integers
    representative: Integers
    found: dict[str, Confused] = field(default_factory=dict)

    @staticmethod
    def of(data: DataSet, progress: Progress | None = None) -> "Expressivity":
        """Find the isomorphism classes of states.

        Examples
        --------
        >>> from distill.planning import expand, problem_class
        >>> looked = Expressivity.of(expand(problem_class("blocks-clear").make("train")[1], 1000))
        >>> len(looked.data), len(looked.representative), looked.conflicts("1-WL").e
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

        state_class = isomorphism_classes(batches())[place[repeats]]
        _, representative = np.unique(state_class, return_index=True)
        return Expressivity(data, state_class, representative.astype(np.int64))

    @cached_property
    def classes(self) -> list[list[int]]:
        """The classes of each solvable instance, each once; of others conflicts are not counted."""
        owner = self.data.state_instance
        return [
            np.unique(self.state_class[owner == number]).tolist()
            for number, instance in enumerate(self.data.instances)
            if instance["solvable"]
        ]

    @property
    def v_star(self) -> NDArray[np.int32]:
        """(n_classes,) V*."""
        return self.data.v_star[self.representative]

    def conflicts(self, name: str, progress: Progress | None = None) -> Confused:
        """What a colouring confuses."""
        if name not in self.found:
            colouring, groups = COLOURINGS[name], self._to_look_at(name)
            keys, done, todo = colouring.keys(), 0, len(self.suspects(name))

            def encode(numbers: Sequence[int], marked: bool) -> Structures:
                return self.data.structures(self.representative[list(numbers)], goal_marking=marked)

            def told(states: Structures) -> Iterator[Hashable]:
                nonlocal done
                for key in keys(states):
                    if progress is not None and (colouring.pairs or done % _BATCH == 0):
                        progress(done, todo)
                    done += 1
                    yield key

            self.found[name] = Confused(confused(groups, told, encode, colouring.marked), self.v_star)
        return self.found[name]

    def suspects(self, name: str) -> Integers:
        """The classes that have to be looked at: 2-FWL and joint colours refine 1-WL."""
        return np.unique(np.array([one for group in self._to_look_at(name) for one in group], dtype=np.int64))

    def work(self, name: str) -> float:
        """About how much there is to do: for 2-FWL the cubes of the numbers of vertices."""
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

    def told_apart(self, pair: tuple[int, int]) -> tuple[list[str], list[str]]:
        """The colourings that tell two classes of an instance apart, and those that were not asked."""
        both = set(pair)
        apart = [
            name
            for name, found in self.found.items()
            if not any(both <= set(group) for group in found.groups)
        ]
        unknown = [name for name in COLOURINGS if name not in self.found]
        return [name for name in COLOURINGS if name in apart], unknown

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

    def _to_look_at(self, name: str) -> Groups:
        weaker = _weaker(name)
        return self.classes if weaker is None else self.conflicts(weaker).groups


def _weaker(name: str) -> str | None:
    """A colouring that a stronger one refines, so that only what that confuses needs a look."""
    kind, _, marked = name.partition("+")
    weaker = {"1-WL joint": "1-WL", "2-FWL": "1-WL", "2-FWL set": "1-WL set"}.get(kind)
    return None if weaker is None else f"{weaker}{'+G' if marked else ''}"


def whole_instances(data: DataSet, at_most: int) -> Integers:
    """(n,) ascending numbers of states: all of some instances, those with few states first.

    A conflict is between two states of one instance, so a part of an instance would hide some. If even the
    smallest instance has more than `at_most` states, some of it are taken, at even distances.

    Examples
    --------
    >>> from distill.planning import expand, join, problem_class
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
