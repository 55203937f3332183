"""Value functions that are the same: equal terms, by what these count and not by how they are written."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from distill.errors import InputError
from distill.jobs.run import Run
from distill.logic import Evaluator, Number

Terms = Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Function:
    """A value function that one or more runs found.

    Attributes
    ----------
    runs : their names.
    value : the shortest way in which one of them writes it.
    terms : for each term a key of its values on all states, and its weight.
    unlike : how it differs from the most frequent function; empty if it is that one.
    equal : whether its value is that of the most frequent function in every state.
    """

    runs: tuple[str, ...]
    value: Number
    terms: Terms
    unlike: str = ""
    equal: bool = True

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "runs": list(self.runs),
            "value": str(self.value),
            "size": self.value.size,
            "unlike": self.unlike,
            "equal": self.equal,
        }


@dataclass(frozen=True, eq=False)
class Functions:
    """The different value functions of some runs on the same states.

    Attributes
    ----------
    found : the most frequent one first, of those the shortest.
    """

    found: tuple[Function, ...]

    @staticmethod
    def of(runs: Sequence[Run]) -> "Functions":
        """Compare the functions of runs on all states of all splits."""
        if not runs:
            return Functions(())
        evaluators = _Evaluators(runs)
        groups: dict[Any, list[Run]] = {}
        terms: dict[Any, Terms] = {}
        for run in runs:
            own = evaluators.terms(run)
            key = (frozenset(own.items()), run.distilled.constant)
            terms[key] = own
            groups.setdefault(key, []).append(run)
        shortest = {
            key: min((run.distilled.value for run in group), key=lambda value: value.order)
            for key, group in groups.items()
        }
        ordered = sorted(groups, key=lambda key: (-len(groups[key]), shortest[key].order))
        first = ordered[0]
        usual = evaluators.values(groups[first][0])
        found = []
        for key in ordered:
            names = tuple(run.name for run in groups[key])
            other = key != first
            unlike = evaluators.difference(terms[first], terms[key]) if other else ""
            equal = bool(np.array_equal(usual, evaluators.values(groups[key][0])))
            found.append(Function(names, shortest[key], terms[key], unlike, equal))
        return Functions(tuple(found))


class _Evaluators:
    """Evaluates formulas on all states of runs that share them."""

    def __init__(self, runs: Sequence[Run]) -> None:
        first = runs[0]
        for run in runs:
            same = run.inputs["stages"]["data"] == first.inputs["stages"]["data"]
            if not same or run.distilled.goal_marking != first.distilled.goal_marking:
                raise InputError(
                    f"{run.name} and {first.name} are about other states; compare runs on the same."
                )
        marking = first.distilled.goal_marking
        self._parts = [
            Evaluator(first.states(name).structures(goal_marking=marking)) for name in first.splits
        ]
        self._known: dict[Number, str] = {}
        self._written: dict[str, Number] = {}

    def number(self, number: Number) -> Any:
        """(n_states,) its values."""
        return np.concatenate([part.number(number) for part in self._parts]).astype(np.float64)

    def values(self, run: Run) -> Any:
        """(n_states,) the value of each state."""
        return self.number(run.distilled.value)

    def terms(self, run: Run) -> dict[str, float]:
        """For each term a key of its values, and its weight."""
        found: dict[str, float] = {}
        for weight, feature in run.distilled.terms():
            key = self._key(feature.number)
            found[key] = found.get(key, 0.0) + weight
        return found

    def difference(self, usual: Terms, own: Terms) -> str:
        """What one function has instead of the terms of another."""
        here = {key: weight for key, weight in own.items() if usual.get(key) != weight}
        there = {key: weight for key, weight in usual.items() if own.get(key) != weight}
        return f"{self._listed(here)} instead of {self._listed(there)}"

    def _listed(self, terms: Terms) -> str:
        shown = [f"{weight:g} * {self._written[key]}" for key, weight in terms.items()]
        return ", ".join(sorted(shown)) or "nothing"

    def _key(self, number: Number) -> str:
        if number not in self._known:
            key = hashlib.sha256(self.number(number).tobytes()).hexdigest()
            self._known[number] = key
            before = self._written.get(key, number)
            self._written[key] = min(before, number, key=lambda one: one.order)
        return self._known[number]
