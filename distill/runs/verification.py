"""Verification of a run from its own folder: its formulas are evaluated again on its states."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from distill import __version__
from distill.common import InputError, read_text, shown
from distill.distillation import target_of
from distill.evaluation import Measurement, evaluate, fidelity, greedy_policy
from distill.explanations import FORMS
from distill.networks import Checkpoint
from distill.planning import Domain, Instance, Labelling, Split
from distill.runs.metrics import metrics_of
from distill.runs.records import ADVICE
from distill.runs.run import CONFIG, INPUTS, LOG, NETWORK, RUN_FILES, Run
from distill.runs.stored_tree import stored_trees
from distill.structures import DataSet

_EXACT = 1e-6  # the largest error of an exact value function
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
    # Only what does not agree is listed: runs of earlier versions have the same checks as before.
    checks += [check for check in (*_records(run, sets), *_parts(run)) if not check.agrees]
    values = function.predict(sets)
    table = run.predictions()
    for name in sets:
        stored = table.loc[table["split"] == name, "value"].to_numpy()
        if len(stored) != len(values[name]):
            raise InputError(
                f"{run.folder}: there are {len(stored)} predictions for {len(values[name])} states; {ADVICE}."
            )
        largest = float(np.abs(stored - values[name]).max(initial=0.0))
        checks.append(RunCheck(f"predictions of {name}: largest difference", 0.0, largest))
        labels = table.loc[table["split"] == name, "v_star"].to_numpy()
        if not np.array_equal(labels, sets[name].v_star):
            checks.append(RunCheck(f"predictions of {name}: V*", "those of its states", "others"))
    steps = _max_steps(run) if execute else 0
    splits = [split_of(name, data) for name, data in sets.items()]
    solve = greedy_policy(function, steps) if steps else None
    found = evaluate(values, solve, splits, sets, progress=progress)
    network = {}
    if "network" in table:
        network = {name: table.loc[table["split"] == name, "network"].to_numpy() for name in sets}
    faithful = fidelity(network, values, splits, sets) if network else {}
    computed = metrics_of(function, run.metrics["objects"], run.metrics["fit"], found, faithful)
    if run.metrics["fit"].get("exact") and target_of(run.config).name == "optimal":
        largest = found.splits["train"].max_error if "train" in sets else 0.0
        if largest > _EXACT:
            checks.append(RunCheck("fit.exact", True, False))
    skipped: tuple[str, ...] = (
        () if execute else ("instances", "solved", "plan_length", "optimal_length", "plans")
    )
    if run.outdated is not None and "network_errors" not in run.metrics["fidelity"]:
        skipped += ("network_errors",)  # earlier versions did not write them
    checks += list(_compare(run.metrics, computed, (), skipped))
    return checks


def _max_steps(run: Run) -> int:
    given = run.config.get("evaluation") or {}
    return Measurement.from_mapping(given, shown(run.folder / CONFIG), "evaluation").max_steps


def _records(run: Run, sets: Mapping[str, DataSet]) -> Iterator[RunCheck]:
    """What `inputs.json` says of the files, the states and the network."""
    present = {file.relative_to(run.folder).as_posix() for file in run.folder.rglob("*") if file.is_file()}
    written = {"metrics.json", "config.yaml", "model.json", "trees.json", "predictions.parquet"}
    required = (present & set(RUN_FILES) | written | {f"states/{name}.npz" for name in sets}) - {INPUTS, LOG}
    for name in sorted(required - set(run.inputs["files"])):
        yield RunCheck(f"file {name}", "as written", "without a checksum")
    known = run.inputs["data"]
    yield RunCheck("data", sorted(known), sorted(sets))
    for name in known.keys() & sets.keys():
        yield RunCheck(f"data.{name}.key", known[name]["key"], sets[name].key)
        yield RunCheck(f"data.{name}.summary", known[name]["summary"], sets[name].summary())
    network = run.inputs["network"]
    yield RunCheck(NETWORK, network is not None, NETWORK in present)
    if network is not None and NETWORK in present:
        yield RunCheck("network.key", network["key"], Checkpoint.load(run.folder / NETWORK).key)


def _parts(run: Run) -> Iterator[RunCheck]:
    """Whether the other files can be read."""
    _ = run.log, run.embeddings, stored_trees(run)
    if run.inputs["version"] == __version__ and run.outdated is None:
        for form, one in FORMS.items():
            file = run.folder / one.file
            if file.is_file():
                text = run.value_function.export(form, run.vocabulary, run.bounds_in(form)) + "\n"
                yield RunCheck(f"file {one.file}", True, read_text(file) == text)


def split_of(name: str, data: DataSet) -> Split:
    """The split of labelled states, from the PDDL stored with them."""
    domain = Domain(data.domain)
    instances = [Instance(domain, one["pddl"], one["name"]) for one in data.instances]
    return Split(name, instances, Labelling())


def _compare(
    reported: Mapping[str, Any], computed: Mapping[str, Any], path: tuple[str, ...], skipped: tuple[str, ...]
) -> Iterator[RunCheck]:
    for key in dict.fromkeys([*reported, *computed]):
        here = (*path, key)
        if key in skipped:
            continue
        one, other = reported.get(key), computed.get(key)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            yield from _compare(one, other, here, skipped)
        else:
            yield RunCheck(".".join(here), one, other)
