"""Isomorphism classes of states."""

import hashlib
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
    # A canonical form takes kilobytes. Two forms have the same digest with a probability below 1e-60.
    known: dict[bytes, int] = {}
    forms = (form for batch in batches for form in canonical_forms(object_graphs(batch)))
    digests = (hashlib.sha256(form).digest() for form in forms)
    classes = (known.setdefault(digest, len(known)) for digest in digests)
    return np.fromiter(classes, dtype=np.int64)
