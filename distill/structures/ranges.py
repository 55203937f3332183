"""Runs of consecutive numbers: how parts of a flat array are picked without a loop."""

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
