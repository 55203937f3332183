"""Colour refinement on relational structures of any arity (1-WL), exact and in bulk.

At depth 0 an object's colour is the set of its unary atoms. At depth d + 1 it is its colour at depth d with
the multiset (or set) of its messages: for each atom and each position of the object in it, the predicate, the
position and the depth-d colours of all arguments. A relational GNN distinguishes no more.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from distill.common import offsets
from distill.structures import Options, Structures, joint_messages
from distill.symmetry.interning import Integers, Interner, grouped

_LABEL_SHIFT = 44  # a message is a label and a colour in one 64-bit number
_BITS = 62
_DENSE = 16  # table entries for each object that are cheaper than a hash


class Refinement:
    """Colours that are comparable between all batches of one refinement.

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
        self._states = Interner()

    def __len__(self) -> int:
        """The number of colours so far, at all depths."""
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

        Two states have the same multiset of colours if and only if no number of rounds distinguishes them:
        after the last round, the colours encode the structure of the stable partition.

        Returns
        -------
        (n_objects,) colours, and (n_states,) the number of rounds each state took.
        """
        hood = self._neighbourhood(batch)
        colours = self._initial(batch)
        rounds = np.zeros(len(batch), dtype=np.int64)
        leader = _leaders(batch.state_of_object, colours)
        active = np.ones(len(batch), dtype=bool)
        while active.any():
            colours = self._refined(colours, hood)
            rounds[active] += 1
            split = np.flatnonzero(colours != colours[leader])
            owner = batch.state_of_object[split]
            leader[split] = split[_leaders(owner, colours[split])]
            growing = np.zeros(len(batch), dtype=bool)
            growing[owner] = True
            if not np.array_equal(growing, active):
                active = growing
                hood = hood.restricted(active[batch.state_of_object])
        return colours, rounds

    def classes(self, batch: Structures) -> Integers:
        """(n_states,) keys, equal if and only if no number of rounds distinguishes the states' objects."""
        return histograms(self._states, batch.object_offsets, *self.stable(batch))

    def keys_at(self, batch: Structures, depth: int) -> Integers:
        """(n_states,) keys, equal if and only if `depth` rounds do not distinguish the states' objects."""
        *_, colours = self.layers(batch, depth)
        return histograms(self._states, batch.object_offsets, colours)

    def keys(self, batch: Structures) -> Integers:
        """(n_states,) keys, equal if and only if 1-WL on object graphs does not distinguish the states.

        The colours of an atom's vertices in an object graph follow from the colours of its arguments, so it
        suffices to refine objects. With multisets their colours determine the number of atoms of each kind;
        with sets the atoms are counted in addition.
        """
        colours, rounds = self.stable(batch)
        keys = histograms(self._states, batch.object_offsets, colours, rounds)
        if not self.options.sets:
            return keys
        atoms = [(n, batch.relations[p.name]) for n, p in enumerate(batch.vocabulary) if p.arity > 1]
        kinds = [
            self._tuples(np.column_stack([np.full(len(rows), number), colours[rows]]))
            for number, rows in atoms
        ]
        none = [np.zeros(0, dtype=np.int64)]
        state = np.concatenate(none + [batch.state_of_object[rows[:, 0]] for _, rows in atoms])
        kind = np.concatenate(none + kinds)[np.argsort(state, kind="stable")]
        return histograms(self._states, offsets(np.bincount(state, minlength=len(batch))), kind, keys)

    def _initial(self, batch: Structures) -> Integers:
        unary = [p for p in batch.vocabulary if p.arity == 1 or (p.arity == 0 and self.options.nullary)]
        # One bit for each predicate; rows are negative, so depth-0 colours differ from all others.
        holds = np.full((batch.n_objects, max(1, -(-len(unary) // _BITS))), -1, dtype=np.int64)
        for number, predicate in enumerate(unary):
            atoms = batch.relations[predicate.name][:, 0]
            if predicate.arity == 0:
                in_state = np.zeros(len(batch), dtype=bool)
                in_state[atoms] = True
                atoms = np.flatnonzero(in_state[batch.state_of_object]).astype(np.int32)
            holds[:, number // _BITS][atoms] &= ~(1 << number % _BITS)
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
                places = np.arange(next_source, next_source + len(rows))
                tuples.append((number, rows, places))
                for position in range(predicate.arity):
                    targets.append(rows[:, position])
                    labels.append(np.full(len(rows), position))
                    sources.append(places)
                next_source += len(rows)
        return _Neighbourhood.of(batch.n_objects, targets, labels, sources, tuples)

    def _refined(self, colours: Integers, hood: "_Neighbourhood") -> Integers:
        sources = colours
        if hood.tuples:
            sources = np.empty(hood.n_sources, dtype=np.int64)
            sources[: len(colours)] = colours
            for predicate, atoms, places in hood.tuples:
                sources[places] = self._tuples(
                    np.column_stack([np.full(len(atoms), predicate), colours[atoms]])
                )
        refined = colours.copy()
        for objects, labels, senders in hood.by_degree:
            messages = labels + sources[senders]
            refined[objects] = self._colours.signatures(colours[objects], messages, sets=self.options.sets)
        return refined


@dataclass(frozen=True)
class _Neighbourhood:
    """Senders and receivers of messages, grouped by the number of messages.

    Attributes
    ----------
    n_sources : the number of senders.
    by_degree : for each number k of messages: the objects (n,), shifted labels (n, k) and senders (n, k).
    tuples : for each predicate of three and more arguments its number, its atoms, and their numbers as
        senders, which follow those of the objects.
    """

    n_sources: int
    by_degree: list[tuple[Integers, Integers, Integers]]
    tuples: list[tuple[int, Integers, Integers]]

    @staticmethod
    def of(
        n_objects: int,
        targets: list[Integers],
        labels: list[Integers],
        sources: list[Integers],
        tuples: list[tuple[int, Integers, Integers]],
    ) -> "_Neighbourhood":
        empty = [np.zeros(0, dtype=np.int64)]
        begin, order = _by_target(np.concatenate(targets or empty), n_objects)
        label = np.concatenate(labels or empty) << _LABEL_SHIFT
        source = np.concatenate(sources or empty)
        degree = np.diff(begin)
        by_degree = []
        for k in np.flatnonzero(np.bincount(degree)):
            objects = np.flatnonzero(degree == k)
            messages = order[begin[objects][:, None] + np.arange(k)]
            by_degree.append((objects, label[messages], source[messages]))
        return _Neighbourhood(n_objects + sum(len(atoms) for _, atoms, _ in tuples), by_degree, tuples)

    def restricted(self, active: NDArray[np.bool_]) -> "_Neighbourhood":
        """The messages that only these objects receive."""
        by_degree = []
        for objects, labels, senders in self.by_degree:
            kept = np.flatnonzero(active[objects])
            if len(kept):
                by_degree.append((objects[kept], labels[kept], senders[kept]))
        tuples = [(n, a[kept], p[kept]) for n, a, p in self.tuples for kept in [active[a[:, 0]]]]
        return _Neighbourhood(self.n_sources, by_degree, tuples)


def _by_target(target: Integers, n_objects: int) -> tuple[Integers, Integers]:
    """The first message of each object, and the messages in the order of their targets."""
    one_each = np.arange(len(target) + 1, dtype=np.int32)
    matrix = sparse.csr_array((one_each[:-1], target, one_each), shape=(len(target), n_objects)).tocsc()
    return matrix.indptr, matrix.data


def _leaders(state: NDArray[np.int32], colours: Integers) -> Integers:
    """(n_objects,) a common representative of all objects with the same state and colour."""
    width = int(colours.max(initial=0)) + 1
    key: Integers = state.astype(np.int64) * width + colours
    n_keys = (int(state.max(initial=0)) + 1) * width
    if n_keys > _DENSE * len(key):
        group, first = grouped(key)
        return first[group]
    table: Integers = np.empty(n_keys, dtype=np.int64)
    table[key] = np.arange(len(key))
    return np.take(table, key)


def histograms(known: Interner, begin: Integers, colours: Integers, own: Integers | None = None) -> Integers:
    """(n_states,) keys, equal if and only if the states have the same multiset of colours.

    Parameters
    ----------
    known : numbers the multisets; its keys are comparable.
    begin : (n_states + 1,) the first colour of each state.
    colours : (n,) colours of one refinement.
    own : (n_states,) part of the key, if given.
    """
    sizes = np.diff(begin)
    own = own if own is not None else np.zeros(len(sizes), dtype=np.int64)
    keys = np.empty(len(sizes), dtype=np.int64)
    for size in np.flatnonzero(np.bincount(sizes)):
        states = np.flatnonzero(sizes == size)
        multisets = colours[begin[states][:, None] + np.arange(size)]
        keys[states] = known.signatures(own[states], multisets)
    return keys
