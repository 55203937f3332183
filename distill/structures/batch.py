"""A batch of structures as one disjoint union."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from distill.common import InputError, content_of, offsets, ranges
from distill.structures.archive import read_archive, write_archive
from distill.structures.vocabulary import ACHIEVED, MISSING, Vocabulary

Array = NDArray[np.int32]
KIND = "structures"


@dataclass(frozen=True, eq=False)
class Structures:
    """A batch of states. Objects are numbered consecutively, and atoms refer to these numbers.

    Attributes
    ----------
    vocabulary : the predicates, in order.
    n_states : the number of states.
    state_of_object : (n_objects,) the state each object belongs to, ascending.
    relations : for each predicate name an array (n_atoms, arity) of object numbers, grouped by state in
        ascending order. A nullary predicate has (n_atoms, 1) numbers of the *states* in which it holds.

    Examples
    --------
    >>> from distill.structures import Predicate
    >>> words = Vocabulary([Predicate("on", 2), Predicate("handempty", 0, "nullary")])
    >>> two = Structures(words, 2, np.array([0, 0, 1]), {"on": [[1, 0]], "handempty": [[0], [1]]})
    >>> two.decode(0)
    [('on', (1, 0)), ('handempty', ())]
    >>> two[[1, 0]].decode(1) == two.decode(0)
    True
    """

    vocabulary: Vocabulary
    n_states: int
    state_of_object: Array
    relations: Mapping[str, Array]

    def __init__(
        self,
        vocabulary: Vocabulary,
        n_states: int,
        state_of_object: ArrayLike,
        relations: Mapping[str, ArrayLike],
    ) -> None:
        arrays = {}
        for predicate in vocabulary:
            atoms = np.asarray(relations.get(predicate.name, ()), dtype=np.int32)
            arrays[predicate.name] = atoms.reshape(-1, max(predicate.arity, 1))
        object.__setattr__(self, "vocabulary", vocabulary)
        object.__setattr__(self, "n_states", int(n_states))
        object.__setattr__(self, "state_of_object", np.asarray(state_of_object, dtype=np.int32))
        object.__setattr__(self, "relations", arrays)
        unknown = set(relations) - set(arrays)
        if unknown:
            raise ValueError(f"relations outside the vocabulary: {', '.join(sorted(unknown))}")

    def __len__(self) -> int:
        return self.n_states

    @property
    def n_objects(self) -> int:
        """The number of objects of all states together."""
        return len(self.state_of_object)

    @cached_property
    def object_offsets(self) -> NDArray[np.int64]:
        """(n_states + 1,) the first object of each state."""
        return offsets(np.bincount(self.state_of_object, minlength=self.n_states))

    def atoms(self, name: str) -> Array:
        """(n_atoms, arity) atoms of a predicate; under goal marking `p_G` is the union of its halves."""
        halves = (name + ACHIEVED, name + MISSING)
        if halves[0] in self.vocabulary:
            both = np.concatenate([self.relations[half] for half in halves])
            return both[np.argsort(self._states_of(halves[0], both), kind="stable")]
        return self.relations[self.vocabulary[name].name]

    def states_of_atoms(self, name: str) -> Array:
        """(n_atoms,) the state of each atom of a predicate, in the order of `atoms`."""
        half = name + ACHIEVED
        return self._states_of(half if half in self.vocabulary else name, self.atoms(name))

    def _states_of(self, name: str, atoms: Array) -> Array:
        return self.state_of_object[atoms[:, 0]] if self.vocabulary[name].arity else atoms[:, 0]

    def __getitem__(self, states: slice | ArrayLike) -> "Structures":
        """Select states by slice, Boolean mask or numbers (any order, repetitions allowed)."""
        chosen = np.arange(self.n_states)[states if isinstance(states, slice) else np.atleast_1d(states)]
        sizes = np.diff(self.object_offsets)[chosen]
        new_offsets = offsets(sizes)
        shift = new_offsets[:-1] - self.object_offsets[chosen]
        relations = {}
        for predicate in self.vocabulary:
            atoms = self.relations[predicate.name]
            counts = np.bincount(self._states_of(predicate.name, atoms), minlength=self.n_states)
            picked = ranges(offsets(counts)[chosen], counts[chosen])
            place = np.repeat(np.arange(len(chosen)), counts[chosen])
            if predicate.arity == 0:
                relations[predicate.name] = place.reshape(-1, 1)
            else:
                relations[predicate.name] = atoms[picked] + shift[place, None]
        return Structures(self.vocabulary, len(chosen), np.repeat(np.arange(len(chosen)), sizes), relations)

    def relabel(self, permutation: ArrayLike) -> "Structures":
        """Renumber objects: object `i` becomes `permutation[i]`, which must belong to the same state.

        Parameters
        ----------
        permutation : (n_objects,) a permutation that maps each state's objects onto themselves.
        """
        target = np.asarray(permutation)
        if not np.array_equal(np.sort(target), np.arange(self.n_objects)) or not np.array_equal(
            self.state_of_object[target], self.state_of_object
        ):
            raise ValueError("the permutation must map the objects of each state onto themselves")
        relations = {
            predicate.name: target[self.relations[predicate.name]]
            if predicate.arity
            else self.relations[predicate.name]
            for predicate in self.vocabulary
        }
        return Structures(self.vocabulary, self.n_states, self.state_of_object, relations)

    def decode(self, state: int, names: Sequence[str] | None = None) -> list[tuple[str, tuple[object, ...]]]:
        """List the atoms of one state, by vocabulary order then arguments.

        Parameters
        ----------
        state : the number of the state.
        names : the names of the state's objects; their numbers within the state if left out.
        """
        one = self[[state]]
        result: list[tuple[str, tuple[object, ...]]] = []
        for predicate in self.vocabulary:
            for row in sorted(one.relations[predicate.name].tolist()):
                arguments = row if predicate.arity else []
                result.append((predicate.name, tuple(names[i] if names else i for i in arguments)))
        return result

    def __eq__(self, other: object) -> bool:
        """Whether both have the same atoms over the same objects, in any order."""
        if not isinstance(other, Structures):
            return NotImplemented
        return (
            self.vocabulary == other.vocabulary
            and self.n_states == other.n_states
            and np.array_equal(self.state_of_object, other.state_of_object)
            and all(
                np.array_equal(_in_order(atoms), _in_order(other.relations[name]))
                for name, atoms in self.relations.items()
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The batch as arrays and metadata, for storage."""
        arrays = {f"relation{i}": self.relations[p.name] for i, p in enumerate(self.vocabulary)}
        metadata = {"n_states": self.n_states, "vocabulary": self.vocabulary.to_json()}
        return {"state_of_object": self.state_of_object, **arrays}, metadata

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, Any]) -> "Structures":
        """Undo `to_arrays`."""
        vocabulary = Vocabulary.from_json(metadata["vocabulary"])
        relations = {p.name: arrays[f"relation{i}"] for i, p in enumerate(vocabulary)}
        return Structures(vocabulary, metadata["n_states"], arrays["state_of_object"], relations)

    def save(self, path: Path) -> None:
        """Write the batch to one file (see `distill.structures.archive`)."""
        arrays, metadata = self.to_arrays()
        write_archive(path, arrays, {**metadata, "kind": KIND})

    @staticmethod
    def load(path: Path) -> "Structures":
        """Read a batch that `save` wrote."""
        arrays, metadata = read_archive(path, KIND)
        with content_of(path):
            return Structures.from_arrays(arrays, metadata)


