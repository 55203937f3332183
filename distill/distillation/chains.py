"""Chains: consecutive steps along a relation among the leaf sets of trees, which admit a distance.

The ball of k steps around a concept contains the objects from which at most k steps lead to it; level k
contains those from which the fewest steps are k. Trees separate only a few balls and levels, and the
formula of each is long. If enough consecutive ones are among the leaf sets, the network
computes a distance.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.explanations import Chain
from distill.logic import RowRelation, Truth

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]


def key_of(holds: Booleans) -> bytes:
    """The key of a set of rows (n_rows,); its complement has the same key."""
    return np.packbits(holds ^ holds[0]).tobytes()


def find_chain(
    relation: RowRelation,
    concepts: Sequence[Truth],
    holds: Booleans,
    train: Booleans,
    leaf_sets: Mapping[bytes, int],
    least: int,
) -> Chain | None:
    """The longest chain along a relation, if it has at least `least` steps.

    Parameters
    ----------
    concepts : candidate ends of paths.
    holds : (n_rows, n_concepts) the rows of each concept.
    train : (n_rows,) the training rows.
    leaf_sets : for the key of each leaf set and split on these rows (see `key_of`) its first layer.
    """
    balls, layers = holds, [[-1] * len(concepts)]
    while True:
        further = balls | relation.steps_into(balls)
        levels = further & ~balls
        grows = np.asarray(levels[train].any(axis=0))
        if not grows.any():
            break
        found = []
        for number in range(len(concepts)):
            sets = (further[train, number], levels[train, number]) if grows[number] else ()
            known = [leaf_sets[key] for key in map(key_of, sets) if key in leaf_sets]
            found.append(min(known, default=-1))
        layers.append(found)
        balls = further
    best: Chain | None = None
    for number, concept in enumerate(concepts):
        for first, last in _runs([step[number] >= 0 for step in layers]):
            longer = best is None or last - first > best.steps[1] - best.steps[0]
            if last - first + 1 >= least and longer:
                own = tuple(layers[step][number] for step in range(first, last + 1))
                best = Chain(relation.relation, concept, (first, last), own)
    return best


def _runs(present: list[bool]) -> list[tuple[int, int]]:
    """The first and the last place of each run of True."""
    runs: list[tuple[int, int]] = []
    for place in np.flatnonzero(present).tolist():
        if runs and runs[-1][1] == place - 1:
            runs[-1] = (runs[-1][0], place)
        else:
            runs.append((place, place))
    return runs


def distances(relation: RowRelation, begins: Booleans, ends: Booleans, histogram: Any) -> Integers:
    """The distance in each state from the objects of one concept to those of another.

    Parameters
    ----------
    begins, ends : (n_rows, m) and (n_rows, n) the rows of concepts.
    histogram : sparse (n_states, n_rows) the number of objects of each row.

    Returns
    -------
    (n_states, m, n) fewest steps; 0 if there is no path.
    """
    present = histogram.astype(np.int32)
    result = np.zeros((present.shape[0], begins.shape[1], ends.shape[1]), dtype=np.int64)
    reached, frontier, taken = ends, ends, 0
    arrived = _intersect(present, begins, ends)
    while frontier.any():
        taken += 1
        frontier = relation.steps_into(frontier) & ~reached
        reached = reached | frontier
        new = _intersect(present, begins, frontier) & ~arrived
        result[new] = taken
        arrived |= new
    return result


def _intersect(present: Any, begins: Booleans, ends: Booleans) -> Booleans:
    """(n_states, m, n) whether an object of the state is in both sets."""
    found = [present @ (begins[:, [one]] & ends).astype(np.int32) > 0 for one in range(begins.shape[1])]
    return np.stack(found, axis=1)
