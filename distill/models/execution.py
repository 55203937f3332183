"""Running a network: plain on structures, lifted on quotient rows."""

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from distill.models.bags import Bags
from distill.models.network import Activations, Network
from distill.models.wiring import wire_quotient, wire_structures
from distill.structures import Quotient, Structures

_AT_ONCE = 40_000  # objects


def evaluate(
    network: Network, batch: Structures, *, seed: int | None = None, keep: bool = True
) -> Activations:
    """Plain execution: every object of every state has its own row.

    Parameters
    ----------
    batch : structures over a vocabulary that holds the network's.
    seed : draws the random part of the first embeddings, if the network has one; zeros if left out.
    keep : whether to keep the embeddings of all depths.
    """
    first = network.zeros(batch.n_objects)
    width = network.architecture.random_initial
    if seed is not None and width:
        random = torch.randn(batch.n_objects, width, generator=torch.Generator().manual_seed(seed))
        first[:, -width:] = random.to(first.dtype)
    objects = np.arange(batch.n_objects)
    states = Bags(batch.object_offsets, objects, np.ones(batch.n_objects))
    return network.run(first, [wire_structures(batch, network.vocabulary)], states, keep=keep)


def evaluate_lifted(network: Network, quotient: Quotient, *, keep: bool = True) -> Activations:
    """Lifted execution: objects that the network cannot tell apart are one row, each message is made once.

    Parameters
    ----------
    quotient : of structures over a vocabulary that holds the network's; at least as deep as the network or
        stable, and with multisets.
    """
    layers = network.architecture.layers
    wirings = [wire_quotient(quotient, depth, network.vocabulary) for depth in range(1, layers + 1)]
    last = quotient.layers[min(layers, quotient.depth)]
    first = network.zeros(len(quotient.layers[0]))
    return network.run(first, wirings, Bags.of_matrix(last.histogram), keep=keep)


def values(network: Network, batch: Structures) -> NDArray[np.float64]:
    """(n_states,) V of each state, by plain execution without gradients, a part at a time."""
    whole = network.architecture.floor == "batch"
    with torch.no_grad():
        parts = [batch] if whole else [batch[states] for states, _ in chunks(batch)]
        found = [evaluate(network, part, keep=False).value.numpy().astype(np.float64) for part in parts]
    return np.concatenate([np.zeros(0), *found])


def chunks(batch: Structures) -> Iterator[tuple[slice, slice]]:
    """Consecutive states with their objects, in parts that fit the processor's caches."""
    ends = batch.object_offsets
    begin = 0
    while begin < len(batch):
        end = max(begin + 1, int(np.searchsorted(ends, ends[begin] + _AT_ONCE, side="right")) - 1)
        yield slice(begin, end), slice(int(ends[begin]), int(ends[end]))
        begin = end
