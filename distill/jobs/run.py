"""Runs: a folder that holds what was distilled, from what, and how good it is.

| file | what |
| --- | --- |
| `config.yaml` | where the states and the network come from, and all settings |
| `metrics.json` | errors, fidelity, sizes, seconds |
| `model.json` | the value function and all features, with where they were born |
| `value.txt`, `value.tex`, `value.py` | the value function for people, for papers and for programs |
| `weights.svg`, `errors.svg` | the weights by kind of feature, and V by V* |

A run is complete or absent, and never written over.
"""

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from distill.errors import InputError
from distill.jobs.config import read_config, splits_of
from distill.jobs.distillation import Distilled, Effort, distil
from distill.jobs.evaluation import Evaluation, evaluate, greedy_agreement, predict
from distill.jobs.figures import draw_weights
from distill.logic import LATEX, write_defined, write_python
from distill.models import Checkpoint
from distill.models.figures import draw_predictions
from distill.planning import DataSet, Split
from distill.planning.cache import content_key
from distill.regression import has_integer_weights
from distill.settings import Distillation

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class RunConfig:
    """What to distil, on which states, and how.

    Attributes
    ----------
    checkpoint : the network's file; none is needed where features come from no network.
    source : `problem`, or `domain` with `instances` or with `train`, `validation` and `test`.
    settings : of the distillation.
    """

    checkpoint: Path | None
    source: Mapping[str, str]
    settings: Distillation

    @staticmethod
    def read(path: Path) -> "RunConfig":
        """Read a YAML file; paths in it are relative to it."""
        source, sections, files = read_config(path, {"distillation": Distillation}, ("checkpoint",))
        if "checkpoint" not in files and sections["distillation"].pool != "enumerate":
            raise InputError(f"{path} must name a checkpoint.")
        return RunConfig(files.get("checkpoint"), source, sections["distillation"])

    def splits(self) -> list[Split]:
        """The splits to learn from and to be measured on."""
        found = splits_of(self.source, "The config")
        if "train" not in {split.name for split in found}:
            raise InputError("There are no training instances to distil on; give some.")
        return found

    def to_mapping(self) -> dict[str, Any]:
        """The config with all defaults and whole paths, so that it makes the same run from anywhere."""
        files = {key: value for key, value in self.source.items() if Path(value).exists()}
        network = {} if self.checkpoint is None else {"checkpoint": str(self.checkpoint.resolve())}
        return {
            **self.source,
            **{key: str(Path(value).resolve()) for key, value in files.items()},
            **network,
            "distillation": self.settings.to_mapping(),
        }


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run.

    Attributes
    ----------
    folder : where it is kept.
    distilled : the value function and its features.
    metrics : how good it is.
    config : what it was made from.
    """

    folder: Path
    distilled: Distilled
    metrics: Mapping[str, Any]
    config: Mapping[str, Any]

    @staticmethod
    def load(folder: Path) -> "Run":
        """Read a run's folder."""
        try:
            metrics = json.loads((folder / "metrics.json").read_text())
            config = yaml.safe_load((folder / "config.yaml").read_text())
        except (OSError, ValueError, yaml.YAMLError) as error:
            raise InputError(f"{folder} is no run ({error}); make one with `distill run`.") from error
        return Run(folder, Distilled.load(folder / "model.json"), metrics, config)


