"""Wiring: the senders and receivers of all messages of a layer, as flat arrays.

Plain execution on structures and lifted execution on quotient rows differ only in their wiring.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from distill.common import InputError, distinct_rows
from distill.networks.bags import Bags, Integers
from distill.structures import Counts, Predicate, Quotient, Structures, Vocabulary

TOP_TYPE = Predicate("object", 1, "type")  # some networks read it; it holds of every object
_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Wiring:
    """The messages from the rows before a layer to the rows after it.

    Messages are numbered consecutively over all relations: `n` tuples of `a` arguments give `n · a` messages,
    one for each argument of each tuple.

    Attributes
    ----------
    parent : (n_rows,) the row before the layer that each row refines.
    tuples : for each relation (n_tuples, arity) rows before the layer.
    received : for each row the messages it receives.
    """

    parent: Integers
    tuples: Mapping[str, Integers]
    received: Bags

    def __len__(self) -> int:
        return len(self.parent)

    def part(self, rows: Integers) -> "Wiring":
        """Restrict a wiring with equal rows before and after the layer to some rows.

        Parameters
        ----------
        rows : (n,) ascending; closed under senders of messages.
        """
        new_row = np.full(len(self), -1, dtype=np.int64)
        new_row[rows] = np.arange(len(rows))
        received = self.received[rows]
        tuples, message = {}, np.empty_like(received.row)
        begin = new_begin = 0
        for name, old in self.tuples.items():
            arity = old.shape[1]
            mine = np.flatnonzero((begin <= received.row) & (received.row < begin + old.size))
            number, position = np.divmod(received.row[mine] - begin, arity)
            used, place = np.unique(number, return_inverse=True)
            tuples[name] = new_row[old[used]]
            message[mine] = new_begin + place * arity + position
            begin += old.size
            new_begin += tuples[name].size
        return Wiring(np.arange(len(rows)), tuples, Bags(received.offsets, message, received.count))

    @cached_property
    def senders(self) -> dict[str, torch.Tensor]:
        """For each relation with tuples their rows, flat."""
        return {name: torch.from_numpy(rows.reshape(-1)) for name, rows in self.tuples.items() if len(rows)}

    @cached_property
    def parent_row(self) -> torch.Tensor | None:
        """The parents; None if every row is its own."""
        own = np.array_equal(self.parent, np.arange(len(self)))
        return None if own else torch.from_numpy(self.parent)


def wire_structures(batch: Structures, vocabulary: Vocabulary) -> Wiring:
    """The wiring of every layer in plain execution: rows are objects.

    Parameters
    ----------
    vocabulary : the predicates that send messages; a nullary atom sends one to every object of its state.
    """
    tuples = {}
    for predicate in vocabulary:
        if predicate.name not in batch.vocabulary:
            if predicate == TOP_TYPE:
                tuples[predicate.name] = np.arange(batch.n_objects)[:, None]
            continue
        atoms = batch.relations[predicate.name].astype(np.int64)
        if predicate.arity == 0:
            atoms = np.flatnonzero(np.isin(batch.state_of_object, atoms[:, 0]))[:, None]
        tuples[predicate.name] = atoms
    receiver = np.concatenate([_NONE, *(rows.reshape(-1) for rows in tuples.values())])
    received = Bags.of_owners(receiver, np.arange(len(receiver)), np.ones(len(receiver)), batch.n_objects)
    return Wiring(np.arange(batch.n_objects), tuples, received)


def wire_quotient(quotient: Quotient, depth: int, vocabulary: Vocabulary) -> Wiring:
    """The wiring of the layer that leads to the rows at `depth`, from 1 on; counts must be multisets.

    Beyond the last depth of a stable quotient the rows do not change.

    Parameters
    ----------
    vocabulary : the predicates that send messages; those that the quotient lacks have no atoms.
    """
    if depth > quotient.depth and not quotient.stable:
        raise InputError(
            f"The quotient ends at depth {quotient.depth} and is not stable, which is too shallow for layer "
            f"{depth}; build it deeper."
        )
    level = min(depth, quotient.depth)
    parent = quotient.layers[level].parent
    tuples: dict[str, Integers] = {}
    receivers, messages, counts = [_NONE], [_NONE], [_NONE]
    begin = 0
    for predicate in vocabulary:
        known = predicate.name in quotient.vocabulary
        if not known and predicate != TOP_TYPE:
            continue
        if predicate.arity < 2:
            holds = np.flatnonzero(quotient.holds(predicate.name, level)) if known else np.arange(len(parent))
            senders, place = np.unique(parent[holds], return_inverse=True)
            tuples[predicate.name] = senders[:, None]
            received = [(holds, place, np.ones(len(holds), dtype=np.int64))]
        else:
            tuples[predicate.name], received = _relation_messages(quotient, level, predicate)
        for position, (row, number, count) in enumerate(received):
            receivers.append(row)
            messages.append(begin + number * max(1, predicate.arity) + position)
            counts.append(count)
        begin += tuples[predicate.name].size
    receiver, message, count = (np.concatenate(parts) for parts in (receivers, messages, counts))
    return Wiring(parent, tuples, Bags.of_owners(receiver, message, count, len(parent)))


def _relation_messages(
    quotient: Quotient, level: int, predicate: Predicate
) -> tuple[Integers, list[tuple[Integers, Integers, Integers]]]:
    """The distinct tuples of a relation, and for each position row, tuple number and count."""
    layer = quotient.layers[level]
    if layer.pairs is None or predicate.arity > 2:
        links = layer.links(predicate.name)
        return links.tuples, [_entries(counts) for counts in links.counts]
    forth_row, forth_end, forth_count = _entries(quotient.link(predicate.name, level, 0, 1))
    back_row, back_end, back_count = _entries(quotient.link(predicate.name, level, 1, 0))
    forth = np.column_stack([layer.parent[forth_row], forth_end])
    back = np.column_stack([back_end, layer.parent[back_row]])
    both, number = distinct_rows(np.concatenate([forth, back]))
    first, second = np.split(number, [len(forth)])
    return both, [(forth_row, first, forth_count), (back_row, second, back_count)]


def _entries(counts: Counts) -> tuple[Integers, Integers, Integers]:
    table = counts.tocoo()
    return table.row.astype(np.int64), table.col.astype(np.int64), table.data.astype(np.int64)
