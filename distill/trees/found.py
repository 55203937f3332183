"""Formulas that were found, where they hold, and what a tree may ask for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.logic import Node, NodeTable, Truth
from distill.trees.origin import Origin

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Found:
    """Formulas about objects, or about states.

    Attributes
    ----------
    formulas, cost, origins : of each.
    holds : (n_rows, n_formulas).
    """

    formulas: list[Truth]
    cost: list[int]
    origins: list[Origin]
    holds: Booleans

    @staticmethod
    def joined(parts: "Sequence[Found]", n_rows: int) -> "Found":
        """All of several, about the same rows."""
        return Found(
            [formula for part in parts for formula in part.formulas],
            [cost for part in parts for cost in part.cost],
            [origin for part in parts for origin in part.origins],
            np.concatenate([np.zeros((n_rows, 0), dtype=bool), *(part.holds for part in parts)], axis=1),
        )

    def extended(self, more: "Found", train: Booleans) -> "Found":
        """Add formulas, cheap ones first, that hold of other rows among those that trees see (n_rows,)."""
        known = set(_keys(self.holds[train]))
        chosen = []
        keys = _keys(more.holds[train])
        for number in sorted(range(len(more.cost)), key=lambda n: (more.cost[n], more.formulas[n].order)):
            if keys[number] not in known:
                known.add(keys[number])
                chosen.append(number)
        new = Found(
            [more.formulas[number] for number in chosen],
            [more.cost[number] for number in chosen],
            [more.origins[number] for number in chosen],
            more.holds[:, chosen],
        )
        return Found.joined([self, new], len(train))

    def to_json(self, table: NodeTable) -> list[dict[str, Any]]:
        """All but where they hold, with the numbers of formulas in a table."""
        return [
            {"node": table.add(formula), "cost": cost, "origin": origin.to_json(table)}
            for formula, cost, origin in zip(self.formulas, self.cost, self.origins, strict=True)
        ]

    @staticmethod
    def from_json(rows: Sequence[Mapping[str, Any]], nodes: Sequence[Node], holds: Booleans) -> "Found":
        """Undo `to_json`; nodes are those of the table, holds (n_rows, n_formulas) as they were."""
        formulas: list[Any] = [nodes[row["node"]] for row in rows]
        origins = [Origin.from_json(row["origin"], nodes) for row in rows]
        return Found(formulas, [int(row["cost"]) for row in rows], origins, holds)


@dataclass(frozen=True, eq=False)
class Splits:
    """What trees may ask for: no two hold of the same rows.

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
    """Of equal columns (n_rows, m) the cheapest; none that never changes where trees look (n_rows,)."""
    keys = _keys(holds)
    seen = holds[train]
    varies = np.asarray(seen.any(axis=0) & ~seen.all(axis=0))
    kept: dict[bytes, int] = {}
    for number in np.argsort(cost, kind="stable").tolist():
        if varies[number]:
            kept.setdefault(keys[number], number)
    return np.array(sorted(kept.values()), dtype=np.int64)


def _keys(holds: Booleans) -> list[bytes]:
    """A key for each column (n_rows, m)."""
    return [column.tobytes() for column in np.packbits(holds.T, axis=1)]
