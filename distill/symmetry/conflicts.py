"""E- and V-conflicts: states that a colouring cannot distinguish (`symmetries.txt`, Definition 13).

Conflicts are counted as in Table 1, which these rules reproduce:

1. A conflict is a pair of isomorphism *classes* of one instance. The counts of all instances are summed.
   The number of classes is across instances.
2. Unsolvable instances count among the states, but only solvable ones have conflicts.
3. Set variants ignore how often a neighbour's colour occurs, while histograms remain multisets.
4. Nullary atoms have no vertex in the object graph.
5. Domain constants are distinguished objects, each with a colour of its own.

States without a path to the goal have V* = ∞: they are in V-conflict with states that have one.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from distill.common import bounded_parts, offsets
from distill.structures import Options, Structures
from distill.symmetry.refinement import Refinement
from distill.symmetry.two_fwl import PairRefinement

Groups = list[list[int]]
Keys = Callable[[Structures], Iterable[Hashable]]
_BATCH = 10_000
_AT_ONCE = 100_000  # classes whose colours are in memory at once


@dataclass(frozen=True)
class Colouring:
    """A colouring of states.

    Attributes
    ----------
    name : as in the table of conflicts, such as `1-WL set+G`.
    options : of the refinement of objects.
    pairs : whether pairs of vertices are refined (2-FWL), which takes much longer.
    marked : whether goals are marked as achieved or missing.
    rounds : of the refinement of objects; until it is stable if None.
    """

    name: str
    options: Options
    pairs: bool
    marked: bool
    rounds: int | None = None

    def keys(self) -> Keys:
        """A function from states to keys; keys are equal if and only if the states have the same colours."""
        if self.pairs:
            return PairRefinement(sets=self.options.sets).keys
        refinement = Refinement(self.options)
        return refinement.keys if self.rounds is None else partial(refinement.keys_at, depth=self.rounds)

    def split(
        self,
        groups: Groups,
        encode: Callable[[list[int]], Structures],
        report: Callable[[], None] = lambda: None,
    ) -> Groups:
        """Split groups of classes by their colours, and keep the groups of at least two classes.

        Parameters
        ----------
        encode : maps numbers of classes to states of these classes.
        report : called for each state whose colours are computed to the end.
        """

        def with_report(keys: Keys) -> Keys:
            def reported(states: Structures) -> Iterator[Hashable]:
                for key in keys(states):
                    report()
                    yield key

            return reported

        split: Groups = []
        for begin, end in bounded_parts(offsets([len(group) for group in groups]), _AT_ONCE):
            part = groups[begin:end]
            if not self.pairs and self.rounds != 0:
                # One round distinguishes most states, and its colours take little memory.
                part = split_by_keys(part, partial(Refinement(self.options).keys_at, depth=1), encode)
            split += split_by_keys(part, with_report(self.keys()), encode)
        return split

    def distinguishes(self, two: Structures) -> bool:
        """Whether it distinguishes two states.

        Examples
        --------
        >>> from distill.structures import Predicate, Vocabulary
        >>> words = Vocabulary([Predicate("on", 2)])
        >>> two = Structures(words, 2, [0] * 3 + [1] * 3, {"on": [[0, 1], [0, 2], [3, 4]]})
        >>> COLOURINGS["1-WL"].distinguishes(two), COLOURINGS["1-WL"].distinguishes(two[[0, 0]])
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
VARIANTS = tuple(name for name in COLOURINGS if "joint" not in name)
"""The colourings of Table 1."""


@dataclass(frozen=True, eq=False)
class Conflicts:
    """The classes of states that a colouring confuses.

    Attributes
    ----------
    groups : classes of one instance that have the same colours; each group has at least two.
    v_star : (n_classes,) V* of all classes.
    """

    groups: Groups
    v_star: NDArray[np.integer]

    @property
    def e(self) -> int:
        """The number of E-conflicts: pairs of classes of one instance that are confused."""
        return sum(len(group) * (len(group) - 1) // 2 for group in self.groups)

    @property
    def v(self) -> int:
        """The number of V-conflicts: E-conflicts with different V*."""
        equal = (
            n * (n - 1) // 2 for group in self.groups for n in Counter(self.v_star[group].tolist()).values()
        )
        return self.e - sum(equal)

    def pairs(self, kind: str, at_most: int | None = None) -> list[tuple[int, int]]:
        """Pairs of classes, each once: `V` with different V*, or `E` with equal ones.

        Examples
        --------
        >>> found = Conflicts([[0, 2, 3]], np.array([1, 5, 1, 4]))
        >>> found.e, found.v, found.pairs("E", 9), found.pairs("V", 9)
        (3, 2, [(0, 2)], [(0, 3), (2, 3)])
        """
        distinct: dict[tuple[int, int], None] = {}
        for group in self.groups:
            for first, second in combinations(sorted(group), 2):
                if (self.v_star[first] != self.v_star[second]) == (kind == "V"):
                    distinct.setdefault((first, second))
                    if len(distinct) == at_most:
                        return list(distinct)
        return list(distinct)

    def example(self, kind: str) -> tuple[int, int] | None:
        """The least pair of classes of a kind, as in `pairs`."""
        return min(self.pairs(kind), default=None)

    def __contains__(self, pair: tuple[int, int]) -> bool:
        """Whether two classes are confused in some instance."""
        return any(set(pair) <= set(group) for group in self.groups)


def split_by_keys(groups: Groups, keys_of: Keys, encode: Callable[[list[int]], Structures]) -> Groups:
    """Split groups of classes by the keys of their states, and keep the groups of at least two classes."""
    candidates = sorted({number for group in groups for number in group})
    keys: dict[int, Hashable] = {}
    for begin in range(0, len(candidates), _BATCH):
        part = candidates[begin : begin + _BATCH]
        keys.update(zip(part, keys_of(encode(part)), strict=True))
    return split_groups(groups, keys)


def split_groups(groups: Groups, keys: Mapping[int, Hashable]) -> Groups:
    """Split groups of classes by the key of each class, and keep the groups of at least two classes.

    Examples
    --------
    >>> split_groups([[0, 1, 2], [1, 3]], {0: "a", 1: "b", 2: "a", 3: "c"})
    [[0, 2]]
    """
    result: Groups = []
    for group in groups:
        parts: dict[Hashable, list[int]] = defaultdict(list)
        for number in group:
            parts[keys[number]].append(number)
        result += [part for part in parts.values() if len(part) > 1]
    return result
