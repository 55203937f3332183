"""Candidate splits: formulas of the pool, about an object or about the number of its neighbours."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.distillation.feature_set import distinct_columns
from distill.logic import Compare, Count, Modal, Role, Truth

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]
_OWN = -1


@dataclass(frozen=True, eq=False)
class Candidates:
    """Distinct columns `count > t`; of equal ones the simplest.

    Attributes
    ----------
    holds : (n_groups, n_columns) the groups in which each holds.
    size : (n_columns,) the size of each formula.
    """

    holds: Booleans
    size: Integers
    _recipes: Integers  # (n_columns, 3) relation (-1 for the object itself), formula and threshold
    _make: Callable[[int, int, int], Truth]

    def formula(self, column: int) -> Truth:
        """The formula of a column."""
        relation, number, threshold = self._recipes[column].tolist()
        return self._make(relation, number, threshold)

    @property
    def order(self) -> Integers:
        """(n_columns,) the rank of each column: by size, then in the order of the pool."""
        rank = np.empty(len(self.size), dtype=np.int64)
        rank[np.argsort(self.size, kind="stable")] = np.arange(len(self.size))
        return rank


def object_candidates(
    own: Booleans,
    counts: Sequence[Integers],
    formulas: Sequence[Truth],
    relations: Sequence[Role],
    thresholds: int,
) -> Candidates:
    """Candidates about objects: I φ, A_R φ > t and A_Rᵀ φ > t.

    Parameters
    ----------
    own : (n_groups, n_formulas) which formulas hold of an object itself.
    counts : for each relation (n_groups, n_formulas) number of neighbours that satisfy each formula.
    thresholds : the largest t.
    """
    sizes = np.array([formula.size for formula in formulas], dtype=np.int64)
    blocks: list[tuple[NDArray[Any], ...]] = [
        (own, np.full(len(formulas), _OWN), np.arange(len(formulas)), np.zeros(len(formulas), int), sizes)
    ]
    for number, (relation, count) in enumerate(zip(relations, counts, strict=True)):
        for threshold in range(min(thresholds, int(count.max(initial=0)) - 1) + 1):
            above = count > threshold
            some = np.flatnonzero(above.any(axis=0))
            fields = [np.full(len(some), number), some, np.full(len(some), threshold)]
            blocks.append((above[:, some], *fields, relation.size + sizes[some] + (threshold > 0)))

    def make(relation: int, number: int, threshold: int) -> Truth:
        operand = formulas[number]
        return operand if relation == _OWN else Modal(relations[relation], operand, threshold)

    return _distinct(blocks, make)


def state_candidates(counts: Integers, formulas: Sequence[Truth], thresholds: int) -> Candidates:
    """Candidates about states: [#φ > t].

    Parameters
    ----------
    counts : (n_groups, n_formulas) number of objects of a state that satisfy each formula.
    thresholds : the largest t.
    """
    sizes = np.array([formula.size for formula in formulas], dtype=np.int64)
    every = np.arange(len(formulas))
    blocks: list[tuple[NDArray[Any], ...]] = [(counts[:, :0] > 0, *[every[:0]] * 4)]
    for threshold in range(min(thresholds, int(counts.max(initial=0)) - 1) + 1):
        some = every[(counts > threshold).any(axis=0)]
        fields = [np.full(len(some), _OWN), some, np.full(len(some), threshold)]
        blocks.append((counts[:, some] > threshold, *fields, sizes[some] + 2))
    return _distinct(blocks, lambda _, number, threshold: Compare(Count(formulas[number]), threshold))


def _distinct(blocks: list[tuple[NDArray[Any], ...]], make: Callable[[int, int, int], Truth]) -> Candidates:
    holds = np.concatenate([block[0] for block in blocks], axis=1)
    recipes = np.column_stack([np.concatenate([block[place] for block in blocks]) for place in (1, 2, 3)])
    size = np.concatenate([block[4] for block in blocks])
    chosen = distinct_columns(holds, size, np.ones(len(holds), dtype=bool))
    return Candidates(holds[:, chosen], size[chosen], recipes[chosen], make)
