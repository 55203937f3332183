"""Verification of a run from its own folder: its formulas are evaluated again on its states."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from distill.common import InputError
from distill.evaluation import evaluate, fidelity, greedy_policy
from distill.planning import Domain, Instance, Labelling, Split
from distill.runs.metrics import metrics_of
from distill.runs.run import Run
from distill.structures import DataSet

_CLOSE = 1e-9  # relative: the order of additions may differ


@dataclass(frozen=True)
class RunCheck:
    """A value that a run reports, and the value computed again.

    Attributes
    ----------
    what : a file, a column of predictions, or a metric by its path in `metrics.json`.
    reported, computed : the two values.
    """

    what: str
    reported: Any
    computed: Any

    @property
    def agrees(self) -> bool:
        """Whether the two are equal up to rounding."""
        one, other = self.reported, self.computed
        if isinstance(one, float) and isinstance(other, int | float):
            return math.isclose(one, other, rel_tol=_CLOSE, abs_tol=_CLOSE)
        return bool(one == other)


def verify_run(
    run: Run, *, execute: bool = True, progress: Callable[[int, int], None] | None = None
) -> list[RunCheck]:
    """Compare files with their checksums, and predictions and metrics with those computed again.

    Parameters
    ----------
    execute : whether greedy plans are computed and validated again; otherwise they are not compared.
    progress : called with the number of finished instances and of all instances.
    """
    damaged = run.damaged()
    checks = [RunCheck(f"file {name}", "as written", "changed or missing") for name in damaged]
    if damaged:
        return checks
    checks.append(RunCheck("files", len(run.inputs["files"]), len(run.inputs["files"])))
    sets = {name: run.states(name) for name in run.splits}
    function = run.value_function
    values = function.predict(sets)
    table = run.predictions()
    for name in sets:
        stored = table.loc[table["split"] == name, "value"].to_numpy()
        if len(stored) != len(values[name]):
            raise InputError(
                f"{run.folder}: there are {len(stored)} predictions for {len(values[name])} states."
            )
        largest = float(np.abs(stored - values[name]).max(initial=0.0))
        checks.append(RunCheck(f"predictions of {name}: largest difference", 0.0, largest))
    steps = int(run.config["evaluation"]["max_steps"]) if execute else 0
    splits = [split_of(name, data) for name, data in sets.items()]
    solve = greedy_policy(function, steps) if steps else None
    found = evaluate(values, solve, splits, sets, progress=progress)
    network = {}
    if "network" in table:
        network = {name: table.loc[table["split"] == name, "network"].to_numpy() for name in sets}
    faithful = fidelity(network, values, splits, sets) if network else {}
    computed = metrics_of(function, run.metrics["objects"], run.metrics["fit"], found, faithful)
    skipped = () if execute else ("instances", "solved", "plan_length", "optimal_length", "plans")
    checks += list(_compare(run.metrics, computed, (), skipped))
    return checks


def split_of(name: str, data: DataSet) -> Split:
    """The split of labelled states, from the PDDL stored with them."""
    domain = Domain(data.domain)
    instances = [Instance(domain, one["pddl"], one["name"]) for one in data.instances]
    return Split(name, instances, Labelling())


def _compare(
    reported: Mapping[str, Any], computed: Mapping[str, Any], path: tuple[str, ...], skipped: tuple[str, ...]
) -> Iterator[RunCheck]:
    for key in reported:
        here = (*path, key)
        if key in skipped:
            continue
        if isinstance(reported[key], Mapping) and isinstance(computed.get(key), Mapping):
            yield from _compare(reported[key], computed[key], here, skipped)
        else:
            yield RunCheck(".".join(here), reported[key], computed.get(key))
