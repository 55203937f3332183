"""Greedy policies: from a state go to the unvisited successor of least value."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from distill.planning.expansion import successors
from distill.planning.pddl import Instance
from distill.planning.plan_result import GAVE_UP, SOLVED, PlanResult

Value = Callable[[Instance, Sequence[Any]], ArrayLike]
MAX_STEPS = 1000


def execute(instance: Instance, value: Value, state: Any = None, max_steps: int = MAX_STEPS) -> PlanResult:
    """Follow the greedy policy of a value function (`rgnn-t.txt`, Experiments).

    Parameters
    ----------
    value : from an instance and a list of its pymimir states to an array (n_states,) of values.
    state : the first state; the initial state if left out.
    max_steps : the maximal number of steps.

    Returns
    -------
    `solved`, or `gave up` with a note: the step limit, or no unvisited successor. Ties are broken by the
    alphabetical order of actions.

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
            return PlanResult(GAVE_UP, tuple(plan), f"no goal within {max_steps} steps")
        after = successors(instance, [current])
        unvisited = [step for step in zip(after.actions, after.states, strict=True) if step[1] not in visited]
        if not unvisited:
            return PlanResult(GAVE_UP, tuple(plan), f"no unvisited successor after {len(plan)} steps")
        values = np.asarray(value(instance, [state for _, state in unvisited]), dtype=float)
        action, current = unvisited[int(np.argmin(values))]
        visited.add(current)
        plan.append(action)
    return PlanResult(SOLVED, tuple(plan))
