"""The planners, by name."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pymimir.advanced.search as search

from distill.common import InputError, in_worker
from distill.planning import fast_downward
from distill.planning.pddl import Instance, silent_stdout
from distill.planning.plan_result import GAVE_UP, NO_PLAN, SOLVED, PlanResult
from distill.planning.policy import MAX_STEPS, execute
from distill.planning.supervision import LimitError, supervised


@dataclass(frozen=True)
class Limits:
    """The limits of a search.

    Attributes
    ----------
    states : the maximal number of new states, for pymimir's planners; it does not depend on the machine.
    seconds : the maximal time.
    memory : gigabytes of the process that searches; 0 for 80% of the available memory.
    """

    states: int = 1_000_000
    seconds: float = 300.0
    memory: float = 0.0


@dataclass(frozen=True)
class Planner:
    """A planner.

    Attributes
    ----------
    description : its search algorithm and heuristic.
    optimal : whether its plans are shortest.
    solve : from an instance, a pymimir state and limits to a result.
    """

    description: str
    optimal: bool
    solve: Callable[[Instance, Any, Limits], PlanResult]


def find_plan(name: str, instance: Instance, state: Any = None, limits: Limits | None = None) -> PlanResult:
    """Search with the planner `name` for a plan from `state` (the initial state if left out).

    Examples
    --------
    >>> from distill.planning import problem_class
    >>> instance = problem_class("blocks-clear").make("train")[0]
    >>> find_plan("astar", instance).status
    'solved'
    """
    planner = get_planner(name)
    limits = limits or Limits()
    if state is None and not in_worker():
        # Another process, so that the limits hold while the library grounds.
        return _supervised_plan(name, instance, limits)
    start = instance.initial_state if state is None else state
    return planner.solve(instance, start, limits)


def _supervised_plan(name: str, instance: Instance, limits: Limits) -> PlanResult:
    call = (find_plan, (name, instance, None, limits))
    try:
        [(_, found)] = supervised(
            [call], [instance.source], "planning for", seconds=limits.seconds, memory=limits.memory
        )
    except LimitError as error:
        return PlanResult(GAVE_UP, note=str(error))
    return found  # type: ignore[no-any-return]


def get_planner(name: str) -> Planner:
    """The planner of that name."""
    if name not in PLANNERS:
        raise InputError(f"There is no planner {name!r}; choose from {', '.join(PLANNERS)}.")
    return PLANNERS[name]


def refuse_action_costs(instance: Instance) -> None:
    """Reject domains with action costs: V* counts steps, while planners would minimise the cost."""
    # Querying pymimir for the increased function aborts the process, so the text is searched.
    if re.search(r"\(\s*increase\s", instance.domain.text):
        raise InputError(
            f"{instance.name} has action costs, but V* counts steps and a search would minimise the cost; "
            "remove (total-cost) from the PDDL, or raise the state budget so that no search is needed."
        )


def _astar(instance: Instance, state: Any, limits: Limits) -> PlanResult:
    options = _limited(search.AStarEagerOptions(), instance, state, limits)
    return _plan_result(
        instance, search.find_solution_astar_eager(instance.context, instance.max_heuristic, options)
    )


def _limited(options: Any, instance: Instance, state: Any, limits: Limits) -> Any:
    options.start_state = state
    # pymimir also counts the states of earlier searches.
    earlier = instance.context.get_state_repository().get_state_count()
    options.max_num_states = earlier + limits.states
    options.max_time_in_ms = max(1, int(limits.seconds * 1000))
    return options


def _policy(instance: Instance, state: Any, limits: Limits) -> PlanResult:
    heuristic = _ff_heuristic(instance)
    return execute(instance, lambda _, states: [heuristic.compute_heuristic(s) for s in states], state)


def _gbfs(instance: Instance, state: Any, limits: Limits) -> PlanResult:
    options = _limited(search.GBFSLazyOptions(), instance, state, limits)
    return _plan_result(
        instance, search.find_solution_gbfs_lazy(instance.context, _ff_heuristic(instance), options)
    )


def _ff_heuristic(instance: Instance) -> Any:
    with silent_stdout():
        return search.FFHeuristic.create(search.LiftedGrounder(instance.problem))


def _plan_result(instance: Instance, result: Any) -> PlanResult:
    status = result.status
    if status == search.SearchStatus.SOLVED:
        actions = result.plan.get_actions() if result.plan is not None else ()
        return PlanResult(SOLVED, tuple(action.to_string_for_plan(instance.problem) for action in actions))
    proven = status in (search.SearchStatus.UNSOLVABLE, search.SearchStatus.EXHAUSTED)
    return PlanResult(NO_PLAN if proven else GAVE_UP)


def _downward(*arguments: str) -> Callable[[Instance, Any, Limits], PlanResult]:
    def solve(instance: Instance, state: Any, limits: Limits) -> PlanResult:
        return fast_downward.run(instance.domain.text, instance.to_pddl(state), arguments, limits.seconds)

    return solve


PLANNERS = {
    "astar": Planner("A* with h_max (pymimir)", True, _astar),
    "gbfs": Planner("greedy best-first search with h_FF (pymimir)", False, _gbfs),
    "policy-ff": Planner(f"greedy policy in h_FF, at most {MAX_STEPS} steps, no search", False, _policy),
    "cegar": Planner(
        "A* with one Cartesian abstraction (Fast Downward)",
        True,
        _downward("--search", "astar(cegar(subtasks=[original()]))"),
    ),
    "lmcut": Planner("A* with LM-cut (Fast Downward)", True, _downward("--search", "astar(lmcut())")),
    "lama": Planner("LAMA, first plan (Fast Downward)", False, _downward("--alias", "lama-first")),
}
