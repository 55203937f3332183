"""Runs: a folder with the result of a distillation, its inputs and its metrics.

| file | content |
| --- | --- |
| `config.yaml` | the sources of the states and of the network, and all settings |
| `inputs.json` | the keys of all stages, of data and network, and a checksum of each other file |
| `metrics.json` | errors, fidelity, sizes, plan lengths |
| `model.json` | the value function and all features with their provenance |
| `trees.json` | all trees: formulas of the splits, predictions of the leaves, dendrograms of leaf sets |
| `value.*` | the value function in every form |
| `states/*.npz` | all labelled states of each split, with the PDDL of their instances |
| `predictions.parquet` | for each state V*, the network's V and the value function's |
| `embeddings.npz` | objects of some states in two dimensions, for each layer of the network |
| `network.safetensors` | the network |
| `weights.svg`, `errors.svg` | the weights by kind of feature, and V by V* |
| `report.html` | a self-contained report |
| `log.jsonl` | which stages were computed or read from the cache, and their durations |

A run is complete or absent, and never overwritten. All files but the log are the same, byte by byte, however
often the work was interrupted.
"""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from distill.common import InputError, changed_stages, content_of, open_regular, parse_json, read_text, shown
from distill.distillation import TreeWithFormulas, trees_from_json
from distill.explanations import FORMS, ValueFunction
from distill.logic import Node
from distill.networks import Predictions
from distill.runs.records import ADVICE, Inputs, LogLine, Metrics, read_source
from distill.structures import DataSet, Vocabulary

if TYPE_CHECKING:
    from pandas import DataFrame

LOG = "log.jsonl"
INPUTS = "inputs.json"
METRICS = "metrics.json"
CONFIG = "config.yaml"
NETWORK = "network.safetensors"
RUN_FILES = (
    *(CONFIG, INPUTS, METRICS, LOG, NETWORK, "model.json", "trees.json", "report.html", "weights.svg"),
    *("predictions.parquet", "embeddings.npz", "errors.svg", *(form.file for form in FORMS.values())),
)
"""The files of a run besides its states; not every run has all."""


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run; large files are read when they are needed.

    Attributes
    ----------
    folder : the path of the run.
    metrics : as in `metrics.json`.
    config : the resolved config.
    """

    folder: Path
    metrics: Mapping[str, Any]
    config: Mapping[str, Any]

    @staticmethod
    def load(folder: Path) -> "Run":
        """Read a run's folder: its metrics, its config and the record of its inputs, all checked."""
        if not is_run(folder):
            raise InputError(f"{shown(folder)} is no run; make one with `distill run`.")
        metrics = _entries(folder / METRICS)
        names = Metrics.check(metrics, folder / METRICS, ADVICE).splits
        run = Run(folder, metrics, read_source(folder / CONFIG))
        _ = run.inputs
        for file in ("model.json", "predictions.parquet", *(f"states/{name}.npz" for name in names)):
            if not (folder / file).is_file():
                raise InputError(f"{shown(folder / file)} is missing; {ADVICE}.")
        return run

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.name

    @cached_property
    def value_function(self) -> ValueFunction:
        """The value function and its features."""
        return ValueFunction.load(self.folder / "model.json")

    @cached_property
    def inputs(self) -> dict[str, Any]:
        """The keys of its inputs, and checksums of its files."""
        found = _entries(self.folder / INPUTS)
        Inputs.check(found, self.folder / INPUTS, ADVICE)
        return found

    @property
    def outdated(self) -> str | None:
        """A sentence that names the stages whose code has changed since this run; None if none has."""
        stages = changed_stages(self.inputs.get("code") or {})
        if not stages:
            return None
        return (
            f"{self.name} was made by another version of the code (stage {', '.join(stages)}); to make it "
            "again, remove it with `distill runs rm` and repeat `distill run`."
        )

    @cached_property
    def trees(self) -> tuple[TreeWithFormulas, ...]:
        """All trees."""
        file = self.folder / "trees.json"
        with content_of(file, ADVICE):
            return trees_from_json(_entries(file))

    @property
    def seconds(self) -> dict[str, float]:
        """The duration of each stage that was not read from the cache."""
        spent: dict[str, float] = {}
        for record in self.log:
            if record["made"]:
                stage = record["stage"].partition("/")[0]
                spent[stage] = round(spent.get(stage, 0.0) + record["seconds"], 3)
        return spent

    @cached_property
    def log(self) -> list[dict[str, Any]]:
        """The records of all stages; see `StageRecord`."""
        file = self.folder / LOG
        lines = read_text(file).splitlines()
        found = [parse_json(text, f"{shown(file)}, line {number}") for number, text in enumerate(lines, 1)]
        for one in found:
            LogLine.check(one, file, ADVICE)
        return found

    @property
    def splits(self) -> list[str]:
        """The names of its splits."""
        return list(self.metrics["splits"])

    def states(self, split: str) -> DataSet:
        """All labelled states of a split."""
        if split not in self.metrics["splits"]:
            raise InputError(f"{self.name} has no split {split}; choose from {', '.join(self.splits)}.")
        return DataSet.load(self.folder / "states" / f"{split}.npz")

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The predicates, with plain goals."""
        return self.states(self.splits[0]).vocabulary

    @cached_property
    def bounds(self) -> dict[Node, int]:
        """The least bounds with which its value function in C2 equals it on all states of the run."""
        return self.value_function.bounds(self.states(name) for name in self.splits)

    def bounds_in(self, form: str) -> dict[Node, int] | None:
        """These bounds if a form needs them, else none."""
        return self.bounds if FORMS[form].two_variables else None

    @cached_property
    def embeddings(self) -> Predictions | None:
        """Projections of the objects of each layer; None without a network."""
        file = self.folder / "embeddings.npz"
        return Predictions.load(file) if file.exists() else None

    def predictions(self) -> "DataFrame":
        """For each state: split, instance, state (numbered within the split), v_star, network, value."""
        import pandas as pd

        file = self.folder / "predictions.parquet"
        with open_regular(file) as stream, content_of(file, ADVICE):
            table = pd.read_parquet(stream)
            kinds = {
                name: table[name].dtype.kind for name in ("split", "instance", "state", "v_star", "value")
            }
            numbers = [name for name in table if name not in ("split", "instance")]
            if any(table[name].dtype.kind not in "iuf" for name in numbers) or kinds["value"] != "f":
                raise ValueError("a column has another type")
            return table

    def damaged(self) -> list[str]:
        """The files that are missing or have changed."""
        return [name for name, known in self.inputs["files"].items() if checksum(self.folder / name) != known]


def is_run(folder: Path) -> bool:
    """Whether a folder is that of a run, be it damaged."""
    try:
        return folder.is_dir() and any(os.path.lexists(folder / name) for name in (METRICS, INPUTS))
    except (OSError, ValueError):  # a name that is too long, or has a null byte
        return False


def _entries(file: Path) -> dict[str, Any]:
    content = parse_json(read_text(file), shown(file))
    if not isinstance(content, dict):
        raise InputError(f"{shown(file)} is damaged (it has no entries by name); {ADVICE}.")
    return content


def checksum(file: Path) -> str | None:
    """The SHA-256 of a file; None if it cannot be read."""
    try:
        with open_regular(file) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except InputError:
        return None
