"""What an R-IDT found: formulas about objects, features of states, trees."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.logic import Compare, Count, Indicator, NodeTable, Truth, read_nodes
from distill.structures import read_archive, write_archive
from distill.trees.grown import Grown, pack_trees, unpack_trees
from distill.trees.origin import Origin, StateFeature
from distill.trees.tree import Tree

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
KIND = "learned"


@dataclass(frozen=True, eq=False)
class Learned:
    """What an R-IDT found.

    Attributes
    ----------
    objects : formulas about objects, and where they were born; no two hold of the same objects of the data.
    counts : (n_state_rows, n_formulas) how many objects of a state have them.
    combined : formulas about states, and where they were born.
    holds : (n_state_rows, n_combined) where these hold.
    grown : for each layer its trees, then those of the final layer. They were fitted to the means of rows
        that see the same, so their errors lack what these rows differ by; their splits and gains do not.
    kinds : the features of states that are wanted: `boolean`, `numerical`, `combined`.
    """

    objects: dict[Truth, Origin]
    counts: Integers
    combined: list[tuple[Truth, Origin]]
    holds: Booleans
    grown: list[list[Grown]]
    kinds: tuple[str, ...]

    @property
    def states(self) -> list[StateFeature]:
        """Features of states; no two are equal on the data."""
        return self._features[0]

    @property
    def values(self) -> Integers:
        """(n_state_rows, n_features) the features' values."""
        return self._features[1]

    @property
    def trees(self) -> list[list[Tree]]:
        """The trees of each layer, without what they ask for."""
        return [[grown.tree for grown in layer] for layer in self.grown]

    @cached_property
    def _features(self) -> tuple[list[StateFeature], Integers]:
        features: list[StateFeature] = []
        columns: list[Integers] = []
        if "numerical" in self.kinds:
            features += [StateFeature(Count(f), "numerical", origin) for f, origin in self.objects.items()]
            columns += list(self.counts.T)
        if "boolean" in self.kinds:
            simple = [(Indicator(Compare(Count(f), 0)), origin) for f, origin in self.objects.items()]
            features += [StateFeature(number, "boolean", origin) for number, origin in simple]
            columns += list((self.counts > 0).astype(np.int64).T)
        if "combined" in self.kinds:
            features += [StateFeature(Indicator(f), "combined", origin) for f, origin in self.combined]
            columns += list(self.holds.astype(np.int64).T)
        chosen = distinct_features(features, columns)
        none = np.zeros((len(self.counts), 0), dtype=np.int64)
        values = np.stack([columns[n] for n in chosen], axis=1) if chosen else none
        return [features[n] for n in chosen], values

    def save(self, path: Path) -> None:
        """Write it to one file (see `distill.structures.archive`)."""
        table = NodeTable()
        objects, combined = (
            [{"node": table.add(formula), "origin": origin.to_json(table)} for formula, origin in part]
            for part in (self.objects.items(), self.combined)
        )
        trees, grown = pack_trees([one for layer in self.grown for one in layer], table)
        metadata = {
            "kind": KIND,
            "nodes": table.rows,
            "objects": objects,
            "combined": combined,
            "grown": grown,
            "layers": [len(layer) for layer in self.grown],
            "kinds": list(self.kinds),
        }
        holds = np.packbits(self.holds, axis=0)
        write_archive(path, {"counts": self.counts, "holds": holds, **trees}, metadata)

    @staticmethod
    def load(path: Path) -> "Learned":
        """Read what `save` wrote."""
        arrays, metadata = read_archive(path, KIND)
        nodes: list[Any] = read_nodes(metadata["nodes"])
        objects, combined = (
            [(nodes[row["node"]], Origin.from_json(row["origin"], nodes)) for row in metadata[part]]
            for part in ("objects", "combined")
        )
        trees = iter(unpack_trees(arrays, metadata["grown"], nodes))
        grown = [[next(trees) for _ in range(count)] for count in metadata["layers"]]
        counts = arrays["counts"]
        holds = np.unpackbits(arrays["holds"], axis=0, count=len(counts)).astype(bool)
        return Learned(dict(objects), counts, combined, holds, grown, tuple(metadata["kinds"]))


def distinct_features(features: list[StateFeature], columns: list[Integers]) -> list[int]:
    """Of features with equal values the simplest; not those that never change."""
    kept: dict[bytes, int] = {}
    for number in sorted(range(len(features)), key=lambda n: features[n].number.order):
        column = columns[number]
        if (column != column[0]).any():
            kept.setdefault(np.ascontiguousarray(column).tobytes(), number)
    return sorted(kept.values())
