"""2-FWL: colour refinement on ordered pairs of vertices, for few graphs."""

from collections.abc import Iterator

import numpy as np

from distill.structures import Structures
from distill.symmetry.interning import Integers, Interner
from distill.symmetry.object_graph import EDGE, object_graphs


class PairRefinement:
    """Colours of pairs of vertices of object graphs, comparable between all states of one refinement.

    The new colour of a pair (u, v) is its old colour with the multiset (or set), over all vertices w, of the
    colours of (u, w) and (w, v). A round takes cubic time in the number of vertices.
    """

    def __init__(self, *, sets: bool = False) -> None:
        self._sets = sets
        self._colours = Interner()
        self._steps = Interner()

    def keys(self, batch: Structures) -> Iterator[bytes]:
        """A key for each state: equal if and only if 2-FWL does not distinguish the states' object graphs."""
        graphs = object_graphs(batch)
        colours = [predicate.name for predicate in graphs.vocabulary if predicate.arity == 1]
        for number in range(len(graphs)):
            yield self._histogram(graphs[[number]], colours)

    def _histogram(self, graph: Structures, names: list[str]) -> bytes:
        size = graph.n_objects
        vertex = np.zeros(size, dtype=np.int64)
        for number, name in enumerate(names):
            vertex[graph.relations[name][:, 0]] = number
        edge = np.zeros((size, size), dtype=np.int64)
        edge[tuple(graph.relations[EDGE].T)] = 1
        first, second = np.divmod(np.arange(size * size), max(1, size))
        rows = [np.full(size * size, -1), vertex[first], vertex[second], first == second]
        pairs = self._colours(np.column_stack([*rows, (edge | edge.T).reshape(-1)]))
        rounds, classes, finer = 0, -1, len(np.unique(pairs))
        while finer > classes:
            pairs = self._refined(pairs.reshape(size, size))
            rounds, classes, finer = rounds + 1, finer, len(np.unique(pairs))
        return np.int64(rounds).tobytes() + np.sort(pairs).tobytes()

    def _refined(self, pairs: Integers) -> Integers:
        size = len(pairs)
        own = pairs.reshape(-1)
        # Colours within the graph are few: a step (colour of (u, w), colour of (w, v)) fits one number.
        present, local = np.unique(own, return_inverse=True)
        local = local.reshape(size, size)
        steps = local[:, None, :] * len(present) + local.T[None, :, :]
        used, code = np.unique(steps, return_inverse=True)
        known = self._steps(np.column_stack([present[used // len(present)], present[used % len(present)]]))
        return self._colours.signatures(own, known[code].reshape(size * size, size), sets=self._sets)
