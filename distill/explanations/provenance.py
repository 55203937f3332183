"""Features of states, and their provenance: where in the network and its trees they come from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from distill.common import InputError
from distill.logic import Node, NodeTable, Number, Relation, Truth

_GIVEN = {"polish": "formulas that are used", "enumerate": "no network"}
_POOLS = {
    "enumerate": "It is one of all short formulas.",
    "polish": "It was found near features of trees, when these were written in fewer symbols.",
}


@dataclass(frozen=True)
class Chain:
    """Consecutive steps along a relation that trees contain.

    Attributes
    ----------
    relation : along which.
    concept : from which steps are counted.
    steps : the first and the last of the consecutive steps.
    layers : for each step the layer whose tree contains it.
    """

    relation: Relation
    concept: Truth
    steps: tuple[int, int]
    layers: tuple[int, ...]


@dataclass(frozen=True)
class Provenance:
    """Where a feature comes from.

    Attributes
    ----------
    layer : of the network, from 1; 0 for what the domain gives; -1 for the final layer.
    tree : which of the parallel trees.
    leaves : the leaf set; empty for a split.
    formula : the formula in the tree, where the feature is a shorter one that holds of the same rows.
    chain : the steps along a relation that admit it.
    pool : `ridt` if it comes from trees, `polish` if it was made of such features, `enumerate` if it was made
        without a network.

    Examples
    --------
    >>> Provenance(2, 3, (0, 4)).words, Provenance(-1, 3).words, Provenance(0, pool="enumerate").words
    ('layer 2, tree 3, leaves 0, 4', 'the final layer, tree 3, a split', 'no network')
    """

    layer: int
    tree: int = -1
    leaves: tuple[int, ...] = ()
    formula: Truth | None = None
    chain: Chain | None = None
    pool: str = "ridt"

    @property
    def words(self) -> str:
        """The place in a few words: layer, tree and leaves, or what else it comes from."""
        layers = {-1: "the final layer", 0: _GIVEN.get(self.pool, "the domain itself")}
        parts = [layers.get(self.layer, f"layer {self.layer}")]
        if self.tree >= 0:
            leaves = f"leaves {', '.join(map(str, self.leaves))}" if self.leaves else "a split"
            parts += [f"tree {self.tree}", leaves]
        return ", ".join(parts)

    @property
    def sentences(self) -> list[str]:
        """The place, what else is known of the pool, and the chain, a sentence each.

        Examples
        --------
        >>> Provenance(0, pool="enumerate").sentences
        ['Provenance: no network.', 'It is one of all short formulas.']
        """
        found = [f"Provenance: {self.words}."]
        if self.pool in _POOLS:
            found.append(_POOLS[self.pool])
        if self.chain is not None:
            (first, last), layers = self.chain.steps, ", ".join(map(str, self.chain.layers))
            found.append(f"Admitted because trees contain the steps {first} to {last} (layers {layers}).")
        return found

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
    def from_json(row: Mapping[str, Any], nodes: Sequence[Node]) -> "Provenance":
        """Undo `to_json`; nodes are those of the table."""
        chain = None
        if "relation" in row:
            first, last = row["steps"]
            relation: Any = nodes[row["relation"]]
            concept: Any = nodes[row["concept"]]
            chain = Chain(relation, concept, (first, last), tuple(row["layers"]))
        formula: Any = nodes[row["formula"]] if "formula" in row else None
        return Provenance(
            int(row["layer"]), int(row["tree"]), tuple(row["leaves"]), formula, chain, row["pool"]
        )


@dataclass(frozen=True, eq=False)
class StateFeature:
    """A number that every state has.

    Attributes
    ----------
    number : the formula.
    kind : `numerical`, `boolean`, `combined`, `distance` or `product`.
    provenance : where it, or the formula that it counts, comes from.
    """

    number: Number
    kind: str
    provenance: Provenance

    def to_json(self, table: NodeTable) -> dict[str, Any]:
        """Plain data, with the numbers of formulas in a table."""
        return {"node": table.add(self.number), "kind": self.kind, "origin": self.provenance.to_json(table)}

    @staticmethod
    def from_json(row: Mapping[str, Any], nodes: Sequence[Node]) -> "StateFeature":
        """Undo `to_json`; nodes are those of the table."""
        number = nodes[row["node"]]
        if not isinstance(number, Number):
            raise InputError(f"The feature {number} is no number of states.")
        return StateFeature(number, row["kind"], Provenance.from_json(row["origin"], nodes))
