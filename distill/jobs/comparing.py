"""Runs side by side: settings that differ, metrics, and terms that mean the same."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from distill.jobs.run import Run
from distill.logic import Evaluator, Number


@dataclass(frozen=True)
class SharedTerm:
    """Terms of several runs that have the same values.

    Attributes
    ----------
    formula : the shortest of their formulas.
    weights : for each run the weight; None where it has no such term.
    """

    formula: Number
    weights: tuple[float | None, ...]


@dataclass(frozen=True)
class Comparison:
    """What sets runs apart, and what they share.

    Attributes
    ----------
    names : of the runs.
    settings : those that differ, by `section.name`, with the value in each run.
    metrics : the main ones, with the value in each run.
    terms : those of all runs; equal values on the training states of the first run are one. Formulas about
        other predicates are compared by themselves.
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
    """Put runs side by side."""
    configs = [flat(run.config) for run in runs]
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


def flat(config: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by `section.name`.

    Examples
    --------
    >>> flat({"problem": "gripper", "distillation": {"seed": 1}})
    {'problem': 'gripper', 'distillation.seed': 1}
    """
    found = {}
    for key, value in config.items():
        if isinstance(value, Mapping):
            found.update({f"{key}.{name}": one for name, one in value.items()})
        else:
            found[key] = value
    return found


def main_metrics(run: Run) -> dict[str, Any]:
    """The metrics of a run that are put side by side."""
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
    evaluators = {run.distilled.goal_marking: _evaluator(runs[0], run.distilled.goal_marking) for run in runs}
    found: dict[Any, tuple[Number, list[float | None]]] = {}
    for place, run in enumerate(runs):
        same = run.vocabulary == runs[0].vocabulary
        for weight, feature in run.distilled.terms():
            number = feature.number
            values = evaluators[run.distilled.goal_marking].number(number) if same else None
            key = number if values is None else values.tobytes()
            shortest, weights = found.get(key, (number, [None] * len(runs)))
            weights[place] = (weights[place] or 0) + weight
            found[key] = (min(shortest, number, key=lambda one: one.order), weights)
    ordered = sorted(found.values(), key=lambda one: (sum(w is None for w in one[1]), one[0].order))
    return tuple(SharedTerm(formula, tuple(weights)) for formula, weights in ordered)


def _evaluator(run: Run, goal_marking: bool) -> Evaluator:
    return Evaluator(run.states("train").structures(goal_marking=goal_marking))
