"""Replay: all that a network computes on the rows of a quotient, computed once and kept."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from distill.models.bags import Bags
from distill.models.execution import chunks, evaluate_lifted
from distill.models.network import Network
from distill.models.wiring import wire_quotient, wire_structures
from distill.structures import Quotient, read_archive, write_archive

Array = NDArray[np.float32]
KIND = "replay"
_WORTH_LIFTING = 0.25  # rows for each object: with more, one state after the other is faster


@dataclass(frozen=True, eq=False)
class Replay:
    """A network's activations on a quotient.

    Attributes
    ----------
    embeddings : for depth 0, 1, … L an array (n_rows at that depth, k). Beyond the last depth of a stable
        quotient the rows are those of its last layer.
    pooled : (n_state_rows, k) what pooling gives.
    inner : (n_state_rows, hidden) the readout's last hidden values, of which V is a linear map.
    value : (n_state_rows,) V.
    """

    embeddings: tuple[Array, ...]
    pooled: Array
    inner: Array
    value: Array

    def save(self, path: Path) -> None:
        """Write the replay to one file (see `distill.structures.archive`)."""
        arrays = {f"depth{depth}": found for depth, found in enumerate(self.embeddings)}
        states = {"pooled": self.pooled, "inner": self.inner, "value": self.value}
        write_archive(path, {**arrays, **states}, {"kind": KIND, "layers": len(self.embeddings) - 1})

    @staticmethod
    def load(path: Path) -> "Replay":
        """Read a replay that `save` wrote."""
        arrays, metadata = read_archive(path, KIND)
        embeddings = tuple(arrays[f"depth{depth}"] for depth in range(metadata["layers"] + 1))
        return Replay(embeddings, arrays["pooled"], arrays["inner"], arrays["value"])


def replay(network: Network, quotient: Quotient) -> Replay:
    """Run a network on a quotient.

    Layers whose rows stand for several objects each are lifted; from the depth on at which nearly every
    object has a row of its own, the states are run one after the other. Both give the same.

    Parameters
    ----------
    quotient : of structures over a vocabulary that holds the network's; at least as deep as the network or
        stable, and with multisets.
    """
    layers = network.architecture.layers
    levels = [quotient.layers[min(depth, quotient.depth)] for depth in range(layers + 1)]
    # Such networks look at the whole batch, so it has to stay whole.
    lift_all = network.architecture.floor == "batch"
    limit = _WORTH_LIFTING * max(1, quotient.states.n_objects)
    lifted = layers if lift_all else sum(len(level) <= limit for level in levels[1:])
    with torch.no_grad():
        if lifted < layers:
            return _partly_lifted(network, quotient, lifted)
        found = evaluate_lifted(network, quotient)
        embeddings = tuple(map(_array, found.embeddings))
        return Replay(embeddings, _array(found.pooled), _array(found.inner), _array(found.value))


def _partly_lifted(network: Network, quotient: Quotient, begin: int) -> Replay:
    """Lift the first layers, then go on object by object."""
    layers = network.architecture.layers
    first = [network.zeros(len(quotient.layers[0]))]
    for depth in range(1, begin + 1):
        first.append(network.layer(first[-1], wire_quotient(quotient, depth, network.vocabulary)))
    embeddings = [_array(x) for x in first]
    start = quotient.layers[begin].row
    chosen = [quotient.layers[min(depth, quotient.depth)] for depth in range(begin + 1, layers + 1)]
    representatives = [np.sort(level.representative) for level in chosen]
    found = [np.empty((len(level), network.architecture.size), dtype=np.float32) for level in chosen]
    reads: list[tuple[Array, ...]] = []
    for states, objects in chunks(quotient.states):
        batch = quotient.states[states]
        wiring = wire_structures(batch, network.vocabulary)
        x = torch.from_numpy(embeddings[-1][start[objects]])
        for level, wanted, table in zip(chosen, representatives, found, strict=True):
            x = network.layer(x, wiring)
            mine = wanted[slice(*np.searchsorted(wanted, [objects.start, objects.stop]))]
            table[level.row[mine]] = _array(x)[mine - objects.start]
        everyone = np.arange(batch.n_objects)
        bags = Bags(batch.object_offsets, everyone, np.ones(batch.n_objects))
        reads.append(tuple(map(_array, network.read(x, bags))))
    pooled, inner, value = (np.concatenate(parts)[quotient.chosen] for parts in zip(*reads, strict=True))
    return Replay((*embeddings, *found), pooled, inner, value)


def _array(tensor: torch.Tensor) -> Array:
    return tensor.numpy().astype(np.float32, copy=False)
