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
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from distill.common import InputError, changed_stages
from distill.distillation import TreeWithFormulas, trees_from_json
from distill.explanations import ValueFunction
from distill.networks import Predictions
from distill.structures import DataSet, Vocabulary

if TYPE_CHECKING:
    from pandas import DataFrame

LOG = "log.jsonl"
INPUTS = "inputs.json"


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
        """Read a run's folder."""
        try:
            metrics = json.loads((folder / "metrics.json").read_text())
            config = yaml.safe_load((folder / "config.yaml").read_text())
            if not isinstance(metrics, dict) or not isinstance(config, dict):
                raise ValueError("its metrics or config are not those of a run")
        except (OSError, ValueError, yaml.YAMLError) as error:
            raise InputError(f"{folder} is no run ({error}); make one with `distill run`.") from error
        return Run(folder, metrics, config)

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
        found: dict[str, Any] = self._json(INPUTS)
        return found

    @property
    def outdated(self) -> str | None:
        """A sentence that names the stages whose code has changed since this run; None if none has."""
        try:
            stages = changed_stages(self.inputs.get("code", {}))
        except InputError:
            return None
        if not stages:
            return None
        return (
            f"{self.name} was made by another version of the code (stage {', '.join(stages)}); to make it "
            "again, remove it with `distill runs rm` and repeat `distill run`."
        )

    @cached_property
    def trees(self) -> tuple[TreeWithFormulas, ...]:
        """All trees."""
        return trees_from_json(self._json("trees.json"))

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
        try:
            return [json.loads(line) for line in (self.folder / LOG).read_text().splitlines()]
        except (OSError, ValueError) as error:
            raise InputError(f"{self.folder / LOG} cannot be read ({error}); make the run again.") from error

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
    def embeddings(self) -> Predictions | None:
        """Projections of the objects of each layer; None without a network."""
        file = self.folder / "embeddings.npz"
        return Predictions.load(file) if file.exists() else None

    def predictions(self) -> "DataFrame":
        """For each state: split, instance, state (numbered within the split), v_star, network, value."""
        import pandas as pd

        file = self.folder / "predictions.parquet"
        try:
            return pd.read_parquet(file)
        except (OSError, ValueError) as error:
            raise InputError(f"{file} cannot be read ({error}); make the run again.") from error

    def damaged(self) -> list[str]:
        """The files that are missing or have changed."""
        return [name for name, known in self.inputs["files"].items() if checksum(self.folder / name) != known]

    def _json(self, name: str) -> Any:
        file = self.folder / name
        try:
            return json.loads(file.read_text())
        except (OSError, ValueError) as error:
            raise InputError(f"{file} cannot be read ({error}); make the run again.") from error


def checksum(file: Path) -> str | None:
    """The SHA-256 of a file; None if it cannot be read."""
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return None
