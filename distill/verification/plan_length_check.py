"""Greedy plans in instances far larger than the training instances, compared with optimal plans."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from distill.common import InputError
from distill.evaluation import greedy_policy
from distill.explanations import ValueFunction
from distill.planning import GAVE_UP, SOLVED, Instance, Limits, collect, find_plan, validate

PLANNERS = ("lmcut", "cegar")


@dataclass(frozen=True)
class GreedyPlan:
    """A greedy plan, the value of its initial state, and the length of an optimal plan.

    Attributes
    ----------
    instance, objects : the instance and its size.
    promised : V of its initial state.
    length : steps of the greedy plan; None if there is none.
    validated : whether the plan reaches the goal when it is replayed from the action schemas.
    optimal : steps of an optimal plan; None if no planner found one in time.
    by : the planner that found it.
    seconds : for the greedy plan.
    """

    instance: str
    objects: int
    promised: float
    length: int | None
    validated: bool
    optimal: int | None
    by: str
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """The row as plain data."""
        return asdict(self)

    @property
    def kept(self) -> bool:
        """Whether the plan is valid, its length is V, and no shorter plan is known."""
        return (
            self.validated
            and self.length == self.promised
            and (self.optimal is None or self.optimal == self.length)
        )


def greedy_plans(
    function: ValueFunction,
    instances: Sequence[Instance],
    *,
    planners: Sequence[str] = PLANNERS,
    seconds: float = 30.0,
    progress: Callable[[int, int], None] | None = None,
) -> list[GreedyPlan]:
    """Execute the greedy policy in each instance, and run optimal planners for comparison.

    Parameters
    ----------
    planners : optimal ones, tried in turn; may be empty.
    seconds : time limit for each planner and instance; 0 to run none.
    progress : called with the number of instances done and to do.

    Examples
    --------
    >>> from distill.logic import parse
    >>> from distill.planning import problem_class
    >>> value = ValueFunction(parse("2*#<on+>clear_G - #<on>clear_G + #holding * #(clear_G & ~clear)"), ())
    >>> [row] = greedy_plans(value, problem_class("blocks-clear").make("train")[5:6], planners=["astar"])
    >>> row.objects, row.length, row.promised, row.optimal, row.validated
    (7, 3, 3.0, 3, True)
    """
    rows = []
    for number, instance in enumerate(instances):
        if progress:
            progress(number, len(instances))
        begin = collect(instance, [instance.initial_state])
        promised = float(function.values(begin.structures(goal_marking=function.goal_marking))[0])
        begun = time.perf_counter()
        outcome = greedy_policy(function)(instance)
        spent = time.perf_counter() - begun
        solved = outcome.status == SOLVED
        optimal, by = _optimum(instance, planners, seconds) if seconds > 0 else (None, "")
        rows.append(
            GreedyPlan(
                instance=instance.name,
                objects=len(instance.objects),
                promised=promised,
                length=len(outcome.plan) if solved else None,
                validated=solved and validate(instance, outcome.plan).valid,
                optimal=optimal,
                by=by,
                seconds=round(spent, 3),
            )
        )
    return rows


def _optimum(instance: Instance, planners: Sequence[str], seconds: float) -> tuple[int | None, str]:
    for planner in planners:
        try:
            outcome = find_plan(planner, instance, None, Limits(seconds=seconds))
        except InputError:
            # It is not installed, or does not support the domain.
            continue
        if outcome.status != GAVE_UP:
            return (len(outcome.plan), planner) if outcome.status == SOLVED else (None, "")
    return None, ""
