"""The expressivity analysis of labelled states: isomorphism classes and conflicts (`symmetries.txt`)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.planning import DataSet
from distill.structures import Structures
from distill.symmetry import Conflicts, find_conflicts, isomorphism_classes

_BATCH = 5_000


@dataclass(frozen=True, eq=False)
class Analysis:
    """Classes and conflicts of a data set.

    Attributes
    ----------
    data : the set, with every state of every instance.
    state_class : (n_states,) the isomorphism class of each state.
    representative : (n_classes,) a state of each class.
    conflicts : for each variant of 1-WL and 2-FWL what it confuses; pairs are pairs of classes.
    """

    data: DataSet
    state_class: NDArray[np.int64]
    representative: NDArray[np.int64]
    conflicts: dict[str, Conflicts]

    def summary(self) -> dict[str, Any]:
        """The counts of Tables 1 and 2."""
        counts = self.data.summary()
        summed = np.unique(np.column_stack([self.data.state_instance, self.state_class]), axis=0)
        solvable = _solvable(self.data)[self.data.state_instance]
        return {
            "instances": counts["instances"],
            "solvable_instances": counts["solvable_instances"],
            "states": counts["states"],
            "states_of_solvable_instances": counts["states_of_solvable_instances"],
            "unsolvable_states": counts["unsolvable_states"],
            "classes_summed_over_instances": len(summed),
            "classes_across_solvable_instances": len(np.unique(self.state_class[solvable])),
            "max_v_star": counts["max_v_star"],
            "conflicts_E_V": {name: [found.e, found.v] for name, found in self.conflicts.items()},
        }


def analyse(data: DataSet, progress: Callable[[int, int], None] | None = None) -> Analysis:
    """Find the isomorphism classes and all conflicts of a data set.

    Parameters
    ----------
    data : every state of every instance: prepared without a reduction.
    progress : called with the number of states classified and to classify.

    Examples
    --------
    >>> from distill.planning import expand, problem_class
    >>> found = analyse(expand(problem_class("blocks-clear").make("train")[1], 1000))
    >>> found.summary()["states"], found.summary()["classes_summed_over_instances"]
    (22, 12)
    """
    repeats = data.repeats()
    distinct = np.unique(repeats)
    place = np.empty(len(data), dtype=np.int64)
    place[distinct] = np.arange(len(distinct))

    def batches() -> Iterator[Structures]:
        for begin in range(0, len(distinct), _BATCH):
            if progress:
                progress(begin, len(distinct))
            yield data.structures(distinct[begin : begin + _BATCH], goal_marking=True)
        if progress:
            progress(len(distinct), len(distinct))

    state_class = isomorphism_classes(batches())[place[repeats]]
    _, representative = np.unique(state_class, return_index=True)
    solvable = np.flatnonzero(_solvable(data))
    bounds = np.searchsorted(data.state_instance, np.arange(len(data.instances) + 1))
    classes = [np.unique(state_class[bounds[i] : bounds[i + 1]]).tolist() for i in solvable]

    def encode(numbers: Sequence[int], marked: bool) -> Structures:
        return data.structures(representative[list(numbers)], goal_marking=marked)

    found = find_conflicts(classes, data.v_star[representative], encode)
    return Analysis(data, state_class, representative, found)


def _solvable(data: DataSet) -> NDArray[np.bool_]:
    return np.array([bool(instance["solvable"]) for instance in data.instances], dtype=bool)