def run(
    config: RunConfig,
    sets: Mapping[str, DataSet],
    splits: list[Split],
    folder: Path,
    *,
    max_steps: int | None = None,
    progress: Progress | None = None,
) -> Run:
    """Distil a network, measure the result, and write a run; one that is there already is returned as it is.

    Parameters
    ----------
    sets : for each split all its labelled states, prepared without a reduction.
    folder : where runs are kept; the run's own folder is named after what it is made from.
    max_steps : a greedy execution gives up after so many; 0 executes none.
    progress : called with the stage and the steps done and to do.
    """
    told = progress or (lambda stage, done, total: None)
    checkpoint = Checkpoint.load(config.checkpoint) if config.checkpoint else None
    states = {name: data.key for name, data in sets.items()}
    network = checkpoint.key if checkpoint else None
    key = content_key([network, list(states.items()), config.settings.to_mapping(), max_steps])
    name = config.source.get("problem") or Path(config.source["domain"]).stem
    by = config.checkpoint.stem if config.checkpoint else config.settings.pool
    place = folder / f"{Path(name).stem}-{by}-{key[:8]}"
    if place.exists():
        return Run.load(place)
    distilled, effort = distil(checkpoint, sets, config.settings, progress=progress)
    begun = time.perf_counter()
    values = distilled.predict(sets)
    solve = None if max_steps == 0 else distilled.policy(max_steps)
    found = evaluate(values, solve, splits, sets, progress=lambda done, total: told("execution", done, total))
    effort.seconds["evaluation"] = time.perf_counter() - begun
    faithful = fidelity(checkpoint, distilled, splits, sets, values) if checkpoint else {}
    metrics = measured(distilled, effort, found, faithful)
    _write(place, config, distilled, metrics, found)
    return Run.load(place)


def fidelity(
    checkpoint: Checkpoint,
    distilled: Distilled,
    splits: list[Split],
    sets: Mapping[str, DataSet],
    values: Mapping[str, Any],
) -> dict[str, float | None]:
    """How close the value function is to the network: its values, and its greedy choices."""
    network = predict(checkpoint.network, sets)
    error = np.concatenate([np.abs(network[name] - values[name]) for name in sets])
    counts = [greedy_agreement(s.instances, sets[s.name], network[s.name], values[s.name]) for s in splits]
    steps, agreed = map(sum, zip(*counts, strict=True))
    return {"mae": float(error.mean()), "greedy_agreement": agreed / steps if steps else None}


def measured(
    distilled: Distilled, effort: Effort, found: Evaluation, faithful: Mapping[str, float | None]
) -> dict[str, Any]:
    """All metrics of a run, as plain data."""
    return {
        "splits": {name: score.to_json() for name, score in found.splits.items()},
        "fidelity": dict(faithful),
        "features": len(distilled.terms()),
        "integer_weights": has_integer_weights(distilled.value),
        "formula_size": distilled.value.size,
        "pool": distilled.label,
        "pool_size": len(distilled.pool),
        "objects": effort.objects,
        "fit": dict(effort.fit),
        "seconds": {stage: round(spent, 3) for stage, spent in effort.seconds.items()},
    }


def _write(
    place: Path, config: RunConfig, distilled: Distilled, metrics: Mapping[str, Any], found: Evaluation
) -> None:
    """Write all files into a folder beside, then move it to its place at once."""
    place.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=".part-", dir=place.parent))
    try:
        (part / "config.yaml").write_text(yaml.safe_dump(config.to_mapping(), sort_keys=False))
        (part / "metrics.json").write_text(json.dumps(metrics, indent=1))
        distilled.save(part / "model.json")
        for name, text in _texts(distilled).items():
            (part / name).write_text(text + "\n")
        draw_weights(distilled.terms(), part / "weights.svg")
        panels = {
            name: (found.v_star[found.split == number], found.value[found.split == number])
            for number, name in enumerate(found.splits)
        }
        draw_predictions(panels, part / "errors.svg")
        part.chmod(0o755)
        part.rename(place)
    except OSError as error:
        if not place.exists():
            raise InputError(
                f"Cannot write {place}: {error.strerror or error}; choose another folder."
            ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _texts(distilled: Distilled) -> dict[str, str]:
    """The value function to read; left out where it is too large to write."""
    found = {}
    for name, make in (
        ("value.txt", write_defined),
        ("value.tex", lambda value: write_defined(value, LATEX)),
        ("value.py", write_python),
    ):
        try:
            found[name] = make(distilled.value)
        except InputError as error:
            found[name] = f"# {error}"
    return found
