"""Runs: a folder that holds what was distilled, from what, and how good it is.

| file | what |
| --- | --- |
| `config.yaml` | where the states and the network come from, and all settings |
| `inputs.json` | the keys of all stages, of data and network, and a checksum of each other file |
| `metrics.json` | errors, fidelity, sizes, plan lengths |
| `model.json` | the value function and all features, with where they were born |
| `trees.json` | all trees: what they ask for, what their leaves predict, how leaf sets grow |
| `value.*` | the value function in every form |
| `states/*.npz` | all labelled states of each split, with the PDDL of their instances |
| `predictions.parquet` | for each state V*, the network's V and the value function's |
| `embeddings.npz` | objects of some states in two dimensions, for each layer of the network |
| `network.safetensors` | the network |
| `weights.svg`, `errors.svg` | the weights by kind of feature, and V by V* |
| `report.html` | all that matters on one page that needs nothing else |
| `log.jsonl` | what was done, what was found done, and how long it took |

A run is complete or absent, and never written over. All but the log is the same, byte by byte, however often
the work was interrupted.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from distill.errors import InputError
from distill.jobs.distilled import Distilled
from distill.jobs.outlook import Outlook
from distill.jobs.run_config import about
from distill.planning import DataSet
from distill.structures import Vocabulary
from distill.trees import Grown, trees_from_json

if TYPE_CHECKING:
    from pandas import DataFrame

LOG = "log.jsonl"
INPUTS = "inputs.json"


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run; what is large is read when it is asked for.

    Attributes
    ----------
    folder : where it is kept.
    metrics : how good it is.
    config : what it was made from, with all defaults.
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
    def about(self) -> str:
        """What it is about, in a word."""
        return about(self.config)

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.name

    @cached_property
    def distilled(self) -> Distilled:
        """The value function and its features."""
        return Distilled.load(self.folder / "model.json")

    @cached_property
    def inputs(self) -> dict[str, Any]:
        """The keys of what it was made from, and checksums of its files."""
        found: dict[str, Any] = self._json(INPUTS)
        return found

    @cached_property
    def grown(self) -> tuple[Grown, ...]:
        """All its trees."""
        return trees_from_json(self._json("trees.json"))

    @property
    def seconds(self) -> dict[str, float]:
        """How long each stage took, without those that were found done."""
        spent: dict[str, float] = {}
        for step in self.log:
            if step["made"]:
                stage = step["stage"].partition("/")[0]
                spent[stage] = round(spent.get(stage, 0.0) + step["seconds"], 3)
        return spent

    @cached_property
    def log(self) -> list[dict[str, Any]]:
        """What happened, stage by stage."""
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
    def embeddings(self) -> Outlook | None:
        """Where objects lie in each layer; none without a network."""
        file = self.folder / "embeddings.npz"
        return Outlook.load(file) if file.exists() else None

    def predictions(self) -> "DataFrame":
        """For each state: split, instance, state (numbered within the split), v_star, network, value."""
        import pandas as pd

        file = self.folder / "predictions.parquet"
        try:
            return pd.read_parquet(file)
        except (OSError, ValueError) as error:
            raise InputError(f"{file} cannot be read ({error}); make the run again.") from error

    def damaged(self) -> list[str]:
        """The files that are missing or not as they were written."""
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
