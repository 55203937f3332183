"""Building quotients from streams of states."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from distill.common import InputError
from distill.structures import Options, Quotient, Structures, concatenate
from distill.symmetry.interning import Integers, Interner, grouped
from distill.symmetry.refinement import Refinement, histograms

_UNSEEN = -1


@dataclass(frozen=True)
class LabelledBatch:
    """A batch of states with labels.

    Attributes
    ----------
    states : the structures.
    labels : for each name (n_states,) whole numbers. States are merged only if all labels are equal.
    split : (n_states,) the split of each state; states of different splits are not merged.
    multiplicity : (n_states,) the number of states that each represents; 1 if left out.
    """

    states: Structures
    labels: Mapping[str, ArrayLike]
    split: ArrayLike
    multiplicity: ArrayLike | None = None


@dataclass(frozen=True, eq=False)
class QuotientMap:
    """A quotient with the map from states to its rows.

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
        """(n_objects,) the row of each object at `depth`; -1 for an object without a row."""
        depth = min(depth, self.quotient.depth)
        *_, colours = self._refinement.layers(batch, depth)
        return self._numbered(colours, depth)

    def rows_by_depth(self, batch: Structures) -> list[Integers]:
        """`rows` at each depth of the quotient."""
        layers = self._refinement.layers(batch, self.quotient.depth)
        return [self._numbered(colours, depth) for depth, colours in enumerate(layers)]

    def state_rows(self, labelled: LabelledBatch) -> Integers:
        """(n_states,) the state row of each state; -1 for a state without a row."""
        rows = self.rows(labelled.states, self.quotient.depth)
        numbers = self._state_rows(labelled.states, rows, _signs(labelled, list(self.quotient.labels)))
        return np.where(numbers < len(self.quotient.chosen), numbers, _UNSEEN)

    def _numbered(self, colours: Integers, depth: int) -> Integers:
        known, row = self._row_of_colour[depth]
        if not len(known):
            return np.full(len(colours), _UNSEEN)
        place = np.minimum(np.searchsorted(known, colours), len(known) - 1)
        return np.where(known[place] == colours, row[place], _UNSEEN)


def build_quotient(
    batches: Iterable[LabelledBatch], depth: int | None = None, options: Options | None = None
) -> QuotientMap:
    """Build the quotient of all states of all batches.

    Batches are read one at a time. Of states with equal labels that no number of rounds distinguishes only
    one is kept, so memory is bounded by the number of these classes and one batch.

    Parameters
    ----------
    depth : the depth of the last layer; if left out, the depth at which the rows are stable. Beyond a
        hundred layers, there are no more layers once the rows are stable, as they would all be equal.

    Examples
    --------
    >>> from distill.structures import Predicate, Vocabulary
    >>> words = Vocabulary([Predicate("on", 2)])
    >>> towers = Structures(words, 2, [0, 0, 0, 1, 1, 1], {"on": [[0, 1], [1, 2], [5, 3], [3, 4]]})
    >>> quotient = build_quotient([LabelledBatch(towers, {"v_star": [4, 4]}, [0, 0])]).quotient
    >>> [len(layer) for layer in quotient.layers], quotient.multiplicity, quotient.labels
    ([1, 3, 3], array([2]), {'v_star': array([4])})
    """
    refinement = Refinement(options)
    states, names, signs, multiplicity, state_class = _representatives(refinement, batches)
    rows: list[Integers] = []
    mappings: list[_Rows] = []
    stable = False
    for colours in refinement.layers(states, _MANY if depth is None else depth):
        # Before depth 0 there is a single row.
        before = rows[-1] if rows else np.zeros(len(colours), dtype=np.int64)
        own, mapping = _next_rows(colours, before)
        stable = bool(mappings) and len(mapping[0]) == len(mappings[-1][0])
        rows.append(own)
        mappings.append(mapping)
        if stable and (depth is None or len(rows) > _DEEP):
            break
    state_rows = _StateRows()
    state_row = state_rows(states, rows[-1], signs)
    first = grouped(state_row)[1]
    total = np.bincount(state_row, weights=multiplicity).astype(np.int64)
    *labels, split = np.ascontiguousarray(signs[first].T)
    by_name = dict(zip(names, labels, strict=True))
    quotient = Quotient(states, refinement.options, rows, stable, first, by_name, split, total)
    return QuotientMap(quotient, state_row[state_class], refinement, tuple(mappings), state_rows)


_MANY = 1_000_000
_DEEP = 100


def _representatives(
    refinement: Refinement, batches: Iterable[LabelledBatch]
) -> tuple[Structures, list[str], Integers, Integers, Integers]:
    """One state of each class, names of labels, labels and split, multiplicity, class of each state."""
    known = Interner()
    names: list[str] | None = None
    kept, signs, classes, weights = [], [], [], []
    for batch in batches:
        before = len(known)
        keys = refinement.classes(batch.states)
        names = list(batch.labels) if names is None else names
        sign = _signs(batch, names)
        numbers = known(np.column_stack([keys, sign]))
        first = grouped(numbers)[1]
        new = first[numbers[first] >= before]
        signs.append(sign[new])
        classes.append(numbers)
        weights.append(np.ones(len(keys)) if batch.multiplicity is None else np.asarray(batch.multiplicity))
        kept.append(batch.states[new])
    state_class = np.concatenate(classes)
    multiplicity = np.bincount(state_class, np.concatenate(weights), minlength=len(known)).astype(np.int64)
    return concatenate(kept), names or [], np.concatenate(signs), multiplicity, state_class


def _signs(batch: LabelledBatch, names: list[str]) -> Integers:
    """(n_states, n_labels + 1) the labels in this order, then the split."""
    if set(batch.labels) != set(names):
        raise InputError(f"All states need the same labels: {', '.join(names)} or {', '.join(batch.labels)}.")
    given = np.column_stack([*(batch.labels[name] for name in names), batch.split])
    signs: Integers = given.astype(np.int64)
    if not np.array_equal(signs, given):
        raise InputError("Labels of states in a quotient must be whole numbers.")
    return signs


_Rows = tuple[Integers, Integers]  # colours in order, and the row of each


def _next_rows(colours: Integers, before: Integers) -> tuple[Integers, _Rows]:
    """Number colours in the order of the previous rows; rows that do not split keep their order."""
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

    def __call__(self, states: Structures, rows: Integers, signs: Integers) -> Integers:
        keys = histograms(self._histograms, states.object_offsets, rows)
        return self._signs(np.column_stack([keys, signs]))
