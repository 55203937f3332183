"""Building quotients from streams of states."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from distill.structures import Options, Quotient, Structures, concatenate
from distill.symmetry.interning import Integers, Interner, grouped
from distill.symmetry.refinement import Refinement, histograms

_UNSEEN = -1


@dataclass(frozen=True)
class Labelled:
    """A batch of states with what keeps them apart besides their looks.

    Attributes
    ----------
    states : the structures.
    v_star, split : (n_states,) labels.
    multiplicity : (n_states,) how many states each stands for; 1 if left out.
    """

    states: Structures
    v_star: ArrayLike
    split: ArrayLike
    multiplicity: ArrayLike | None = None


@dataclass(frozen=True, eq=False)
class QuotientMap:
    """A quotient with the way from states to its rows.

    Attributes
    ----------
    quotient : the quotient.
    state_row : (n_states,) the state row of each state it was built from, in order.
    """

    quotient: Quotient
    state_row: Integers
    _refinement: Refinement
    _row_of_colour: tuple["_Rows", ...]
    _state_rows: "_StateRows"

    def rows(self, batch: Structures, depth: int) -> Integers:
        """(n_objects,) the row of each object at `depth`; -1 for an object like none before."""
        *_, colours = self._refinement.layers(batch, depth)
        return self._numbered(colours, depth)

    def state_rows(self, batch: Structures, v_star: ArrayLike, split: ArrayLike) -> Integers:
        """(n_states,) the state row of each state; -1 for a state like none before."""
        rows = self.rows(batch, self.quotient.depth)
        found = self._state_rows(batch, rows, v_star, split)
        return np.where(found < len(self.quotient.chosen), found, _UNSEEN)

    def _numbered(self, colours: Integers, depth: int) -> Integers:
        known, row = self._row_of_colour[depth]
        if not len(known):
            return np.full(len(colours), _UNSEEN)
        place = np.minimum(np.searchsorted(known, colours), len(known) - 1)
        return np.where(known[place] == colours, row[place], _UNSEEN)


def build_quotient(
    batches: Iterable[Labelled], depth: int | None = None, options: Options | None = None
) -> QuotientMap:
    """Build the quotient of all states of all batches.

    Batches are read one at a time; of states that no number of rounds tells apart, with equal labels, only
    one is kept, so memory is bounded by the number of these classes and one batch.

    Parameters
    ----------
    depth : the depth of the last layer; until the rows are stable if left out.

    Examples
    --------
    >>> from distill.structures import Predicate, Vocabulary
    >>> words = Vocabulary([Predicate("on", 2)])
    >>> towers = Structures(words, 2, [0, 0, 0, 1, 1, 1], {"on": [[0, 1], [1, 2], [5, 3], [3, 4]]})
    >>> quotient = build_quotient([Labelled(towers, [0, 0], [0, 0])]).quotient
    >>> [len(layer) for layer in quotient.layers], quotient.multiplicity
    ([1, 3, 3], array([2]))
    """
    refinement = Refinement(options)
    states, v_star, split, multiplicity, stands_for = _representatives(refinement, batches)
    rows: list[Integers] = []
    mappings: list[_Rows] = []
    stable = False
    for colours in refinement.layers(states, _MANY if depth is None else depth):
        # Depth 0 comes from a single row before it.
        before = rows[-1] if rows else np.zeros(len(colours), dtype=np.int64)
        own, mapping = _next_rows(colours, before)
        stable = bool(mappings) and len(mapping[0]) == len(mappings[-1][0])
        rows.append(own)
        mappings.append(mapping)
        if stable and depth is None:
            break
    state_rows = _StateRows()
    state_row = state_rows(states, rows[-1], v_star, split)
    first = grouped(state_row)[1]
    total = np.bincount(state_row, weights=multiplicity).astype(np.int64)
    quotient = Quotient(states, refinement.options, rows, stable, first, v_star[first], split[first], total)
    return QuotientMap(quotient, state_row[stands_for], refinement, tuple(mappings), state_rows)


_MANY = 1_000_000


def _representatives(
    refinement: Refinement, batches: Iterable[Labelled]
) -> tuple[Structures, Integers, Integers, Integers, Integers]:
    """One state of each class, with its labels and multiplicity; and the class of each state."""
    signs = Interner()
    kept, labels, classes, weights = [], [], [], []
    for batch in batches:
        before = len(signs)
        keys = refinement.classes(batch.states)
        sign = np.column_stack([keys, batch.v_star, batch.split]).astype(np.int64)
        numbers = signs(sign)
        first = grouped(numbers)[1]
        new = first[numbers[first] >= before]
        labels.append(sign[new, 1:])
        classes.append(numbers)
        weights.append(np.ones(len(keys)) if batch.multiplicity is None else np.asarray(batch.multiplicity))
        kept.append(batch.states[new])
    v_star, split = np.concatenate(labels).T
    stands_for = np.concatenate(classes)
    multiplicity = np.bincount(stands_for, np.concatenate(weights), minlength=len(v_star)).astype(np.int64)
    return concatenate(kept), v_star, split, multiplicity, stands_for


_Rows = tuple[Integers, Integers]  # colours in order, and the row of each


def _next_rows(colours: Integers, before: Integers) -> tuple[Integers, _Rows]:
    """Number colours by the row before, so that rows that do not split keep their number."""
    present, first, group = np.unique(colours, return_index=True, return_inverse=True)
    order = np.argsort(before[first], kind="stable")
    number = np.empty(len(present), dtype=np.int64)
    number[order] = np.arange(len(present))
    return number[group], (present, number)


class _StateRows:
    """Numbers states by the rows of their objects and their labels, in order of appearance."""

    def __init__(self) -> None:
        self._histograms = Interner()
        self._signs = Interner()

    def __call__(self, states: Structures, rows: Integers, v_star: ArrayLike, split: ArrayLike) -> Integers:
        keys = histograms(self._histograms, states.object_offsets, rows)
        return self._signs(np.column_stack([keys, v_star, split]))
