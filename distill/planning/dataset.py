"""Labelled states of many instances, stored compactly and encoded into structures on demand.

A file is a numpy archive (`.npz`, no pickle). Besides its metadata (where the set came from, domain and
instance PDDL, object names, how each instance was generated and labelled) it holds:

| array | shape | meaning |
| --- | --- | --- |
| `atom_predicate` | (n_atoms,) | predicates of all ground atoms, by position in the vocabulary |
| `atom_arguments` | (n_atoms, max arity) | their objects, numbered within the instance; -1 for none |
| `atom_offsets` | (n_instances + 1,) | where each instance's ground atoms begin |
| `n_fixed` | (n_instances,) | so many first atoms hold in all its states: goals, types, static facts |
| `state_instance` | (n_states,) | the instance of each state, ascending |
| `state_offsets` | (n_states + 1,) | where each state's entries in `state_atoms` begin |
| `state_atoms` | (n_entries,) | the other ground atoms that hold in each state, ascending |
| `v_star` | (n_states,) | least number of steps to a goal; -1 if there is no way |
| `multiplicity` | (n_states,) | how many states of the instances this one stands for |
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from distill.errors import InputError
from distill.structures import Structures, Vocabulary, offsets, ranges, read_archive, write_archive
from distill.structures.vocabulary import ACHIEVED, MISSING

KIND = "labelled states"
UNSOLVABLE = -1


@dataclass(frozen=True, eq=False)
class DataSet:
    """Labelled states; the arrays are described at the top of this module.

    Attributes
    ----------
    vocabulary : the predicates, with plain goals.
    domain : the domain's PDDL.
    instances : one dictionary each: `name`, `pddl`, `parameters` of its generator, `objects` (names),
        `states` (how many were labelled), `solvable` (None if that is unknown), `exhaustive` (whether these
        are all reachable states) and `unlabelled` (states for which the search gave up).
    origin : where the set came from: the class or files, the split, the labelling settings.
    """

    vocabulary: Vocabulary
    domain: str
    instances: tuple[dict[str, Any], ...]
    atom_predicate: NDArray[np.int32]
    atom_arguments: NDArray[np.int32]
    atom_offsets: NDArray[np.int64]
    n_fixed: NDArray[np.int32]
    state_instance: NDArray[np.int32]
    state_offsets: NDArray[np.int64]
    state_atoms: NDArray[np.int32]
    v_star: NDArray[np.int32]
    multiplicity: NDArray[np.int32]
    origin: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.v_star)

    @cached_property
    def n_objects(self) -> NDArray[np.int64]:
        """(n_instances,) the number of objects of each instance."""
        return np.array([len(instance["objects"]) for instance in self.instances], dtype=np.int64)

    @cached_property
    def key(self) -> str:
        """A name for the states and labels: equal sets, equal name, wherever they came from."""
        texts = [self.domain, *(instance["pddl"] for instance in self.instances)]
        digest = hashlib.sha256(json.dumps([self.vocabulary.to_json(), texts]).encode())
        for name in _ARRAYS:
            digest.update(np.ascontiguousarray(getattr(self, name)).tobytes())
        return digest.hexdigest()[:32]

    def summary(self) -> dict[str, int]:
        """The counts that describe the set.

        `states` counts all labelled states of all instances, `distinct_states` those kept in the set.
        """
        known = self.v_star[self.v_star != UNSOLVABLE]
        solvable = [instance for instance in self.instances if instance["solvable"]]
        return {
            "instances": len(self.instances),
            "solvable_instances": len(solvable),
            "states": sum(instance["states"] for instance in self.instances),
            "states_of_solvable_instances": sum(instance["states"] for instance in solvable),
            "distinct_states": len(self),
            "unsolvable_states": int(self.multiplicity[self.v_star == UNSOLVABLE].sum()),
            "max_v_star": int(known.max(initial=UNSOLVABLE)),
            "min_objects": int(self.n_objects.min()) if self.instances else 0,
            "max_objects": int(self.n_objects.max(initial=0)),
            "exhaustive_instances": sum(instance["exhaustive"] for instance in self.instances),
            "unlabelled_states": sum(instance["unlabelled"] for instance in self.instances),
            "unlabelled_instances": sum(instance["states"] == 0 for instance in self.instances),
        }

    def weights(self) -> NDArray[np.float64]:
        """(n_states,) inverse frequency of each state's V* (thesis 2.19); 0 for unsolvable states.

        The frequency of a value is its share of the solvable states in the set, each counted once.
        """
        solvable = self.v_star != UNSOLVABLE
        values, number, counts = np.unique(self.v_star[solvable], return_inverse=True, return_counts=True)
        weights = np.zeros(len(self))
        if len(values):
            weights[solvable] = (solvable.sum() / counts)[number]
        return weights

    def structures(
        self, states: slice | ArrayLike | None = None, *, goal_marking: bool = False
    ) -> Structures:
        """Encode states as relational structures.

        Parameters
        ----------
        states : a slice, Boolean mask or numbers; all states if left out.
        goal_marking : whether goals are split into achieved (`p_G,T`) and missing ones (`p_G,F`).
        """
        everything = np.arange(len(self))
        if states is None:
            chosen = everything
        else:
            chosen = everything[states if isinstance(states, slice) else np.atleast_1d(states)]
        instance = self.state_instance[chosen]
        sizes = self.n_objects[instance]
        object_offsets = offsets(sizes)
        n_fixed = self.n_fixed[instance]
        n_changing = np.diff(self.state_offsets)[chosen]
        changing = self.state_atoms[ranges(self.state_offsets[chosen], n_changing)]
        atoms = np.concatenate([ranges(self.atom_offsets[instance], n_fixed), changing])
        positions = np.arange(len(chosen))
        place = np.concatenate([np.repeat(positions, n_fixed), np.repeat(positions, n_changing)])
        kind = self.atom_predicate[atoms]
        vocabulary = self.vocabulary
        if goal_marking:
            vocabulary = vocabulary.marked()
            kind = self._marked(atoms, place, vocabulary)
        order = np.argsort(kind, kind="stable")
        bounds = offsets(np.bincount(kind, minlength=len(vocabulary)))
        relations: dict[str, NDArray[Any]] = {}
        for number, predicate in enumerate(vocabulary):
            rows = order[bounds[number] : bounds[number + 1]]
            where = place[rows]
            if predicate.arity == 0:
                relations[predicate.name] = where[:, None]
            else:
                arguments = self.atom_arguments[atoms[rows], : predicate.arity]
                relations[predicate.name] = arguments + object_offsets[where, None]
        return Structures(vocabulary, len(chosen), np.repeat(positions, sizes), relations)

    def _marked(self, atoms: NDArray[Any], place: NDArray[Any], vocabulary: Vocabulary) -> NDArray[Any]:
        """Predicate numbers in the marked vocabulary, given each atom and the position of its state."""
        new = np.empty((2, len(self.vocabulary)), dtype=np.int64)
        for number, predicate in enumerate(self.vocabulary):
            names = [predicate.name] * 2
            if predicate.role == "goal":
                names = [predicate.name + MISSING, predicate.name + ACHIEVED]
            new[:, number] = [vocabulary.index(name) for name in names]
        target = self._goal_target[atoms]
        holds = np.isin(place * len(self.atom_predicate) + target, place * len(self.atom_predicate) + atoms)
        absent = np.array([p.wants_absence for p in self.vocabulary])[self.atom_predicate[atoms]]
        achieved = np.where(target < 0, False, holds) != absent
        marked: NDArray[Any] = new[achieved.astype(int), self.atom_predicate[atoms]]
        return marked

    @cached_property
    def _goal_target(self) -> NDArray[np.int64]:
        """(n_atoms,) for a goal atom the number of the atom it asks for; -1 if that holds in no state."""
        instance = np.repeat(np.arange(len(self.instances)), np.diff(self.atom_offsets))
        base = np.array([self.vocabulary.index(p.base) for p in self.vocabulary], dtype=np.int64)
        rows = np.column_stack([instance, base[self.atom_predicate], self.atom_arguments])
        _, key = np.unique(rows, axis=0, return_inverse=True)
        goal = np.array([p.role == "goal" for p in self.vocabulary], dtype=bool)[self.atom_predicate]
        owner = np.full(key.max(initial=0) + 1, -1, dtype=np.int64)
        owner[key[~goal]] = np.flatnonzero(~goal)
        return np.where(goal, owner[key], -1)

    def atom_names(self, state: int) -> list[str]:
        """The atoms of a state in PDDL, goals and static facts included."""
        names = self.instances[self.state_instance[state]]["objects"]
        decoded = self.structures([state]).decode(0, names)
        return [f"({' '.join([name, *map(str, arguments)])})" for name, arguments in decoded]

    def pick(self, states: ArrayLike, multiplicity: ArrayLike | None = None) -> "DataSet":
        """Keep some states only; the instances stay as they are.

        Parameters
        ----------
        states : (n,) ascending numbers of the states to keep.
        multiplicity : (n,) how many states each of them stands for; as it was, if left out.
        """
        chosen = np.asarray(states, dtype=np.int64)
        counts = np.diff(self.state_offsets)[chosen]
        new = self.multiplicity[chosen] if multiplicity is None else multiplicity
        return replace(
            self,
            state_instance=self.state_instance[chosen],
            state_offsets=offsets(counts),
            state_atoms=self.state_atoms[ranges(self.state_offsets[chosen], counts)],
            v_star=self.v_star[chosen],
            multiplicity=np.asarray(new, dtype=np.int32),
        )

    def repeats(self) -> NDArray[np.int64]:
        """(n_states,) the first state with the same objects, facts, goal and atoms, in any instance."""
        rows = np.column_stack([self.atom_predicate, self.atom_arguments])
        _, number = np.unique(rows, axis=0, return_inverse=True)
        setting = [
            (int(size), np.sort(number[start : start + fixed]).tobytes())
            for size, start, fixed in zip(self.n_objects, self.atom_offsets, self.n_fixed, strict=False)
        ]
        entries = number[self.state_atoms]
        owner = np.repeat(np.arange(len(self)), np.diff(self.state_offsets))
        entries = entries[np.lexsort((entries, owner))]
        first: dict[Any, int] = {}
        bounds = self.state_offsets.tolist()
        keys = (
            (setting[instance], entries[bounds[i] : bounds[i + 1]].tobytes())
            for i, instance in enumerate(self.state_instance.tolist())
        )
        found = (first.setdefault(key, i) for i, key in enumerate(keys))
        return np.fromiter(found, dtype=np.int64, count=len(self))

    def merged(self, stands_for: ArrayLike) -> "DataSet":
        """Keep one state of each group, with the multiplicity of all.

        Parameters
        ----------
        stands_for : (n_states,) for each state the one of its group that is kept.
        """
        kept, group = np.unique(np.asarray(stands_for), return_inverse=True)
        return self.pick(kept, np.bincount(group, weights=self.multiplicity, minlength=len(kept)))

    def distinct(self) -> "DataSet":
        """Keep the first of all states that are equal atom by atom."""
        return self.merged(self.repeats())

    def same_as(self, other: "DataSet") -> bool:
        """Whether both hold the same instances, states and labels, in the same order."""
        return (
            self.vocabulary == other.vocabulary
            and self.domain == other.domain
            and self.instances == other.instances
            and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in _ARRAYS)
        )

    def save(self, path: Path, *, compressed: bool = False) -> None:
        """Write the set to one `.npz` file, whole or not at all."""
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        metadata = {
            "kind": KIND,
            "origin": self.origin,
            "vocabulary": self.vocabulary.to_json(),
            "domain": self.domain,
            "instances": list(self.instances),
        }
        write_archive(path, arrays, metadata, compressed=compressed)

    @staticmethod
    def load(path: Path) -> "DataSet":
        """Read a set that `save` wrote."""
        arrays, metadata = read_archive(path, KIND)
        vocabulary = Vocabulary.from_json(metadata["vocabulary"])
        return DataSet(
            vocabulary,
            metadata["domain"],
            tuple(metadata["instances"]),
            **{name: arrays[name] for name in _ARRAYS},
            origin=metadata["origin"],
        )


_ARRAYS = tuple(item.name for item in fields(DataSet))[3:-1]


def join(sets: Iterable[DataSet]) -> DataSet:
    """Put sets of one domain one after the other."""
    parts = list(sets)
    if not parts:
        raise InputError("There are no instances to put together; give at least one.")
    if any(part.domain != parts[0].domain for part in parts):
        raise InputError("Instances of different domains cannot be put together; give each its own set.")
    names = {predicate for part in parts for predicate in part.vocabulary}
    widest = max(parts, key=lambda part: len(part.vocabulary)).vocabulary
    if len(names) > len(widest):
        widest = Vocabulary.in_order(names)
    parts = [_in_vocabulary(part, widest) for part in parts]
    atoms = offsets([len(part.atom_predicate) for part in parts])
    instances = offsets([len(part.instances) for part in parts])
    return DataSet(
        vocabulary=widest,
        domain=parts[0].domain,
        instances=tuple(instance for part in parts for instance in part.instances),
        atom_predicate=np.concatenate([part.atom_predicate for part in parts]),
        atom_arguments=np.concatenate([part.atom_arguments for part in parts]),
        atom_offsets=offsets(np.concatenate([np.diff(part.atom_offsets) for part in parts])),
        n_fixed=np.concatenate([part.n_fixed for part in parts]),
        state_instance=np.concatenate([p.state_instance + instances[i] for i, p in enumerate(parts)]).astype(
            np.int32
        ),
        state_offsets=offsets(np.concatenate([np.diff(part.state_offsets) for part in parts])),
        state_atoms=np.concatenate([p.state_atoms + atoms[i] for i, p in enumerate(parts)]).astype(np.int32),
        v_star=np.concatenate([part.v_star for part in parts]),
        multiplicity=np.concatenate([part.multiplicity for part in parts]),
    )


def _in_vocabulary(part: DataSet, vocabulary: Vocabulary) -> DataSet:
    if part.vocabulary == vocabulary:
        return part
    number = np.array([vocabulary.index(predicate.name) for predicate in part.vocabulary], dtype=np.int32)
    return replace(part, vocabulary=vocabulary, atom_predicate=number[part.atom_predicate])
