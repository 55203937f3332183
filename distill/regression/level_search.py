"""Lexicographic rankings: short lists of features that some allowed transition of each state lowers.

A list is a sequence of features with signs. A transition *descends* if the first feature that it changes
falls. The search demands that each state has an allowed transition that descends, and that no forbidden
transition does. Each level must keep this possible: no state may be left without an allowed transition on
which no level so far rises. A beam keeps the lists with few remaining states and few symbols.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Booleans = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Integers = NDArray[np.int64]

_REMAINING = 6.0  # symbols that a list may spend to divide the number of remaining states by e
_BATCH = 1 << 26  # cells that are unpacked at a time


@dataclass(frozen=True)
class LevelFit:
    """A list of features with signs.

    Attributes
    ----------
    levels : the column of each level, and 1 if it must fall or -1 if it must rise.
    remaining : numbers of the states in which no allowed transition descends; empty if the list is complete.
    lists : the number of lists that were extended.
    """

    levels: tuple[tuple[int, int], ...]
    remaining: tuple[int, ...]
    lists: int

    @property
    def complete(self) -> bool:
        """Whether each state has an allowed transition that descends."""
        return not self.remaining


@dataclass(frozen=True, eq=False)
class _List:
    """A list under construction.

    Attributes
    ----------
    tied : numbers of the allowed transitions that no level changes, of states that no level solves.
    kept : numbers of the forbidden transitions that no level changes.
    """

    levels: tuple[tuple[int, int], ...]
    size: int
    tied: Integers
    kept: Integers

    def rank(self, remaining: int) -> tuple[float, tuple[tuple[int, int], ...]]:
        return _REMAINING * float(np.log1p(remaining)) + self.size, self.levels


class _Signs:
    """The signs of changes, packed along the columns."""

    def __init__(self, changes: NDArray[np.integer]) -> None:
        self.sign = np.sign(changes).astype(np.int8)
        self.width = self.sign.shape[1]
        self.falls: Bytes = np.packbits(self.sign < 0, axis=1)
        self.rises: Bytes = np.packbits(self.sign > 0, axis=1)

    def unpacked(self, packed: Bytes) -> Booleans:
        return np.unpackbits(packed, axis=-1, count=self.width).astype(bool)

    def totals(self, packed: Bytes) -> Integers:
        """(n_columns,) in how many rows each column holds."""
        total = np.zeros(self.width, dtype=np.int64)
        step = max(1, _BATCH // max(1, self.width))
        for begin in range(0, len(packed), step):
            total += np.unpackbits(packed[begin : begin + step], axis=1, count=self.width).sum(
                axis=0, dtype=np.int64
            )
        return total


def distinct_changes(changes: ArrayLike, sizes: Sequence[int]) -> list[int]:
    """The smallest of the columns whose changes have equal signs, up to a sign of the whole column.

    Parameters
    ----------
    changes : (n_transitions, n_columns).
    sizes : (n_columns,).

    Examples
    --------
    >>> distinct_changes([[1, -2, 0, 1], [0, 0, 0, 1]], sizes=[3, 2, 1, 4])
    [1, 3]
    """
    signs = np.sign(np.asarray(changes)).astype(np.int8)
    known: set[bytes] = set()
    chosen = []
    for column in np.argsort(np.asarray(sizes), kind="stable").tolist():
        sign = signs[:, column]
        first = sign[np.argmax(sign != 0)] if sign.any() else 0
        key = (sign * first).tobytes()
        if first and key not in known:
            known.add(key)
            chosen.append(column)
    return sorted(chosen)


def fit_levels(
    changes: ArrayLike,
    sizes: Sequence[int],
    source: ArrayLike,
    allowed: ArrayLike,
    forbidden: ArrayLike,
    *,
    beam: int = 60,
    depth: int = 5,
    progress: Callable[[int, int], None] | None = None,
) -> LevelFit:
    """The list of least total size, among those in a beam, that some allowed transition of each state lowers.

    Parameters
    ----------
    changes : (n_transitions, n_columns) value after a transition, minus the value before.
    sizes : (n_columns,) the symbols of each column.
    source : (n_transitions,) the number of the state before; ascending.
    allowed, forbidden : (n_transitions,). A state has an allowed transition, or is left out.
    beam : how many lists are extended.
    depth : the largest number of levels.
    progress : called with the number of levels searched, and `depth`.

    Examples
    --------
    Each state must reduce x, or keep x and reduce y:

    >>> changes = [[-1, 1], [0, -1], [1, -1]]
    >>> fit_levels(changes, [1, 1], source=[0, 1, 1], allowed=[1, 1, 0], forbidden=[0, 0, 0])
    LevelFit(levels=((0, 1), (1, 1)), remaining=(), lists=2)

    If the last transition is forbidden, the first level excludes it.
    """
    signs = _Signs(np.asarray(changes))
    before = np.asarray(source, dtype=np.int64)
    first = _List(
        (), 0, np.flatnonzero(np.asarray(allowed, dtype=bool)), np.flatnonzero(np.asarray(forbidden))
    )
    weights = np.asarray(sizes, dtype=np.int64)
    best, nearest, lists = None, first, [first]
    extended = 0
    for level in range(depth):
        if progress is not None:
            progress(level, depth)
        grown: dict[bytes, _List] = {}
        for one in lists:
            if not len(one.tied) or (best is not None and one.size >= best.size):
                continue
            extended += 1
            for other in _extended(one, signs, weights, before, beam):
                key = other.tied.tobytes() + b"|" + other.kept.tobytes()
                if key not in grown or (other.size, other.levels) < (grown[key].size, grown[key].levels):
                    grown[key] = other
        ranked = sorted(grown.values(), key=lambda one: one.rank(_states(one, before)))
        for one in ranked:
            if not len(one.tied) and (best is None or (one.size, one.levels) < (best.size, best.levels)):
                best = one
        lists = [one for one in ranked if len(one.tied)][:beam]
        if lists and _states(lists[0], before) < _states(nearest, before):
            nearest = lists[0]
    chosen = nearest if best is None else best
    return LevelFit(chosen.levels, tuple(np.unique(before[chosen.tied]).tolist()), extended)


def _states(one: _List, before: Integers) -> int:
    """The number of states that no level solves."""
    return len(np.unique(before[one.tied]))


def _extended(one: _List, signs: _Signs, sizes: Integers, before: Integers, beam: int) -> list[_List]:
    """The best lists with one more level."""
    own = before[one.tied]
    begin = np.flatnonzero(np.r_[True, own[1:] != own[:-1]])
    found: list[tuple[float, int, int]] = []
    for sign, falls, rises in ((1, signs.falls, signs.rises), (-1, signs.rises, signs.falls)):
        solves = np.bitwise_or.reduceat(falls[one.tied], begin)
        possible = np.bitwise_or.reduceat(~rises[one.tied], begin)
        viable = signs.unpacked(np.bitwise_and.reduce(possible))
        if len(one.kept):
            viable &= ~signs.unpacked(np.bitwise_or.reduce(falls[one.kept]))
        solved = signs.totals(solves)
        columns = np.flatnonzero(viable & (solved > 0))
        score = _REMAINING * np.log1p(len(begin) - solved[columns]) + sizes[columns]
        found += zip(score.tolist(), [-sign] * len(columns), columns.tolist(), strict=True)
    return [_with(one, column, -sign, signs, sizes, before) for _, sign, column in sorted(found)[:beam]]


def _with(one: _List, column: int, sign: int, signs: _Signs, sizes: Integers, before: Integers) -> _List:
    """The list with one more level."""
    change = sign * signs.sign[:, column]
    solved = np.unique(before[one.tied[change[one.tied] < 0]])
    tied = one.tied[change[one.tied] == 0]
    tied = tied[~np.isin(before[tied], solved)]
    size = one.size + int(sizes[column]) + (sign < 0)
    return _List((*one.levels, (column, sign)), size, tied, one.kept[change[one.kept] == 0])
