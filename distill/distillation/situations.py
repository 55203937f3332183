"""Situations: states with all their transitions, merged where no formula distinguishes them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from distill.common import InputError, offsets
from distill.planning import transitions
from distill.structures import UNSOLVABLE, V_STAR, DataSet, Quotient
from distill.symmetry import QuotientMap

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Situations:
    """Solvable states other than goals, with all their transitions.

    A state is a row of a quotient. States of one row whose successors belong to different rows are different
    situations.

    Attributes
    ----------
    state : (n_situations,) the row of each situation.
    count : (n_situations,) the number of states that it represents.
    first : (n_situations + 1,) the first transition of each situation.
    target : (n_transitions,) rows of the successors, each once and other than the row of the situation.
    dead : (n_transitions,) whether no goal can be reached from the successor.
    optimal : (n_transitions,) whether the successor is closer to a goal.
    """

    state: Integers
    count: Integers
    first: Integers
    target: Integers
    dead: Booleans
    optimal: Booleans

    def __len__(self) -> int:
        return len(self.state)

    @property
    def source(self) -> Integers:
        """(n_transitions,) the situation of each transition."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))

    def take(self, chosen: ArrayLike) -> "Situations":
        """Some situations."""
        numbers = np.asarray(chosen, dtype=np.int64)
        lengths = np.diff(self.first)[numbers]
        first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        moves = np.arange(first[-1]) + np.repeat(self.first[numbers] - first[:-1], lengths)
        return Situations(
            self.state[numbers],
            self.count[numbers],
            first,
            self.target[moves],
            self.dead[moves],
            self.optimal[moves],
        )


def find_situations(sets: Mapping[str, DataSet], built: QuotientMap) -> Situations:
    """The situations of all fully expanded instances.

    Parameters
    ----------
    sets : the states that the quotient was built from, in the same order.

    Examples
    --------
    >>> from distill.planning import expand, problem_class
    >>> from distill.symmetry import build_quotient_of
    >>> data = expand(problem_class("blocks-clear").make("train")[1], 1000)
    >>> found = find_situations({"train": data}, build_quotient_of({"train": data}))
    >>> len(data), len(found), int(found.count.sum()), len(found.target)
    (22, 6, 11, 10)
    """
    sources, targets = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    begins = offsets([len(data) for data in sets.values()])
    for begin, data in zip(begins, sets.values(), strict=False):
        own = transitions(data)
        sources.append(own.source.astype(np.int64) + int(begin))
        targets.append(own.target.astype(np.int64) + int(begin))
    source, target = np.concatenate(sources), np.concatenate(targets)
    if not len(source):
        raise InputError("No instance is expanded fully, so no transitions are known; raise max_states.")
    return _merged(source, built.state_row[target], built.state_row, built.quotient)


def _merged(source: Integers, target: Integers, row: Integers, quotient: Quotient) -> Situations:
    """Merge states by their row and the set of rows of their successors.

    Parameters
    ----------
    source, target : (n_transitions,) numbers of states, and rows of successors.
    row : (n_states,) the row of each state.
    """
    v_star = quotient.labels[V_STAR].astype(np.int64)
    useful = (v_star[row[source]] > 0) & (target != row[source])
    pairs = np.unique(np.column_stack([source[useful], target[useful]]), axis=0)
    states, begin = np.unique(pairs[:, 0], return_index=True)
    ends = np.append(begin[1:], len(pairs))
    known: dict[bytes, int] = {}
    count: list[int] = []
    kept: list[int] = []
    for position, (state, start, end) in enumerate(zip(states, begin, ends, strict=True)):
        key = row[state].tobytes() + pairs[start:end, 1].tobytes()
        number = known.setdefault(key, len(known))
        if number == len(count):
            count.append(0)
            kept.append(position)
        count[number] += 1
    lengths = (ends - begin)[kept]
    first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    moves = np.arange(first[-1]) + np.repeat(begin[kept] - first[:-1], lengths)
    after = pairs[moves, 1]
    own = row[states[kept]]
    dead = v_star[after] == UNSOLVABLE
    optimal = ~dead & (v_star[after] < np.repeat(v_star[own], lengths))
    return Situations(own, np.array(count, dtype=np.int64), first, after, dead, optimal)
