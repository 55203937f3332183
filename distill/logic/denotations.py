"""Which objects each of very many formulas holds of, as packed bits; each set of objects is kept once."""

import numpy as np
from numpy.typing import NDArray

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

BYTES = 1 << 25  # of what is worked on at once
_MOST = 1 << 29  # bytes that are kept
_HASHED = np.random.default_rng(0).integers(0, 1 << 63, 64, dtype=np.uint64) * 2 + 1


def packed(holds: Booleans) -> Words:
    """Rows of Booleans (m, n) as rows of bits (m, ⌈n / 64⌉)."""
    width = max(1, -(-holds.shape[1] // 64)) * 8
    found = np.zeros((len(holds), width), dtype=np.uint8)
    bits = np.packbits(holds, axis=1, bitorder="little")
    found[:, : bits.shape[1]] = bits
    return found.view(np.uint64)


def unpacked(words: Words, length: int) -> Booleans:
    """Undo `packed` for rows of `length` Booleans.

    Examples
    --------
    >>> unpacked(packed(np.array([[True, False, True]])), 3)
    array([[ True, False,  True]])
    """
    return np.unpackbits(words.view(np.uint8), axis=1, count=length, bitorder="little").view(bool)


def turned(words: Words, length: int) -> Words:
    """Rows and columns exchanged: from (m, ⌈length / 64⌉) to (length, ⌈m / 64⌉)."""
    step = max(64, BYTES // max(1, length) // 64 * 64)
    parts = [packed(unpacked(words[at : at + step], length).T) for at in range(0, max(1, len(words)), step)]
    return np.concatenate(parts, axis=1)


class Denotations:
    """Different sets of objects, numbered in the order in which they came.

    Parameters
    ----------
    n_rows : how many objects there are.
    at_most : how many sets are kept; fewer if they would fill the memory.

    Examples
    --------
    >>> kept = Denotations(3, 10)
    >>> kept.add(packed(np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1]], dtype=bool)))
    array([0, 1])
    >>> kept.find(packed(np.array([[False, True, False]]))[0])
    1
    """

    def __init__(self, n_rows: int, at_most: int) -> None:
        self.n_rows = n_rows
        self.mask = packed(np.ones((1, n_rows), dtype=bool))[0]
        self.at_most: int = min(at_most, _MOST // self.mask.nbytes)
        self._rows = np.zeros((1024, len(self.mask)), dtype=np.uint64)
        self._places: dict[bytes, int] = {}
        self._hashes = np.zeros(0, dtype=np.uint64)  # ascending
        self._owners = np.zeros(0, dtype=np.int64)  # which set has each hash

    def __len__(self) -> int:
        return len(self._places)

    @property
    def is_full(self) -> bool:
        """Whether no more are kept."""
        return len(self) >= self.at_most

    def rows(self, begin: int, end: int) -> Words:
        """(end - begin, n_words) some of the sets."""
        return self._rows[: len(self)][begin:end]

    def find(self, words: Words) -> int | None:
        """The number of the set (n_words,), if it is kept."""
        return self._places.get(words.tobytes())

    def add(self, words: Words) -> Integers:
        """Keep what is new among sets (m, n_words), as far as there is room; which of them these are."""
        hashes = _hashes(words)
        place = np.minimum(np.searchsorted(self._hashes, hashes), max(0, len(self._hashes) - 1))
        unknown = np.ones(len(words), dtype=bool)
        if len(self._hashes):
            likely = np.flatnonzero(self._hashes[place] == hashes)
            # A hash is a hint only: what has the same one is compared.
            unknown[likely] = (self._rows[self._owners[place[likely]]] != words[likely]).any(axis=1)
        left = np.flatnonzero(unknown)
        _, first, group = np.unique(hashes[left], return_index=True, return_inverse=True)
        clashing = (words[left] != words[left[first]][group.reshape(-1)]).any(axis=1)
        fresh = left[np.union1d(first, np.flatnonzero(clashing))]
        return self._keep(words, hashes, fresh)

    def _keep(self, words: Words, hashes: Words, fresh: Integers) -> Integers:
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
        every = np.concatenate([self._hashes, hashes[new]])
        order = np.argsort(every, kind="stable")
        self._hashes = every[order]
        self._owners = np.concatenate([self._owners, np.arange(begin, len(self))])[order]
        return new


def _hashes(words: Words) -> Words:
    found = np.zeros(len(words), dtype=np.uint64)
    for column in range(words.shape[1]):
        mixed = (words[:, column] + np.uint64(column)) * _HASHED[column % 64]
        found = (found ^ mixed ^ (mixed >> np.uint64(29))) * _HASHED[(column + 1) % 64]
    return found ^ (found >> np.uint64(32))


def apart(first: Words, second: Words, n_rows: int) -> tuple[int, int] | None:
    """The numbers of two sets without a common object, one of `first` (a, n_words), one of `second`."""
    if not len(first) or not len(second):
        return None
    columns = turned(second, n_rows)
    # Objects in many of the sets come first, so that most sets are out at once.
    order = np.argsort(-np.bitwise_count(columns).sum(axis=1, dtype=np.int64), kind="stable")
    columns = columns[order]
    everyone = packed(np.ones((1, len(second)), dtype=bool))[0]
    step = max(1, BYTES // max(1, n_rows))
    for begin in range(0, len(first), step):
        for number, holds in enumerate(unpacked(first[begin : begin + step], n_rows)[:, order], begin):
            free, members = everyone, np.flatnonzero(holds)
            for at in range(0, len(members), 8):
                free = free & ~np.bitwise_or.reduce(columns[members[at : at + 8]], axis=0)
                if not free.any():
                    break
            else:
                return number, int(np.flatnonzero(unpacked(free[None], len(second))[0])[0])
    return None
