"""The features of an R-IDT: formulas about objects, features of states, and trees."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.distillation.tree_with_formulas import TreeWithFormulas, pack_trees, unpack_trees
from distill.explanations import Provenance, StateFeature
from distill.logic import Compare, Count, Indicator, NodeTable, Truth, read_nodes
from distill.structures import read_archive, write_archive

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
KIND = "learned"


@dataclass(frozen=True, eq=False)
class RidtFeatures:
    """The features of an R-IDT.

    Attributes
    ----------
    objects : formulas about objects with their origins; no two have the same denotation on the data.
    counts : (n_state_rows, n_formulas) number of objects of a state that satisfy each formula.
    combined : formulas about states with their origins.
    holds : (n_state_rows, n_combined) the states that satisfy them.
    tree_layers : for each layer its trees, then those of the final layer. They were fitted to the means of
        merged rows, so their errors lack the variance within these rows; splits and gains are not affected.
    kinds : the kinds of state features: `boolean`, `numerical`, `combined`.
    distinct : whether one of several state features with equal values is kept, and none that is constant.
    """

    objects: dict[Truth, Provenance]
    counts: Integers
    combined: list[tuple[Truth, Provenance]]
    holds: Booleans
    tree_layers: list[list[TreeWithFormulas]]
    kinds: tuple[str, ...]
    distinct: bool = True

    @property
    def states(self) -> list[StateFeature]:
        """Features of states."""
        return self._features[0]

    @property
    def values(self) -> Integers:
        """(n_state_rows, n_features) the features' values."""
        return self._features[1]

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
        chosen = distinct_features(features, columns) if self.distinct else list(range(len(features)))
        none = np.zeros((len(self.counts), 0), dtype=np.int64)
        values = np.stack([columns[n] for n in chosen], axis=1) if chosen else none
        return [features[n] for n in chosen], values

    def save(self, path: Path) -> None:
        """Write all to one file (see `distill.structures.archive`)."""
        table = NodeTable()
        objects, combined = (
            [{"node": table.add(formula), "origin": origin.to_json(table)} for formula, origin in part]
            for part in (self.objects.items(), self.combined)
        )
        arrays, trees = pack_trees([one for layer in self.tree_layers for one in layer], table)
        metadata = {
            "kind": KIND,
            "nodes": table.rows,
            "objects": objects,
            "combined": combined,
            "grown": trees,
            "layers": [len(layer) for layer in self.tree_layers],
            "kinds": list(self.kinds),
            "distinct": self.distinct,
        }
        holds = np.packbits(self.holds, axis=0)
        write_archive(path, {"counts": self.counts, "holds": holds, **arrays}, metadata)

    @staticmethod
    def load(path: Path) -> "RidtFeatures":
        """Undo `save`."""
        arrays, metadata = read_archive(path, KIND)
        nodes: list[Any] = read_nodes(metadata["nodes"])
        objects, combined = (
            [(nodes[row["node"]], Provenance.from_json(row["origin"], nodes)) for row in metadata[part]]
            for part in ("objects", "combined")
        )
        trees = iter(unpack_trees(arrays, metadata["grown"], nodes))
        tree_layers = [[next(trees) for _ in range(count)] for count in metadata["layers"]]
        counts = arrays["counts"]
        holds = np.unpackbits(arrays["holds"], axis=0, count=len(counts)).astype(bool)
        kinds, distinct = tuple(metadata["kinds"]), bool(metadata.get("distinct", True))
        return RidtFeatures(dict(objects), counts, combined, holds, tree_layers, kinds, distinct)


def distinct_features(features: list[StateFeature], columns: list[Integers]) -> list[int]:
    """The numbers of the simplest of features with equal values (n_rows,), without constant ones."""
    kept: dict[bytes, int] = {}
    for number in sorted(range(len(features)), key=lambda n: features[n].number.order):
        column = columns[number]
        if (column != column[0]).any():
            kept.setdefault(np.ascontiguousarray(column).tobytes(), number)
    return sorted(kept.values())
