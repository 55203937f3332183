"""Coverage and plan lengths of several planners or policies on the same instances."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from distill.errors import InputError
from distill.planning.outcome import SOLVED, Outcome
from distill.planning.pddl import Instance
from distill.planning.validation import validate

Solver = Callable[[Instance], Outcome]


@dataclass(frozen=True)
class Coverage:
    """How one planner or policy did.

    Attributes
    ----------
    solver : its name.
    instances, solved : how many there were and how many it solved; every plan was validated.
    total_length, longest : of the plans it found.
    common_length : total length over the instances that all of the compared ones solved.
    common : how many those are.
    lengths : (n_instances,) plan lengths; None where it found no plan.
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
            outcome = solve(instance)
            if outcome.status == SOLVED and not (verdict := validate(instance, outcome.plan)).valid:
                raise InputError(f"{instance.name}: the plan of {name} is wrong: {verdict.reason}.")
            lengths[name].append(len(outcome.plan) if outcome.status == SOLVED else None)
            if progress:
                progress(number * len(solvers) + position + 1, len(instances) * len(solvers))
    common = [i for i in range(len(instances)) if all(found[i] is not None for found in lengths.values())]
    return [
        Coverage(
            solver=name,
            instances=len(instances),
            solved=sum(length is not None for length in found),
            total_length=sum(length or 0 for length in found),
            longest=max((length or 0 for length in found), default=0),
            common_length=sum(found[i] or 0 for i in common),
            common=len(common),
            lengths=tuple(found),
        )
        for name, found in lengths.items()
    ]
