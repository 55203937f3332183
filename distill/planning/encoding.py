"""From pymimir's states to a data set, in bulk."""

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from distill.common import offsets
from distill.planning.pddl import Instance, atom_of
from distill.structures import GOAL, GOAL_ABSENT, UNSOLVABLE, V_STAR, DataSet


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
    labels = {} if v_star is None else {V_STAR: np.asarray(v_star, dtype=np.int32)}
    vocabulary = instance.domain.vocabulary(name for name, _, holds in instance.goals if not holds)
    number = {name: i for i, name in enumerate(instance.objects)}
    width = max(1, max(predicate.arity for predicate in vocabulary))

    def row(name: str, arguments: tuple[str, ...]) -> tuple[int, ...]:
        padding = (-1,) * (width - len(arguments))
        return (vocabulary.index(name), *(number[argument] for argument in arguments), *padding)

    fixed = {row(*fact) for fact in instance.facts}
    fixed |= {row(f"is_{name}", (name,)) for name in instance.domain.constants}
    fixed |= {row(name + (GOAL if holds else GOAL_ABSENT), args) for name, args, holds in instance.goals}
    repositories = instance.problem.get_repositories()
    columns = [(repositories.get_fluent_ground_atom, *_flat(state.get_fluent_atoms() for state in states))]
    if len(instance.domain.pymimir.get_derived_predicates()):
        derived = _flat(state.get_derived_atoms() for state in states)
        columns.append((repositories.get_derived_ground_atom, *derived))
    rows: list[tuple[int, ...]] = []
    entries, owners = [], []
    for look_up, indices, sizes in columns:
        used, inverse = np.unique(indices, return_inverse=True)
        atoms = [atom_of(look_up(int(index))) for index in used]
        # Predicates that pymimir made for quantified conditions are not in the vocabulary.
        known = np.array([atom[0] in vocabulary for atom in atoms], dtype=bool)
        number_of_row = np.cumsum(known) - 1 + len(rows)
        rows += [row(*atom) for atom, is_known in zip(atoms, known, strict=True) if is_known]
        kept = known[inverse]
        entries.append(number_of_row[inverse][kept])
        owners.append(np.repeat(np.arange(len(states)), sizes)[kept])
    owner, unsorted = np.concatenate(owners), np.concatenate(entries)
    order = np.array(sorted(range(len(rows)), key=rows.__getitem__), dtype=np.int64)
    changing = [rows[i] for i in order]
    entry = len(fixed) + np.argsort(order)[unsorted]
    table = np.array([*sorted(fixed), *changing], dtype=np.int32).reshape(-1, width + 1)
    return DataSet(
        vocabulary=vocabulary,
        domain=instance.domain.text,
        instances=(_instance_record(instance, len(states), labels.get(V_STAR), exhaustive, unlabelled),),
        atom_predicate=table[:, 0].copy(),
        atom_arguments=table[:, 1:].copy(),
        atom_offsets=np.array([0, len(table)]),
        n_fixed=np.array([len(fixed)], dtype=np.int32),
        state_instance=np.zeros(len(states), dtype=np.int32),
        state_offsets=offsets(np.bincount(owner, minlength=len(states))),
        state_atoms=entry[np.lexsort((entry, owner))].astype(np.int32),
        labels=labels,
        multiplicity=np.ones(len(states), dtype=np.int32),
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
