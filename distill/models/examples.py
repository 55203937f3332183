"""Labelled states as stable rows, of which any part can be run on its own."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from distill.models.bags import Bags, Integers
from distill.models.network import Network
from distill.models.wiring import Wiring, wire_quotient
from distill.structures import Quotient, Vocabulary

_AT_ONCE = 40_000  # rows: more do not fit the processor's caches


@dataclass(frozen=True, eq=False)
class Examples:
    """States with V*, ready to be run in batches.

    Rows are stable: what a row receives messages from is in the same state, so the rows of some states need
    no others, and one wiring serves all layers.

    Attributes
    ----------
    wiring : of all rows.
    states : the rows of each state.
    v_star : (n_states,) labels.
    """

    wiring: Wiring
    states: Bags
    v_star: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.v_star)

    @staticmethod
    def of_quotient(quotient: Quotient, vocabulary: Vocabulary, split: int) -> "Examples":
        """The solvable states of one split of a stable quotient."""
        chosen = np.flatnonzero((quotient.split == split) & (quotient.v_star >= 0))
        # The layer after the last repeats it, if the quotient is stable.
        wiring = wire_quotient(quotient, quotient.depth + 1, vocabulary)
        states = Bags.of_matrix(quotient.layers[-1].histogram)
        return Examples(wiring, states, quotient.v_star.astype(np.float64)).part(chosen)

    def part(self, chosen: Integers) -> "Examples":
        """Some states with the rows they need."""
        states = self.states[chosen]
        rows, place = np.unique(states.row, return_inverse=True)
        return Examples(
            self.wiring.part(rows), Bags(states.offsets, place, states.count), self.v_star[chosen]
        )

    def weights(self) -> NDArray[np.float64]:
        """(n_states,) the inverse frequency of each state's V* (thesis 2.19), summing to 1."""
        _, number, counts = np.unique(self.v_star, return_inverse=True, return_counts=True)
        weights: NDArray[np.float64] = 1.0 / counts[number] / len(counts)
        return weights

    def run(self, network: Network, layers: int | None = None) -> torch.Tensor:
        """(n_states,) V, with gradients; by so many layers instead of the network's, if given."""
        first = network.zeros(len(self.wiring))
        return network.run(first, [self.wiring], self.states, keep=False, layers=layers).value

    def chunks(self) -> Iterator["Examples"]:
        """All states in order, in parts of bounded size."""
        begin, sizes = 0, np.cumsum(np.diff(self.states.offsets))
        while begin < len(self):
            done = sizes[begin - 1] if begin else 0
            end = max(begin + 1, int(np.searchsorted(sizes, done + _AT_ONCE, side="right")))
            yield self.part(np.arange(begin, end))
            begin = end

    def values(self, network: Network) -> NDArray[np.float64]:
        """(n_states,) V, without gradients."""
        with torch.no_grad():
            found = [part.run(network).numpy().astype(np.float64) for part in self.chunks()]
        return np.concatenate([np.zeros(0), *found])
