"""Example pairs of states in conflict, and the colourings that distinguish them."""

from collections import Counter
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from distill.structures import Structures, joint_messages
from distill.symmetry.conflicts import VARIANTS
from distill.symmetry.expressivity import Expressivity


@dataclass(frozen=True)
class Example:
    """Two states of one instance that a colouring confuses.

    Attributes
    ----------
    variant : the colouring, for example `1-WL set`.
    kind : `E` (not isomorphic, equal V*) or `V` (different V*).
    instance : its name.
    states : their numbers in the data set.
    v_star : their V*.
    atoms : their atoms, without those that both have.
    shared : the number of atoms that both have.
    separated_by : the colourings that distinguish the two.
    pairs : relations with different numbers of object pairs, and the number in each state.
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
        """The difference of the two states in words."""
        apart = ", ".join(self.separated_by) or "none of the eight"
        text = f"The other {self.shared} atoms are shared. Distinguished by {apart}."
        for relations, first, second in self.pairs[:2]:
            text += f" Pairs with {relations}: {first} and {second}."
        return text


def examples(expressivity: Expressivity) -> list[Example]:
    """One example for each kind of conflict, of the strongest colouring with such a conflict."""
    examples = []
    strongest_first = sorted(VARIANTS, key=lambda name: ("1-WL" in name, "set" in name, "+G" not in name))
    for kind in ("E", "V"):
        for variant in strongest_first:
            classes = expressivity.conflicts(variant).example(kind)
            if classes is not None:
                examples.append(_example(expressivity, variant, kind, classes))
                break
    return examples


def _example(expressivity: Expressivity, variant: str, kind: str, classes: tuple[int, int]) -> Example:
    data = expressivity.data
    states = expressivity.members(classes)
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
        [name for name in VARIANTS if classes not in expressivity.conflicts(name)],
        _different_pairs(data.structures([states[0]]), data.structures([states[1]])),
    )


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
    # Each pair occurs in both directions; one of them suffices.
    forwards = holds[holds[:, : len(names)].any(axis=1)]
    return Counter(" and ".join(labels[i] for i in np.flatnonzero(row)) for row in forwards)
