"""Trees with what their splits ask for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.logic import Node, NodeTable, Truth, read_nodes
from distill.trees.clustering import merging
from distill.trees.tree import Tree


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree that has grown in a layer.

    Attributes
    ----------
    layer : of the network, from 1; -1 for the final layer.
    tree : what was fitted.
    asked : for each column that it asks for the formula.
    """

    layer: int
    tree: Tree
    asked: Mapping[int, Truth]

    def to_json(self, table: NodeTable) -> dict[str, Any]:
        """Plain data, with the numbers of formulas in a table."""
        asked = {str(column): table.add(formula) for column, formula in sorted(self.asked.items())}
        return {"layer": self.layer, **self.tree.to_json(), "asked": asked}

    @staticmethod
    def from_json(row: Mapping[str, Any], nodes: Sequence[Node]) -> "Grown":
        """Undo `to_json`; nodes are those of the table."""
        asked: dict[int, Any] = {int(column): nodes[number] for column, number in row["asked"].items()}
        return Grown(int(row["layer"]), Tree.from_json(row), asked)

    def dendrograms(self, distance: str, linkages: Sequence[str]) -> dict[str, dict[str, Any]]:
        """How sets of its leaves grow under each linkage: which two merge, and how far apart they are."""
        found = {}
        for linkage in linkages:
            merges, heights = merging(self.tree.leaf_values, distance=distance, linkage=linkage)
            found[linkage] = {"merges": merges.tolist(), "heights": heights.tolist()}
        return found


def trees_to_json(trees: Sequence[Grown]) -> dict[str, Any]:
    """Trees, and the list of nodes that their formulas share."""
    table = NodeTable()
    rows = [one.to_json(table) for one in trees]
    return {"nodes": table.rows, "trees": rows}


def trees_from_json(whole: Mapping[str, Any]) -> tuple[Grown, ...]:
    """Undo `trees_to_json`."""
    nodes = read_nodes(whole["nodes"])
    return tuple(Grown.from_json(row, nodes) for row in whole["trees"])


def pack_trees(
    trees: Sequence[Grown], table: NodeTable
) -> tuple[dict[str, NDArray[Any]], list[dict[str, Any]]]:
    """Trees as a few long arrays, which are quick to write, and as plain data what they ask for."""
    names = [item.name for item in fields(Tree)]
    arrays = {
        f"trees/{name}": np.concatenate([np.zeros(0), *(getattr(one.tree, name).ravel() for one in trees)])
        for name in names
    }
    rows = [
        {
            "layer": one.layer,
            "nodes": len(one.tree.splits),
            "width": one.tree.values.shape[1],
            "asked": {str(column): table.add(formula) for column, formula in sorted(one.asked.items())},
        }
        for one in trees
    ]
    return arrays, rows


def unpack_trees(
    arrays: Mapping[str, NDArray[Any]], rows: Sequence[Mapping[str, Any]], nodes: Sequence[Node]
) -> list[Grown]:
    """Undo `pack_trees`; nodes are those of the table."""
    begin = dict.fromkeys((item.name for item in fields(Tree)), 0)
    found = []
    for row in rows:
        count = row["nodes"]
        parts: dict[str, Any] = {}
        for name in begin:
            width = {"values": row["width"], "children": 2}.get(name, 1)
            part = arrays[f"trees/{name}"][begin[name] : begin[name] + count * width]
            begin[name] += count * width
            shaped = part.reshape(count, width) if name in ("values", "children") else part
            parts[name] = shaped.astype(np.int64) if name in ("splits", "children") else shaped
        asked: dict[int, Any] = {int(column): nodes[number] for column, number in row["asked"].items()}
        found.append(Grown(int(row["layer"]), Tree(**parts), asked))
    return found
