"""Comparison of runs: settings that differ, metrics, equal terms, and distinct value functions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from distill.common import InputError
from distill.explanations import SharedTerm, denotations, features_of, shared_terms
from distill.logic import Evaluator, Number
from distill.runs.run import Run


@dataclass(frozen=True)
class Comparison:
    """The differences between runs, and what they share.

    Attributes
    ----------
    names : the names of the runs.
    settings : the settings that differ, by `section.name`, with the value in each run.
    metrics : the main metrics, with the value in each run.
    terms : the terms of all runs; terms with equal values on the training states of the first run are one
        term. Formulas about other predicates are compared as formulas.
    """

    names: tuple[str, ...]
    settings: Mapping[str, tuple[Any, ...]]
    metrics: Mapping[str, tuple[Any, ...]]
    terms: tuple[SharedTerm, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "runs": list(self.names),
            "settings": {key: list(values) for key, values in self.settings.items()},
            "metrics": {key: list(values) for key, values in self.metrics.items()},
            "terms": [{"formula": str(one.formula), "weights": list(one.weights)} for one in self.terms],
        }


def compare_runs(runs: Sequence[Run]) -> Comparison:
    """Compare runs."""
    configs = [flatten(run.config) for run in runs]
    keys = dict.fromkeys(key for config in configs for key in config)
    rows = {key: tuple(config.get(key) for config in configs) for key in keys}
    settings = {key: row for key, row in rows.items() if any(value != row[0] for value in row)}
    metrics = [main_metrics(run) for run in runs]
    names = dict.fromkeys(key for one in metrics for key in one)
    return Comparison(
        tuple(run.name for run in runs),
        settings,
        {key: tuple(one.get(key) for one in metrics) for key in names},
        _terms(runs),
    )


def flatten(config: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by `section.name`.

    Examples
    --------
    >>> flatten({"problem": "gripper", "distillation": {"seed": 1}})
    {'problem': 'gripper', 'distillation.seed': 1}
    """
    found: dict[str, Any] = {}
    for key, value in config.items():
        found |= (
            {f"{key}.{name}": one for name, one in value.items()}
            if isinstance(value, Mapping)
            else {key: value}
        )
    return found


def main_metrics(run: Run) -> dict[str, Any]:
    """The metrics of a run that are compared."""
    metrics = run.metrics
    errors = {f"{name} MAE": round(split["mae"], 4) for name, split in metrics["splits"].items()}
    return {
        **errors,
        "exact": metrics["fit"].get("exact"),
        "features": metrics["features"],
        "size": metrics["formula_size"],
        "whole weights": metrics["integer_weights"],
        "pool": metrics["pool"],
        "MAE to the network": metrics["fidelity"].get("mae"),
        "network's greedy choices": metrics["fidelity"].get("greedy_agreement"),
    }


def _terms(runs: Sequence[Run]) -> tuple[SharedTerm, ...]:
    functions, train = [run.value_function for run in runs], runs[0].states("train")
    parts = {
        marking: [Evaluator(train.structures(goal_marking=marking))]
        for marking in {function.goal_marking for function in functions}
    }
    keys = [
        denotations(features_of(function.value), parts[function.goal_marking])
        if run.vocabulary == runs[0].vocabulary
        else {}
        for run, function in zip(runs, functions, strict=True)
    ]
    return shared_terms([function.value for function in functions], keys)


@dataclass(frozen=True, eq=False)
class DistinctFunction:
    """A value function of one or more runs.

    Attributes
    ----------
    runs : the names of the runs.
    value : the shortest formula of it in these runs.
    unlike : the difference to the most frequent function; empty for that function itself.
    equal : whether it equals the most frequent function in every state.
    """

    runs: tuple[str, ...]
    value: Number
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


def distinct_functions(runs: Sequence[Run]) -> tuple[DistinctFunction, ...]:
    """The distinct value functions of runs on the same states, the most frequent first, then short ones.

    Two functions are the same if their terms are equal on all states of all splits.
    """
    if not runs:
        return ()
    parts = _shared_states(runs)
    functions = [run.value_function for run in runs]
    # Most terms occur in several runs; each is evaluated once.
    known = denotations({one: None for f in functions for one in features_of(f.value)}, parts)
    terms = shared_terms([function.value for function in functions], [known] * len(runs))
    groups: dict[Any, list[int]] = {}
    for place, function in enumerate(functions):
        own = tuple(term.weights[place] for term in terms)
        groups.setdefault((own, function.constant), []).append(place)
    shortest = {
        key: min((functions[place].value for place in places), key=lambda value: value.order)
        for key, places in groups.items()
    }
    ordered = sorted(groups, key=lambda key: (-len(groups[key]), shortest[key].order))
    whole = denotations([functions[groups[key][0]].value for key in ordered], parts)
    first = ordered[0]
    return tuple(
        DistinctFunction(
            tuple(runs[place].name for place in groups[key]),
            shortest[key],
            _difference(terms, first[0], key[0]) if key != first else "",
            whole[functions[groups[key][0]].value] == whole[functions[groups[first][0]].value],
        )
        for key in ordered
    )


def _shared_states(runs: Sequence[Run]) -> list[Evaluator]:
    """Evaluators on the states of all splits, which the runs must share."""
    first = runs[0]
    marking = first.value_function.goal_marking
    for run in runs:
        same = run.inputs["stages"]["data"] == first.inputs["stages"]["data"]
        if not same or run.value_function.goal_marking != marking:
            raise InputError(
                f"{run.name} and {first.name} have different states; compare runs on the same states."
            )
    return [Evaluator(first.states(name).structures(goal_marking=marking)) for name in first.splits]


def _difference(
    terms: Sequence[SharedTerm], usual: Sequence[float | None], own: Sequence[float | None]
) -> str:
    """The terms of one function that replace those of another."""

    def listed(weights: Sequence[float | None], others: Sequence[float | None]) -> str:
        shown = [
            f"{weight:g} * {term.formula}"
            for term, weight, other in zip(terms, weights, others, strict=True)
            if weight is not None and weight != other
        ]
        return ", ".join(sorted(shown)) or "nothing"

    return f"{listed(own, usual)} instead of {listed(usual, own)}"
