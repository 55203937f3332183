"""The synthetic sets of Pluska et al. 2024, whose classes are defined by formulas of C2.

Graphs have 13 nodes. Each pair of nodes has an edge with probability ½, and so is each node in u. Definitions
and sizes are those of the authors' code; the random numbers are our own.
"""

from collections.abc import Mapping

import numpy as np

from distill.common import InputError, did_you_mean
from distill.graphs.graph_set import EDGE, GraphSet, graph_structures
from distill.logic import And, Compare, Count, Evaluator, Modal, Not, Or, Role, Truth, parse

NODES = 13
_EDGE = Role(EDGE)


def _most_neighbours(formula: Truth) -> Truth:
    """The nodes more than half of whose neighbours satisfy a formula: a case for each degree."""
    top = parse("top")
    cases = []
    for degree in range(1, NODES):
        more = Modal(_EDGE, formula, degree // 2)
        cases.append(And(Modal(_EDGE, top, degree - 1), Not(Modal(_EDGE, top, degree)), more))
    return Or(*cases)


SYNTHETIC: Mapping[str, Truth] = {
    "emlc0": parse("[#u > 6]"),
    "emlc1": parse("[#(~<edge>top > 3 | <edge>top > 9) > 0]"),
    "emlc2": Compare(Count(_most_neighbours(parse("<edge>top > 6"))), NODES // 2),
}
"""For each set the formula of class 1; graphs with other numbers of nodes are not meant.

emlc0: more than half of the nodes are in u. emlc1: a node has fewer than 4 or more than 9 neighbours. emlc2:
for more than half of the nodes, more than half of the neighbours have more than 6 neighbours.
"""


def synthetic_graphs(name: str, number: int, seed: int) -> GraphSet:
    """Random graphs of a synthetic set.

    Parameters
    ----------
    number : of graphs; the paper has 5000.

    Examples
    --------
    >>> some = synthetic_graphs("emlc0", 20, seed=0)
    >>> len(some), some.graphs.n_objects, some.classes
    (20, 260, ('0', '1'))
    """
    if name not in SYNTHETIC:
        raise InputError(f"There is no synthetic set @{name}; {did_you_mean(name, SYNTHETIC)}")
    random = np.random.default_rng(seed)
    inside = np.flatnonzero(random.random(number * NODES) < 0.5)
    pairs = np.argwhere(np.triu(np.ones((NODES, NODES), dtype=bool), 1))
    graph, pair = np.nonzero(random.random((number, len(pairs))) < 0.5)
    edges = pairs[pair] + graph[:, None] * NODES
    graphs = graph_structures(number, np.repeat(np.arange(number), NODES), edges, [("u", inside)])
    truth = SYNTHETIC[name]
    label = Evaluator(graphs).holds(truth).astype(np.int64)
    return GraphSet(name, graphs, label, ("0", "1"), truth)
