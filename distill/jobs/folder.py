"""Writing a run's folder: all at once or not at all."""

import json
import os
import shutil
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from distill import __version__
from distill.errors import InputError
from distill.jobs.figures import draw_weights
from distill.jobs.forms import FORMS, written
from distill.jobs.report import report
from distill.jobs.run import INPUTS, LOG, checksum
from distill.jobs.stages import Stages, Step
from distill.models.figures import draw_predictions
from distill.planning import UNSOLVABLE
from distill.trees import LINKAGES, Grown, Tree, trees_to_json

PART = ".part-"
_ALONE = 2  # parts of a path, such as /home, that everything shares
_DIGITS = 6  # of what trees predict


def write_run(place: Path, stages: Stages) -> None:
    """Write all files into a folder beside, then move it to its place at once."""
    begun = time.perf_counter()
    part = None
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=f"{PART}{place.name}-", dir=place.parent))
        _fill(part, place, stages)
        files = sorted(file for file in part.rglob("*") if file.is_file())
        sums = {file.relative_to(part).as_posix(): checksum(file) for file in files}
        _write_json(part / INPUTS, {**_inputs(stages), "files": sums})
        _write_log(part / LOG, stages, time.perf_counter() - begun)
        part.chmod(0o755)
        part.rename(place)
    except OSError as error:
        if not place.exists():
            raise InputError(
                f"Cannot write {place}: {error.strerror or error}; choose another folder."
            ) from error
    finally:
        if part is not None:
            shutil.rmtree(part, ignore_errors=True)


def _fill(part: Path, place: Path, stages: Stages) -> None:
    fitted, measured, outlook = stages.fitted, stages.measured, stages.outlook
    distilled, sets, config = fitted.distilled, stages.sets, stages.config
    resolved = _seen_from(place, config.to_mapping())
    (part / "config.yaml").write_text(yaml.safe_dump(resolved, sort_keys=False, allow_unicode=True))
    _write_json(part / "metrics.json", measured.metrics)
    distilled.save(part / "model.json")
    _write_json(part / "trees.json", _trees(fitted.grown, stages), indent=None)
    for split, data in sets.items():
        data.save(part / "states" / f"{split}.npz", compressed=True)
    if outlook is not None:
        replace(outlook, values={split: np.zeros(0) for split in sets}).save(
            part / "embeddings.npz", compressed=True
        )
    if stages.checkpoint is not None:
        stages.checkpoint.save(part / "network.safetensors")
    _predictions(stages).to_parquet(part / "predictions.parquet", index=False)
    draw_weights(distilled.terms(), part / "weights.svg")
    solvable = {split: data.v_star != UNSOLVABLE for split, data in sets.items()}
    draw_predictions(
        {
            split: (data.v_star[solvable[split]], measured.values[split][solvable[split]])
            for split, data in sets.items()
        },
        part / "errors.svg",
    )
    vocabulary = sets["train"].vocabulary
    for form in config.export.formats:
        (part / FORMS[form].file).write_text(written(distilled, form, vocabulary) + "\n")
    if config.export.report:
        figures = {file.stem: file.read_text() for file in sorted(part.glob("*.svg"))}
        page = report(place.name, resolved, measured.metrics, distilled, vocabulary, figures)
        (part / "report.html").write_text(page)


def _seen_from(place: Path, config: dict[str, Any]) -> dict[str, Any]:
    """The config with paths relative to the run, if both are in one folder, so that it can be moved."""
    found = dict(config)
    for entry, value in config.items():
        if isinstance(value, str) and Path(value).is_absolute():
            shared = Path(os.path.commonpath([value, place.resolve()]))
            if len(shared.parts) > _ALONE:
                found[entry] = os.path.relpath(value, place.resolve())
    return found


def _predictions(stages: Stages) -> pd.DataFrame:
    parts = []
    for split, data in stages.sets.items():
        table: dict[str, Any] = {
            "split": split,
            "instance": data.state_instance,
            "state": np.arange(len(data), dtype=np.int32),
            "v_star": data.v_star,
        }
        if stages.outlook is not None:
            table["network"] = stages.outlook.values[split]
        parts.append(pd.DataFrame({**table, "value": stages.measured.values[split]}))
    whole = pd.concat(parts, ignore_index=True)
    return whole.astype({"split": pd.CategoricalDtype(list(stages.sets))})


def _trees(grown: tuple[Grown, ...], stages: Stages) -> dict[str, Any]:
    """The trees with fewer digits, and how sets of their leaves grow."""
    settings = stages.config.distillation
    linkages = LINKAGES if settings.is_readable else (settings.linkage,)
    short = [replace(one, tree=_short(one.tree)) for one in grown]
    found = trees_to_json(short)
    for row, one in zip(found["trees"], short, strict=True):
        row["dendrograms"] = one.dendrograms(settings.distance, linkages)
    return found


def _short(tree: Tree) -> Tree:
    def rounded(values: Any) -> Any:
        size = np.abs(values).max(initial=0.0)
        return np.round(values, _DIGITS - int(np.ceil(np.log10(size)))) if size else values

    return replace(tree, **{n: rounded(getattr(tree, n)) for n in ("values", "weights", "gains", "errors")})


def _inputs(stages: Stages) -> dict[str, Any]:
    checkpoint, sets = stages.checkpoint, stages.sets
    network = None if checkpoint is None else {"key": checkpoint.key, "format": checkpoint.source}
    return {
        "version": __version__,
        "stages": stages.keys,
        "data": {name: {"key": data.key, "summary": data.summary()} for name, data in sets.items()},
        "network": network,
    }


def _write_log(file: Path, stages: Stages, seconds: float) -> None:
    steps = [*stages.steps, Step("export", str(stages.keys["export"]), True, seconds)]
    lines = [json.dumps(asdict(replace(step, seconds=round(step.seconds, 4)))) for step in steps]
    file.write_text("".join(f"{line}\n" for line in lines))


def _write_json(file: Path, content: Any, indent: int | None = 1) -> None:
    file.write_text(json.dumps(content, indent=indent, ensure_ascii=False))
