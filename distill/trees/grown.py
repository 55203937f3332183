"""Trees with what their splits ask for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from distill.logic import Node, NodeTable, Truth, read_nodes
from distill.trees.clustering import leaf_sets
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
            grown = leaf_sets(self.tree.leaf_values, distance=distance, linkage=linkage)
            found[linkage] = {"merges": grown.merges.tolist(), "heights": grown.heights.tolist()}
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
