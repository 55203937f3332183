"""Random walks, and the states that the thesis labels: those on optimal plans from every visited state."""

import random
import time
from collections.abc import Iterator
from typing import Any

from distill.common import InputError
from distill.planning.encoding import collect
from distill.planning.pddl import Instance
from distill.planning.plan_result import GAVE_UP, SOLVED
from distill.planning.planners import Limits, find_plan, get_planner, refuse_action_costs
from distill.planning.settings import Labelling
from distill.structures import UNSOLVABLE, DataSet


def visits(instance: Instance, settings: Labelling) -> DataSet:
    """The states on an optimal plan from each state that random walks visit (thesis 5.1.7).

    A state is in the set as often as it occurs on these plans, so the set has the frequencies of the thesis:
    states near the goal are frequent. States for which the search gives up are left out.

    Examples
    --------
    The only walk of one step picks the upper block up; then the goal holds.

    >>> from distill.planning import problem_class
    >>> instance = problem_class("blocks-clear").make("train")[0]
    >>> data = visits(instance, Labelling(states="walks", walk_length=1))
    >>> data.v_star.tolist(), len(data.distinct())
    ([1, 0, 0], 2)
    """
    check_search(instance, settings)
    deadline = time.monotonic() + settings.time_limit
    # For each labelled state V* and the next state on an optimal plan: a state always has the same plan.
    plans: dict[Any, tuple[int, Any]] = {}
    states: list[Any] = []
    labels: list[int] = []
    unlabelled = 0
    for start in walk(instance, settings):
        if start not in plans:
            found = optimal_states(instance, start, settings, deadline)
            if found is None:
                unlabelled += 1
                continue
            after = None
            for steps, state in enumerate(reversed(found)):
                plans.setdefault(state, (steps, after))
                after = state
            if not found:
                plans[start] = UNSOLVABLE, None
        state = start
        while state is not None:
            steps, following = plans[state]
            states.append(state)
            labels.append(steps)
            state = following
    return collect(instance, states, labels, exhaustive=False, unlabelled=unlabelled)


def walk(instance: Instance, settings: Labelling) -> Iterator[Any]:
    """The states that the random walks visit, in order and with repetitions; each walk starts anew."""
    rng = random.Random(f"{settings.seed} {instance.text}")
    generator = instance.context.get_applicable_action_generator()
    repository = instance.context.get_state_repository()
    for _ in range(settings.walks):
        state = instance.initial_state
        yield state
        for _ in range(settings.walk_length):
            actions = generator.generate_applicable_actions(state)
            if not len(actions):
                break
            state, _ = repository.get_or_create_successor_state(
                state, actions[rng.randrange(len(actions))], 0.0
            )
            yield state


def optimal_states(instance: Instance, start: Any, settings: Labelling, deadline: float) -> list[Any] | None:
    """The states on an optimal plan from `start`; empty without a plan, None if the search gave up.

    Parameters
    ----------
    deadline : on the clock of `time.monotonic`.
    """
    for planner in settings.search:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            break
        result = find_plan(planner, instance, start, Limits(settings.search_states, remaining))
        if result.status != GAVE_UP:
            return instance.follow(start, result.plan) if result.status == SOLVED else []
    return None


def check_search(instance: Instance, settings: Labelling) -> None:
    """Refuse action costs, and planners whose plans may be longer than necessary."""
    refuse_action_costs(instance)
    for planner in settings.search:
        if not get_planner(planner).optimal:
            raise InputError(f"The planner {planner} does not find shortest plans; choose another search.")
