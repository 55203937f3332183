"""Automorphisms of states, and an order of their objects that does not depend on names."""

import numpy as np
import pynauty

from distill.structures import Structures
from distill.symmetry.canonical import coloured_graphs
from distill.symmetry.object_graph import object_graphs


def group_sizes(states: Structures) -> list[int]:
    """For each state the number of its automorphisms.

    Examples
    --------
    >>> from distill.structures import Predicate, Vocabulary
    >>> words = Vocabulary([Predicate("on", 2)])
    >>> group_sizes(Structures(words, 2, [0, 0, 0, 1, 1], {"on": [[3, 4]]}))
    [6, 1]
    """
    sizes = []
    for _, graph, _ in coloured_graphs(object_graphs(states)):
        mantissa, exponent = pynauty.autgrp(graph)[1:3] if graph.number_of_vertices else (1.0, 0)
        sizes.append(round(mantissa * 10**exponent))
    return sizes


def canonical_orders(states: Structures) -> list[list[int]]:
    """For each state its objects, numbered within the state, in an order that is invariant under renaming.

    Isomorphic states are equal after their objects are renumbered in this order.

    Examples
    --------
    >>> from distill.structures import Predicate, Vocabulary
    >>> words = Vocabulary([Predicate("on", 2)])
    >>> first, second = canonical_orders(Structures(words, 2, [0, 0, 1, 1], {"on": [[0, 1], [3, 2]]}))
    >>> first == second[::-1]
    True
    """
    n_objects = np.diff(states.object_offsets)
    orders = []
    graphs = coloured_graphs(object_graphs(states))
    for size, (_, graph, place) in zip(n_objects.tolist(), graphs, strict=True):
        rank = {vertex: n for n, vertex in enumerate(pynauty.canon_label(graph))} if size else {}
        # The objects are the first vertices of an object graph, in their order.
        orders.append(sorted(range(size), key=lambda x, place=place, rank=rank: rank[int(place[x])]))  # type: ignore[misc]
    return orders
