"""Vectorised operations on flat arrays and on rows of integers."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

Integers = NDArray[np.integer]


def offsets(counts: ArrayLike) -> NDArray[np.int64]:
    """The begin of each part of a flat array, and the end of the last part.

    Parameters
    ----------
    counts : (n,) lengths of the parts.

    Returns
    -------
    (n + 1,) offsets.

    Examples
    --------
    >>> offsets([2, 0, 3])
    array([0, 2, 2, 5])
    """
    lengths = np.asarray(counts, dtype=np.int64)
    result = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=result[1:])
    return result


def bounded_parts(begins: Integers, most: int) -> Iterator[tuple[int, int]]:
    """Begin and end of consecutive parts that together have at most `most` elements, or of a larger one.

    Parameters
    ----------
    begins : (n + 1,) offsets of the parts of a flat array.

    Examples
    --------
    >>> list(bounded_parts(offsets([2, 2, 9, 1]), 4))
    [(0, 2), (2, 3), (3, 4)]
    """
    begin = 0
    while begin < len(begins) - 1:
        end = max(begin + 1, int(np.searchsorted(begins, begins[begin] + most, side="right")) - 1)
        yield begin, end
        begin = end


def ranges(starts: ArrayLike, counts: ArrayLike) -> NDArray[np.int64]:
    """Concatenate `start, start + 1, …` of the given lengths.

    Parameters
    ----------
    starts, counts : (n,) first number and length of each run.

    Returns
    -------
    (sum of counts,) numbers.

    Examples
    --------
    >>> ranges([5, 0], [3, 2])
    array([5, 6, 7, 0, 1])
    """
    lengths = np.asarray(counts, dtype=np.int64)
    begin = offsets(lengths)
    shift = np.asarray(starts, dtype=np.int64) - begin[:-1]
    return np.arange(begin[-1]) + np.repeat(shift, lengths)


def distinct_rows(rows: Integers) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct rows in ascending order, and the position of each row among them.

    Equals `numpy.unique(rows, axis=0, return_inverse=True)` and is several times faster.

    Parameters
    ----------
    rows : (n, width) non-negative integers.

    Returns
    -------
    (n_distinct, width) and (n,).

    Examples
    --------
    >>> distinct_rows(np.array([[3, 1], [0, 2], [3, 1]]))
    (array([[0, 2],
           [3, 1]]), array([1, 0, 1]))
    """
    key = np.zeros(len(rows), dtype=np.int64)
    n_keys = 1
    for column in rows.T.astype(np.int64):
        width = int(column.max(initial=0)) + 1
        if n_keys > _LARGEST // width:
            present, key = np.unique(key, return_inverse=True)
            n_keys = len(present)
        key = key * width + column
        n_keys *= width
    _, first, position = np.unique(key, return_index=True, return_inverse=True)
    return rows[first].astype(np.int64), position


_LARGEST = 2**62


def scramble(codes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Map numbers to pseudo-random numbers, one to one (the finaliser of splitmix64).

    Examples
    --------
    >>> scramble(np.array([0, 1], dtype=np.uint64)) >> np.uint64(60)
    array([14,  9], dtype=uint64)
    """
    codes = np.atleast_1d(np.asarray(codes, dtype=np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
    codes = (codes ^ (codes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    codes = (codes ^ (codes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return codes ^ (codes >> np.uint64(31))


def rank_within(label: NDArray[np.generic], key: NDArray[np.generic]) -> NDArray[np.int64]:
    """(n,) the rank of each element, by a key, among those with the same label.

    Examples
    --------
    >>> rank_within(np.array([1, 2, 1, 1]), np.array([9, 9, 5, 7]))
    array([2, 0, 0, 1])
    """
    order = np.lexsort((key, label))
    begins = np.searchsorted(label[order], label[order])
    rank = np.empty(len(label), dtype=np.int64)
    rank[order] = np.arange(len(label)) - begins
    return rank
