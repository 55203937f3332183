"""Writing the folder of a run atomically."""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
import yaml

from distill import __version__
from distill.common import CODE_VERSIONS, InputError, changed_stages
from distill.distillation import DistillationResult, TreeWithFormulas, trees_to_json
from distill.explanations import FORMS
from distill.networks import Checkpoint, Predictions, draw_predictions
from distill.runs.figures import draw_weights
from distill.runs.html_report import report
from distill.runs.metrics import EvaluationResult
from distill.runs.run import INPUTS, LOG, checksum
from distill.structures import UNSOLVABLE, DataSet
from distill.trees import LINKAGES, Tree

PART = ".part-"
_SHARED = 2  # parts of a path, such as /home, that all paths share
_DIGITS = 6  # of what trees predict


@dataclass(frozen=True)
class StageRecord:
    """The record of a stage.

    Attributes
    ----------
    stage : its name, followed by a slash and the name of a part.
    key : its key in the cache.
    made : whether it was computed, not read from the cache.
    seconds : the duration.
    damaged : whether a cached result could not be read.
    """

    stage: str
    key: str
    made: bool
    seconds: float
    damaged: bool = False


class RunContents(Protocol):
    """The contents of a run's folder, such as the stages of a job.

    Attributes
    ----------
    config : the settings with all defaults.
    records : the record of each stage.
    """

    config: Any
    records: list[StageRecord]

    @property
    def keys(self) -> dict[str, str | None]:
        """The key of each stage."""

    @property
    def sets(self) -> dict[str, DataSet]:
        """The labelled states of each split."""

    @property
    def checkpoint(self) -> Checkpoint | None:
        """The network, if there is one."""

    @property
    def predictions(self) -> Predictions | None:
        """The values of the network, and projections of its embeddings."""

    @property
    def distillation(self) -> DistillationResult:
        """The explanation, its trees, and the properties of the fit."""

    @property
    def evaluation(self) -> EvaluationResult:
        """The values of all states, and the metrics."""


@contextmanager
def new_folder(place: Path) -> Iterator[Path]:
    """A temporary folder beside a place; at the end it is renamed to the place, unless that exists."""
    part = None
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=f"{PART}{place.name}-", dir=place.parent))
        yield part
        part.chmod(0o755)
        part.rename(place)
    except OSError as error:
        # Another process may have written the same meanwhile.
        if not place.exists():
            raise InputError(
                f"Cannot write {place}: {error.strerror or error}; choose another folder."
            ) from error
    finally:
        if part is not None:
            shutil.rmtree(part, ignore_errors=True)


def write_run(place: Path, contents: RunContents) -> None:
    """Write all files of a run."""
    begun = time.perf_counter()
    with new_folder(place) as part:
        _fill(part, place, contents)
        files = sorted(file for file in part.rglob("*") if file.is_file())
        sums = {file.relative_to(part).as_posix(): checksum(file) for file in files}
        _write_json(part / INPUTS, {**_inputs(contents), "files": sums})
        _write_log(part / LOG, contents, time.perf_counter() - begun)


