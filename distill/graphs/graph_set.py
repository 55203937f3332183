"""Graphs with a class each, as structures with one symmetric relation."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distill.logic import Truth
from distill.structures import Predicate, Structures, Vocabulary

EDGE = "edge"
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class GraphSet:
    """Graphs with classes.

    Attributes
    ----------
    name : of the set.
    graphs : the binary predicate `edge` is symmetric; the others are unary.
    label : (n_graphs,) the number of the class of each graph.
    classes : the classes in order, as they are written in files.
    truth : the formula that defines class 1 of a synthetic set.
    """

    name: str
    graphs: Structures
    label: Integers
    classes: tuple[str, ...]
    truth: Truth | None = None

    def __len__(self) -> int:
        return len(self.label)


def graph_structures(
    n_graphs: int, graph_of_node: Integers, edges: Integers, labels: Sequence[tuple[str, Integers]]
) -> Structures:
    """Undirected graphs as structures.

    Parameters
    ----------
    graph_of_node : (n_nodes,) ascending.
    edges : (n_edges, 2) nodes, in one or both directions, also several times.
    labels : for each unary predicate its name and the nodes of which it holds.

    Examples
    --------
    >>> nodes, edges = np.array([0, 0, 1]), np.array([[1, 0], [0, 1]])
    >>> graph_structures(2, nodes, edges, [("red", np.array([2]))]).relations["edge"].tolist()
    [[0, 1], [1, 0]]
    """
    both = np.unique(np.concatenate([edges, edges[:, ::-1]]), axis=0)
    vocabulary = Vocabulary([Predicate(EDGE, 2), *(Predicate(name, 1) for name, _ in labels)])
    unary = {name: np.sort(nodes)[:, None] for name, nodes in labels}
    return Structures(vocabulary, n_graphs, graph_of_node, {EDGE: both, **unary})
