"""Regression trees on columns of counts: splits `count > t`, with thresholds midway between counts of a node.

These are the trees of scikit-learn's `DecisionTreeRegressor`, fitted to merged rows with weights; `reference`
fits the same trees with scikit-learn to single rows.
"""

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from distill.common import InputError
from distill.trees.splitter import Booleans, Integers
from distill.trees.tree import Columns, Tree


@dataclass(frozen=True, eq=False)
class CountTree:
    """A tree on columns of counts.

    Attributes
    ----------
    tree : the tree; the columns of its splits are the rows of `splits`.
    splits : (n_splits, 2) for each split the column of counts, and the threshold t of `count > t`.
    """

    tree: Tree
    splits: Integers

    def apply(self, counts: NDArray[np.integer]) -> Integers:
        """The leaf (n_rows,) of each row of counts (n_rows, n_columns), numbered from left to right."""
        return self.tree.apply(counts[:, self.splits[:, 0]] > self.splits[:, 1])


@dataclass(frozen=True, eq=False)
class _Draw:
    """Draws among columns of counts, each of which may have several tied thresholds or equal copies.

    Attributes
    ----------
    members : for each distinct Boolean column (n_members, 2) the columns of counts and the thresholds.
    random : the first column is taken if left out.
    splits : the column of counts and the threshold of each split so far.
    """

    members: list[Integers]
    random: np.random.Generator | None
    splits: list[tuple[int, int]] = field(default_factory=list)

    def __call__(self, columns: Integers) -> int:
        # scikit-learn visits columns in random order and replaces a split by a better one only: among tied
        # columns each is equally likely, and of its thresholds the least is taken.
        tied = np.concatenate([np.insert(self.members[one], 0, one, axis=1) for one in columns.tolist()])
        distinct = np.unique(tied[:, 1])
        chosen = int(distinct[0] if self.random is None else self.random.choice(distinct))
        own = tied[tied[:, 1] == chosen]
        column, _, threshold = own[np.argmin(own[:, 2])].tolist()
        self.splits.append((chosen, threshold))
        return int(column)


@dataclass(frozen=True, eq=False)
class CountColumns:
    """Columns of counts, prepared for fitting any number of trees.

    Attributes
    ----------
    counts : (n_rows, n_columns) whole numbers of at least 0.
    holds : (n_rows, n_distinct) the distinct Boolean columns `count > t`, without constant ones.
    members : for each of these (n_members, 2) the columns of counts and thresholds that give it.
    """

    counts: NDArray[np.integer]
    holds: Booleans
    members: list[Integers]

    @classmethod
    def of(cls, counts: NDArray[np.integer]) -> Self:
        """Prepare counts (n_rows, n_columns)."""
        if counts.ndim != 2 or counts.dtype.kind not in "iub" or counts.min(initial=0) < 0:
            raise InputError("Counts must be a table of whole numbers of at least 0.")
        found: dict[bytes, list[tuple[int, int]]] = {}
        columns: list[Booleans] = []
        for threshold in range(int(counts.max(initial=0))):
            above = counts > threshold
            varies = np.flatnonzero(above.any(axis=0) & ~above.all(axis=0))
            keys = np.packbits(above[:, varies].T, axis=1)
            for column, key in zip(varies.tolist(), keys, strict=True):
                same = found.setdefault(key.tobytes(), [])
                if not same:
                    columns.append(above[:, column])
                same.append((column, threshold))
        holds = np.stack(columns, axis=1) if columns else np.zeros((len(counts), 0), dtype=bool)
        return cls(counts, holds, [np.array(same, dtype=np.int64) for same in found.values()])

    def fit(
        self,
        targets: ArrayLike,
        weights: ArrayLike,
        *,
        max_depth: int,
        random: np.random.Generator | None = None,
    ) -> CountTree:
        """Fit a tree that lowers the weighted squared error greedily.

        Parameters
        ----------
        targets : (n_rows, k).
        weights : (n_rows,) of at least 0; a row of weight 0 has no influence.
        max_depth : the longest path, at least 1.
        random : draws among tied columns; the first one is taken if left out.

        Examples
        --------
        >>> columns = CountColumns.of(np.array([[0, 1], [3, 1], [5, 0]]))
        >>> fitted = columns.fit([[0.0], [2.0], [2.0]], np.ones(3), max_depth=1)
        >>> fitted.splits.tolist(), fitted.apply(np.array([[1, 0], [2, 0]])).tolist()
        ([[0, 1]], [0, 1])
        """
        weight = np.asarray(weights, dtype=np.float64)
        kept = np.flatnonzero(weight > 0)
        if not len(kept):
            raise InputError("A tree needs a row with a positive weight.")
        draw = _Draw(self.members, random)
        tree = Columns.of(self.holds[kept]).fit(
            np.asarray(targets)[kept],
            weight[kept],
            max_depth=max_depth,
            tie=draw,
        )
        return _with_midpoints(tree, np.array(draw.splits, dtype=np.int64).reshape(-1, 2), self, kept)


def _with_midpoints(tree: Tree, drawn: Integers, columns: CountColumns, kept: Integers) -> CountTree:
    """Move each threshold midway between the two counts of its node that it separates."""
    holds = columns.holds[kept]
    inside = {0: np.arange(len(kept))}
    splits, number = tree.splits.copy(), 0
    for node in range(len(tree.splits)):
        rows = inside.pop(node)
        if tree.splits[node] < 0:
            continue
        column, threshold = drawn[number]
        counts = columns.counts[kept[rows], column].astype(np.int64)
        above = counts > threshold
        drawn[number, 1] = (counts[~above].max() + counts[above].min()) // 2
        right = holds[rows, tree.splits[node]]
        inside[int(tree.children[node, 0])], inside[int(tree.children[node, 1])] = rows[~right], rows[right]
        splits[node] = number
        number += 1
    return CountTree(Tree(splits, tree.children, tree.values, tree.weights, tree.gains, tree.errors), drawn)
