"""Exact numbers for rows of integers: in all batches, equal rows have equal numbers.

Rows are looked up by a hash and then compared entry by entry. If two different rows have the same hash, all
rows are hashed again with another salt.
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Integers = NDArray[np.int64]
_EXPECTED = 1 << 14  # distinct keys: a larger table would be slower if most keys are equal


class _CollisionError(Exception):
    """Two different rows have the same hash."""


class Interner:
    """Numbers rows in the order of their first occurrence.

    Examples
    --------
    >>> numbers = Interner()
    >>> numbers(np.array([[1, 2], [3, 4], [1, 2]]))
    array([0, 1, 0])
    >>> numbers(np.array([[3, 4], [3, 4]])), numbers(np.array([[3, 4, 0]]))
    (array([1, 1]), array([2]))
    """

    def __init__(self) -> None:
        self._size = 0
        self._salt = 0
        self._known: dict[int, list[_Chunk]] = {}

    def __len__(self) -> int:
        return self._size

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
        while True:
            try:
                return self._numbered(rows)
            except _CollisionError:
                self._change_salt()

    def _change_salt(self) -> None:
        """Hash all known rows again, until no two of one width have the same hash."""
        collided = True
        while collided:
            self._salt += 1
            self._known = {
                width: [chunk.rehashed(self._salt) for chunk in chunks]
                for width, chunks in self._known.items()
            }
            hashes = [np.concatenate([chunk.hashes for chunk in c]) for c in self._known.values() if c]
            collided = any(len(np.unique(part)) < len(part) for part in hashes)

    def _numbered(self, rows: Integers) -> Integers:
        hashes = _hashed(rows, self._salt)
        group, first = grouped(hashes)
        if not np.array_equal(np.take(rows, first[group], axis=0), rows):
            raise _CollisionError
        distinct, hashes = rows[first], hashes[first]
        numbers = np.full(len(distinct), -1, dtype=np.int64)
        chunks = self._known.setdefault(rows.shape[1], [])
        for chunk in chunks:
            chunk.look_up(hashes, distinct, numbers)
        new = numbers < 0
        if new.any():
            numbers[new] = np.arange(self._size, self._size + new.sum())
            chunks.append(_Chunk(distinct[new], numbers[new], hashes[new]))
            self._size += int(new.sum())
            # Merging chunks of similar size keeps them few and moves each row seldom.
            while (
                len(chunks) > 1
                and len(chunks[-2].numbers) < 2 * len(chunks[-1].numbers)
                and chunks[-2].overlaps(chunks[-1].rows)
            ):
                last = chunks.pop()
                chunks.append(chunks.pop().joined(last))
        return numbers[group]

    def signatures(self, own: Integers, messages: Integers, *, sets: bool = False) -> Integers:
        """Number pairs of a vertex colour and a multiset, or set, of messages.

        Parameters
        ----------
        own : (n,) colours.
        messages : (n, k) in any order.
        sets : ignore how often a message occurs.

        Examples
        --------
        >>> numbers, rows = Interner(), np.array([[7, 8, 8], [8, 7, 7], [8, 7, 8]])
        >>> numbers.signatures(np.zeros(3), rows), numbers.signatures(np.zeros(3), rows, sets=True)
        (array([0, 1, 0]), array([2, 2, 2]))
        """
        if messages.shape[1] > 1:
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


class _Chunk:
    """Rows with their numbers and distinct hashes."""

    def __init__(self, rows: Integers, numbers: Integers, hashes: Integers) -> None:
        self.rows = rows
        self.numbers = numbers
        self.hashes = hashes
        self._index = pd.Index(hashes)
        self._least, self._most = rows[:, 0].min(), rows[:, 0].max()

    def overlaps(self, rows: Integers) -> bool:
        """Whether the rows may be in this chunk: first entries of different depths never overlap."""
        return bool(rows[:, 0].min() <= self._most and rows[:, 0].max() >= self._least)

    def joined(self, other: "_Chunk") -> "_Chunk":
        """Both chunks in one; all hashes differ, since known rows are not added again."""
        return _Chunk(
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.numbers, other.numbers]),
            np.concatenate([self.hashes, other.hashes]),
        )

    def rehashed(self, salt: int) -> "_Chunk":
        """The same with another salt."""
        return _Chunk(self.rows, self.numbers, _hashed(self.rows, salt))

    def look_up(self, hashes: Integers, rows: Integers, numbers: Integers) -> None:
        """Write the numbers of the rows that are in this chunk."""
        if not self.overlaps(rows):
            return
        place = self._index.get_indexer(hashes)
        found = np.flatnonzero(place >= 0)
        if not np.array_equal(self.rows[place[found]], rows[found]):
            raise _CollisionError
        numbers[found] = self.numbers[place[found]]


def grouped(keys: Integers) -> tuple[Integers, Integers]:
    """The group of each key, and the first position of each group, in order of appearance."""
    group = pd.factorize(keys, size_hint=_EXPECTED)[0].astype(np.int64, copy=False)
    first = np.empty(int(group.max(initial=-1)) + 1, dtype=np.int64)
    first[group[::-1]] = np.arange(len(group))[::-1]
    return group, first


def _hashed(rows: Integers, salt: int) -> Integers:
    """A 64-bit hash of each row: xor, multiply and mix, column by column."""
    with np.errstate(over="ignore"):
        state = np.full(len(rows), 0x9E3779B97F4A7C15 + 2 * salt, dtype=np.uint64)
        for column in rows.T:
            state = (state ^ column.astype(np.uint64)) * np.uint64(0xFF51AFD7ED558CCD)
            state ^= state >> np.uint64(32)
    return state.view(np.int64)
