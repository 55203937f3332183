"""Greedy policies: from a state go to the unvisited successor of least value."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from distill.planning.outcome import GAVE_UP, SOLVED, Outcome
from distill.planning.pddl import Instance

Value = Callable[[Instance, Sequence[Any]], ArrayLike]
MAX_STEPS = 1000


def execute(instance: Instance, value: Value, state: Any = None, max_steps: int = MAX_STEPS) -> Outcome:
    """Follow the greedy policy of a value function (`rgnn-t.txt`, Experiments).

    Parameters
    ----------
    value : from an instance and a list of its pymimir states to an array (n_states,) of values.
    state : where to begin; the initial state if left out.
    max_steps : after so many steps it gives up.

    Returns
    -------
    `solved`, or `gave up` with a note: the step limit, or no unvisited successor. Ties go to the action that
    comes first in alphabetical order.

    Examples
    --------
    >>> from distill.planning import problem_class
    >>> instance = problem_class("gripper").make("train")[0]
    >>> away = lambda instance, states: [("(at ball1 room1)" not in str(s)) for s in states]
    >>> execute(instance, away, max_steps=3).note
    'no goal within 3 steps'
    """
    current = instance.initial_state if state is None else state
    visited = {current}
    plan: list[str] = []
    while not instance.is_goal(current):
        if len(plan) == max_steps:
            return Outcome(GAVE_UP, tuple(plan), f"no goal within {max_steps} steps")
        unvisited = sorted(
            ((name, after) for name, after in instance.successors(current) if after not in visited),
            key=lambda step: step[0],
        )
        if not unvisited:
            return Outcome(GAVE_UP, tuple(plan), f"no unvisited successor after {len(plan)} steps")
        values = np.asarray(value(instance, [after for _, after in unvisited]), dtype=float)
        action, current = unvisited[int(np.argmin(values))]
        visited.add(current)
        plan.append(action)
    return Outcome(SOLVED, tuple(plan))
