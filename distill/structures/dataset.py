"""Labelled states of many instances, stored compactly and encoded into structures on demand.

A file is a numpy archive (`.npz`, no pickle). Besides its metadata (provenance, PDDL of the domain
and the instances, object names, parameters of generation and labelling) it holds:

| array | shape | meaning |
| --- | --- | --- |
| `atom_predicate` | (n_atoms,) | predicates of all ground atoms, by position in the vocabulary |
| `atom_arguments` | (n_atoms, max arity) | their objects, numbered within the instance; -1 for none |
| `atom_offsets` | (n_instances + 1,) | the first ground atom of each instance |
| `n_fixed` | (n_instances,) | so many of its first atoms hold in all states: goals, types, static facts |
| `state_instance` | (n_states,) | the instance of each state, ascending |
| `state_offsets` | (n_states + 1,) | the first entry of each state in `state_atoms` |
| `state_atoms` | (n_entries,) | the other ground atoms that hold in each state, ascending |
| `v_star` | (n_states,) | least number of steps to a goal; -1 without a path |
| `multiplicity` | (n_states,) | the number of states of the instances that this one represents |

Other labels than V* are arrays `label.NAME`. A file may also have the arrays of `Transitions`.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from distill.common import InputError, content_of, offsets, ranges
from distill.structures.archive import read_archive, write_archive
from distill.structures.batch import Structures
from distill.structures.labels import UNSOLVABLE, V_STAR, inverse_frequency, label_arrays, labels_of
from distill.structures.stored_arrays import StoredInstance, check_states
from distill.structures.transitions import Transitions, join_transitions
from distill.structures.vocabulary import ACHIEVED, MISSING, Vocabulary

KIND = "labelled states"
_AT_ONCE = 20_000


_ARRAYS = (
    "atom_predicate",
    "atom_arguments",
    "atom_offsets",
    "n_fixed",
    "state_instance",
    "state_offsets",
    "state_atoms",
)


@dataclass(frozen=True, eq=False)
class DataSet:
    """Labelled states; the arrays are described at the top of this module.

    Attributes
    ----------
    vocabulary : the predicates, with plain goals.
    domain : the domain's PDDL.
    instances : one dictionary each: `name`, `pddl`, `parameters` of its generator, `objects` (names),
        `states` (the number of labelled states), `solvable` (None if unknown), `exhaustive` (whether these
        are all reachable states) and `unlabelled` (the number of states for which the search gave up).
    labels : for each name (n_states,) the label of each state.
    provenance : the class or files, the split, and the labelling settings.
    transitions : of all instances that were expanded fully; None if they are not stored. They follow from
        the PDDL, so `key` does not depend on them, and `distill.planning.transitions` computes them again.
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
    labels: Mapping[str, NDArray[Any]]
    multiplicity: NDArray[np.int32]
    provenance: dict[str, Any] = field(default_factory=dict)
    transitions: Transitions | None = None

    def __len__(self) -> int:
        return len(self.state_instance)

    @property
    def v_star(self) -> NDArray[np.int32]:
        """(n_states,) V*."""
        return self.labels[V_STAR]

    @cached_property
    def n_objects(self) -> NDArray[np.int64]:
        """(n_instances,) the number of objects of each instance."""
        return np.array([len(instance["objects"]) for instance in self.instances], dtype=np.int64)

    @cached_property
    def key(self) -> str:
        """A key of the states and labels: equal sets have equal keys, whatever their provenance."""
        texts = [self.domain, *(instance["pddl"] for instance in self.instances)]
        others = [name for name in self.labels if name != V_STAR]
        digest = hashlib.sha256(json.dumps([self.vocabulary.to_json(), texts, *others]).encode())
        for array in self.arrays().values():
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:32]

    def summary(self) -> dict[str, int]:
        """Counts that describe the set.

        `states` counts all labelled states of all instances, `distinct_states` the states in the set.
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
        """(n_states,) solvable states over those with the same V* (thesis 2.19); 0 for unsolvable ones."""
        solvable = self.v_star != UNSOLVABLE
        return np.count_nonzero(solvable) * inverse_frequency(self.v_star, solvable)

    def slices(self) -> Iterator[slice]:
        """Slices of consecutive states whose structures fit into memory."""
        return (slice(begin, begin + _AT_ONCE) for begin in range(0, len(self), _AT_ONCE))

    def structures(
        self, states: slice | ArrayLike | None = None, *, goal_marking: bool = False
    ) -> Structures:
        """Encode states as relational structures.

        Parameters
        ----------
        states : a slice, Boolean mask or numbers; all states if left out.
        goal_marking : whether goals are split into achieved (`p_G,T`) and missing ones (`p_G,F`).
        """
        selection = slice(None) if states is None else states
        chosen = np.arange(len(self))[selection if isinstance(selection, slice) else np.atleast_1d(selection)]
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
        """(n_atoms,) for a goal atom the number of its atom; -1 if that holds in no state."""
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

    def changing_atom_names(self, state: int) -> list[str]:
        """The atoms of a state in PDDL that need not hold in other states of its instance."""
        names = self.instances[self.state_instance[state]]["objects"]
        words = list(self.vocabulary)
        atoms = self.state_atoms[slice(*self.state_offsets[[state, state + 1]])]
        return [
            f"({' '.join([words[kind].name, *(names[one] for one in row if one >= 0)])})"
            for kind, row in zip(self.atom_predicate[atoms], self.atom_arguments[atoms], strict=True)
        ]

    def pick(self, states: ArrayLike, multiplicity: ArrayLike | None = None) -> "DataSet":
        """Select states. All instances remain; transitions remain only if all states do.

        Parameters
        ----------
        states : (n,) ascending numbers of states.
        multiplicity : (n,) their new multiplicities; unchanged if left out.
        """
        chosen = np.asarray(states, dtype=np.int64)
        counts = np.diff(self.state_offsets)[chosen]
        new = self.multiplicity[chosen] if multiplicity is None else multiplicity
        return replace(
            self,
            state_instance=self.state_instance[chosen],
            state_offsets=offsets(counts),
            state_atoms=self.state_atoms[ranges(self.state_offsets[chosen], counts)],
            labels={name: label[chosen] for name, label in self.labels.items()},
            multiplicity=np.asarray(new, dtype=np.int32),
            transitions=self.transitions if len(chosen) == len(self) else None,
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
        numbers = (first.setdefault(key, i) for i, key in enumerate(keys))
        return np.fromiter(numbers, dtype=np.int64, count=len(self))

    def merge(self, representative: ArrayLike) -> "DataSet":
        """Keep one state of each group, with the total multiplicity of the group.

        Parameters
        ----------
        representative : (n_states,) for each state the state of its group that is kept.
        """
        kept, group = np.unique(np.asarray(representative), return_inverse=True)
        return self.pick(kept, np.bincount(group, weights=self.multiplicity, minlength=len(kept)))

    def distinct(self) -> "DataSet":
        """Keep the first of all states that are equal atom by atom."""
        return self.merge(self.repeats())

    def same_as(self, other: "DataSet") -> bool:
        """Whether both have the same instances, states and labels, in the same order."""
        mine, others = self.arrays(), other.arrays()
        return (
            self.vocabulary == other.vocabulary
            and self.domain == other.domain
            and self.instances == other.instances
            and mine.keys() == others.keys()
            and all(np.array_equal(array, others[name]) for name, array in mine.items())
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of the file, in its order: states, labels, multiplicity."""
        states = {name: getattr(self, name) for name in _ARRAYS}
        return {**states, **label_arrays(self.labels), "multiplicity": self.multiplicity}

    def save(self, path: Path, *, compressed: bool = False, transitions: bool = False) -> None:
        """Write the set atomically to one `.npz` file, optionally with its transitions."""
        metadata: dict[str, Any] = {
            "kind": KIND,
            "origin": self.provenance,
            "vocabulary": self.vocabulary.to_json(),
            "domain": self.domain,
            "instances": list(self.instances),
        }
        arrays = self.arrays()
        if transitions and self.transitions is not None:
            arrays |= self.transitions.arrays()
            metadata["schemas"] = self.transitions.schemas
        write_archive(path, arrays, metadata, compressed=compressed)

    @staticmethod
    def load(path: Path) -> "DataSet":
        """Read a set that `save` wrote."""
        arrays, metadata = read_archive(path, KIND)
        with content_of(path):
            instances, schemas = metadata["instances"], metadata.get("schemas")
            for instance in instances:
                StoredInstance.check(instance, path)
            found = DataSet(
                Vocabulary.from_json(metadata["vocabulary"]),
                metadata["domain"],
                tuple(instances),
                **{name: arrays[name] for name in _ARRAYS},
                labels=labels_of(arrays),
                multiplicity=arrays["multiplicity"],
                provenance=dict(metadata["origin"]),
                transitions=None if schemas is None else Transitions.from_arrays(arrays, schemas),
            )
            check_states(arrays, [one.arity for one in found.vocabulary], found.n_objects, found.labels)
            return found


