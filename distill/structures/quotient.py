"""The quotient: all objects that look the same up to some depth are one row.

Rows are layered. Two objects with the same row at depth d have, at layer d of any message-passing network,
the same embedding, and satisfy the same formulas of modal depth d. A row at depth d + 1 knows how many atoms
link it to which rows at depth d; states that have equally many objects of every row are one state row.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from distill.errors import InputError
from distill.structures.vocabulary import Vocabulary

Rows = NDArray[np.int64]
Counts = Any  # scipy.sparse.csr_array, for which there are no type hints


@dataclass(frozen=True, eq=False)
class Links:
    """The atoms of one relation, between rows.

    Attributes
    ----------
    tuples : (n_tuples, arity) the distinct atoms, as rows of the layer before.
    counts : for each position a sparse matrix (n_rows, n_tuples): how many atoms of that kind have an object
        of the row at this position. With sets: 1 where there are any.
    """

    tuples: Rows
    counts: tuple[Counts, ...]


@dataclass(frozen=True, eq=False)
class Pairs:
    """All that links ordered pairs of objects, between rows; only where messages are joint.

    Attributes
    ----------
    kinds : (n_kinds, 2 · n_binary) which relations hold of a pair (x, y), then which of (y, x).
    messages : (n_messages, 2) kind, and the row of y in the layer before.
    counts : sparse matrix (n_rows, n_messages): how many y there are for an x of the row.
    """

    kinds: NDArray[np.bool_]
    messages: Rows
    counts: Counts


@dataclass(frozen=True, eq=False)
class Layer:
    """The rows at one depth.

    Attributes
    ----------
    parent : (n_rows,) each row's row in the layer before; its own number at depth 0.
    links : for each relation of two and more arguments (only three and more if messages are joint).
    pairs : the binary relations together, if messages are joint.
    histogram : M_d, a sparse matrix (n_state_rows, n_rows): how many objects of each row a state has.
    """

    parent: Rows
    links: Mapping[str, Links]
    pairs: Pairs | None
    histogram: Counts

    def __len__(self) -> int:
        return len(self.parent)


@dataclass(frozen=True, eq=False)
class Quotient:
    """Rows of objects at depth 0, 1, … and rows of states.

    Attributes
    ----------
    vocabulary : the predicates.
    unary : (n_rows at depth 0, n_predicates) whether a unary (or nullary) predicate holds of a row.
    layers : from depth 0 on. If stable, the last layer repeats the rows of the one before, so that its links
        lead from the stable rows to the stable rows.
    stable : whether the layers reach the fixpoint.
    v_star, split : (n_state_rows,) label and split of each state row.
    multiplicity : (n_state_rows,) how many states each stands for.
    """

    vocabulary: Vocabulary
    unary: NDArray[np.bool_]
    layers: tuple[Layer, ...]
    stable: bool
    v_star: Rows
    split: Rows
    multiplicity: Rows

    @property
    def depth(self) -> int:
        """The depth of the last layer."""
        return len(self.layers) - 1

    def holds(self, name: str, depth: int) -> NDArray[np.bool_]:
        """(n_rows,) whether a unary predicate holds of the rows at `depth`."""
        row = np.arange(len(self.layers[depth]))
        for layer in self.layers[depth:0:-1]:
            row = layer.parent[row]
        result: NDArray[np.bool_] = self.unary[row, self.vocabulary.index(name)]
        return result

    def link(self, name: str, depth: int, source: int = 0, target: int = 1) -> Counts:
        """How many atoms link each row at `depth` to each row at `depth - 1`.

        Parameters
        ----------
        name : a relation of two and more arguments.
        source, target : positions in it: the row's own, and the other's.

        Returns
        -------
        Sparse matrix (n_rows at depth, n_rows at depth - 1).
        """
        if not 1 <= depth <= self.depth:
            raise InputError(f"Links exist at depth 1 to {self.depth}, not {depth}.")
        layer, before = self.layers[depth], self.layers[depth - 1]
        if layer.pairs is not None and self.vocabulary[name].arity == 2:
            binary = [predicate.name for predicate in self.vocabulary if predicate.arity == 2]
            column = binary.index(name) + (0 if source < target else len(binary))
            return self.pair_link(layer.pairs.kinds[:, column], depth)
        links = layer.links[name]
        n_tuples = len(links.tuples)
        ends = (np.ones(n_tuples, dtype=np.int64), (np.arange(n_tuples), links.tuples[:, target]))
        return links.counts[source] @ sp.csr_array(ends, shape=(n_tuples, len(before)))

    def pair_link(self, kinds: NDArray[np.bool_], depth: int) -> Counts:
        """How many objects of each row at `depth - 1` stand in a relation to an object of a row at `depth`.

        Parameters
        ----------
        kinds : (n_kinds,) which kinds of pairs belong to the relation; see `Pairs`.
        """
        layer, before = self.layers[depth], self.layers[depth - 1]
        if layer.pairs is None:
            raise InputError(
                "Relations between pairs need a quotient with joint messages; build it with joint."
            )
        chosen = np.flatnonzero(kinds[layer.pairs.messages[:, 0]])
        ends = (
            np.ones(len(chosen), dtype=np.int64),
            (np.arange(len(chosen)), layer.pairs.messages[chosen, 1]),
        )
        return layer.pairs.counts[:, chosen] @ sp.csr_array(ends, shape=(len(chosen), len(before)))
