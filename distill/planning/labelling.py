"""V* for the states of one instance: all of them while they fit a budget, a sample beyond it."""

import math
import random
import time
from typing import Any

import numpy as np
import pymimir.advanced.datasets as spaces
from numpy.typing import NDArray

from distill.errors import InputError
from distill.planning.collection import collect
from distill.planning.dataset import UNSOLVABLE, DataSet
from distill.planning.outcome import GAVE_UP, SOLVED
from distill.planning.pddl import Instance
from distill.planning.planners import Limits, find_plan, planner_called, refuse_action_costs
from distill.settings import Labelling

_PYMIMIR_DEAD_END = 2**31 - 1
_PROBE = 500


def expand(instance: Instance, max_states: int, seconds: float = math.inf) -> DataSet | None:
    """Label every reachable state by backward breadth-first search; None if a limit is exceeded.

    States without a way to the goal are labelled -1, also when the initial state is one of them.
    """
    space = _state_space(instance, max_states, seconds)
    if space is None:
        return None
    vertices = space.get_graph().get_vertices()
    states = [spaces.get_state(vertex) for vertex in vertices]
    distance = np.fromiter(map(spaces.get_unit_goal_distance, vertices), dtype=np.int64, count=len(vertices))
    v_star = np.where(distance == _PYMIMIR_DEAD_END, UNSOLVABLE, distance)
    return collect(instance, states, v_star, exhaustive=True, unlabelled=0)


def transitions(instance: Instance, max_states: int) -> NDArray[np.int64] | None:
    """(n_transitions, 2) states before and after, numbered as `expand` orders them; None beyond the budget.

    Examples
    --------
    >>> from distill.planning import problem_class
    >>> len(transitions(problem_class("blocks-clear").make("train")[0], 100))
    8
    """
    space = _state_space(instance, max_states, math.inf)
    if space is None:
        return None
    ends = ((edge.get_source(), edge.get_target()) for edge in space.get_graph().get_edges())
    return np.array(list(ends), dtype=np.int64).reshape(-1, 2)


def _state_space(instance: Instance, max_states: int, seconds: float) -> Any:
    """Expand with pymimir, whose own time limit does not stop it: the first states tell how many fit."""
    begun = time.monotonic()
    options = spaces.StateSpaceOptions()
    options.remove_if_unsolvable = False
    options.max_num_states = min(_PROBE, max_states)
    found = spaces.StateSpace.create(instance.context, options)
    if found is None and max_states > _PROBE:
        pace = (time.monotonic() - begun) / _PROBE
        options.max_num_states = int(min(max_states, seconds / pace))
        found = spaces.StateSpace.create(instance.context, options)
    return None if found is None else found[0]


def sample(instance: Instance, settings: Labelling, seconds: float) -> DataSet:
    """Label the states on random walks, and on an optimal plan from each of them (thesis 5.1.7).

    Where the search gives up on the walks, states at the end of any plan are tried instead: near the goal
    an optimal plan is easy to find however large the instance is.
    """
    refuse_action_costs(instance)
    for planner in settings.search:
        if not planner_called(planner).optimal:
            raise InputError(f"The planner {planner} does not find shortest plans; choose another search.")
    now = time.monotonic()
    labels: dict[Any, int] = {}
    walked = _walk(instance, settings)
    for start in walked:
        _label_from(instance, start, settings, now + seconds / 2, labels)
    unlabelled = sum(state not in labels for state in walked)
    if unlabelled:
        for start in _end_of_a_plan(instance, settings, now + 3 * seconds / 4):
            if not _label_from(instance, start, settings, now + seconds, labels):
                break
    v_star: NDArray[np.int64] = np.fromiter(labels.values(), dtype=np.int64, count=len(labels))
    return collect(instance, list(labels), v_star, exhaustive=False, unlabelled=unlabelled)


def _label_from(
    instance: Instance, start: Any, settings: Labelling, deadline: float, labels: dict[Any, int]
) -> bool:
    """Label a state and those on an optimal plan from it; whether that was possible before the deadline."""
    if start in labels:
        return True
    for planner in settings.search:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            break
        outcome = find_plan(planner, instance, start, Limits(settings.search_states, remaining))
        if outcome.status == GAVE_UP:
            continue
        if outcome.status == SOLVED:
            for steps, state in enumerate(reversed(instance.follow(start, outcome.plan))):
                labels.setdefault(state, steps)
        else:
            labels[start] = UNSOLVABLE
        return True
    return False


def _end_of_a_plan(instance: Instance, settings: Labelling, deadline: float) -> list[Any]:
    """The last states on a plan that need not be short, from the goal backwards; none if there is no plan."""
    remaining = deadline - time.monotonic()
    if remaining <= 0:
        return []
    outcome = find_plan("gbfs", instance, None, Limits(seconds=remaining))
    if outcome.status != SOLVED:
        return []
    states = instance.follow(instance.initial_state, outcome.plan)
    return states[: -settings.walk_length - 2 : -1]


def label(instance: Instance, settings: Labelling) -> DataSet:
    """Label an instance's states: all if they fit the budget, else a sample.

    Examples
    --------
    >>> from distill.planning import problem_class
    >>> data = label(problem_class("blocks-clear").make("train")[0], Labelling())
    >>> len(data), data.instances[0]["exhaustive"]
    (5, True)
    """
    begun = time.monotonic()
    data = None
    if settings.max_states and settings.time_limit:
        data = expand(instance, settings.max_states, settings.time_limit / 2)
    if data is not None:
        return data
    if not settings.walks:
        raise InputError(
            f"{instance.name} has more than {settings.max_states} states or takes too long to expand; raise "
            "max-states or time-limit, or allow random walks."
        )
    return sample(instance, settings, settings.time_limit - (time.monotonic() - begun))


def _walk(instance: Instance, settings: Labelling) -> list[Any]:
    """The distinct states on the random walks, in order."""
    rng = random.Random(f"{settings.seed} {instance.text}")
    generator = instance.context.get_applicable_action_generator()
    repository = instance.context.get_state_repository()
    seen: dict[Any, None] = {}
    for _ in range(settings.walks):
        state = instance.initial_state
        seen.setdefault(state)
        for _ in range(settings.walk_length):
            actions = generator.generate_applicable_actions(state)
            if not len(actions):
                break
            state, _ = repository.get_or_create_successor_state(
                state, actions[rng.randrange(len(actions))], 0.0
            )
            seen.setdefault(state)
    return list(seen)
