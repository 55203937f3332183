"""Closed forms of the families of features in a run, with the errors before and after."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from distill.common import InputError
from distill.explanations import Closing, close_families, values_of
from distill.logic import Number, Scaled, Sum, weighted, write_defined
from distill.runs.run import Run
from distill.structures import UNSOLVABLE

_READABLE = 2_000  # symbols of a function that is written out


@dataclass(frozen=True)
class ClosingErrors:
    """|V − V*| on the solvable states of a split, before and after families are replaced.

    Attributes
    ----------
    states : the number of states.
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
    """The value function of a run with its families replaced by closed forms.

    Attributes
    ----------
    run : the name of the run.
    before, after : the two functions; the same where no family was replaced.
    closings : the result for each family.
    errors : the errors on each split.
    if_replaced : for each family and split, the mean error if only this family were replaced.
    """

    run: str
    before: Number
    after: Number
    closings: Sequence[Closing]
    errors: Mapping[str, ClosingErrors]
    if_replaced: Sequence[Mapping[str, float]]

    @property
    def sentence(self) -> str:
        """The result in words, with its limits."""
        replaced = sum(one.replaced for one in self.closings)
        if not self.closings:
            return "No family: no three terms are one formula iterated with weights on a line."
        if not replaced:
            return (
                f"Families found: {len(self.closings)}, none replaced; the value function stays as it is. "
                "With --equal-on train it is enough to agree on the states that it was fitted to."
            )
        return (
            f"Families replaced: {replaced} of {len(self.closings)}. The checks show where a closed form "
            "equals its family; elsewhere it is a conjecture, which only errors on larger states can support."
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "run": self.run,
            "families": [
                {**one.to_json(), "mae_if_replaced": dict(errors)}
                for one, errors in zip(self.closings, self.if_replaced, strict=True)
            ],
            "terms": {"before": len(weighted(self.before)), "after": len(weighted(self.after))},
            "size": {"before": self.before.size, "after": self.after.size},
            "value": value_text(self.after),
            "errors": {name: asdict(one) for name, one in self.errors.items()},
            "sentence": self.sentence,
        }


def value_text(value: Number) -> str:
    """A value function with definitions; only the size of one that is too long to read."""
    if value.size > _READABLE:
        return f"V of {len(weighted(value))} terms and {value.size} symbols"
    return write_defined(value)


def close_run(run: Run, *, equal_on: str = "all") -> ClosedRun:
    """Find the families of a run's value function, and replace those whose closed forms hold.

    Parameters
    ----------
    equal_on : see `close_families`.
    """
    names = sorted(run.splits, key=lambda name: name != "train")
    sets = {name: run.states(name) for name in names}
    empty = [name for name, data in sets.items() if not len(data)]
    if names[0] in empty:
        raise InputError(f"{run.name} has no states of {names[0]}, so families cannot be found.")
    data = {
        name: states.structures(goal_marking=run.value_function.goal_marking)
        for name, states in sets.items()
        if name not in empty
    }
    labels = {
        name: np.where(sets[name].v_star == UNSOLVABLE, np.nan, sets[name].v_star).astype(np.float64)
        for name in data
    }
    before = run.value_function.value
    after, closings = close_families(before, data, labels[names[0]], equal_on=equal_on)
    alone = [_without(before, one) for one in closings]
    errors: dict[str, ClosingErrors] = {}
    if_replaced: list[dict[str, float]] = [{} for _ in closings]
    for name, states in data.items():
        known = ~np.isnan(labels[name])
        if known.any():
            table = np.abs(values_of([before, after, *alone], states) - labels[name][:, None])[known]
            mean, largest = table.mean(axis=0).tolist(), table.max(axis=0).tolist()
            errors[name] = ClosingErrors(len(table), *mean[:2], *largest[:2])
            for own, error in zip(if_replaced, mean[2:], strict=True):
                own[name] = error
    return ClosedRun(run.name, before, after, closings, errors, if_replaced)


def _without(value: Number, closing: Closing) -> Number:
    """A function with one family replaced."""
    family = closing.family
    return Sum(value, *(Scaled(-weight, feature) for weight, feature in family.terms), family.closed)
