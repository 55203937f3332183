"""Automorphisms of states, and an order of their objects that does not depend on names."""

import pynauty

from distill.structures import Structures
from distill.symmetry.canonical import coloured_graphs
from distill.symmetry.object_graphs import object_graphs


def group_sizes(states: Structures) -> list[int]:
    """For each state the number of ways to permute its objects that change nothing.

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
    """For each state its objects, numbered within the state, in an order that no renaming changes.

    Isomorphic states are the same once their objects are numbered in this order.

    Examples
    --------
    >>> from distill.structures import Predicate, Vocabulary
    >>> words = Vocabulary([Predicate("on", 2)])
    >>> first, second = canonical_orders(Structures(words, 2, [0, 0, 1, 1], {"on": [[0, 1], [3, 2]]}))
    >>> first == second[::-1]
    True
    """
    n_objects = states.object_offsets[1:] - states.object_offsets[:-1]
    orders = []
    graphs = coloured_graphs(object_graphs(states))
    for size, (_, graph, place) in zip(n_objects.tolist(), graphs, strict=True):
        rank = {vertex: n for n, vertex in enumerate(pynauty.canon_label(graph))} if size else {}
        # An object graph has the objects first, in their order.
        orders.append(sorted(range(size), key=lambda x, place=place, rank=rank: rank[int(place[x])]))  # type: ignore[misc]
    return orders
