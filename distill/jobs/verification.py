"""Checking a run by its own folder alone: its formulas are evaluated again on its states."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from distill.errors import InputError
from distill.jobs.distillation import Fitted
from distill.jobs.evaluation import evaluate, fidelity
from distill.jobs.measured import measured
from distill.jobs.run import Run
from distill.planning import DataSet, Domain, Instance, Labelling, Split

_CLOSE = 1e-9  # relative: sums may be added up in another order


@dataclass(frozen=True)
class Check:
    """One thing that a run reports, and what comes out again.

    Attributes
    ----------
    what : a file, a column of predictions, or a metric by its place in `metrics.json`.
    reported, found : what the run says, and what was computed.
    """

    what: str
    reported: Any
    found: Any

    @property
    def agrees(self) -> bool:
        """Whether they are the same, up to rounding."""
        one, other = self.reported, self.found
        if isinstance(one, float) and isinstance(other, int | float):
            return math.isclose(one, other, rel_tol=_CLOSE, abs_tol=_CLOSE)
        return bool(one == other)


def verify_run(
    run: Run, *, execute: bool = True, progress: Callable[[int, int], None] | None = None
) -> list[Check]:
    """Compare files with their checksums, predictions and metrics with what the formulas say of the states.

    Parameters
    ----------
    execute : whether greedy plans are found and validated again; without that, they are not compared.
    progress : called with the number of instances executed and to execute.
    """
    damaged = run.damaged()
    checks = [Check(f"file {name}", "as written", "changed or missing") for name in damaged]
    if damaged:
        return checks
    checks.append(Check("files", len(run.inputs["files"]), len(run.inputs["files"])))
    sets = {name: run.states(name) for name in run.splits}
    values = run.distilled.predict(sets)
    table = run.predictions()
    for name in sets:
        kept = table.loc[table["split"] == name, "value"].to_numpy()
        if len(kept) != len(values[name]):
            raise InputError(
                f"{run.folder}: there are {len(kept)} predictions for {len(values[name])} states."
            )
        largest = float(np.abs(kept - values[name]).max(initial=0.0))
        checks.append(Check(f"predictions of {name}: largest difference", 0.0, largest))
    steps = int(run.config["evaluation"]["max_steps"]) if execute else 0
    splits = [split_of(name, data) for name, data in sets.items()]
    solve = run.distilled.policy(steps) if steps else None
    found = evaluate(values, solve, splits, sets, progress=progress)
    network = {}
    if "network" in table:
        network = {name: table.loc[table["split"] == name, "network"].to_numpy() for name in sets}
    faithful = fidelity(network, values, splits, sets) if network else {}
    again = Fitted(run.distilled, run.metrics["objects"], run.metrics["fit"], ())
    computed = measured(again, values, found, faithful).metrics
    skipped = () if execute else ("instances", "solved", "plan_length", "optimal_length", "plans")
    checks += list(_compared(run.metrics, computed, (), skipped))
    return checks


def split_of(name: str, data: DataSet) -> Split:
    """The split that states were labelled from, by the PDDL that is kept with them."""
    domain = Domain(data.domain)
    instances = [Instance(domain, one["pddl"], one["name"]) for one in data.instances]
    return Split(name, instances, Labelling())


def _compared(
    reported: Mapping[str, Any], found: Mapping[str, Any], place: tuple[str, ...], skipped: tuple[str, ...]
) -> Iterator[Check]:
    for key in reported:
        here = (*place, key)
        if key in skipped:
            continue
        if isinstance(reported[key], Mapping) and isinstance(found.get(key), Mapping):
            yield from _compared(reported[key], found[key], here, skipped)
        else:
            yield Check(".".join(here), reported[key], found.get(key))
