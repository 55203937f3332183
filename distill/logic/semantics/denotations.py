"""Denotations of many formulas: sets of rows as packed bits."""

import numpy as np
from numpy.typing import NDArray

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

BLOCK_BYTES = 1 << 25  # size of a block of sets that is processed at once
_MOST = 1 << 29  # bytes that are kept
_FACTORS = np.random.default_rng(1).integers(0, 1 << 63, 1 << 14, dtype=np.uint64) * 2 + 1


def pack(holds: Booleans) -> Words:
    """Rows of Booleans (m, n) as rows of bits (m, ⌈n / 64⌉)."""
    width = max(1, -(-holds.shape[1] // 64)) * 8
    found = np.zeros((len(holds), width), dtype=np.uint8)
    bits = np.packbits(holds, axis=1, bitorder="little")
    found[:, : bits.shape[1]] = bits
    return found.view(np.uint64)


def unpack(words: Words, length: int) -> Booleans:
    """Undo `pack` for rows of `length` Booleans.

    Examples
    --------
    >>> unpack(pack(np.array([[True, False, True]])), 3)
    array([[ True, False,  True]])
    """
    return np.unpackbits(words.view(np.uint8), axis=1, count=length, bitorder="little").view(bool)


def transpose(words: Words, length: int) -> Words:
    """Rows and columns exchanged: from (m, ⌈length / 64⌉) to (length, ⌈m / 64⌉)."""
    step = max(64, BLOCK_BYTES // max(1, length) // 64 * 64)
    parts = [pack(unpack(words[at : at + step], length).T) for at in range(0, max(1, len(words)), step)]
    return np.concatenate(parts, axis=1)


def hashes(words: Words) -> Words:
    """(m,) a number for each set (m, n_words); equal sets have equal numbers."""
    factors = np.resize(_FACTORS, words.shape[1]) + np.arange(words.shape[1], dtype=np.uint64) * np.uint64(2)
    found: Words = (words ^ (words >> np.uint64(29))) @ factors
    return found


class Denotations:
    """Distinct sets of rows, numbered in the order in which they were added.

    Parameters
    ----------
    n_rows : number of rows.
    at_most : largest number of sets; smaller if they would fill the memory.

    Examples
    --------
    >>> kept = Denotations(3, 10)
    >>> kept.add(pack(np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1]], dtype=bool)))
    array([0, 1])
    >>> kept.find(pack(np.array([[False, True, False]]))[0])
    1
    """

    def __init__(self, n_rows: int, at_most: int) -> None:
        self.n_rows = n_rows
        self.mask = pack(np.ones((1, n_rows), dtype=bool))[0]
        self.at_most: int = min(at_most, _MOST // self.mask.nbytes)
        self._rows = np.zeros((1024, len(self.mask)), dtype=np.uint64)
        self._places: dict[bytes, int] = {}
        self._hashes = np.zeros(0, dtype=np.uint64)  # ascending
        self._owners = np.zeros(0, dtype=np.int64)  # which set has each hash

    def __len__(self) -> int:
        return len(self._places)

    @property
    def is_full(self) -> bool:
        """Whether no further set is kept."""
        return len(self) >= self.at_most

    def rows(self, begin: int, end: int) -> Words:
        """(end - begin, n_words) some of the sets."""
        return self._rows[: len(self)][begin:end]

    def find(self, words: Words) -> int | None:
        """The number of a set (n_words,), or None."""
        return self._places.get(words.tobytes())

    def add(self, words: Words) -> Integers:
        """Keep the new ones of sets (m, n_words) while there is room, and return their places."""
        keys = hashes(words)
        place = np.minimum(np.searchsorted(self._hashes, keys), max(0, len(self._hashes) - 1))
        unknown = np.ones(len(words), dtype=bool)
        if len(self._hashes):
            likely = np.flatnonzero(self._hashes[place] == keys)
            # Sets with equal hashes are compared.
            unknown[likely] = (self._rows[self._owners[place[likely]]] != words[likely]).any(axis=1)
        left = np.flatnonzero(unknown)
        _, first, group = np.unique(keys[left], return_index=True, return_inverse=True)
        clashing = (words[left] != words[left[first]][group.reshape(-1)]).any(axis=1)
        fresh = left[np.union1d(first, np.flatnonzero(clashing))]
        return self._keep(words, keys, fresh)

    def _keep(self, words: Words, keys: Words, fresh: Integers) -> Integers:
        begin, kept = len(self), []
        for number in fresh.tolist():
            if self.is_full:
                break
            key = words[number].tobytes()
            if key not in self._places:
                self._places[key] = len(self._places)
                kept.append(number)
        new = np.array(kept, dtype=np.int64)
        while len(self._rows) < len(self):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._rows[begin : len(self)] = words[new]
        every = np.concatenate([self._hashes, keys[new]])
        order = np.argsort(every, kind="stable")
        self._hashes = every[order]
        self._owners = np.concatenate([self._owners, np.arange(begin, len(self))])[order]
        return new


def apart(first: Words, second: Words, n_rows: int) -> tuple[int, int] | None:
    """The numbers of two disjoint sets, one of `first` (a, n_words) and one of `second` (b, n_words)."""
    if not len(first) or not len(second):
        return None
    columns = transpose(second, n_rows)
    # Rows that are in many sets come first, so that most sets are ruled out early.
    order = np.argsort(-np.bitwise_count(columns).sum(axis=1, dtype=np.int64), kind="stable")
    columns = columns[order]
    everyone = pack(np.ones((1, len(second)), dtype=bool))[0]
    step = max(1, BLOCK_BYTES // max(1, n_rows))
    for begin in range(0, len(first), step):
        for number, holds in enumerate(unpack(first[begin : begin + step], n_rows)[:, order], begin):
            free, members = everyone, np.flatnonzero(holds)
            for at in range(0, len(members), 8):
                free = free & ~np.bitwise_or.reduce(columns[members[at : at + 8]], axis=0)
                if not free.any():
                    break
            else:
                return number, int(np.flatnonzero(unpack(free[None], len(second))[0])[0])
    return None