def _fill(part: Path, place: Path, contents: RunContents) -> None:
    distilled, evaluated, predictions = contents.distillation, contents.evaluation, contents.predictions
    function, sets, config = distilled.explanation, contents.sets, contents.config
    resolved = _with_relative_paths(place, config.to_mapping())
    (part / "config.yaml").write_text(yaml.safe_dump(resolved, sort_keys=False, allow_unicode=True))
    _write_json(part / "metrics.json", evaluated.metrics)
    function.save(part / "model.json")
    _write_json(part / "trees.json", _trees(distilled.trees, contents), indent=None)
    for split, data in sets.items():
        data.save(part / "states" / f"{split}.npz", compressed=True)
    if predictions is not None:
        replace(predictions, values={split: np.zeros(0) for split in sets}).save(
            part / "embeddings.npz", compressed=True
        )
    if contents.checkpoint is not None:
        contents.checkpoint.save(part / "network.safetensors")
    _predictions(contents).to_parquet(part / "predictions.parquet", index=False)
    draw_weights({"": function.terms()}, part / "weights.svg")
    solvable = {split: data.v_star != UNSOLVABLE for split, data in sets.items()}
    draw_predictions(
        {
            split: (data.v_star[solvable[split]], evaluated.values[split][solvable[split]])
            for split, data in sets.items()
        },
        part / "errors.svg",
    )
    vocabulary, formats = sets["train"].vocabulary, config.export.formats
    bounds = function.bounds(sets.values()) if any(FORMS[form].two_variables for form in formats) else None
    for form in formats:
        text = function.export(form, vocabulary, bounds if FORMS[form].two_variables else None)
        (part / FORMS[form].file).write_text(text + "\n")
    if config.export.report:
        figures = {file.stem: file.read_text() for file in sorted(part.glob("*.svg"))}
        page = report(place.name, resolved, evaluated.metrics, function, vocabulary, figures)
        (part / "report.html").write_text(page)


def _with_relative_paths(place: Path, config: dict[str, Any]) -> dict[str, Any]:
    """The config with paths relative to the run, so that both can be moved together."""
    found = dict(config)
    for entry, value in config.items():
        if isinstance(value, str) and Path(value).is_absolute():
            shared = Path(os.path.commonpath([value, place.resolve()]))
            if len(shared.parts) > _SHARED:
                found[entry] = os.path.relpath(value, place.resolve())
    return found


def _predictions(contents: RunContents) -> pd.DataFrame:
    parts = []
    for split, data in contents.sets.items():
        table: dict[str, Any] = {
            "split": split,
            "instance": data.state_instance,
            "state": np.arange(len(data), dtype=np.int32),
            "v_star": data.v_star,
        }
        if contents.predictions is not None:
            table["network"] = contents.predictions.values[split]
        parts.append(pd.DataFrame({**table, "value": contents.evaluation.values[split]}))
    whole = pd.concat(parts, ignore_index=True)
    return whole.astype({"split": pd.CategoricalDtype(list(contents.sets))})


def _trees(trees: tuple[TreeWithFormulas, ...], contents: RunContents) -> dict[str, Any]:
    """The trees with rounded numbers and dendrograms."""
    settings = contents.config.distillation
    linkages = LINKAGES if settings.is_readable else (settings.linkage,)
    short = [replace(one, tree=_short(one.tree)) for one in trees]
    found = trees_to_json(short)
    for row, one in zip(found["trees"], short, strict=True):
        row["dendrograms"] = one.dendrograms(settings.distance, linkages)
    return found


def _short(tree: Tree) -> Tree:
    def rounded(values: Any) -> Any:
        size = np.abs(values).max(initial=0.0)
        return np.round(values, _DIGITS - int(np.ceil(np.log10(size)))) if size else values

    return replace(tree, **{n: rounded(getattr(tree, n)) for n in ("values", "weights", "gains", "errors")})


def _inputs(contents: RunContents) -> dict[str, Any]:
    checkpoint, sets = contents.checkpoint, contents.sets
    network = None if checkpoint is None else {"key": checkpoint.key, "format": checkpoint.source}
    return {
        "version": __version__,
        # The first versions are not written.
        **({"code": CODE_VERSIONS} if changed_stages({}) else {}),
        "stages": contents.keys,
        "data": {name: {"key": data.key, "summary": data.summary()} for name, data in sets.items()},
        "network": network,
    }


def _write_log(file: Path, contents: RunContents, seconds: float) -> None:
    records = [*contents.records, StageRecord("export", str(contents.keys["export"]), True, seconds)]
    lines = [json.dumps(asdict(replace(one, seconds=round(one.seconds, 4)))) for one in records]
    file.write_text("".join(f"{line}\n" for line in lines))


def _write_json(file: Path, content: Any, indent: int | None = 1) -> None:
    file.write_text(json.dumps(content, indent=indent, ensure_ascii=False))
