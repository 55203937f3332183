"""Families of features in a run, closed, with the errors before and after."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from distill.errors import InputError
from distill.jobs.run import Run
from distill.logic import Number, Scaled, Sum, weighted, write_defined
from distill.planning import UNSOLVABLE
from distill.regression import Closing, close_families
from distill.regression.family import values_of

_READABLE = 2_000  # symbols of a function that is written out


@dataclass(frozen=True)
class Errors:
    """|V − V*| on the solvable states of a split, with a function and with its families closed.

    Attributes
    ----------
    states : how many.
    before, after : the mean errors.
    largest_before, largest_after : the largest errors.
    """

    states: int
    before: float
    after: float
    largest_before: float
    largest_after: float


@dataclass(frozen=True, eq=False)
class ClosedRun:
    """What a run's value function becomes when its families are closed.

    Attributes
    ----------
    run : its name.
    before, after : the two functions; the same where no family was replaced.
    closings : what became of each family.
    errors : for each split.
    if_replaced : for each family, and for each split, the mean error if it alone were replaced.
    """

    run: str
    before: Number
    after: Number
    closings: Sequence[Closing]
    errors: Mapping[str, Errors]
    if_replaced: Sequence[Mapping[str, float]]

    @property
    def sentence(self) -> str:
        """What was found, and what that means."""
        replaced = sum(one.replaced for one in self.closings)
        if not self.closings:
            return "No family: no three terms are one formula iterated with weights on a line."
        if not replaced:
            return (
                f"Families found: {len(self.closings)}, none replaced; the value function stays as it is. "
                "With --equal-on train it is enough to agree on the states that it was fitted to."
            )
        return (
            f"Families replaced: {replaced} of {len(self.closings)}. How far a closed form says the same as "
            "its family, the checks tell; beyond that it is a guess. Only errors on larger states support it."
        )

    def to_json(self) -> dict[str, Any]:
        """It as plain data."""
        return {
            "run": self.run,
            "families": [
                {**one.to_json(), "mae_if_replaced": dict(errors)}
                for one, errors in zip(self.closings, self.if_replaced, strict=True)
            ],
            "terms": {"before": len(weighted(self.before)), "after": len(weighted(self.after))},
            "size": {"before": self.before.size, "after": self.after.size},
            "value": written(self.after),
            "errors": {name: asdict(one) for name, one in self.errors.items()},
            "sentence": self.sentence,
        }


def written(value: Number) -> str:
    """A value function as people write it; only its size where nobody could read it."""
    if value.size > _READABLE:
        return f"V of {len(weighted(value))} terms and {value.size} symbols"
    return write_defined(value)


def close_run(run: Run, *, equal_on: str = "all") -> ClosedRun:
    """Find the families of a run's value function, and close those whose closed forms hold.

    Parameters
    ----------
    equal_on : see `close_families`.
    """
    names = sorted(run.splits, key=lambda name: name != "train")
    sets = {name: run.states(name) for name in names}
    empty = [name for name, data in sets.items() if not len(data)]
    if names[0] in empty:
        raise InputError(f"{run.name} has no states of {names[0]}, so families cannot be looked for.")
    data = {
        name: states.structures(goal_marking=run.distilled.goal_marking)
        for name, states in sets.items()
        if name not in empty
    }
    labels = {
        name: np.where(sets[name].v_star == UNSOLVABLE, np.nan, sets[name].v_star).astype(np.float64)
        for name in data
    }
    before = run.distilled.value
    after, closings = close_families(before, data, labels[names[0]], equal_on=equal_on)
    alone = [_without(before, one) for one in closings]
    errors: dict[str, Errors] = {}
    if_replaced: list[dict[str, float]] = [{} for _ in closings]
    for name, states in data.items():
        known = ~np.isnan(labels[name])
        if known.any():
            table = np.abs(values_of([before, after, *alone], states) - labels[name][:, None])[known]
            mean, largest = table.mean(axis=0).tolist(), table.max(axis=0).tolist()
            errors[name] = Errors(len(table), *mean[:2], *largest[:2])
            for found, error in zip(if_replaced, mean[2:], strict=True):
                found[name] = error
    return ClosedRun(run.name, before, after, closings, errors, if_replaced)


def _without(value: Number, closing: Closing) -> Number:
    """A function with one family replaced."""
    family = closing.family
    return Sum(value, *(Scaled(-weight, feature) for weight, feature in family.terms), family.closed)
