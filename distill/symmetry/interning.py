"""Exact numbers for rows of integers: equal rows, equal number, in every batch.

Rows are grouped by a hash, every row is compared with the first of its group, and the first of each group is
looked up by its full content. A collision is therefore found, and then the group is split the slow way.
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Integers = NDArray[np.int64]


class Interner:
    """Numbers rows in the order in which they are first seen.

    Examples
    --------
    >>> numbers = Interner()
    >>> numbers(np.array([[1, 2], [3, 4], [1, 2]]))
    array([0, 1, 0])
    >>> numbers(np.array([[3, 4], [3, 4]])), numbers(np.array([[3, 4, 0]]))
    (array([1, 1]), array([2]))
    """

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def __call__(self, rows: Integers) -> Integers:
        """Number the rows of a matrix.

        Parameters
        ----------
        rows : (n, k) integers; rows of different length never have the same number.

        Returns
        -------
        (n,) numbers.
        """
        if not len(rows):
            return np.zeros(0, dtype=np.int64)
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        group, first = _groups(rows)
        numbers = self._numbers
        # A row's bytes say its length too, as all entries have the same size.
        known = [numbers.setdefault(key.tobytes(), len(numbers)) for key in rows[first]]
        result: Integers = np.array(known, dtype=np.int64)[group]
        return result

    def signatures(self, own: Integers, messages: Integers, *, sets: bool = False) -> Integers:
        """Number what vertices are and hear: their own colour with a multiset, or set, of messages.

        Parameters
        ----------
        own : (n,) colours.
        messages : (n, k) in any order.
        sets : forget how often a message occurs.

        Examples
        --------
        >>> numbers, heard = Interner(), np.array([[7, 8, 8], [8, 7, 7], [8, 7, 8]])
        >>> numbers.signatures(np.zeros(3), heard), numbers.signatures(np.zeros(3), heard, sets=True)
        (array([0, 1, 0]), array([2, 2, 2]))
        """
        messages = np.sort(messages, axis=1)
        if not sets or messages.shape[1] < 2:
            return self(np.column_stack([own, messages]))
        new = np.column_stack([np.ones(len(messages), dtype=bool), messages[:, 1:] != messages[:, :-1]])
        sizes = new.sum(axis=1)
        numbers = np.empty(len(messages), dtype=np.int64)
        for size in np.unique(sizes):
            rows = np.flatnonzero(sizes == size)
            distinct = messages[rows][new[rows]].reshape(len(rows), size)
            numbers[rows] = self(np.column_stack([own[rows], distinct]))
        return numbers


def _groups(rows: Integers) -> tuple[Integers, Integers]:
    """The group of each row, and the first row of each group, in order of appearance."""
    group, first = _factorised(_hashed(rows))
    if not np.array_equal(rows[first[group]], rows):
        _, unordered = np.unique(rows, axis=0, return_inverse=True)
        group, first = _factorised(unordered.astype(np.int64).reshape(-1))
    return group, first


def _factorised(keys: Integers) -> tuple[Integers, Integers]:
    group = pd.factorize(keys)[0].astype(np.int64, copy=False)
    first = np.empty(int(group.max()) + 1, dtype=np.int64)
    first[group[::-1]] = np.arange(len(group))[::-1]
    return group, first


def _hashed(rows: Integers) -> Integers:
    """A 64-bit hash of each row: multiply, add, and mix, column by column."""
    with np.errstate(over="ignore"):
        state = np.full(len(rows), 0x9E3779B97F4A7C15, dtype=np.uint64)
        for column in rows.T:
            state = (state ^ column.astype(np.uint64)) * np.uint64(0xFF51AFD7ED558CCD)
            state ^= state >> np.uint64(32)
    return state.view(np.int64)
