"""Reading a data set a part at a time, so that memory is bounded."""

from collections.abc import Iterator

from distill.planning import DataSet
from distill.structures import Structures

AT_ONCE = 20_000


def batches(data: DataSet, *, goal_marking: bool = False) -> Iterator[tuple[slice, Structures]]:
    """The states of a data set in order: which ones, and their structures."""
    for begin in range(0, len(data), AT_ONCE):
        chosen = slice(begin, begin + AT_ONCE)
        yield chosen, data.structures(chosen, goal_marking=goal_marking)
