"""Execution of a network on structures, at once or in parts."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np
import torch
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits
from torch import Tensor

from distill.common import InputError, bounded_parts
from distill.networks.network import Activations, Array, Network, Site
from distill.structures import Quotient, Structures

AT_ONCE = 40_000  # rows; more do not fit the processor's caches


def evaluate(network: Network, batch: Structures, *, seed: int | None = None) -> Activations[Tensor]:
    """Plain execution: every object of every state has its own row.

    An activation that is not a finite number is an error.

    Parameters
    ----------
    batch : structures over a vocabulary that includes the network's.
    seed : draws the random part of the first embeddings, if the network has one; zeros if left out.
    """
    activations = network.run(network.inputs(batch, seed=seed))
    check_finite(network, {site.name: table for site, table in activations.sites.items()})
    return activations


def check_finite(network: Network, tables: Mapping[str, Tensor | Array]) -> None:
    """Refuse activations with an infinite value or without a value, and name their first site.

    Examples
    --------
    >>> from distill.networks import Architecture, build_network
    >>> from distill.structures import Predicate, Vocabulary
    >>> network = build_network(Vocabulary([Predicate("on", 2)]), Architecture(layers=1, size=2))
    >>> check_finite(network, {"layer 0": np.zeros(2), "layer 1": np.array([1, np.inf])})
    Traceback (most recent call last):
        ...
    distill.common.errors.InputError: The network computes values that are not finite numbers, first at \
layer 1; its weights are too large or it was not trained well: train it again, or use another.
    """
    for name, table in tables.items():
        array = table.detach().numpy() if isinstance(table, Tensor) else table
        if not np.isfinite(array).all():
            raise InputError(
                f"{network.origin} computes values that are not finite numbers, first at {name}; its weights "
                "are too large or it was not trained well: train it again, or use another."
            )


def values(network: Network, batch: Structures) -> NDArray[np.float64]:
    """(n_states,) V of each state, by plain execution without gradients, in parts."""
    with torch.no_grad():
        parts = (batch[states] for states, _ in chunks(batch, whole=network.whole_batch))
        computed = [evaluate(network, part).value.numpy().astype(np.float64) for part in parts]
    return np.concatenate([np.zeros(0), *computed])


def chunks(batch: Structures, *, whole: bool = False) -> Iterator[tuple[slice, slice]]:
    """Consecutive states with their objects, in parts that fit the processor's caches, or all at once."""
    ends = batch.object_offsets
    for begin, end in bounded_parts(ends, batch.n_objects if whole else AT_ONCE):
        yield slice(begin, end), slice(int(ends[begin]), int(ends[end]))


def run_representatives(
    quotient: Quotient,
    sites: Iterable[Site],
    run: Callable[[Structures, slice], Mapping[Site, Tensor]],
    *,
    whole: bool = False,
) -> dict[Site, Array]:
    """Run the states of a quotient in parts, and keep one object of each row.

    Parameters
    ----------
    run : maps some states and the numbers of their objects to the activations of the sites.
    whole : whether to run all states at once.

    Returns
    -------
    For each site (n_rows at its depth, k) or (n_state_rows, k).
    """
    parts: dict[Site, list[Array]] = {site: [] for site in sites}
    levels = {site: quotient.layers[min(site.depth, quotient.depth)] for site in parts}
    representatives = {site: np.sort(level.representative) for site, level in levels.items()}
    for states, objects in chunks(quotient.states, whole=whole):
        activations = run(quotient.states[states], objects)
        for site, pieces in parts.items():
            table = as_array(activations[site])
            if site.about == "objects":
                rows = representatives[site]
                mine = rows[slice(*np.searchsorted(rows, [objects.start, objects.stop]))]
                table = table[mine - objects.start]
            pieces.append(table)
    tables = {}
    for site, pieces in parts.items():
        table = np.concatenate(pieces)
        if site.about == "objects":
            tables[site] = np.empty_like(table)
            tables[site][levels[site].row[representatives[site]]] = table
        else:
            tables[site] = table[quotient.chosen]
    return tables


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one thread: sums have the same order everywhere, and n processes use n processors."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(before)


def as_array(tensor: Tensor) -> Array:
    """The numbers of a tensor in single precision."""
    return tensor.numpy().astype(np.float32, copy=False)
