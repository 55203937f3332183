"""How far a value function reaches: greedy plans in instances far larger than those it was learned from."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from distill.errors import InputError
from distill.jobs.distilled import Distilled
from distill.planning import Instance, Limits, collect, find_plan, validate
from distill.planning.outcome import GAVE_UP, SOLVED

PLANNERS = ("lmcut", "cegar")


@dataclass(frozen=True)
class GreedyPlan:
    """A greedy plan, what its value function promised, and what an optimal planner says.

    Attributes
    ----------
    instance, objects : the instance and its size.
    promised : V of its initial state.
    length : steps of the greedy plan; none if it found no plan.
    validated : whether the plan was replayed from the action schemas alone and reaches the goal.
    optimal : steps of a shortest plan; none if no planner found that out in time.
    by : the planner that did.
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
        """Whether the plan is valid, as long as promised, and not longer than an optimal one, if known."""
        return (
            self.validated
            and self.length == self.promised
            and (self.optimal is None or self.optimal == self.length)
        )


def greedy_plans(
    distilled: Distilled,
    instances: Sequence[Instance],
    *,
    planners: Sequence[str] = PLANNERS,
    seconds: float = 30.0,
    progress: Callable[[int, int], None] | None = None,
) -> list[GreedyPlan]:
    """Execute the greedy policy in each instance and ask optimal planners for the length of a shortest plan.

    Parameters
    ----------
    planners : optimal ones, tried in turn; none are asked if there are none.
    seconds : for each of them and each instance; 0 to ask none.
    progress : called with the number of instances done and to do.

    Examples
    --------
    >>> from distill.logic import parse
    >>> from distill.planning import problem_class
    >>> value = Distilled(parse("2*#<on+>clear_G - #<on>clear_G + #holding * #(clear_G & ~clear)"), ())
    >>> [row] = greedy_plans(value, problem_class("blocks-clear").make("train")[5:6], planners=["astar"])
    >>> row.objects, row.length, row.promised, row.optimal, row.validated
    (7, 3, 3.0, 3, True)
    """
    rows = []
    for number, instance in enumerate(instances):
        if progress:
            progress(number, len(instances))
        begin = collect(instance, [instance.initial_state], np.zeros(1))
        promised = float(distilled.values(begin.structures(goal_marking=distilled.goal_marking))[0])
        begun = time.perf_counter()
        outcome = distilled.policy()(instance)
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
            # Not installed, or not for this domain: then nobody knows.
            continue
        if outcome.status != GAVE_UP:
            return (len(outcome.plan), planner) if outcome.status == SOLVED else (None, "")
    return None, ""
