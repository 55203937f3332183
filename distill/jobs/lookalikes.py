"""Objects that look the same: colour refinement of a run's states, depth by depth.

At depth d two objects of one colour get the same embedding from every network of d layers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distill.structures import Structures
from distill.symmetry import Interner, Options, Refinement, histograms

Integers = NDArray[np.int64]
# The default is what networks see that add up messages; a maximum forgets how often a message comes.
KINDS = {
    "multisets": Options(),
    "sets": Options(sets=True),
    "joint": Options(joint=True),
}


@dataclass(frozen=True, eq=False)
class Lookalikes:
    """The colours of all objects of some states.

    Attributes
    ----------
    states : the states.
    colours : (depth + 1, n_objects) colours; equal if and only if that many rounds cannot tell objects apart.
    """

    states: Structures
    colours: Integers

    @staticmethod
    def of(states: Structures, depth: int, kind: str = "multisets") -> "Lookalikes":
        """Colour the objects of states.

        Parameters
        ----------
        kind : `multisets`, `sets` (how often a message comes is forgotten) or `joint` (all atoms over one
            pair of objects are one message).

        Examples
        --------
        A tower of three blocks: its ends differ from the middle, then from each other.

        >>> from distill.structures import Predicate, Vocabulary
        >>> words = Vocabulary([Predicate("on", 2)])
        >>> found = Lookalikes.of(Structures(words, 1, [0, 0, 0], {"on": [[0, 1], [1, 2]]}), 1)
        >>> found.classes(), found.state_classes()
        ([1, 3], [1, 1])
        """
        layers = Refinement(KINDS[kind]).layers(states, depth)
        return Lookalikes(states, np.stack(list(layers)).astype(np.int64))

    def classes(self) -> list[int]:
        """How many colours objects have at each depth."""
        return [len(np.unique(colours)) for colours in self.colours]

    def state_classes(self) -> list[int]:
        """How many kinds of states there are at each depth, by how many objects have each colour."""
        begin = self.states.object_offsets
        return [len(np.unique(histograms(Interner(), begin, colours))) for colours in self.colours]

    def same_as(self, one: int) -> list[Integers]:
        """For each depth the objects that look like an object, itself included."""
        return [np.flatnonzero(colours == colours[one]) for colours in self.colours]


def ambiguous(lookalikes: Lookalikes, v_star: NDArray[np.integer]) -> list[int]:
    """How many states, at each depth, look like one with another V*.

    Parameters
    ----------
    v_star : (n_states,) V* of the states.

    Examples
    --------
    One block on the other, or both on the table: without a look at neighbours all blocks are alike.

    >>> from distill.structures import Predicate, Vocabulary
    >>> words = Vocabulary([Predicate("on", 2)])
    >>> states = Structures(words, 2, [0, 0, 1, 1], {"on": [[0, 1]]})
    >>> ambiguous(Lookalikes.of(states, 1), np.array([0, 1]))
    [2, 0]
    """
    begin = lookalikes.states.object_offsets
    return [
        _mixed(histograms(Interner(), begin, colours), v_star.astype(np.int64))
        for colours in lookalikes.colours
    ]


def _mixed(keys: Integers, v_star: Integers) -> int:
    _, group = np.unique(keys, return_inverse=True)
    least, most = np.full(len(keys), np.iinfo(np.int64).max), np.full(len(keys), np.iinfo(np.int64).min)
    np.minimum.at(least, group, v_star)
    np.maximum.at(most, group, v_star)
    return int((least < most)[group].sum())


def depths_to_stable(counts: Sequence[int]) -> int | None:
    """The first depth after which nothing is told apart any more; None if the last depth still splits.

    Examples
    --------
    >>> depths_to_stable([1, 3, 5, 5]), depths_to_stable([1, 3])
    (2, None)
    """
    for depth in range(len(counts) - 1):
        if counts[depth] == counts[depth + 1]:
            return depth
    return None
