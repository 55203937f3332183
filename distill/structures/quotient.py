"""The quotient: objects with the same colour at some depth share a row.

Each depth has its own rows. Two objects with the same row at depth d have the same embedding at layer d of
any message-passing network, and satisfy the same formulas of modal depth d. A row at depth d + 1 determines
the number of atoms to each row at depth d. States with the same number of objects of every row share a state
row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from distill.common import InputError, content_of, distinct_rows
from distill.structures.archive import read_archive, write_archive
from distill.structures.batch import Structures
from distill.structures.labels import label_arrays, labels_of
from distill.structures.vocabulary import Vocabulary

Rows = NDArray[np.int64]
Counts = Any  # scipy.sparse.csr_array, for which there are no type hints
KIND = "quotient"


@dataclass(frozen=True)
class Options:
    """Options of a colouring.

    Attributes
    ----------
    sets : ignore how often a message occurs.
    joint : all atoms over one ordered pair of objects form one message, instead of one each.
    nullary : treat nullary atoms as unary ones that hold of every object; otherwise ignore them.
    """

    sets: bool = False
    joint: bool = False
    nullary: bool = True


@dataclass(frozen=True, eq=False)
class Links:
    """The atoms of one relation, between rows.

    Attributes
    ----------
    tuples : (n_tuples, arity) the distinct atoms, as rows of the previous layer.
    counts : for each position a sparse matrix (n_rows, n_tuples): how many atoms of that kind have an object
        of the row at this position. With sets: 1 if there are any.
    """

    tuples: Rows
    counts: tuple[Counts, ...]


@dataclass(frozen=True, eq=False)
class Pairs:
    """The binary relations of ordered pairs of objects, between rows; only if messages are joint.

    Attributes
    ----------
    kinds : (n_kinds, 2 · n_binary) which relations hold of a pair (x, y), then which of (y, x).
    messages : (n_messages, 2) kind, and the row of y in the previous layer.
    counts : sparse matrix (n_rows, n_messages): the number of objects y for an x of the row.
    """

    kinds: NDArray[np.bool_]
    messages: Rows
    counts: Counts


@dataclass(frozen=True, eq=False)
class Layer:
    """The rows at one depth. Links are computed on first use and cached.

    Attributes
    ----------
    states : states with at least one object of every row.
    row : (n_objects,) the row of each of their objects.
    before : (n_objects,) the same in the previous layer.
    parent : (n_rows,) the row of each row in the previous layer; its own number at depth 0.
    options : options of the colouring.
    chosen : (n_state_rows,) the representative of each state row.
    """

    states: Structures
    row: Rows
    before: Rows
    parent: Rows
    options: Options
    chosen: Rows
    _links: dict[str, Links] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.parent)

    @cached_property
    def representative(self) -> Rows:
        """(n_rows,) the first object of each row."""
        return np.unique(self.row, return_index=True)[1]

    @cached_property
    def histogram(self) -> Counts:
        """M_d, a sparse matrix (n_state_rows, n_rows): how many objects of each row a state has."""
        counts = (np.ones(len(self.row), dtype=np.int64), (self.states.state_of_object, self.row))
        return sp.csr_array(counts, shape=(len(self.states), len(self)))[self.chosen]

    def links(self, name: str) -> Links:
        """The atoms of a relation of two and more arguments (three and more if messages are joint)."""
        if name not in self._links:
            atoms = self.states.relations[name]
            representative = self._is_representative
            atoms = atoms[representative[atoms].any(axis=1)]
            tuples, kind = distinct_rows(self.before[atoms])
            counts = []
            for position in range(atoms.shape[1]):
                mine = representative[atoms[:, position]]
                counts.append(self._counted(atoms[mine, position], kind[mine], len(tuples)))
            self._links[name] = Links(tuples, tuple(counts))
        return self._links[name]

    @cached_property
    def pairs(self) -> Pairs | None:
        """The binary relations together, if messages are joint."""
        if not self.options.joint:
            return None
        states = self.states
        binary = [states.relations[p.name].astype(np.int64) for p in states.vocabulary if p.arity == 2]
        receiver, holds, sender = joint_messages(states.n_objects, binary)
        mine = np.flatnonzero(self._is_representative[receiver])
        kinds, kind = distinct_rows(holds[mine])
        messages, message = distinct_rows(np.column_stack([kind, self.before[sender[mine]]]))
        return Pairs(kinds.astype(bool), messages, self._counted(receiver[mine], message, len(messages)))

    @cached_property
    def _is_representative(self) -> NDArray[np.bool_]:
        chosen = np.zeros(len(self.row), dtype=bool)
        chosen[self.representative] = True
        return chosen

    def _counted(self, objects: Rows, columns: Rows, width: int) -> Counts:
        entries = (np.ones(len(objects), dtype=np.int64), (self.row[objects], columns))
        counts = sp.csr_array(entries, shape=(len(self), width))
        counts.sum_duplicates()
        if self.options.sets:
            counts.data[:] = 1
        return counts


@dataclass(frozen=True, eq=False)
class Quotient:
    """Rows of objects at depth 0, 1, … and rows of states.

    Attributes
    ----------
    states : one state of each class; every row occurs in them.
    options : options of the colouring.
    rows : for each depth (n_objects,) the row of each object of these states. If stable, the last entry
        repeats the previous one, so that links lead from stable rows to stable rows.
    stable : whether the rows reach the fixpoint.
    chosen : (n_state_rows,) the representative of each state row.
    labels : for each name (n_state_rows,) the label of each state row.
    split : (n_state_rows,) the split of each state row.
    multiplicity : (n_state_rows,) the number of states of each state row.
    """

    states: Structures
    options: Options
    rows: Sequence[Rows]
    stable: bool
    chosen: Rows
    labels: Mapping[str, Rows]
    split: Rows
    multiplicity: Rows

    @property
    def vocabulary(self) -> Vocabulary:
        """The predicates."""
        return self.states.vocabulary

    @property
    def n_state_rows(self) -> int:
        """The number of state rows."""
        return len(self.chosen)

    @cached_property
    def layers(self) -> tuple[Layer, ...]:
        """The rows of each depth, from 0 on."""
        layers = []
        for number, row in enumerate(self.rows):
            before = self.rows[max(0, number - 1)]
            first = np.unique(row, return_index=True)[1]
            layers.append(Layer(self.states, row, before, before[first], self.options, self.chosen))
        return tuple(layers)

    @cached_property
    def unary(self) -> NDArray[np.bool_]:
        """(n_rows at depth 0, n_predicates) whether a unary (or nullary) predicate holds of a row."""
        row, holds = self.rows[0], np.zeros((len(self.layers[0]), len(self.vocabulary)), dtype=bool)
        for column, predicate in enumerate(self.vocabulary):
            atoms = self.states.relations[predicate.name][:, 0]
            if predicate.arity == 1:
                holds[row[atoms], column] = True
            elif predicate.arity == 0 and self.options.nullary:
                holds[row[np.isin(self.states.state_of_object, atoms)], column] = True
        return holds

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
        source, target : the positions of the row and of the other row in the relation.

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
        links = layer.links(name)
        n_tuples = len(links.tuples)
        ends = (np.ones(n_tuples, dtype=np.int64), (np.arange(n_tuples), links.tuples[:, target]))
        return links.counts[source] @ sp.csr_array(ends, shape=(n_tuples, len(before)))

    def pair_link(self, kinds: NDArray[np.bool_], depth: int) -> Counts:
        """How many objects of each row at `depth - 1` are related to an object of each row at `depth`.

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

    def fixpoint(self) -> "Quotient":
        """The quotient with the rows of depth 0 and of the fixpoint only, which suffice for formulas."""
        if not self.stable:
            raise InputError("Only a stable quotient has a fixpoint; build it without a depth.")
        return replace(self, rows=[self.rows[0], self.rows[-1], self.rows[-1]])

    def save(self, path: Path) -> None:
        """Write the quotient to one file (see `distill.structures.archive`)."""
        arrays, metadata = self.states.to_arrays()
        arrays |= {f"row{depth}": row for depth, row in enumerate(self.rows)}
        arrays |= {"chosen": self.chosen, **label_arrays(self.labels)}
        arrays |= {"split": self.split, "multiplicity": self.multiplicity}
        write_archive(
            path, arrays, {**metadata, "kind": KIND, "options": asdict(self.options), "stable": self.stable}
        )

    @staticmethod
    def load(path: Path) -> "Quotient":
        """Read a quotient that `save` wrote."""
        arrays, metadata = read_archive(path, KIND)
        with content_of(path):
            rows = [arrays[f"row{depth}"] for depth in range(sum(name.startswith("row") for name in arrays))]
            return Quotient(
                Structures.from_arrays(arrays, metadata),
                Options(**metadata["options"]),
                rows,
                metadata["stable"],
                arrays["chosen"],
                labels_of(arrays),
                arrays["split"],
                arrays["multiplicity"],
            )


def joint_messages(n_objects: int, relations: list[Rows]) -> tuple[Rows, Rows, Rows]:
    """One message for each ordered pair of objects in a common atom.

    Parameters
    ----------
    relations : for each binary relation its atoms (n_atoms, 2).

    Returns
    -------
    Receivers x (n,); which relations hold of (x, y), then which of (y, x), as 0 and 1 (n, 2 · n_relations);
    and senders y (n,).
    """
    there = [atoms[:, 0] * n_objects + atoms[:, 1] for atoms in relations]
    back = [atoms[:, 1] * n_objects + atoms[:, 0] for atoms in relations]
    columns = [np.full(len(keys), column) for column, keys in enumerate([*there, *back])]
    none = np.zeros(0, dtype=np.int64)
    pairs, code = np.unique(np.concatenate([none, *there, *back]), return_inverse=True)
    holds = np.zeros((len(pairs), len(columns)), dtype=np.int64)
    holds[code, np.concatenate([none, *columns])] = 1
    return pairs // max(1, n_objects), holds, pairs % max(1, n_objects)
