"""Trees whose columns are formulas, and the formulas of their leaf sets."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.logic import BOTTOM, And, Node, NodeTable, Not, Or, Top, Truth, read_nodes
from distill.trees import Path, Tree, merge_order


@dataclass(frozen=True, eq=False)
class TreeWithFormulas:
    """A tree of one layer with the formulas of its columns.

    Attributes
    ----------
    layer : of the network, from 1; -1 for the final layer.
    tree : the fitted tree.
    formulas : the formula of each column that the tree splits on.
    """

    layer: int
    tree: Tree
    formulas: Mapping[int, Truth]

    def to_json(self, table: NodeTable) -> dict[str, Any]:
        """Plain data; formulas are numbers in a table."""
        return {"layer": self.layer, **self.tree.to_json(), "asked": self._numbers(table)}

    def _numbers(self, table: NodeTable) -> dict[str, int]:
        return {str(column): table.add(formula) for column, formula in sorted(self.formulas.items())}

    @staticmethod
    def from_json(row: Mapping[str, Any], nodes: Sequence[Node]) -> "TreeWithFormulas":
        """Undo `to_json`; nodes are those of the table."""
        return TreeWithFormulas(int(row["layer"]), Tree.from_json(row), _formulas(row, nodes))

    def leaf_set(self, leaves: Iterable[int]) -> Truth:
        """The formula of a leaf set."""
        return leaf_set_formula(self.tree.paths, frozenset(leaves), self.formulas)

    def dendrograms(self, distance: str, linkages: Sequence[str]) -> dict[str, dict[str, Any]]:
        """The dendrogram of its leaves under each linkage: which two sets merge, and at which height."""
        result = {}
        for linkage in linkages:
            merges, heights = merge_order(self.tree.leaf_values, distance=distance, linkage=linkage)
            result[linkage] = {"merges": merges.tolist(), "heights": heights.tolist()}
        return result


def trees_to_json(trees: Sequence[TreeWithFormulas]) -> dict[str, Any]:
    """Trees, and one list with the nodes of all their formulas."""
    table = NodeTable()
    rows = [one.to_json(table) for one in trees]
    return {"nodes": table.rows, "trees": rows}


def trees_from_json(whole: Mapping[str, Any]) -> tuple[TreeWithFormulas, ...]:
    """Undo `trees_to_json`."""
    nodes = read_nodes(whole["nodes"])
    return tuple(TreeWithFormulas.from_json(row, nodes) for row in whole["trees"])


def pack_trees(
    trees: Sequence[TreeWithFormulas], table: NodeTable
) -> tuple[dict[str, NDArray[Any]], list[dict[str, Any]]]:
    """Trees as a few long arrays, which are fast to write, and their formulas as plain data."""
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
            "asked": one._numbers(table),
        }
        for one in trees
    ]
    return arrays, rows


def unpack_trees(
    arrays: Mapping[str, NDArray[Any]], rows: Sequence[Mapping[str, Any]], nodes: Sequence[Node]
) -> list[TreeWithFormulas]:
    """Undo `pack_trees`; nodes are those of the table."""
    begin = dict.fromkeys((item.name for item in fields(Tree)), 0)
    trees = []
    for row in rows:
        count = row["nodes"]
        parts: dict[str, Any] = {}
        for name in begin:
            width = {"values": row["width"], "children": 2}.get(name, 1)
            part = arrays[f"trees/{name}"][begin[name] : begin[name] + count * width]
            begin[name] += count * width
            shaped = part.reshape(count, width) if name in ("values", "children") else part
            parts[name] = shaped.astype(np.int64) if name in ("splits", "children") else shaped
        trees.append(TreeWithFormulas(int(row["layer"]), Tree(**parts), _formulas(row, nodes)))
    return trees


def _formulas(row: Mapping[str, Any], nodes: Sequence[Any]) -> dict[int, Truth]:
    """The formulas of a stored tree."""
    return {int(column): nodes[number] for column, number in row["asked"].items()}


def leaf_set_formula(paths: Sequence[Path], leaves: frozenset[int], formulas: Mapping[int, Truth]) -> Truth:
    """The formula of a leaf set: a disjunction over the paths to its leaves.

    Parameters
    ----------
    paths : for each leaf the columns on its path, and whether they hold.
    formulas : of the columns.

    Examples
    --------
    >>> from distill.logic import parse
    >>> paths = [((0, True),), ((0, False), (1, True)), ((0, False), (1, False))]
    >>> leaf_set_formula(paths, frozenset([0, 2]), {0: parse("clear"), 1: parse("holding")})
    clear | ~holding
    """

    def below(members: list[int], level: int) -> Truth:
        inside = [member in leaves for member in members]
        if all(inside) or not any(inside):
            return Top() if inside[0] else BOTTOM
        column = paths[members[0]][level][0]
        parts = [[m for m in members if paths[m][level][1] == outcome] for outcome in (True, False)]
        yes, no = (below(part, level + 1) for part in parts)
        return _branch(formulas[column], yes, no)

    return below(list(range(len(paths))), 0)


def _branch(split: Truth, yes: Truth, no: Truth) -> Truth:
    """(split ∧ yes) ∨ (¬split ∧ no), without constants."""
    if isinstance(yes, Top):
        return split if no is BOTTOM else Or(split, no)
    if isinstance(no, Top):
        return Not(split) if yes is BOTTOM else Or(Not(split), yes)
    if yes is BOTTOM:
        return And(Not(split), no)
    if no is BOTTOM:
        return And(split, yes)
    return Or(And(split, yes), And(Not(split), no))
