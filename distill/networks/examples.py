"""Labelled states as training examples."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from distill.common import bounded_parts, offsets
from distill.networks.execution import AT_ONCE
from distill.networks.network import Inputs, Integers, Network
from distill.structures import V_STAR, Quotient, inverse_frequency


@dataclass(frozen=True, eq=False)
class Examples:
    """Labelled states, ready to be run in batches.

    Attributes
    ----------
    inputs : the states in the form that a family of networks computes on.
    label : (n_states,) the values to predict.
    multiplicity : (n_states,) how often each state counts; once if left out.
    """

    inputs: Inputs
    label: NDArray[np.float64]
    multiplicity: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.label)

    @staticmethod
    def of_quotient(network: Network, quotient: Quotient, split: int, label: str = V_STAR) -> "Examples":
        """The states of one split of a stable quotient with a label of at least 0."""
        given = quotient.labels[label]
        chosen = np.flatnonzero((quotient.split == split) & (given >= 0))
        counts = quotient.multiplicity.astype(np.float64)
        return Examples(network.examples(quotient), given.astype(np.float64), counts).part(chosen)

    def counted_once(self) -> "Examples":
        """The same states without their multiplicities."""
        return Examples(self.inputs, self.label)

    def part(self, chosen: Integers) -> "Examples":
        """Some states, by number."""
        counts = None if self.multiplicity is None else self.multiplicity[chosen]
        return Examples(self.inputs.part(chosen), self.label[chosen], counts)

    def weights(self) -> NDArray[np.float64]:
        """(n_states,) the inverse frequency of each state's label (thesis 2.19), summing to 1."""
        weights = inverse_frequency(self.label, multiplicity=self.multiplicity)
        return weights / len(np.unique(self.label))

    def mae(self, network: Network) -> float:
        """The mean absolute error."""
        error = np.abs(self.values(network) - self.label)
        return float(np.average(error, weights=self.multiplicity))

    def run(self, network: Network, layers: int | None = None) -> torch.Tensor:
        """(n_states,) V, with gradients; `layers` sets the depth of a recurrent network."""
        return network.run(self.inputs, keep=False, layers=layers).value

    def chunks(self) -> Iterator["Examples"]:
        """All states in order, in parts of bounded size."""
        for begin, end in bounded_parts(offsets(self.inputs.sizes), AT_ONCE):
            yield self.part(np.arange(begin, end))

    def values(self, network: Network) -> NDArray[np.float64]:
        """(n_states,) V, without gradients."""
        with torch.no_grad():
            parts = [part.run(network).numpy().astype(np.float64) for part in self.chunks()]
        return np.concatenate([np.zeros(0), *parts])
