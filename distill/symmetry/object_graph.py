"""Object graphs: relational structures as vertex-coloured graphs (`symmetries.txt`, Definition 11).

Every object is a vertex. An atom with k arguments adds a path of k vertices, one for each position, and an
edge from each of them to its argument. Nullary atoms add nothing. Each domain constant has a colour of its
own; the other objects share a colour.
"""

import numpy as np
from numpy.typing import NDArray

from distill.structures import Predicate, Structures, Vocabulary

EDGE = "edge"
OBJECT = "object"


def object_graphs(batch: Structures) -> Structures:
    """The object graphs of a batch as structures: unary predicates are colours, `edge` has the edges.

    Each edge is stored in one direction, which is irrelevant, since its ends have different colours. The
    objects of a state are the first vertices of its graph, in their order.

    Examples
    --------
    >>> states = Structures(Vocabulary([Predicate("on", 2)]), 1, [0, 0], {"on": [[0, 1]]})
    >>> object_graphs(states).decode(0)
    [('object', (0,)), ('object', (1,)), ('on 1', (2,)), ('on 2', (3,)), ('edge', (2, 0)), ('edge', (2, 3)), \
('edge', (3, 1))]
    """
    constants = [predicate for predicate in batch.vocabulary if predicate.role == "constant"]
    relations = [
        predicate for predicate in batch.vocabulary if predicate.arity and predicate not in constants
    ]
    graph_of, number, edges = [batch.state_of_object.astype(np.int64)], batch.n_objects, []
    members: dict[str, NDArray[np.int64]] = {}
    plain = np.ones(batch.n_objects, dtype=bool)
    for predicate in constants:
        members[predicate.name] = batch.relations[predicate.name][:, 0].astype(np.int64)
        plain[members[predicate.name]] = False
    members[OBJECT] = np.flatnonzero(plain)
    for predicate in relations:
        atoms = batch.relations[predicate.name].astype(np.int64)
        state = batch.state_of_object[atoms[:, 0]].astype(np.int64)
        previous = None
        for position in range(predicate.arity):
            vertices = np.arange(number, number + len(atoms))
            number += len(atoms)
            members[f"{predicate.name} {position + 1}"] = vertices
            graph_of.append(state)
            edges.append(np.column_stack([vertices, atoms[:, position]]))
            if previous is not None:
                edges.append(np.column_stack([previous, vertices]))
            previous = vertices
    return _grouped(len(batch), np.concatenate(graph_of), members, edges)


def _grouped(
    n_graphs: int,
    graph_of: NDArray[np.int64],
    members: dict[str, NDArray[np.int64]],
    edges: list[NDArray[np.int64]],
) -> Structures:
    """Renumber the vertices so that those of a graph are consecutive."""
    order = np.argsort(graph_of, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    state_of_vertex = graph_of[order]
    relations = {name: np.sort(place[vertices])[:, None] for name, vertices in members.items()}
    joined = place[np.concatenate(edges)] if edges else np.zeros((0, 2), dtype=np.int64)
    relations[EDGE] = joined[np.argsort(state_of_vertex[joined[:, 0]], kind="stable")]
    vocabulary = Vocabulary([*(Predicate(name, 1) for name in members), Predicate(EDGE, 2)])
    return Structures(vocabulary, n_graphs, state_of_vertex, relations)
