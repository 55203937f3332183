"""Canonical forms of object graphs with nauty: equal if and only if the graphs are isomorphic."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pynauty

from distill.structures import Structures
from distill.symmetry.interning import Integers
from distill.symmetry.object_graph import EDGE


def canonical_forms(graphs: Structures) -> list[bytes]:
    """A key for each object graph; two graphs have the same key if and only if they are isomorphic.

    Parameters
    ----------
    graphs : object graphs from `object_graphs`.

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
    return [
        kinds + (pynauty.certificate(graph) if graph.number_of_vertices else b"")
        for kinds, graph, _ in coloured_graphs(graphs)
    ]


def coloured_graphs(graphs: Structures) -> Iterator[tuple[bytes, pynauty.Graph, Integers]]:
    """For each object graph the colours of its cells, the graph for nauty, and nauty's vertex numbers.

    The last are (n_vertices,) numbers, in the order of the vertices of the object graph.
    """
    cells = _Runs.of(*_by_colour(graphs))
    place = np.empty(graphs.n_objects, dtype=np.int64)
    place[cells.order] = np.arange(graphs.n_objects)
    # Vertices are numbered by colour within their graph, so a cell is a range.
    place -= graphs.object_offsets[graphs.state_of_object]
    sender, receiver = graphs.relations[EDGE].T
    edges = _Runs.of(graphs.state_of_object[receiver].astype(np.int64), place[receiver])
    neighbours = place[sender[edges.order]].tolist()
    of_graph = np.searchsorted(edges.group, np.arange(len(graphs) + 1)).tolist()
    cells_of_graph = np.searchsorted(cells.group, np.arange(len(graphs) + 1)).tolist()
    hubs, starts, ends = edges.key.tolist(), edges.start.tolist(), edges.end.tolist()
    begins = graphs.object_offsets.tolist()
    cell_starts, cell_ends = cells.start.tolist(), cells.end.tolist()
    # nauty ignores the colours of cells, so the key contains the colour and the size of each cell.
    kinds = np.column_stack([cells.key, cells.end - cells.start])
    for graph in range(len(graphs)):
        first, last = of_graph[graph], of_graph[graph + 1]
        ranges = zip(hubs[first:last], starts[first:last], ends[first:last], strict=True)
        adjacency = {hub: neighbours[start:end] for hub, start, end in ranges}
        begin, size = begins[graph], begins[graph + 1] - begins[graph]
        first, last = cells_of_graph[graph], cells_of_graph[graph + 1]
        bounds = zip(cell_starts[first:last], cell_ends[first:last], strict=True)
        colouring = [set(range(start - begin, end - begin)) for start, end in bounds]
        yield (
            kinds[first:last].tobytes(),
            _TrustedGraph(size, adjacency, colouring),
            place[begin : begin + size],
        )


class _TrustedGraph(pynauty.Graph):  # type: ignore[misc]
    """An undirected graph without pynauty's checks, which take ten times as long as nauty."""

    # pynauty reads these attributes; its class has properties of these names.
    adjacency_dict: dict[int, list[int]] = {}  # noqa: RUF012
    vertex_coloring: list[set[int]] = []  # noqa: RUF012

    def __init__(self, size: int, adjacency: dict[int, list[int]], cells: list[set[int]]) -> None:
        self.number_of_vertices = size
        self.directed = False
        self.adjacency_dict = adjacency
        self.vertex_coloring = cells if len(cells) > 1 else []


@dataclass(frozen=True)
class _Runs:
    """Sorted pairs of numbers, with the first and last position of each distinct pair.

    Attributes
    ----------
    order : (n,) the order.
    group, key : (n_runs,) the distinct pairs.
    start, end : (n_runs,) their positions in the order.
    """

    order: Integers
    group: Integers
    key: Integers
    start: Integers
    end: Integers

    @staticmethod
    def of(group: Integers, key: Integers) -> "_Runs":
        order = np.lexsort((key, group))
        group, key = group[order], key[order]
        new = np.ones(len(order), dtype=bool)
        new[1:] = (group[1:] != group[:-1]) | (key[1:] != key[:-1])
        start = np.flatnonzero(new)
        return _Runs(order, group[start], key[start], start, np.append(start[1:], len(order)))


def _by_colour(graphs: Structures) -> tuple[Integers, Integers]:
    """The graph and the colour of each vertex."""
    colour = np.zeros(graphs.n_objects, dtype=np.int64)
    for number, predicate in enumerate(graphs.vocabulary):
        if predicate.arity == 1:
            colour[graphs.relations[predicate.name][:, 0]] = number
    return graphs.state_of_object.astype(np.int64), colour
