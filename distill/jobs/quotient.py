"""The quotient of labelled states."""

from collections.abc import Iterator, Mapping

import numpy as np

from distill.jobs.batches import batches
from distill.planning import DataSet
from distill.symmetry import Labelled, Options, QuotientMap, build_quotient


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
    >>> len(data), len(quotient.v_star), [len(layer) for layer in quotient.layers]
    (22, 12, [16, 27, 27])
    """

    def labelled() -> Iterator[Labelled]:
        for number, data in enumerate(sets.values()):
            for chosen, states in batches(data, goal_marking=goal_marking):
                split = np.full(len(states), number)
                yield Labelled(states, data.v_star[chosen], split, data.multiplicity[chosen])

    return build_quotient(labelled(), depth, options)
