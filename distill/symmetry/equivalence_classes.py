"""Equivalence classes of objects and states under colour refinement, at each depth.

Two objects with the same colour at depth d have the same embedding in every network of d layers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from distill.structures import Options, Structures
from distill.symmetry.interning import Integers, Interner
from distill.symmetry.refinement import Refinement, histograms

# Networks that sum messages see multisets; with a maximum they see sets.
KINDS = {"multisets": Options(), "sets": Options(sets=True), "joint": Options(joint=True)}


@dataclass(frozen=True, eq=False)
class EquivalenceClasses:
    """The colours of all objects of some states.

    Attributes
    ----------
    states : the states.
    colours : (depth + 1, n_objects) equal if and only if that many rounds do not distinguish the objects.
    """

    states: Structures
    colours: Integers

    @staticmethod
    def of(states: Structures, depth: int, kind: str = "multisets") -> "EquivalenceClasses":
        """Colour the objects of states.

        Parameters
        ----------
        kind : `multisets`, `sets` (of messages) or `joint` (one message for all atoms over a pair).

        Examples
        --------
        A tower of three blocks: its ends differ from the middle, then from each other.

        >>> from distill.structures import Predicate, Vocabulary
        >>> words = Vocabulary([Predicate("on", 2)])
        >>> tower = Structures(words, 1, [0, 0, 0], {"on": [[0, 1], [1, 2]]})
        >>> equivalence = EquivalenceClasses.of(tower, 1)
        >>> equivalence.classes(), equivalence.state_classes()
        ([1, 3], [1, 1])
        """
        layers = Refinement(KINDS[kind]).layers(states, depth)
        return EquivalenceClasses(states, np.stack(list(layers)).astype(np.int64))

    def classes(self) -> list[int]:
        """The number of classes of objects at each depth."""
        return [len(np.unique(colours)) for colours in self.colours]

    def state_classes(self) -> list[int]:
        """The number of classes of states at each depth, by the multisets of their colours."""
        return [len(np.unique(keys)) for keys in self.state_keys()]

    def state_keys(self) -> list[Integers]:
        """For each depth (n_states,) keys of the multisets of colours."""
        begin = self.states.object_offsets
        return [histograms(Interner(), begin, colours) for colours in self.colours]

    def equivalent_objects(self, one: int) -> list[Integers]:
        """For each depth the objects of the class of an object, itself included."""
        return [np.flatnonzero(colours == colours[one]) for colours in self.colours]


def count_ambiguous_states(classes: EquivalenceClasses, v_star: NDArray[np.integer]) -> list[int]:
    """At each depth the number of states that are equivalent to a state with another V*.

    Parameters
    ----------
    v_star : (n_states,) V* of the states.

    Examples
    --------
    One block on another, or both on the table: at depth 0 all blocks are equivalent.

    >>> from distill.structures import Predicate, Vocabulary
    >>> words = Vocabulary([Predicate("on", 2)])
    >>> states = Structures(words, 2, [0, 0, 1, 1], {"on": [[0, 1]]})
    >>> count_ambiguous_states(EquivalenceClasses.of(states, 1), np.array([0, 1]))
    [2, 0]
    """
    return [_count_ambiguous(keys, v_star.astype(np.int64)) for keys in classes.state_keys()]


def _count_ambiguous(keys: Integers, v_star: Integers) -> int:
    _, group = np.unique(keys, return_inverse=True)
    least, most = np.full(len(keys), np.iinfo(np.int64).max), np.full(len(keys), np.iinfo(np.int64).min)
    np.minimum.at(least, group, v_star)
    np.maximum.at(most, group, v_star)
    return int((least < most)[group].sum())


def stable_depth(counts: Sequence[int]) -> int | None:
    """The first depth at which the number of classes is stable; None if the last depth still splits classes.

    Examples
    --------
    >>> stable_depth([1, 3, 5, 5]), stable_depth([1, 3])
    (2, None)
    """
    return next((depth for depth, (n, m) in enumerate(pairwise(counts)) if n == m), None)
