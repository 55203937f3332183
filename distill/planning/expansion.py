"""The successors of many states at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.planning.encoding import collect
from distill.planning.pddl import Instance
from distill.structures import DataSet


@dataclass(frozen=True, eq=False)
class Successors:
    """All transitions from some states of an instance, by source and then by action in alphabetical order.

    Attributes
    ----------
    instance : the instance of the states.
    source : (n_successors,) positions of the source states.
    actions : (n_successors,) as in a plan file.
    states : (n_successors,) the successors, as pymimir states.
    """

    instance: Instance
    source: NDArray[np.int64]
    actions: tuple[str, ...]
    states: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.states)

    @cached_property
    def data(self) -> DataSet:
        """The successors as a set without labels."""
        return collect(self.instance, self.states)


def successors(instance: Instance, states: Sequence[Any]) -> Successors:
    """The successors of many states at once.

    Parameters
    ----------
    states : (n_states,) pymimir states of the instance.

    Examples
    --------
    >>> from distill.planning import problem_class
    >>> instance = problem_class("blocks-clear").make("train")[0]
    >>> after = successors(instance, [instance.initial_state])
    >>> after.actions, after.source, len(after.data)
    (('(unstack b1 b2)',), array([0]), 1)
    """
    steps = [
        (position, action, after)
        for position, state in enumerate(states)
        for action, after in sorted(instance.successors(state), key=lambda step: step[0])
    ]
    source = np.array([position for position, _, _ in steps], dtype=np.int64)
    return Successors(
        instance, source, tuple(action for _, action, _ in steps), tuple(after for *_, after in steps)
    )
