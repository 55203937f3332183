"""Isomorphism classes of states, and the reduced state model (`symmetries.txt`, Section 4)."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from distill.structures import Structures
from distill.symmetry.canonical import canonical_forms
from distill.symmetry.interning import Integers
from distill.symmetry.object_graphs import object_graphs
from distill.symmetry.refinement import Refinement, histograms


def isomorphism_classes(batches: Iterable[Structures]) -> Integers:
    """(n_states,) the class of each state of all batches together, numbered in order of appearance.

    Where colour refinement tells all vertices of an object graph apart, the colours are a canonical form
    already; nauty is asked for the rest.

    Examples
    --------
    >>> from distill.structures import Predicate, Vocabulary
    >>> words = Vocabulary([Predicate("on", 2)])
    >>> states = Structures(words, 3, [0, 0, 1, 1, 2, 2], {"on": [[0, 1], [3, 2], [4, 4]]})
    >>> isomorphism_classes([states])
    array([0, 0, 1])
    """
    known: dict[tuple[bool, bytes], int] = {}
    refinement = Refinement()
    classes = []
    for batch in batches:
        graphs = object_graphs(batch)
        colours, rounds = refinement.stable(graphs)
        keys = histograms(graphs, colours, rounds)
        symmetric = np.flatnonzero(~_discrete(graphs, colours))
        forms = dict(zip(symmetric.tolist(), canonical_forms(graphs[symmetric]), strict=True))
        for state, key in enumerate(keys):
            full = (True, forms[state]) if state in forms else (False, key)
            classes.append(known.setdefault(full, len(known)))
    return np.array(classes, dtype=np.int64)


def _discrete(graphs: Structures, colours: Integers) -> NDArray[np.bool_]:
    """(n_graphs,) whether no two vertices of the graph have the same colour."""
    # Colours of different graphs are kept apart by the graph's number.
    width = int(colours.max(initial=0)) + 1
    distinct = pd.unique(graphs.state_of_object.astype(np.int64) * width + colours)
    counts = np.bincount(distinct // width, minlength=len(graphs))
    discrete: NDArray[np.bool_] = counts == np.diff(graphs.object_offsets)
    return discrete


def reduced_model(classes: Integers, transitions: Integers) -> Integers:
    """(n, 2) transitions between classes, each once.

    Parameters
    ----------
    classes : (n_states,) the class of each state of an instance.
    transitions : (n_transitions, 2) numbers of the states before and after.

    Examples
    --------
    >>> reduced_model(np.array([0, 1, 1]), np.array([[0, 1], [0, 2], [1, 2]]))
    array([[0, 1],
           [1, 1]])
    """
    return np.unique(classes[transitions].reshape(-1, 2), axis=0)
