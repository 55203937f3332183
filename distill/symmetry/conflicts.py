"""E- and V-conflicts: what a colouring cannot tell apart (`symmetries.txt`, Definition 13).

We count as Table 1 does, which was found by reproducing it:

1. For each instance on its own, then summed; a conflict is a pair of isomorphism *classes* of one instance.
   The number of classes overall is across instances.
2. Unsolvable instances count among the states, but conflicts come from solvable ones.
3. Set variants forget how often a neighbour's colour occurs, while histograms remain multisets.
4. Nullary atoms have no vertex in the object graph.
5. Domain constants are distinguished objects, each with a colour of its own.

States without a way to the goal have V* = ∞: they are in V-conflict with states that have one.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from distill.structures import Options, Structures
from distill.symmetry.folklore import PairRefinement
from distill.symmetry.refinement import Refinement

_BATCH = 10_000


VARIANTS = tuple(
    f"{algorithm}{' set' if sets else ''}{'+G' if marked else ''}"
    for algorithm in ("1-WL", "2-FWL")
    for sets in (False, True)
    for marked in (False, True)
)
Encoder = Callable[[Sequence[int], bool], Structures]
Groups = list[list[int]]


@dataclass(frozen=True)
class Conflicts:
    """What one variant confuses.

    Attributes
    ----------
    e, v : the numbers of E- and V-conflicts, over all instances.
    pairs : the pairs of classes in E-conflict, each once, the smaller number first.
    example_e : one of them with equal V*, if there is one.
    example_v : one of them in V-conflict.
    """

    e: int
    v: int
    pairs: frozenset[tuple[int, int]]
    example_e: tuple[int, int] | None
    example_v: tuple[int, int] | None


def find_conflicts(
    classes_of_instances: Sequence[Sequence[int]], v_star: NDArray[np.integer], encode: Encoder
) -> dict[str, Conflicts]:
    """Find the conflicts of all eight variants, by their names in Table 1 (`1-WL set+G` and so on).

    Parameters
    ----------
    classes_of_instances : for each solvable instance the isomorphism classes of its states, each once.
    v_star : (n_classes,) V* of each class.
    encode : from class numbers to structures of one representative each, with plain or marked goals.
    """
    instances = [list(classes) for classes in classes_of_instances]
    found = {}
    for sets in (False, True):
        for marked in (False, True):
            suffix = f"{' set' if sets else ''}{'+G' if marked else ''}"
            refinement = Refinement(Options(sets=sets, nullary=False))
            vertices = confused(instances, refinement.keys, encode, marked)
            found[f"1-WL{suffix}"] = _counted(vertices, v_star)
            # 2-FWL refines 1-WL, so only what 1-WL confuses needs a look.
            pairs = confused(vertices, PairRefinement(sets=sets).keys, encode, marked)
            found[f"2-FWL{suffix}"] = _counted(pairs, v_star)
    return {name: found[name] for name in VARIANTS}


def confused(
    groups: Groups, keys_of: Callable[[Structures], Iterable[Hashable]], encode: Encoder, marked: bool
) -> Groups:
    """Split groups of classes by their keys; what is left are the groups of at least two with one key."""
    suspects = sorted({number for group in groups for number in group})
    keys: dict[int, Hashable] = {}
    for begin in range(0, len(suspects), _BATCH):
        part = suspects[begin : begin + _BATCH]
        keys.update(zip(part, keys_of(encode(part, marked)), strict=True))
    found: Groups = []
    for group in groups:
        parts: dict[Hashable, list[int]] = defaultdict(list)
        for number in group:
            parts[keys[number]].append(number)
        found += [part for part in parts.values() if len(part) > 1]
    return found


def _counted(groups: Groups, v_star: NDArray[np.integer]) -> Conflicts:
    pairs = [pair for group in groups for pair in combinations(sorted(group), 2)]
    differ = [pair for pair in pairs if v_star[pair[0]] != v_star[pair[1]]]
    equal = set(pairs) - set(differ)
    return Conflicts(
        len(pairs), len(differ), frozenset(pairs), min(equal, default=None), min(differ, default=None)
    )
