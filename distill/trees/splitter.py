"""Splitting nodes: merging equal rows, and choosing the column of each split."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from distill.common import InputError

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Tie = Callable[[Integers], int]


def as_booleans(columns: Booleans) -> Booleans:
    """Check that columns (n_rows, n_columns) are Booleans."""
    given = np.asarray(columns)
    if given.ndim != 2 or given.dtype != np.bool_:
        raise InputError("Columns must be a table of Booleans.")
    return given


def merge_rows(columns: Booleans) -> tuple[Booleans, Integers]:
    """The distinct rows in order of first appearance, and the place of each row among them.

    Parameters
    ----------
    columns : (n_rows, n_columns).

    Returns
    -------
    (n_distinct, n_columns) and (n_rows,).

    Examples
    --------
    >>> merge_rows(np.array([[True, False], [False, False], [True, False]]))
    (array([[ True, False],
           [False, False]]), array([0, 1, 0]))
    """
    columns = as_booleans(columns)
    n_rows, n_columns = columns.shape
    if n_rows == 0 or n_columns == 0:
        return columns[:1], np.zeros(n_rows, dtype=np.int64)
    packed = np.ascontiguousarray(np.packbits(columns, axis=1))
    seen: dict[bytes, int] = {}
    keys = packed.view(f"V{packed.shape[1]}")[:, 0].tolist()
    first = np.fromiter((seen.setdefault(key, row) for row, key in enumerate(keys)), np.int64, n_rows)
    distinct, group = np.unique(first, return_inverse=True)
    return columns[distinct], group


@dataclass(frozen=True, eq=False)
class Rule:
    """When a node is split, and which of several tied columns is chosen.

    Attributes
    ----------
    max_depth : the longest path.
    least_weight : of a leaf, above 0.
    least_gain : a split must lower the weighted squared error by more than this.
    slack : columns whose gain is below the best one by at most this share of it are tied.
    tie : chooses one of several tied columns (n_tied,), which are ascending.
    """

    max_depth: int
    least_weight: float
    least_gain: float
    slack: float
    tie: Tie

    def choose(self, product: Floats, total: Floats) -> tuple[int, float]:
        """The column to split a node on and its gain, or -1 and 0.

        Parameters
        ----------
        product : (n_columns, k + 1) sums over the rows of the node that have the column.
        total : (k + 1,) sums over all rows of the node.

        Examples
        --------
        >>> rule = Rule(1, 1e-12, 0.0, 1e-9, max)
        >>> rule.choose(np.array([[3.0, 1.0], [-3.0, 1.0]]), np.array([0.0, 2.0]))
        (1, 18.0)
        """
        yes, no = product[:, -1], total[-1] - product[:, -1]
        allowed = np.flatnonzero((yes >= self.least_weight) & (no >= self.least_weight))
        # around the node's mean both sides are off by the same sum, which makes the gain a plain square
        off = product[allowed, :-1] - yes[allowed, None] * (total[:-1] / total[-1])
        gains = (off**2).sum(axis=1) * (1 / yes[allowed] + 1 / no[allowed])
        best = gains.max(initial=0.0)
        tied = np.flatnonzero((gains > self.least_gain) & (gains >= best * (1 - self.slack)))
        if not len(tied):
            return -1, 0.0
        column = int(self.tie(allowed[tied]))
        return column, float(gains[np.searchsorted(allowed, column)])


class Nodes(NamedTuple):
    """The nodes of a tree in pre-order: a parent, its False branch, its True branch.

    Attributes
    ----------
    splits : (n_nodes,) the column of the split; -1 at a leaf.
    children : (n_nodes, 2) the child on False and on True; -1 at a leaf.
    totals : (n_nodes, k + 1) sums over the rows of a node.
    gains : (n_nodes,) by how much the split lowers the weighted squared error; 0 at a leaf.
    leaf : (n_rows,) the leaf of each row, as a node number.
    """

    splits: Integers
    children: Integers
    totals: Floats
    gains: Floats
    leaf: Integers


class _Pending(NamedTuple):
    """A node to be made: its rows, and its product with the columns; the product is empty for a leaf."""

    parent: int
    outcome: int
    depth: int
    rows: Integers
    product: Floats


def grow(columns: Booleans, sums: Floats, rule: Rule) -> Nodes:
    """Grow a tree that lowers the weighted squared error greedily.

    Parameters
    ----------
    columns : (n_rows, n_columns).
    sums : (n_rows, k + 1) weighted targets and, last, the weight; rows of weight 0 are ignored. Targets
        around their mean keep rounding errors small.

    Examples
    --------
    >>> rule = Rule(1, 1e-12, 0.0, 1e-9, max)
    >>> grow(np.array([[False], [True]]), np.array([[-1.0, 1.0], [1.0, 1.0]]), rule).gains
    array([2., 0., 0.])
    """
    splits: list[int] = []
    children: list[list[int]] = []
    totals: list[Floats] = []
    gains: list[float] = []
    leaf = np.zeros(len(columns), dtype=np.int64)
    rows = np.flatnonzero(sums[:, -1] > 0)
    product = _product(columns, sums, rows)
    pending = [_Pending(-1, 0, 0, rows, product)]
    while pending:
        node = pending.pop()
        number = len(splits)
        if node.parent >= 0:
            children[node.parent][node.outcome] = number
        total = sums[node.rows].sum(axis=0)
        column, gain = rule.choose(node.product, total)
        splits.append(column)
        children.append([-1, -1])
        totals.append(total)
        gains.append(gain)
        if column < 0:
            leaf[node.rows] = number
        else:
            pending += _branches(columns, sums, node, number, column, rule)
    return Nodes(np.array(splits), np.array(children), np.array(totals), np.array(gains), leaf)


def _branches(
    columns: Booleans, sums: Floats, node: _Pending, number: int, column: int, rule: Rule
) -> list[_Pending]:
    """Both branches of a node, the False one last so that it is popped first."""
    holds = columns[node.rows, column]
    parts = [node.rows[~holds], node.rows[holds]]
    depth = node.depth + 1
    worth = [_worth_splitting(sums[part], depth, rule) for part in parts]
    products = [node.product[:0], node.product[:0]]
    if any(worth):
        smaller = int(len(parts[1]) < len(parts[0]))
        products[smaller] = _product(columns, sums, parts[smaller])
        products[1 - smaller] = node.product - products[smaller]
    return [
        _Pending(number, outcome, depth, parts[outcome], products[outcome][: None if worth[outcome] else 0])
        for outcome in (1, 0)
    ]


def _worth_splitting(sums: Floats, depth: int, rule: Rule) -> bool:
    """Whether a split of the rows of a node, with sums (n_rows, k + 1), could lower the error."""
    weight = sums[:, -1].sum()
    if depth >= rule.max_depth or weight < 2 * rule.least_weight:
        return False
    spread = (sums[:, :-1] ** 2 / sums[:, -1:]).sum() - (sums[:, :-1].sum(axis=0) ** 2).sum() / weight
    return bool(spread > rule.least_gain)


def _product(columns: Booleans, sums: Floats, rows: Integers) -> Floats:
    """Sums (n_columns, k + 1) over those of the given rows that have the column."""
    result = np.zeros((columns.shape[1], sums.shape[1]))
    # a part at a time: the columns as floats would take eight times their memory
    step = max(1, _PART // max(1, columns.shape[1]))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        result += columns[part].astype(np.float64).T @ sums[part]
    return result


_PART = 2**18
