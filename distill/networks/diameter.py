"""How far objects are from each other, and how many layers a message needs to cross a state."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.common import offsets, ranges
from distill.structures import Predicate, Structures

_AT_ONCE = 2_000_000  # entries of adjacency matrices


def layers_to_cross(batches: Iterable[Structures]) -> int:
    """The least number of layers with which every object receives what holds of each connected object.

    Objects are connected if they occur in one atom, whatever its predicate. Embeddings begin as zeros: the
    first layer tells an object which atoms it occurs in, and each further layer carries that across one atom.
    So the number is the largest distance of two connected objects plus 1.

    Examples
    --------
    >>> from distill.structures import Vocabulary
    >>> words = Vocabulary([Predicate("on", 2)])
    >>> towers = Structures(words, 2, [0, 0, 0, 1, 1], {"on": [[0, 1], [1, 2], [4, 3]]})
    >>> layers_to_cross([towers])
    3
    """
    known: dict[Any, int] = {}
    return 1 + max((int(diameters(batch, known=known).max(initial=0)) for batch in batches), default=0)


def diameters(
    batch: Structures, predicates: Iterable[Predicate] | None = None, known: dict[Any, int] | None = None
) -> NDArray[np.int64]:
    """(n_states,) the largest distance of two connected objects of each state.

    Parameters
    ----------
    predicates : the predicates whose atoms connect objects; all if left out.
    known : the diameters of graphs of earlier batches; equal graphs are measured once.
    """
    found: dict[Any, int] = {} if known is None else known
    sizes = np.diff(batch.object_offsets)
    state, edge = _edges(batch, sizes, batch.vocabulary if predicates is None else predicates)
    bounds = offsets(np.bincount(state, minlength=len(batch)))
    parts = zip(sizes.tolist(), bounds.tolist(), bounds[1:].tolist(), strict=False)
    keys = [(size, edge[begin:end].tobytes()) for size, begin, end in parts]
    new: dict[int, dict[Any, int]] = {}
    for number, key in enumerate(keys):
        if key not in found:
            new.setdefault(key[0], {})[key] = number
    for size, numbers in new.items():
        listed, step = list(numbers.items()), max(1, _AT_ONCE // max(1, size * size))
        for begin in range(0, len(listed), step):
            part = np.array([number for _, number in listed[begin : begin + step]])
            counts = bounds[part + 1] - bounds[part]
            graphs = np.zeros((len(part), size * size), dtype=bool)
            graphs[np.repeat(np.arange(len(part)), counts), edge[ranges(bounds[part], counts)]] = True
            measured = _measured(graphs.reshape(len(part), size, size)).tolist()
            found |= zip((key for key, _ in listed[begin : begin + step]), measured, strict=True)
    return np.array([found[key] for key in keys], dtype=np.int64)


def _edges(
    batch: Structures, sizes: NDArray[np.int64], predicates: Iterable[Predicate]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct pairs of objects in one atom: state, and number of the entry in its adjacency matrix."""
    ends = [np.zeros((0, 2), dtype=np.int64)]
    for predicate in predicates:
        atoms = batch.relations[predicate.name].astype(np.int64)
        places = range(predicate.arity)
        ends += [atoms[:, [one, other]] for one in places for other in places if one != other]
    pairs = np.concatenate(ends)
    state = batch.state_of_object[pairs[:, 0]].astype(np.int64)
    local = pairs - batch.object_offsets[state][:, None]
    entry = local[:, 0] * sizes[state] + local[:, 1]
    order = np.lexsort((entry, state))
    state, entry = state[order], entry[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (state[1:] != state[:-1]) | (entry[1:] != entry[:-1])
    return state[new], entry[new]


def _measured(graphs: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(n,) the largest distance of two connected vertices in each of several graphs."""
    size = graphs.shape[1]
    steps = (graphs | np.eye(size, dtype=bool)).astype(np.float32)
    reached = np.broadcast_to(np.eye(size, dtype=bool), graphs.shape)
    longest = np.zeros(len(graphs), dtype=np.int64)
    for distance in range(1, size):
        further = np.matmul(reached.astype(np.float32), steps) > 0
        grown = (further != reached).any(axis=(1, 2))
        if not grown.any():
            break
        longest[grown] = distance
        reached = further
    return longest