def concatenate(batches: Iterable[Structures]) -> Structures:
    """Concatenate batches of one vocabulary.

    Examples
    --------
    >>> from distill.structures import Predicate
    >>> one = Structures(Vocabulary([Predicate("clear", 1)]), 1, [0, 0], {"clear": [[1]]})
    >>> concatenate([one, one]).relations["clear"].tolist()
    [[1], [3]]
    """
    parts = list(batches)
    if not parts:
        raise ValueError("nothing to concatenate")
    vocabulary = parts[0].vocabulary
    if any(part.vocabulary != vocabulary for part in parts):
        raise InputError("Structures with different vocabularies cannot be concatenated.")
    states = offsets([part.n_states for part in parts])
    objects = offsets([part.n_objects for part in parts])
    relations = {}
    for predicate in vocabulary:
        shifts = objects if predicate.arity else states
        shifted = [part.relations[predicate.name] + shifts[i] for i, part in enumerate(parts)]
        relations[predicate.name] = np.concatenate(shifted)
    state_of_object = np.concatenate([part.state_of_object + states[i] for i, part in enumerate(parts)])
    return Structures(vocabulary, int(states[-1]), state_of_object, relations)


def _in_order(atoms: Array) -> Array:
    return atoms[np.lexsort(atoms.T[::-1])]
