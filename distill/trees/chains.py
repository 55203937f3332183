"""Chains: when trees bear one step after the other along a relation, the whole way is admitted.

The ball of k steps around a concept holds of the objects from which at most k steps lead to it; a level, of
those from which k steps are the fewest. Trees tell only a few of them apart, and the formula of each is long.
Where enough consecutive ones are among the leaf sets, the network measures a distance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.logic import Relation, Truth
from distill.trees.language import Way

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Chain:
    """Consecutive steps along a relation that trees bear.

    Attributes
    ----------
    relation : along which.
    concept : from which steps are counted.
    steps : the first and the last of the consecutive steps.
    layers : for each step the layer in which a tree bore it.
    """

    relation: Relation
    concept: Truth
    steps: tuple[int, int]
    layers: tuple[int, ...]


def key_of(holds: Booleans) -> bytes:
    """A key for where something holds (n_rows,); the same for where it does not."""
    return np.packbits(holds ^ holds[0]).tobytes()


def find_chain(
    way: Way,
    concepts: Sequence[Truth],
    holds: Booleans,
    train: Booleans,
    born: Mapping[bytes, int],
    least: int,
) -> Chain | None:
    """The longest chain along a relation, if it has at least so many steps.

    Parameters
    ----------
    concepts : from which steps may be counted.
    holds : (n_rows, n_concepts) where they hold.
    train : (n_rows,) the rows that trees saw.
    born : the keys of what trees bear, as `key_of` makes them for the rows that they saw, and the layers.
    """
    balls, layers = holds, [[-1] * len(concepts)]
    while True:
        further = balls | way.leads_to(balls)
        levels = further & ~balls
        grows = np.asarray(levels[train].any(axis=0))
        if not grows.any():
            break
        found = []
        for number in range(len(concepts)):
            sets = (further[train, number], levels[train, number]) if grows[number] else ()
            known = [born[key] for key in map(key_of, sets) if key in born]
            found.append(min(known, default=-1))
        layers.append(found)
        balls = further
    best: Chain | None = None
    for number, concept in enumerate(concepts):
        for first, last in _runs([step[number] >= 0 for step in layers]):
            longer = best is None or last - first > best.steps[1] - best.steps[0]
            if last - first + 1 >= least and longer:
                own = tuple(layers[step][number] for step in range(first, last + 1))
                best = Chain(way.relation, concept, (first, last), own)
    return best


def _runs(present: list[bool]) -> list[tuple[int, int]]:
    """First and last of the places that follow each other."""
    runs: list[tuple[int, int]] = []
    for place in np.flatnonzero(present).tolist():
        if runs and runs[-1][1] == place - 1:
            runs[-1] = (runs[-1][0], place)
        else:
            runs.append((place, place))
    return runs


def distances(way: Way, begins: Booleans, ends: Booleans, histogram: Any) -> Integers:
    """How far it is, in each state, from an object with one concept to an object with another.

    Parameters
    ----------
    begins, ends : (n_rows, m) and (n_rows, n) where concepts hold.
    histogram : sparse (n_states, n_rows) the rows of each state.

    Returns
    -------
    (n_states, m, n) fewest steps; 0 where there is no way.
    """
    present = histogram.astype(np.int32)
    result = np.zeros((present.shape[0], begins.shape[1], ends.shape[1]), dtype=np.int64)
    reached, frontier, taken = ends, ends, 0
    arrived = _meets(present, begins, ends)
    while frontier.any():
        taken += 1
        frontier = way.leads_to(frontier) & ~reached
        reached = reached | frontier
        new = _meets(present, begins, frontier) & ~arrived
        result[new] = taken
        arrived |= new
    return result


def _meets(present: Any, begins: Booleans, ends: Booleans) -> Booleans:
    """(n_states, m, n) whether an object of the state has both."""
    found = [present @ (begins[:, [one]] & ends).astype(np.int32) > 0 for one in range(begins.shape[1])]
    return np.stack(found, axis=1)
