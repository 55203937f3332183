"""The trees of `counts` through scikit-learn, on single rows: the reference."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import AgglomerativeClustering
from sklearn.tree import DecisionTreeRegressor

from distill.common import InputError
from distill.trees.clustering import check_clustering
from distill.trees.counts import CountTree
from distill.trees.splitter import Floats, Integers
from distill.trees.tree import Tree


def fit_reference(
    counts: NDArray[np.integer], targets: ArrayLike, weights: ArrayLike, *, max_depth: int, seed: int
) -> CountTree:
    """Fit `DecisionTreeRegressor` to counts (n_rows, n_columns), targets (n_rows, k) and weights (n_rows,).

    Parameters
    ----------
    seed : its `random_state`, which decides between tied splits.

    Examples
    --------
    >>> counts = np.array([[0, 1], [3, 1], [5, 0]])
    >>> fit_reference(counts, [[0.0], [2.0], [2.0]], np.ones(3), max_depth=1, seed=0).splits.tolist()
    [[0, 1]]
    """
    regressor = DecisionTreeRegressor(max_depth=max_depth, random_state=seed)
    fitted = regressor.fit(counts, np.asarray(targets), sample_weight=np.asarray(weights)).tree_
    inner = np.flatnonzero(fitted.children_left >= 0)
    splits = np.full(fitted.node_count, -1, dtype=np.int64)
    splits[inner] = np.arange(len(inner))
    children = np.column_stack([fitted.children_left, fitted.children_right]).astype(np.int64)
    # Its impurity is the mean over the k targets; its nodes are in the same order as ours.
    values = fitted.value[:, :, 0].astype(np.float64)
    errors = fitted.impurity * fitted.weighted_n_node_samples * values.shape[1]
    gains = np.zeros(fitted.node_count)
    gains[inner] = errors[inner] - errors[children[inner]].sum(axis=1)
    chosen = np.column_stack([fitted.feature[inner], np.floor(fitted.threshold[inner])]).astype(np.int64)
    weight = fitted.weighted_n_node_samples.astype(np.float64)
    return CountTree(Tree(splits, children, values, weight, gains, errors), chosen)


def reference_merges(values: Floats, *, distance: str, linkage: str) -> Integers:
    """The merges (n_leaves - 1, 2) of `AgglomerativeClustering` on the values (n_leaves, k) of leaves.

    Examples
    --------
    >>> reference_merges(np.array([[0.0], [1.0], [5.0]]), distance="euclidean", linkage="ward").tolist()
    [[0, 1], [2, 3]]
    """
    check_clustering(distance, linkage)
    if distance == "cosine" and not np.abs(values).any(axis=1).all():
        raise InputError(
            "Scikit-learn has no cosine distance to a leaf whose values are all 0; set engine to quotient, "
            "or another distance."
        )
    if len(values) < 2:
        return np.zeros((0, 2), dtype=np.int64)
    clustering = AgglomerativeClustering(
        n_clusters=None, distance_threshold=0.0, metric=distance, linkage=linkage
    )
    return np.sort(clustering.fit(values).children_.astype(np.int64), axis=1)
