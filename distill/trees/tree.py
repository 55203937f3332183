"""Regression trees on Boolean columns: the gains of all splits of a node come from one matrix product."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Required, Self, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from distill.common import InputError
from distill.trees.splitter import Booleans, Floats, Integers, Rule, Tie, as_booleans, grow, merge_rows

Path = tuple[tuple[int, bool], ...]


@dataclass(frozen=True, eq=False)
class Tree:
    """A fitted tree. Nodes are in pre-order: the root is node 0, and the False branch comes first.

    Attributes
    ----------
    splits : (n_nodes,) the column of the split; -1 at a leaf.
    children : (n_nodes, 2) the child on False and on True; -1 at a leaf.
    values : (n_nodes, k) weighted mean of the targets.
    weights : (n_nodes,) total weight of the rows.
    gains : (n_nodes,) by how much the split lowers the weighted squared error; 0 at a leaf.
    errors : (n_nodes,) weighted squared error of the rows around the node's value.
    """

    splits: Integers
    children: Integers
    values: Floats
    weights: Floats
    gains: Floats
    errors: Floats

    @cached_property
    def leaves(self) -> Integers:
        """(n_leaves,) node numbers of the leaves, from left (False) to right (True)."""
        return np.flatnonzero(self.splits < 0)

    @property
    def leaf_values(self) -> Floats:
        """(n_leaves, k) the prediction of each leaf."""
        return self.values[self.leaves]

    @property
    def used(self) -> Integers:
        """The columns of the splits, ascending."""
        return np.unique(self.splits[self.splits >= 0])

    @property
    def objective(self) -> float:
        """The weighted squared error of the tree on the rows it was fitted to."""
        return float(self.errors[self.leaves].sum())

    @cached_property
    def paths(self) -> list[Path]:
        """For each leaf the columns on the path from the root, each with its outcome."""
        found: list[Path] = [() for _ in self.splits]
        for node, column in enumerate(self.splits.tolist()):
            if column >= 0:
                for outcome, child in enumerate(self.children[node]):
                    found[child] = (*found[node], (column, bool(outcome)))
        return [found[leaf] for leaf in self.leaves]

    def apply(self, columns: Booleans) -> Integers:
        """The leaf (n_rows,) of each row of columns (n_rows, n_columns), numbered from left to right.

        Examples
        --------
        >>> columns = np.array([[False, True], [True, True], [True, False]])
        >>> tree = fit_tree(columns, [[0.0], [1.0], [5.0]], np.ones(3), max_depth=2)
        >>> tree.apply(columns), tree.paths
        (array([1, 2, 0]), [((1, False),), ((1, True), (0, False)), ((1, True), (0, True))])
        """
        columns = as_booleans(columns)
        if columns.shape[1] <= self.splits.max():
            raise InputError(f"The tree splits on column {self.splits.max()} of only {columns.shape[1]}.")
        node = np.zeros(len(columns), dtype=np.int64)
        moving = np.flatnonzero(self.splits[node] >= 0)
        while len(moving):
            here = node[moving]
            there = self.children[here, columns[moving, self.splits[here]].astype(np.int64)]
            node[moving] = there
            moving = moving[self.splits[there] >= 0]
        return np.searchsorted(self.leaves, node)

    def predict(self, columns: Booleans) -> Floats:
        """The prediction (n_rows, k) for each row of columns (n_rows, n_columns)."""
        return self.leaf_values[self.apply(columns)]

    def to_json(self) -> dict[str, Any]:
        """Plain lists and numbers; `from_json` is the inverse."""
        return {field.name: getattr(self, field.name).tolist() for field in fields(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The tree that `to_json` wrote.

        Examples
        --------
        >>> tree = fit_tree(np.eye(2, dtype=bool), [[0.0], [1.0]], np.ones(2), max_depth=1)
        >>> Tree.from_json(tree.to_json()).paths == tree.paths
        True
        """
        try:
            splits, children = (np.array(data[name], dtype=np.int64) for name in ("splits", "children"))
            values, *rest = (np.array(data[field.name], dtype=np.float64) for field in fields(cls)[2:])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"This is not a stored tree: {error!r}.") from None
        tree = cls(splits, children, values, *rest)
        number = np.arange(splits.size)
        inner = splits >= 0
        # `apply` and `paths` rely on it that each node but the root is the child of one earlier node
        sound = (
            len(number) > 0
            and children.shape == (len(number), 2)
            and values.ndim == 2
            and all(array.shape == values.shape[:1] == number.shape for array in (splits, *rest))
            and np.array_equal(np.sort(children[inner], axis=None), number[1:])
            and bool((children[inner] > number[inner, None]).all())
        )
        if not sound:
            raise InputError("This is not a stored tree: its nodes do not form one.")
        return tree


class TreeOptions(TypedDict, total=False):
    """The keywords of `Columns.fit`, which explains them."""

    max_depth: Required[int]
    min_weight: float
    min_gain: float
    preference: ArrayLike | None
    slack: float
    tie: Tie | None


def fit_tree(
    columns: Booleans, targets: ArrayLike, weights: ArrayLike, **options: Unpack[TreeOptions]
) -> Tree:
    """Fit a tree to columns (n_rows, n_columns); see `Columns.fit` for the rest.

    Examples
    --------
    >>> columns = np.array([[False, True], [True, True], [True, False]])
    >>> tree = fit_tree(columns, [[1.0], [1.0], [4.0]], [1, 1, 2], max_depth=3)
    >>> tree.paths, tree.leaf_values.tolist(), tree.objective
    ([((1, False),), ((1, True),)], [[4.0], [1.0]], 0.0)
    """
    return Columns.of(columns).fit(targets, weights, **options)


