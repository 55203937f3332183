"""Coverage and plan lengths of several planners or policies on the same instances."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from distill.common import InputError
from distill.planning.pddl import Instance
from distill.planning.plan_result import SOLVED, PlanResult
from distill.planning.validation import validate

Solver = Callable[[Instance], PlanResult]


@dataclass(frozen=True)
class Coverage:
    """The result of one planner or policy.

    Attributes
    ----------
    solver : its name.
    instances, solved : the number of instances, and of those that it solved; every plan is validated.
    total_length, longest : over its plans.
    common_length : total length over the instances that all compared solvers solved.
    common : the number of these instances.
    lengths : (n_instances,) plan lengths; None without a plan.
    """

    solver: str
    instances: int
    solved: int
    total_length: int
    longest: int
    common_length: int
    common: int
    lengths: tuple[int | None, ...]


def compare(
    instances: Sequence[Instance],
    solvers: Mapping[str, Solver],
    progress: Callable[[int, int], None] | None = None,
) -> list[Coverage]:
    """Run every solver on every instance.

    Examples
    --------
    >>> from functools import partial
    >>> from distill.planning import find_plan, problem_class
    >>> few = problem_class("blocks-clear").make("train")[:5]
    >>> [row] = compare(few, {"astar": partial(find_plan, "astar")})
    >>> row.solved, row.total_length
    (5, 13)
    """
    lengths: dict[str, list[int | None]] = {name: [] for name in solvers}
    for number, instance in enumerate(instances):
        for position, (name, solve) in enumerate(solvers.items()):
            result = solve(instance)
            if result.status == SOLVED and not (verdict := validate(instance, result.plan)).valid:
                raise InputError(f"{instance.name}: the plan of {name} is wrong: {verdict.reason}.")
            lengths[name].append(len(result.plan) if result.status == SOLVED else None)
            if progress:
                progress(number * len(solvers) + position + 1, len(instances) * len(solvers))
    common = [i for i in range(len(instances)) if all(own[i] is not None for own in lengths.values())]
    return [
        Coverage(
            solver=name,
            instances=len(instances),
            solved=sum(length is not None for length in own),
            total_length=sum(length or 0 for length in own),
            longest=max((length or 0 for length in own), default=0),
            common_length=sum(own[i] or 0 for i in common),
            common=len(common),
            lengths=tuple(own),
        )
        for name, own in lengths.items()
    ]
