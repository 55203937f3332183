"""The quotient of labelled states."""

from collections.abc import Iterator, Mapping

import numpy as np

from distill.encodings import Encoding, goal_encoding
from distill.structures import DataSet, Options
from distill.symmetry.quotients import LabelledBatch, QuotientMap, build_quotient


def build_quotient_of(
    sets: Mapping[str, DataSet],
    depth: int | None = None,
    options: Options | None = None,
    *,
    goal_marking: bool = False,
) -> QuotientMap:
    """Build one quotient of several data sets; the split of a state row is the position of its set.

    Examples
    --------
    >>> from distill.planning import expand, problem_class
    >>> data = expand(problem_class("blocks-clear").make("train")[1], 1000)
    >>> quotient = build_quotient_of({"train": data}).quotient
    >>> len(data), quotient.n_state_rows, [len(layer) for layer in quotient.layers]
    (22, 12, [16, 27, 27])
    """
    return build_quotient(labelled_states(sets, goal_encoding(goal_marking)), depth, options)


def labelled_states(sets: Mapping[str, DataSet], encoding: Encoding) -> Iterator[LabelledBatch]:
    """All states with their labels, in batches."""
    for number, data in enumerate(sets.values()):
        for chosen in data.slices():
            states = encoding.structures(data, chosen)
            split = np.full(len(states), number)
            labels = {name: label[chosen] for name, label in data.labels.items()}
            yield LabelledBatch(states, labels, split, data.multiplicity[chosen])
