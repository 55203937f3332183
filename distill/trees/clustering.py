"""Sets of leaves with similar values, by hierarchical agglomerative clustering."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.hierarchy import linkage as cluster
from scipy.spatial.distance import pdist

from distill.common import InputError

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

DISTANCES = ("euclidean", "manhattan", "cosine")
LINKAGES = ("ward", "average", "complete", "single")


@dataclass(frozen=True, eq=False)
class Dendrogram:
    """Clusters of leaves, from single leaves to all of them.

    Attributes
    ----------
    sets : the 2l - 1 sets of l leaves: single leaves, then merged sets in order; each ascending.
    merges : (l - 1, 2) the numbers of the two sets that each merged set consists of.
    heights : (l - 1,) their distance under the linkage, ascending. Ward's is √(2·|A|·|B| / (|A| + |B|))
        times the distance of the means, which is the plain distance for two single leaves.
    """

    sets: list[tuple[int, ...]]
    merges: Integers
    heights: Floats


def leaf_sets(values: ArrayLike, *, distance: str = "euclidean", linkage: str = "ward") -> Dendrogram:
    """Cluster leaves by their values, and return all clusters from single leaves to the set of all leaves.

    Parameters
    ----------
    values : (n_leaves, k).
    distance : one of `DISTANCES`. The cosine distance of a zero vector is 1, but 0 to another one.
    linkage : one of `LINKAGES`; Ward's is defined by Euclidean distances only.

    Examples
    --------
    >>> clusters = leaf_sets([[0.0], [1.0], [5.0]], distance="euclidean", linkage="single")
    >>> clusters.sets, clusters.heights
    ([(0,), (1,), (2,), (0, 1), (0, 1, 2)], array([1., 4.]))
    """
    merges, heights = merge_order(values, distance=distance, linkage=linkage)
    return Dendrogram(leaf_sets_of(merges), merges, heights)


def leaf_sets_of(merges: Integers) -> list[tuple[int, ...]]:
    """The sets of leaves that merges (n_leaves - 1, 2) make; see `Dendrogram`.

    Examples
    --------
    >>> leaf_sets_of(np.array([[0, 1]]))
    [(0,), (1,), (0, 1)]
    """
    sets: list[tuple[int, ...]] = [(leaf,) for leaf in range(len(merges) + 1)]
    for left, right in merges.tolist():
        sets.append(tuple(sorted(sets[left] + sets[right])))
    return sets


def merge_order(values: ArrayLike, *, distance: str, linkage: str) -> tuple[Integers, Floats]:
    """The merges (n_leaves - 1, 2) and heights (n_leaves - 1,) of a dendrogram, as in `leaf_sets`."""
    check_clustering(distance, linkage)
    points = np.asarray(values, dtype=np.float64)
    if points.ndim != 2 or 0 in points.shape:
        raise InputError("The values of leaves must be a table with at least one row and one column.")
    if not np.isfinite(points).all():
        raise InputError("The values of leaves must be finite numbers.")
    steps = cluster(_distances(points, distance), linkage) if len(points) > 1 else np.zeros((0, 4))
    return np.sort(steps[:, :2].astype(np.int64), axis=1), steps[:, 2]


def check_clustering(distance: str, linkage: str) -> None:
    """Raise an error if a distance and a linkage cannot be combined."""
    if distance not in DISTANCES:
        raise InputError(f"There is no distance {distance!r}; choose from {', '.join(DISTANCES)}.")
    if linkage not in LINKAGES:
        raise InputError(f"There is no linkage {linkage!r}; choose from {', '.join(LINKAGES)}.")
    if linkage == "ward" and distance != "euclidean":
        raise InputError(f"Ward's linkage needs the distance euclidean, not {distance}.")


def _distances(points: Floats, distance: str) -> Floats:
    """The distances of all pairs of points (n, k), in scipy's order (n (n - 1) / 2,)."""
    if distance != "cosine":
        return np.asarray(pdist(points, {"euclidean": "euclidean", "manhattan": "cityblock"}[distance]))
    largest = np.abs(points).max(axis=1, keepdims=True)
    zero = largest[:, 0] == 0
    scaled = points / np.where(largest > 0, largest, 1)
    unit = scaled / np.where(zero, 1, np.linalg.norm(scaled, axis=1))[:, None]
    # of unit vectors, half the squared distance is 1 - cosine, without the rounding error of the difference
    result = np.asarray(pdist(unit, "sqeuclidean")) / 2
    first, second = np.triu_indices(len(points), 1)
    result[zero[first] != zero[second]] = 1.0
    return result
