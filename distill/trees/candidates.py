"""The splits that a tree may use: formulas of the pool, and how many neighbours they hold of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.logic import Compare, Count, Modal, Role, Truth

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]
_OWN = -1


@dataclass(frozen=True, eq=False)
class Candidates:
    """Columns `count > t`, no two alike; of those alike the simplest was kept.

    Attributes
    ----------
    holds : (n_groups, n_columns) where each holds.
    size : (n_columns,) symbols of its formula.
    """

    holds: Booleans
    size: Integers
    _recipes: Integers  # (n_columns, 3) relation (-1 for the object itself), formula and threshold
    _make: Callable[[int, int, int], Truth]

    def formula(self, column: int) -> Truth:
        """What a column says."""
        relation, number, threshold = self._recipes[column].tolist()
        return self._make(relation, number, threshold)

    @property
    def order(self) -> Integers:
        """(n_columns,) which to prefer: small ones, then in the order of the pool."""
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
    counts : for each relation (n_groups, n_formulas) how many neighbours they hold of.
    thresholds : t is at most this.
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
    counts : (n_groups, n_formulas) how many objects of a state they hold of.
    thresholds : t is at most this.
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
    varies = np.flatnonzero(holds.any(axis=0) & ~holds.all(axis=0))
    packed = np.packbits(holds[:, varies].T, axis=1)
    kept: dict[bytes, int] = {}
    for place in np.argsort(size[varies], kind="stable").tolist():
        kept.setdefault(packed[place].tobytes(), int(varies[place]))
    chosen = np.array(sorted(kept.values()), dtype=np.int64)
    return Candidates(holds[:, chosen], size[chosen], recipes[chosen], make)
