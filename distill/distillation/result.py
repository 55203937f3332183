"""The result of a distillation: an explanation, its trees, and properties of the fit."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from distill.distillation.tree_with_formulas import TreeWithFormulas, pack_trees, unpack_trees
from distill.explanations import ValueFunction
from distill.logic import NodeTable, read_nodes
from distill.structures import read_archive, write_archive

KIND = "distillation result"


@dataclass(frozen=True, eq=False)
class DistillationResult:
    """An explanation, its trees, and properties of the fit.

    Attributes
    ----------
    explanation : the value function.
    objects : the number of formulas about objects in the trees.
    fit : whether it matches the labels of all training states, how much smaller an exact value function
        might be, and which states prevent an exact fit.
    trees : the trees of all layers and rounds, in the names of the domain.
    seconds : for each step of `distil`; not stored.
    """

    explanation: ValueFunction
    objects: int
    fit: Mapping[str, Any]
    trees: tuple[TreeWithFormulas, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        """Write it to one file (see `distill.structures.archive`)."""
        table = NodeTable()
        arrays, trees = pack_trees(self.trees, table)
        known = {"explanation": self.explanation.to_json(), "objects": self.objects, "fit": dict(self.fit)}
        write_archive(path, arrays, {"kind": KIND, **known, "trees": trees, "nodes": table.rows})

    @staticmethod
    def load(path: Path) -> "DistillationResult":
        """Read what `save` wrote."""
        arrays, known = read_archive(path, KIND)
        trees = tuple(unpack_trees(arrays, known["trees"], read_nodes(known["nodes"])))
        explanation = ValueFunction.from_json(known["explanation"])
        return DistillationResult(explanation, known["objects"], known["fit"], trees)
