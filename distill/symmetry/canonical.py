"""Canonical forms of object graphs with nauty: equal if and only if the graphs are isomorphic."""

import numpy as np
import pynauty

from distill.structures import Structures
from distill.symmetry.object_graphs import EDGE


def canonical_forms(graphs: Structures) -> list[bytes]:
    """A key for each object graph; isomorphic graphs, and no others, have the same key.

    Parameters
    ----------
    graphs : what `object_graphs` makes.

    Examples
    --------
    >>> from distill.structures import Predicate, Vocabulary
    >>> from distill.symmetry import object_graphs
    >>> words = Vocabulary([Predicate("on", 2)])
    >>> states = Structures(words, 3, [0, 0, 1, 1, 2, 2], {"on": [[0, 1], [3, 2], [4, 4]]})
    >>> first, second, third = canonical_forms(object_graphs(states))
    >>> first == second, first == third
    (True, False)
    """
    colours = [predicate.name for predicate in graphs.vocabulary if predicate.arity == 1]
    colour = np.zeros(graphs.n_objects, dtype=np.int64)
    for number, name in enumerate(colours):
        colour[graphs.relations[name][:, 0]] = number
    begin = graphs.object_offsets
    edges = graphs.relations[EDGE]
    edge_begin = np.searchsorted(graphs.state_of_object[edges[:, 0]], np.arange(len(graphs) + 1))
    local = (edges - begin[graphs.state_of_object[edges[:, 0]]][:, None]).tolist() if len(edges) else []
    keys = []
    for graph in range(len(graphs)):
        size = int(begin[graph + 1] - begin[graph])
        adjacency: dict[int, list[int]] = {}
        for source, target in local[edge_begin[graph] : edge_begin[graph + 1]]:
            adjacency.setdefault(source, []).append(target)
        own = colour[begin[graph] : begin[graph + 1]]
        order = np.argsort(own, kind="stable")
        present, first = np.unique(own[order], return_index=True)
        cells = [set(cell.tolist()) for cell in np.split(order, first[1:])] if size else []
        certificate = pynauty.certificate(pynauty.Graph(size, False, adjacency, cells)) if size else b""
        # nauty knows cells, not colours: which colour each cell has, and its size, belongs to the key.
        sizes = np.diff([*first.tolist(), size]) if size else first
        keys.append(present.tobytes() + sizes.astype(np.int64).tobytes() + certificate)
    return keys
