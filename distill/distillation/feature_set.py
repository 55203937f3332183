"""Sets of formulas with the rows that satisfy them, and the splits of readable trees."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.explanations import Provenance
from distill.logic import Node, NodeTable, Truth

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FeatureSet:
    """Formulas about objects, or about states.

    Attributes
    ----------
    formulas, cost, origins : one for each formula.
    holds : (n_rows, n_formulas).
    """

    formulas: list[Truth]
    cost: list[int]
    origins: list[Provenance]
    holds: Booleans

    @staticmethod
    def union(parts: "Sequence[FeatureSet]", n_rows: int) -> "FeatureSet":
        """The union of sets on the same rows."""
        return FeatureSet(
            [formula for part in parts for formula in part.formulas],
            [cost for part in parts for cost in part.cost],
            [origin for part in parts for origin in part.origins],
            np.concatenate([np.zeros((n_rows, 0), dtype=bool), *(part.holds for part in parts)], axis=1),
        )

    def extended(self, more: "FeatureSet", train: Booleans) -> "FeatureSet":
        """Add the cheapest formula of each new denotation on the training rows (n_rows,)."""
        known = set(column_keys(self.holds[train]))
        chosen = []
        keys = column_keys(more.holds[train])
        for number in sorted(range(len(more.cost)), key=lambda n: (more.cost[n], more.formulas[n].order)):
            if keys[number] not in known:
                known.add(keys[number])
                chosen.append(number)
        new = FeatureSet(
            [more.formulas[number] for number in chosen],
            [more.cost[number] for number in chosen],
            [more.origins[number] for number in chosen],
            more.holds[:, chosen],
        )
        return FeatureSet.union([self, new], len(train))

    def to_json(self, table: NodeTable) -> list[dict[str, Any]]:
        """Plain data without `holds`; formulas are numbers in a table."""
        return [
            {"node": table.add(formula), "cost": cost, "origin": origin.to_json(table)}
            for formula, cost, origin in zip(self.formulas, self.cost, self.origins, strict=True)
        ]

    @staticmethod
    def from_json(rows: Sequence[Mapping[str, Any]], nodes: Sequence[Node], holds: Booleans) -> "FeatureSet":
        """Undo `to_json`, given the nodes of the table and `holds` (n_rows, n_formulas)."""
        formulas: list[Any] = [nodes[row["node"]] for row in rows]
        origins = [Provenance.from_json(row["origin"], nodes) for row in rows]
        return FeatureSet(formulas, [int(row["cost"]) for row in rows], origins, holds)


@dataclass(frozen=True, eq=False)
class Splits:
    """The columns that trees may split on; no two are equal.

    Attributes
    ----------
    holds : (n_rows, n_splits).
    cost : (n_splits,).
    make : the formula of a split.
    """

    holds: Booleans
    cost: Integers
    make: Callable[[int], Truth]

    def __getitem__(self, number: int) -> Truth:
        return self.make(number)


def distinct_columns(holds: Booleans, cost: Integers, train: Booleans) -> Integers:
    """The cheapest of equal columns (n_rows, m), without those that are constant on `train` (n_rows,).

    Examples
    --------
    >>> holds = np.array([[True, True, True], [True, False, False]])
    >>> distinct_columns(holds, np.array([1, 3, 2]), np.array([True, True]))
    array([2])
    """
    seen = holds[train]
    varies = np.flatnonzero(seen.any(axis=0) & ~seen.all(axis=0))
    varies = varies[np.argsort(cost[varies], kind="stable")]
    kept: dict[bytes, int] = {}
    for number, key in zip(varies.tolist(), column_keys(holds[:, varies]), strict=True):
        kept.setdefault(key, number)
    return np.array(sorted(kept.values()), dtype=np.int64)


def column_keys(holds: Booleans) -> list[bytes]:
    """A key for each column (n_rows, m)."""
    return [column.tobytes() for column in np.packbits(holds.T, axis=1)]
