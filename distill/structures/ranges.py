"""Picking parts of flat arrays, and telling rows apart, without a loop."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Integers = NDArray[np.integer]


def offsets(counts: ArrayLike) -> NDArray[np.int64]:
    """Where each part of a flat array begins, and where the last one ends.

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
    """The distinct rows in ascending order, and the place of each row among them.

    What `numpy.unique(rows, axis=0, return_inverse=True)` gives, several times faster.

    Parameters
    ----------
    rows : (n, width) integers of at least 0.

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
    reach = 1
    for column in rows.T.astype(np.int64):
        width = int(column.max(initial=0)) + 1
        if reach > _LARGEST // width:
            present, key = np.unique(key, return_inverse=True)
            reach = len(present)
        key = key * width + column
        reach *= width
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    return rows[first].astype(np.int64), place


_LARGEST = 2**62


def mixed(codes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble numbers one to one: near ones become far apart (the finaliser of splitmix64).

    Examples
    --------
    >>> mixed(np.array([0, 1], dtype=np.uint64)) >> np.uint64(60)
    array([14,  9], dtype=uint64)
    """
    codes = np.atleast_1d(np.asarray(codes, dtype=np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
    codes = (codes ^ (codes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    codes = (codes ^ (codes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return codes ^ (codes >> np.uint64(31))
