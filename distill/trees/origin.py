"""Features of states, and where they were born."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from distill.errors import InputError
from distill.logic import Node, NodeTable, Number, Truth
from distill.trees.chains import Chain


@dataclass(frozen=True)
class Origin:
    """Where a feature was born.

    Attributes
    ----------
    layer : of the network, from 1; 0 for what the domain gives; -1 for the final layer.
    tree : which of the parallel trees.
    leaves : the leaf set; empty for a split.
    formula : what the tree says, where the feature is a shorter formula that holds of the same rows.
    chain : the steps along a relation that admit it.
    pool : `ridt` if trees bore it, `polish` if it was made of features that they bore, `enumerate` if it was
        made without a network.
    """

    layer: int
    tree: int = -1
    leaves: tuple[int, ...] = ()
    formula: Truth | None = None
    chain: Chain | None = None
    pool: str = "ridt"

    def to_json(self, table: NodeTable) -> dict[str, Any]:
        """Plain data, with the numbers of formulas in a table."""
        found: dict[str, Any] = {
            "layer": self.layer,
            "tree": self.tree,
            "leaves": list(self.leaves),
            "pool": self.pool,
        }
        if self.chain is not None:
            found |= {"steps": list(self.chain.steps), "layers": list(self.chain.layers)}
            found |= {"relation": table.add(self.chain.relation), "concept": table.add(self.chain.concept)}
        if self.formula is not None:
            found["formula"] = table.add(self.formula)
        return found

    @staticmethod
    def from_json(row: Mapping[str, Any], nodes: Sequence[Node]) -> "Origin":
        """Undo `to_json`; nodes are those of the table."""
        chain = None
        if "relation" in row:
            first, last = row["steps"]
            relation: Any = nodes[row["relation"]]
            concept: Any = nodes[row["concept"]]
            chain = Chain(relation, concept, (first, last), tuple(row["layers"]))
        formula: Any = nodes[row["formula"]] if "formula" in row else None
        return Origin(int(row["layer"]), int(row["tree"]), tuple(row["leaves"]), formula, chain, row["pool"])


@dataclass(frozen=True, eq=False)
class StateFeature:
    """A number that every state has.

    Attributes
    ----------
    number : the formula.
    kind : `numerical`, `boolean`, `combined`, `distance` or `product`.
    origin : where it, or the formula that it counts, was born.
    """

    number: Number
    kind: str
    origin: Origin

    def to_json(self, table: NodeTable) -> dict[str, Any]:
        """Plain data, with the numbers of formulas in a table."""
        return {"node": table.add(self.number), "kind": self.kind, "origin": self.origin.to_json(table)}

    @staticmethod
    def from_json(row: Mapping[str, Any], nodes: Sequence[Node]) -> "StateFeature":
        """Undo `to_json`; nodes are those of the table."""
        number = nodes[row["node"]]
        if not isinstance(number, Number):
            raise InputError(f"The feature {number} is no number of states.")
        return StateFeature(number, row["kind"], Origin.from_json(row["origin"], nodes))
