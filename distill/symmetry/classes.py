"""Isomorphism classes of states, and the reduced state model (`symmetries.txt`, Section 4)."""

from collections.abc import Iterable

import numpy as np

from distill.structures import Structures
from distill.symmetry.canonical import canonical_forms
from distill.symmetry.interning import Integers
from distill.symmetry.object_graph import object_graphs


def isomorphism_classes(batches: Iterable[Structures]) -> Integers:
    """(n_states,) the class of each state of all batches together, numbered in order of appearance.

    Examples
    --------
    >>> from distill.structures import Predicate, Vocabulary
    >>> words = Vocabulary([Predicate("on", 2)])
    >>> states = Structures(words, 3, [0, 0, 1, 1, 2, 2], {"on": [[0, 1], [3, 2], [4, 4]]})
    >>> isomorphism_classes([states])
    array([0, 0, 1])
    """
    known: dict[bytes, int] = {}
    forms = (form for batch in batches for form in canonical_forms(object_graphs(batch)))
    return np.array([known.setdefault(form, len(known)) for form in forms], dtype=np.int64)


def reduced_model(classes: Integers, transitions: Integers) -> Integers:
    """(n, 2) distinct transitions between classes (Definition 1).

    Parameters
    ----------
    classes : (n_states,) the class of each state of an instance.
    transitions : (n_transitions, 2) source and target states.

    Examples
    --------
    >>> reduced_model(np.array([0, 1, 1]), np.array([[0, 1], [0, 2], [1, 2]]))
    array([[0, 1],
           [1, 1]])
    """
    return np.unique(classes[transitions].reshape(-1, 2), axis=0)
