"""Classes of states that a relational GNN cannot distinguish."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from distill.structures import Options, Structures
from distill.symmetry.interning import Integers, Interner
from distill.symmetry.refinement import Refinement


def colour_classes(
    batches: Iterable[Structures], labels: NDArray[np.integer], options: Options | None = None
) -> Integers:
    """(n_states,) the class of each state of all batches together, numbered in order of appearance.

    Two states are in one class if no number of rounds of relational 1-WL distinguishes them and their labels
    are equal. So states in V-conflict are in different classes.

    Parameters
    ----------
    labels : (n_states,) for example V*.

    Examples
    --------
    >>> from distill.structures import Predicate, Vocabulary
    >>> words = Vocabulary([Predicate("on", 2)])
    >>> states = Structures(words, 3, [0, 0, 1, 1, 2, 2], {"on": [[0, 1], [3, 2], [4, 5]]})
    >>> colour_classes([states], np.array([1, 1, 2]))
    array([0, 0, 1])
    """
    refinement = Refinement(options)
    known = Interner()
    classes = [np.zeros(0, dtype=np.int64)]
    begin = 0
    for batch in batches:
        mine = labels[begin : begin + len(batch)]
        classes.append(known(np.column_stack([refinement.keys(batch), mine])))
        begin += len(batch)
    return np.concatenate(classes)
