"""From pymimir's states to a data set, in bulk."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from distill.common import offsets
from distill.planning.pddl import Instance, atom_of
from distill.structures import GOAL, GOAL_ABSENT, UNSOLVABLE, V_STAR, DataSet, Vocabulary


def collect(
    instance: Instance,
    states: Sequence[Any],
    v_star: ArrayLike | None = None,
    *,
    exhaustive: bool = False,
    unlabelled: int = 0,
) -> DataSet:
    """Encode pymimir states of one instance in bulk.

    Parameters
    ----------
    instance : the instance of the states.
    states : (n_states,) pymimir states.
    v_star : (n_states,) V*; without it, the set has no labels.
    exhaustive : whether these are all reachable states.
    unlabelled : the number of states without a label.
    """
    encoding = InstanceEncoding.of(instance)
    repositories = instance.problem.get_repositories()
    columns = [(repositories.get_fluent_ground_atom, *_flat(state.get_fluent_atoms() for state in states))]
    if len(instance.domain.pymimir.get_derived_predicates()):
        derived = _flat(state.get_derived_atoms() for state in states)
        columns.append((repositories.get_derived_ground_atom, *derived))
    rows: list[Row] = []
    entries, owners = [], []
    for look_up, indices, sizes in columns:
        used, inverse = np.unique(indices, return_inverse=True)
        atoms = [atom_of(look_up(int(index))) for index in used]
        # Predicates that pymimir made for quantified conditions are not in the vocabulary.
        known = np.array([atom[0] in encoding.vocabulary for atom in atoms], dtype=bool)
        number_of_row = np.cumsum(known) - 1 + len(rows)
        rows += [encoding.row(*atom) for atom, is_known in zip(atoms, known, strict=True) if is_known]
        kept = known[inverse]
        entries.append(number_of_row[inverse][kept])
        owners.append(np.repeat(np.arange(len(states)), sizes)[kept])
    labels = {} if v_star is None else {V_STAR: np.asarray(v_star, dtype=np.int32)}
    return encoding.data(
        rows,
        np.concatenate(entries),
        np.concatenate(owners),
        labels,
        len(states),
        exhaustive=exhaustive,
        unlabelled=unlabelled,
    )


Row = tuple[int, ...]
"""A ground atom: its predicate and its objects as numbers, -1 for none."""


@dataclass(frozen=True)
class InstanceEncoding:
    """The numbers of predicates and objects of an instance, and the atoms that hold in all its states.

    Attributes
    ----------
    instance : the instance.
    vocabulary : the predicates of its structures.
    number : the number of each object.
    """

    instance: Instance
    vocabulary: Vocabulary
    number: Mapping[str, int]

    @staticmethod
    def of(instance: Instance) -> "InstanceEncoding":
        """The encoding of an instance."""
        vocabulary = instance.domain.vocabulary(name for name, _, holds in instance.goals if not holds)
        return InstanceEncoding(instance, vocabulary, {name: i for i, name in enumerate(instance.objects)})

    def row(self, name: str, arguments: Sequence[str]) -> Row:
        """An atom as numbers."""
        padding = (-1,) * (self.width - len(arguments))
        return (self.vocabulary.index(name), *(self.number[argument] for argument in arguments), *padding)

    @cached_property
    def width(self) -> int:
        """The number of arguments of a row."""
        return max(1, max(predicate.arity for predicate in self.vocabulary))

    @cached_property
    def fixed(self) -> set[Row]:
        """Static facts, types, constants and goals."""
        instance = self.instance
        rows = {self.row(*fact) for fact in instance.facts}
        rows |= {self.row(f"is_{name}", (name,)) for name in instance.domain.constants}
        goals = instance.goals
        return rows | {self.row(name + (GOAL if holds else GOAL_ABSENT), args) for name, args, holds in goals}

    def data(
        self,
        rows: Sequence[Row],
        entry: NDArray[np.int64],
        owner: NDArray[np.int64],
        labels: Mapping[str, NDArray[np.int32]],
        n_states: int,
        *,
        exhaustive: bool = False,
        unlabelled: int = 0,
    ) -> DataSet:
        """The data set of some states.

        Parameters
        ----------
        rows : the atoms that change, in any order.
        entry, owner : (n_entries,) number of an atom, and of a state in which it holds.
        labels : for each name (n_states,) the label of each state.
        exhaustive, unlabelled : see `collect`.
        """
        order = np.array(sorted(range(len(rows)), key=rows.__getitem__), dtype=np.int64)
        position = len(self.fixed) + np.argsort(order)[entry]
        listed = [*sorted(self.fixed), *(rows[i] for i in order)]
        table = np.array(listed, dtype=np.int32).reshape(-1, self.width + 1)
        record = _instance_record(self.instance, n_states, labels.get(V_STAR), exhaustive, unlabelled)
        return DataSet(
            vocabulary=self.vocabulary,
            domain=self.instance.domain.text,
            instances=(record,),
            atom_predicate=table[:, 0].copy(),
            atom_arguments=table[:, 1:].copy(),
            atom_offsets=np.array([0, len(table)]),
            n_fixed=np.array([len(self.fixed)], dtype=np.int32),
            state_instance=np.zeros(n_states, dtype=np.int32),
            state_offsets=offsets(np.bincount(owner, minlength=n_states)),
            state_atoms=position[np.lexsort((position, owner))].astype(np.int32),
            labels=labels,
            multiplicity=np.ones(n_states, dtype=np.int32),
        )


def _instance_record(
    instance: Instance, n_states: int, v_star: NDArray[np.int32] | None, exhaustive: bool, unlabelled: int
) -> dict[str, Any]:
    """The record of an instance in a set; while a state has no label, `solvable` is not False."""
    unknown = unlabelled > 0 or not n_states or v_star is None
    solvable = None if unknown else False
    if v_star is not None and (v_star != UNSOLVABLE).any():
        solvable = True
    return {
        "name": instance.name,
        "pddl": instance.text,
        "parameters": dict(instance.parameters),
        "objects": list(instance.objects),
        "states": n_states,
        "solvable": solvable,
        "exhaustive": exhaustive,
        "unlabelled": unlabelled,
    }


def _flat(lists: Iterable[Iterable[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Concatenate lists of integers; also their lengths."""
    kept = [list(numbers) for numbers in lists]
    sizes = np.fromiter(map(len, kept), dtype=np.int64, count=len(kept))
    flat = np.fromiter(itertools.chain.from_iterable(kept), dtype=np.int64, count=int(sizes.sum()))
    return flat, sizes