def one_hot(labels: ArrayLike) -> Floats:
    """Labels (n_rows,) of at least 0 as targets (n_rows, largest label + 1), for `Columns.fit`.

    Examples
    --------
    >>> one_hot([1, 0])
    array([[0., 1.],
           [1., 0.]])
    """
    given = np.asarray(labels)
    if given.ndim != 1 or len(given) == 0 or given.dtype.kind not in "iub" or given.min() < 0:
        raise InputError("Labels must be a list of integers of at least 0, one for each row.")
    return np.eye(int(given.max()) + 1)[given.astype(np.int64)]


@dataclass(frozen=True, eq=False)
class Columns:
    """Boolean columns with equal rows merged, for fitting any number of trees.

    Squared error needs only the sum of the weights and of the weighted targets of equal rows, so merging
    is exact.

    Attributes
    ----------
    merged : (n_merged, n_columns) the distinct rows.
    group : (n_rows,) the merged row of each row.
    """

    merged: Booleans
    group: Integers

    @classmethod
    def of(cls, columns: Booleans) -> Self:
        """Merge the equal rows of columns (n_rows, n_columns)."""
        if len(columns) == 0:
            raise InputError("A tree needs at least one row.")
        return cls(*merge_rows(columns))

    def fit(
        self,
        targets: ArrayLike,
        weights: ArrayLike,
        *,
        max_depth: int,
        min_weight: float = 0.0,
        min_gain: float = 0.0,
        preference: ArrayLike | None = None,
        slack: float = 1e-9,
        tie: Tie | None = None,
    ) -> Tree:
        """Fit a tree that lowers the weighted squared error greedily.

        Parameters
        ----------
        targets : (n_rows, k).
        weights : (n_rows,) of at least 0.
        max_depth : the longest path, at least 1.
        min_weight : the least weight of a leaf.
        min_gain : splits must lower the weighted squared error by more than this.
        preference : (n_columns,) among tied columns the lowest is taken, then the first.
        slack : columns whose gain is below the best one by at most this share of it are tied.
        tie : chooses among all tied columns instead, if given.

        Examples
        --------
        >>> columns = Columns.of(np.array([[False, True], [True, False], [True, False]]))
        >>> tree = columns.fit([[0.0], [2.0], [4.0]], np.ones(3), max_depth=1, preference=[5, 1])
        >>> tree.used, tree.objective
        (array([1]), 2.0)
        """
        if max_depth < 1:
            raise InputError(f"A tree needs a depth of at least 1, not {max_depth}.")
        if not (min_weight >= 0 and min_gain >= 0 and 0 <= slack < 1):
            raise InputError("A tree needs min_weight and min_gain of at least 0, and 0 <= slack < 1.")
        n_merged, n_columns = self.merged.shape
        order = np.zeros(n_columns) if preference is None else np.asarray(preference)
        if order.shape != (n_columns,):
            raise InputError(f"The preference must have one number for each of {n_columns} columns.")
        given, weight = self._checked(targets, weights)
        mean, centred, rounding = _centred(given, weight)
        weighted = np.column_stack([centred * weight[:, None], weight])
        sums: Floats = np.stack([np.bincount(self.group, part, n_merged) for part in weighted.T], axis=1)
        # a sum of weights that should be 0 or equal to min_weight is so only up to rounding
        least_weight = max(min_weight * (1 - 1e-9), 1e-12 * float(weight.sum()))
        least_gain = max(min_gain, rounding)
        tie = tie or (lambda tied: int(tied[np.argmin(order[tied])]))
        nodes = grow(self.merged, sums, Rule(max_depth, least_weight, least_gain, slack, tie))
        values = nodes.totals[:, :-1] / nodes.totals[:, -1:]
        leaf = nodes.leaf[self.group]
        residual = ((centred - values[leaf]) ** 2).sum(axis=1)
        errors = np.bincount(leaf, weight * residual, len(values)).astype(np.float64)
        for node in np.flatnonzero(nodes.splits >= 0)[::-1]:
            errors[node] = errors[nodes.children[node]].sum() + nodes.gains[node]
        return Tree(nodes.splits, nodes.children, values + mean, nodes.totals[:, -1], nodes.gains, errors)

    def _checked(self, targets: ArrayLike, weights: ArrayLike) -> tuple[Floats, Floats]:
        """Check targets (n_rows, k) and weights (n_rows,), and return them as arrays."""
        given = np.asarray(targets, dtype=np.float64)
        weight = np.asarray(weights, dtype=np.float64)
        n_rows = len(self.group)
        if given.ndim != 2 or given.shape[1] == 0 or weight.ndim != 1:
            raise InputError("Targets must be a table with a row for each weight and at least one column.")
        if not len(given) == len(weight) == n_rows:
            raise InputError(f"{n_rows} rows do not go with {len(given)} targets and {len(weight)} weights.")
        if not np.isfinite(given).all():
            raise InputError("Targets must be finite numbers.")
        if not (np.isfinite(weight).all() and (weight >= 0).all() and weight.any()):
            raise InputError("Weights must be finite numbers of at least 0, and not all 0.")
        return given, weight


def _centred(targets: Floats, weights: Floats) -> tuple[Floats, Floats, float]:
    """The weighted mean (k,), the targets (n_rows, k) around it, and a bound on rounding errors of gains."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = weights.sum()
        mean = weights @ targets / total
        centred = targets - mean
        error = weights @ (centred**2).sum(axis=1)
        size = weights @ (targets**2).sum(axis=1)
    if not np.isfinite([error, size, total]).all():
        raise InputError("Targets and weights are too large to be squared and summed.")
    # the first term keeps ties to 1e-9 in deep nodes, the second treats constant targets as constant
    return mean, centred, max(1e-12 * float(error), 1e-28 * float(size))
