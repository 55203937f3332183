"""Example pairs of states in conflict, with what tells them apart."""

from collections import Counter
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from distill.jobs.analysis import Analysis
from distill.structures import Structures, joint_messages
from distill.symmetry import VARIANTS, Conflicts


@dataclass(frozen=True)
class Example:
    """Two states of one instance that a colouring confuses.

    Attributes
    ----------
    variant : the colouring, for example `1-WL set`.
    kind : `E` (not isomorphic, but the same V*) or `V` (different V*).
    instance : its name.
    states : their numbers in the data set.
    v_star : their V*.
    atoms : their atoms, without those that both have.
    shared : how many atoms both have.
    separated_by : the colourings that tell the two apart.
    pairs : what holds of different numbers of object pairs: the relations, and the number in each state.
    """

    variant: str
    kind: str
    instance: str
    states: tuple[int, int]
    v_star: tuple[int, int]
    atoms: tuple[list[str], list[str]]
    shared: int
    separated_by: list[str]
    pairs: list[tuple[str, int, int]]

    def to_json(self) -> dict[str, Any]:
        """The example as plain data."""
        return asdict(self)

    def side_by_side(self) -> list[tuple[str, str]]:
        """The atoms that differ, in two columns."""
        return list(zip_longest(*self.atoms, fillvalue=""))

    def explanation(self) -> str:
        """What tells the two apart, in words."""
        apart = ", ".join(self.separated_by) or "none of the eight"
        told = f"The other {self.shared} atoms are shared. Told apart by {apart}."
        for what, first, second in self.pairs[:2]:
            told += f" Pairs with {what}: {first} and {second}."
        return told


def examples(analysis: Analysis) -> list[Example]:
    """One example for each kind of conflict, of the strongest colouring that has it."""
    found = []
    strongest_first = sorted(VARIANTS, key=lambda name: ("1-WL" in name, "set" in name, "+G" not in name))
    for kind in ("E", "V"):
        for variant in strongest_first:
            conflicts = analysis.conflicts[variant]
            classes = conflicts.example_e if kind == "E" else conflicts.example_v
            if classes is not None:
                found.append(_example(analysis, variant, kind, classes))
                break
    return found


def _example(analysis: Analysis, variant: str, kind: str, classes: tuple[int, int]) -> Example:
    data = analysis.data
    states = _in_one_instance(analysis, classes)
    first, second = (data.atom_names(state) for state in states)
    both = set(first) & set(second)
    return Example(
        variant,
        kind,
        data.instances[data.state_instance[states[0]]]["name"],
        states,
        (int(data.v_star[states[0]]), int(data.v_star[states[1]])),
        ([atom for atom in first if atom not in both], [atom for atom in second if atom not in both]),
        len(both),
        [name for name in VARIANTS if not _confuses(analysis.conflicts[name], classes)],
        _different_pairs(data.structures([states[0]]), data.structures([states[1]])),
    )


def _in_one_instance(analysis: Analysis, classes: tuple[int, int]) -> tuple[int, int]:
    """A state of each class in the first instance that has both."""
    owner, of = analysis.data.state_instance, analysis.state_class
    solvable = {i for i, instance in enumerate(analysis.data.instances) if instance["solvable"]}
    instances = [set(owner[of == number].tolist()) & solvable for number in classes]
    instance = min(set.intersection(*instances))
    found = [int(np.flatnonzero((of == number) & (owner == instance))[0]) for number in classes]
    return found[0], found[1]


def _confuses(conflicts: Conflicts, classes: tuple[int, int]) -> bool:
    return tuple(sorted(classes)) in conflicts.pairs


def _different_pairs(first: Structures, second: Structures) -> list[tuple[str, int, int]]:
    """Combinations of binary relations that hold of different numbers of pairs, the largest ones first."""
    counts = [_pair_kinds(state) for state in (first, second)]
    different = [kind for kind in {*counts[0], *counts[1]} if counts[0][kind] != counts[1][kind]]
    order = sorted(different, key=lambda kind: (-kind.count(" and "), kind))
    return [(kind, counts[0][kind], counts[1][kind]) for kind in order]


def _pair_kinds(state: Structures) -> Counter[str]:
    names = [predicate.name for predicate in state.vocabulary if predicate.arity == 2]
    relations = [state.relations[name].astype(np.int64) for name in names]
    _, holds, _ = joint_messages(state.n_objects, relations)
    labels = [*names, *(f"{name}⁻¹" for name in names)]
    # Each pair comes in both directions; the one read forwards is enough.
    forwards = holds[holds[:, : len(names)].any(axis=1)]
    return Counter(" and ".join(labels[i] for i in np.flatnonzero(row)) for row in forwards)