def join(sets: Iterable[DataSet]) -> DataSet:
    """Concatenate sets of one domain."""
    parts = list(sets)
    if not parts:
        raise InputError("There are no instances to join; give at least one.")
    if any(part.domain != parts[0].domain for part in parts):
        raise InputError("Instances of different domains cannot be joined; make one set for each domain.")
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
        labels={name: np.concatenate([part.labels[name] for part in parts]) for name in parts[0].labels},
        multiplicity=np.concatenate([part.multiplicity for part in parts]),
        transitions=_joined_transitions(parts),
    )


def _joined_transitions(parts: list[DataSet]) -> Transitions | None:
    """The transitions of all parts; None if a fully expanded part does not store them."""
    for part in parts:
        if part.transitions is None and any(instance["exhaustive"] for instance in part.instances):
            return None
    return join_transitions(
        [part.transitions or Transitions.none() for part in parts],
        [len(part) for part in parts],
        [len(part.instances) for part in parts],
    )


def _in_vocabulary(part: DataSet, vocabulary: Vocabulary) -> DataSet:
    if part.vocabulary == vocabulary:
        return part
    number = np.array([vocabulary.index(predicate.name) for predicate in part.vocabulary], dtype=np.int32)
    return replace(part, vocabulary=vocabulary, atom_predicate=number[part.atom_predicate])
