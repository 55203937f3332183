"""V* for the states of one instance: all states within a budget, a sample beyond it."""

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from operator import methodcaller
from typing import Any

import numpy as np
import pymimir.advanced.datasets as spaces
from numpy.typing import NDArray

from distill.common import InputError, in_worker
from distill.planning.encoding import collect
from distill.planning.pddl import Domain, Instance
from distill.planning.plan_result import SOLVED
from distill.planning.planners import Limits, find_plan
from distill.planning.settings import Labelling
from distill.planning.supervision import supervised
from distill.planning.walks import check_search, optimal_states, visits, walk
from distill.structures import UNSOLVABLE, DataSet, Transitions, join_transitions

_PYMIMIR_DEAD_END = 2**31 - 1
_PROBE = 500
_AMPLE = 100  # pymimir counts states of earlier expansions towards a budget


def expand(instance: Instance, max_states: int, seconds: float = math.inf) -> DataSet | None:
    """Label every reachable state by backward breadth-first search; None if a limit is exceeded.

    States without a path to the goal are labelled -1, the initial state included.
    """
    space = _state_space(instance, max_states, seconds)
    if space is None:
        return None
    vertices = space.get_graph().get_vertices()
    states = [spaces.get_state(vertex) for vertex in vertices]
    distance = np.fromiter(map(spaces.get_unit_goal_distance, vertices), dtype=np.int64, count=len(vertices))
    v_star = np.where(distance == _PYMIMIR_DEAD_END, UNSOLVABLE, distance)
    data = collect(instance, states, v_star, exhaustive=True, unlabelled=0)
    return replace(data, transitions=_transitions(instance, space))


def transitions(data: DataSet, instances: Sequence[Instance] | None = None) -> Transitions:
    """The transitions of all instances that were expanded fully and of which the set has all states.

    If the set does not store them, these instances are expanded again.

    Parameters
    ----------
    instances : the instances of the set; parsed from their PDDL if left out.

    Examples
    --------
    >>> from distill.planning import problem_class
    >>> data = expand(problem_class("blocks-clear").make("train")[0], 100)
    >>> found, again = transitions(data), transitions(replace(data, transitions=None))
    >>> len(found), np.array_equal(found.target, again.target)
    (8, True)
    """
    if data.transitions is not None:
        return data.transitions
    domain = Domain(data.domain)
    sizes = np.bincount(data.state_instance, minlength=len(data.instances)).tolist()
    parts = [Transitions.none()] * len(sizes)
    whole = {}
    for number, (size, known) in enumerate(zip(sizes, data.instances, strict=True)):
        if known["exhaustive"] and known["states"] == size:
            whole[number] = instances[number] if instances else Instance(domain, known["pddl"], known["name"])
    calls = [(_all_transitions, (one, _AMPLE * sizes[number] + _AMPLE)) for number, one in whole.items()]
    sources = [one.source for one in whole.values()]
    for position, found in supervised(calls, sources, "expanding", seconds=math.inf):
        parts[list(whole)[position]] = found
    return join_transitions(parts, sizes, [1] * len(parts))


def _all_transitions(instance: Instance, max_states: int) -> Transitions:
    space = _state_space(instance, max_states, math.inf)
    return Transitions.none() if space is None else _transitions(instance, space)


def _transitions(instance: Instance, space: Any) -> Transitions:
    """The transitions of one instance; ground actions are ordered by schema and objects."""
    edges = list(space.get_graph().get_edges())
    ground = list(map(spaces.get_action, edges))
    ends = [map(methodcaller(name), edges) for name in ("get_source", "get_target")]
    source, target = (np.fromiter(numbers, dtype=np.int32, count=len(edges)) for numbers in ends)
    index = np.fromiter(map(methodcaller("get_index"), ground), dtype=np.int64, count=len(edges))
    _, first, used = np.unique(index, return_index=True, return_inverse=True)
    schemas = tuple(action.get_name() for action in instance.domain.pymimir.get_actions())
    place, number = ({name: i for i, name in enumerate(names)} for names in (schemas, instance.objects))
    names = [ground[position].to_string_for_plan(instance.problem)[1:-1].split() for position in first]
    table = np.full((len(names), max(map(len, names), default=1)), -1, dtype=np.int32)
    for row, (schema, *objects) in zip(table, names, strict=True):
        row[: len(objects) + 1] = place[schema], *(number[name] for name in objects)
    actions, order = np.unique(table, axis=0, return_inverse=True)
    return Transitions(
        source,
        target,
        order[used].astype(np.int32),
        schemas,
        actions[:, 0].copy(),
        actions[:, 1:].copy(),
        np.zeros(len(actions), dtype=np.int32),
    )


def _state_space(instance: Instance, max_states: int, seconds: float) -> Any:
    """Expand with pymimir; its time limit has no effect, so a probe estimates how many states fit."""
    begun = time.monotonic()
    options = spaces.StateSpaceOptions()
    options.remove_if_unsolvable = False
    options.max_num_states = min(_PROBE, max_states)
    result = spaces.StateSpace.create(instance.context, options)
    if result is None and max_states > _PROBE:
        pace = (time.monotonic() - begun) / _PROBE
        options.max_num_states = int(min(max_states, seconds / pace))
        result = spaces.StateSpace.create(instance.context, options)
    return None if result is None else result[0]


def sample(instance: Instance, settings: Labelling, seconds: float) -> DataSet:
    """Label the states on random walks, and on an optimal plan from each of them (thesis 5.1.7).

    If the search gives up on some of them, the last states of an arbitrary plan are labelled instead:
    near the goal an optimal plan is easy to find, however large the instance is.
    """
    check_search(instance, settings)
    now = time.monotonic()
    labels: dict[Any, int] = {}
    walked = list(dict.fromkeys(walk(instance, settings)))
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
    """Label a state and those on an optimal plan from it; False if the deadline passes first."""
    if start in labels:
        return True
    visited = optimal_states(instance, start, settings, deadline)
    for steps, state in enumerate(reversed(visited or ())):
        labels.setdefault(state, steps)
    if visited == []:
        labels[start] = UNSOLVABLE
    return visited is not None


def _end_of_a_plan(instance: Instance, settings: Labelling, deadline: float) -> list[Any]:
    """The last states on a plan of any length, from the goal backwards; empty without a plan."""
    remaining = deadline - time.monotonic()
    if remaining <= 0:
        return []
    result = find_plan("gbfs", instance, None, Limits(seconds=remaining))
    if result.status != SOLVED:
        return []
    states = instance.follow(instance.initial_state, result.plan)
    return states[: -settings.walk_length - 2 : -1]


def label(instance: Instance, settings: Labelling) -> DataSet:
    """Label all states of an instance if they fit the budget, else a sample.

    Examples
    --------
    >>> from distill.planning import problem_class
    >>> data = label(problem_class("blocks-clear").make("train")[0], Labelling())
    >>> len(data), data.instances[0]["exhaustive"]
    (5, True)
    """
    if not in_worker():
        # Another process, so that the limits hold while the library grounds.
        [(_, found)] = supervised(
            [(label, (instance, settings))],
            [instance.source],
            "labelling",
            seconds=settings.time_limit,
            memory=settings.memory_limit,
        )
        return found  # type: ignore[no-any-return]
    begun = time.monotonic()
    data = None
    if settings.states == "walks":
        return visits(instance, settings)
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
