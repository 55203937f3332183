"""Colour refinement on relational structures of any arity (1-WL), exact and in bulk.

At depth 0 an object's colour is the set of its unary atoms. At depth d + 1 it is its colour at depth d with
the multiset (or set) of its messages: for each atom and each position at which the object stands in it, the
predicate, the position and the depth-d colours of all arguments. This is what a relational GNN can see.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from distill.structures import Options, Structures, joint_messages, offsets
from distill.symmetry.interning import Integers, Interner

_LABEL_SHIFT = 44  # a message is a label and a colour in one 64-bit number
_DEPTH_0 = -1
_BITS = 62


class Refinement:
    """Colours that are comparable between all batches that one refinement has seen.

    Examples
    --------
    A path of three blocks: its ends differ from the middle, then from each other.

    >>> from distill.structures import Predicate, Vocabulary
    >>> path = Structures(Vocabulary([Predicate("on", 2)]), 1, [0, 0, 0], {"on": [[0, 1], [1, 2]]})
    >>> [len(set(colours.tolist())) for colours in Refinement().layers(path, 1)]
    [1, 3]
    """

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()
        self._colours = Interner()
        self._tuples = Interner()
        self._kinds = Interner()

    def __len__(self) -> int:
        """The number of colours given so far, at all depths."""
        return len(self._colours)

    def layers(self, batch: Structures, depth: int) -> Iterator[Integers]:
        """Colours at depth 0, 1, … `depth`: arrays (n_objects,)."""
        colours = self._initial(batch)
        yield colours
        if depth:
            hood = self._neighbourhood(batch)
            for _ in range(depth):
                colours = self._refined(colours, hood)
                yield colours

    def stable(self, batch: Structures) -> tuple[Integers, Integers]:
        """Refine each state until its partition is stable, and once more.

        Two states get the same multiset of colours if and only if no number of rounds tells them apart: the
        last round writes the stable partition's structure into the colours.

        Returns
        -------
        (n_objects,) colours, and (n_states,) the number of rounds each state took.
        """
        result = self._initial(batch)
        rounds = np.zeros(len(batch), dtype=np.int64)
        active, part, colours = np.arange(len(batch)), batch, result.copy()
        classes = _count_classes(part, colours)
        hood = self._neighbourhood(part)
        while len(active):
            colours = self._refined(colours, hood)
            result[_objects_of(batch, active)] = colours
            rounds[active] += 1
            finer = _count_classes(part, colours)
            growing = np.flatnonzero(finer > classes)
            classes = finer[growing]
            if len(growing) < len(active):
                colours = colours[_objects_of(part, growing)]
                part, active = part[growing], active[growing]
                hood = self._neighbourhood(part)
        return result, rounds

    def keys(self, batch: Structures) -> list[bytes]:
        """A key for each state: equal if and only if 1-WL on object graphs cannot tell the states apart.

        The vertices that an object graph has for atoms carry no more than the colours of the atom's
        arguments, so objects are enough to refine. With multisets their colours say how many atoms of each
        kind there are; with sets the atoms are counted besides.
        """
        colours, rounds = self.stable(batch)
        keys = histograms(batch, colours, rounds)
        if not self.options.sets:
            return keys
        atoms = [(n, batch.relations[p.name]) for n, p in enumerate(batch.vocabulary) if p.arity > 1]
        kinds = [
            self._tuples(np.column_stack([np.full(len(rows), number), colours[rows]]))
            for number, rows in atoms
        ]
        none = [np.zeros(0, dtype=np.int64)]
        kind = np.concatenate(none + kinds)
        state = np.concatenate(none + [batch.state_of_object[rows[:, 0]] for _, rows in atoms])
        counted = kind[np.lexsort((kind, state))]
        parts = _pieces(counted, np.bincount(state, minlength=len(batch)))
        return [key + part for key, part in zip(keys, parts, strict=True)]

    def _initial(self, batch: Structures) -> Integers:
        unary = [p for p in batch.vocabulary if p.arity == 1 or (p.arity == 0 and self.options.nullary)]
        # One bit for each predicate; the leading mark keeps depth-0 colours apart from all others.
        holds = np.zeros((batch.n_objects, 1 + -(-len(unary) // _BITS)), dtype=np.int64)
        holds[:, 0] = _DEPTH_0
        for number, predicate in enumerate(unary):
            atoms = batch.relations[predicate.name][:, 0]
            if predicate.arity == 0:
                in_state = np.zeros(len(batch), dtype=bool)
                in_state[atoms] = True
                atoms = np.flatnonzero(in_state[batch.state_of_object]).astype(np.int32)
            holds[atoms, 1 + number // _BITS] |= 1 << number % _BITS
        return self._colours(holds)

    def _neighbourhood(self, batch: Structures) -> "_Neighbourhood":
        # Labels: the positions of atoms with three and more arguments, then kinds of binary messages.
        first_kind = max((predicate.arity for predicate in batch.vocabulary), default=0)
        atoms = {p.name: batch.relations[p.name].astype(np.int64) for p in batch.vocabulary if p.arity > 1}
        targets, labels, sources = [], [], []
        binary = [predicate.name for predicate in batch.vocabulary if predicate.arity == 2]
        if self.options.joint:
            target, holds, source = joint_messages(batch.n_objects, [atoms[name] for name in binary])
            targets, labels, sources = [target], [first_kind + self._kinds(holds)], [source]
        else:
            for number, name in enumerate(binary):
                for position in (0, 1):
                    targets.append(atoms[name][:, position])
                    labels.append(np.full(len(atoms[name]), first_kind + 2 * number + position))
                    sources.append(atoms[name][:, 1 - position])
        tuples = []
        next_source = batch.n_objects
        for number, predicate in enumerate(batch.vocabulary):
            if predicate.arity > 2:
                rows = atoms[predicate.name]
                tuples.append((number, rows))
                for position in range(predicate.arity):
                    targets.append(rows[:, position])
                    labels.append(np.full(len(rows), position))
                    sources.append(np.arange(next_source, next_source + len(rows)))
                next_source += len(rows)
        return _Neighbourhood.of(batch.n_objects, targets, labels, sources, tuples)

    def _refined(self, colours: Integers, hood: "_Neighbourhood") -> Integers:
        sources = colours
        if hood.tuples:
            numbered = [
                self._tuples(np.column_stack([np.full(len(atoms), predicate), colours[atoms]]))
                for predicate, atoms in hood.tuples
            ]
            sources = np.concatenate([colours, *numbered])
        refined = np.empty_like(colours)
        for objects, labels, senders in hood.by_degree:
            messages = (labels << _LABEL_SHIFT) + sources[senders]
            refined[objects] = self._colours.signatures(colours[objects], messages, sets=self.options.sets)
        return refined


@dataclass(frozen=True)
class _Neighbourhood:
    """Who sends messages to whom, objects with equally many messages together.

    Attributes
    ----------
    by_degree : for each number k of messages: the objects (n,), labels (n, k) and senders (n, k).
    tuples : atoms of three and more arguments with their predicate's number; they send as senders beyond
        the objects.
    """

    by_degree: list[tuple[Integers, Integers, Integers]]
    tuples: list[tuple[int, Integers]]

    @staticmethod
    def of(
        n_objects: int,
        targets: list[Integers],
        labels: list[Integers],
        sources: list[Integers],
        tuples: list[tuple[int, Integers]],
    ) -> "_Neighbourhood":
        empty = [np.zeros(0, dtype=np.int64)]
        target = np.concatenate(targets or empty)
        order = np.argsort(target, kind="stable")
        label = np.concatenate(labels or empty)[order]
        source = np.concatenate(sources or empty)[order]
        degree = np.bincount(target, minlength=n_objects)
        begin = offsets(degree)
        by_degree = []
        for k in np.unique(degree):
            objects = np.flatnonzero(degree == k)
            places = begin[objects][:, None] + np.arange(k)
            by_degree.append((objects, label[places], source[places]))
        return _Neighbourhood(by_degree, tuples)


def _objects_of(batch: Structures, states: Integers) -> NDArray[np.int64]:
    chosen = np.zeros(len(batch), dtype=bool)
    chosen[states] = True
    return np.flatnonzero(chosen[batch.state_of_object])


def _count_classes(batch: Structures, colours: Integers) -> Integers:
    """(n_states,) the number of distinct colours in each state."""
    width = int(colours.max(initial=0)) + 1
    distinct = pd.unique(batch.state_of_object.astype(np.int64) * width + colours)
    counts: Integers = np.bincount(distinct // width, minlength=len(batch))
    return counts


def histograms(batch: Structures, colours: Integers, rounds: Integers | None = None) -> list[bytes]:
    """A key for each state: equal if and only if the states have the same multiset of colours.

    Parameters
    ----------
    colours : (n_objects,) colours of one refinement.
    rounds : (n_states,) part of the key, if given; see `Refinement.stable`.
    """
    least = int(colours.min(initial=0))
    width = int(colours.max(initial=0)) - least + 1
    ordered = np.sort(batch.state_of_object * np.int64(width) + colours - least) % width + least
    taken = rounds if rounds is not None else np.zeros(len(batch), dtype=np.int64)
    return _pieces(np.insert(ordered, batch.object_offsets[:-1], taken), np.diff(batch.object_offsets) + 1)


def _pieces(numbers: Integers, counts: Integers) -> list[bytes]:
    """Consecutive parts of so many numbers each, as bytes."""
    whole = np.ascontiguousarray(numbers, dtype=np.int64).tobytes()
    bounds = (offsets(counts) * numbers.itemsize).tolist()
    return [whole[begin:end] for begin, end in pairwise(bounds)]
