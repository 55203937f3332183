"""The policy of a ranking: from a state take a transition that descends."""

from typing import Any

import numpy as np

from distill.encodings import goal_encoding
from distill.explanations import Ranking, descends
from distill.planning import GAVE_UP, MAX_STEPS, SOLVED, Instance, PlanResult, Solver, collect, successors


def descending_policy(ranking: Ranking, max_steps: int | None = None) -> Solver:
    """The policy that takes the descending transition with the least key.

    It remembers no states: a ranking that descends never returns to a state. Equal keys are decided by the
    alphabetical order of actions.

    Parameters
    ----------
    max_steps : the limit on plan length; the default of `execute` if left out.

    Returns
    -------
    A function from an instance to `solved`, or to `gave up` with a note.

    Examples
    --------
    >>> from distill.logic import parse
    >>> from distill.planning import problem_class
    >>> instance = problem_class("blocks-clear").make("train")[1]
    >>> descending_policy(Ranking((parse("#<on+>clear_G"), parse("#holding")), ()))(instance).status
    'solved'
    >>> descending_policy(Ranking((parse("#holding"),), ()))(instance).note
    'no transition descends after 0 steps'
    """
    limit = MAX_STEPS if max_steps is None else max_steps
    encoding = goal_encoding(ranking.goal_marking)

    def solve(instance: Instance) -> PlanResult:
        current: Any = instance.initial_state
        plan: list[str] = []
        while not instance.is_goal(current):
            if len(plan) == limit:
                return PlanResult(GAVE_UP, tuple(plan), f"no goal within {limit} steps")
            after = successors(instance, [current])
            keys = ranking.keys(encoding.structures(collect(instance, [current, *after.states])))
            falls = np.flatnonzero(descends(np.broadcast_to(keys[0], keys[1:].shape), keys[1:]))
            if not len(falls):
                return PlanResult(GAVE_UP, tuple(plan), f"no transition descends after {len(plan)} steps")
            chosen = falls[np.lexsort(keys[1:][falls].T[::-1])[0]]
            plan.append(after.actions[chosen])
            current = after.states[chosen]
        return PlanResult(SOLVED, tuple(plan))

    return solve
