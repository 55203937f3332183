"""What the job layer costs: a job with its stages, cache and run folder, against the bare calls it makes.

Both sides label nothing (the data are there), replay and distil the network, run it on all states, measure
the value function and write what a run is for: model, predictions, figures, forms and report. The job does
so with an empty cache, and keeps every stage; both in one process, each after a first, uncounted round.
"""

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from comparing import Row, report

from distill.jobs import RunConfig, do_job, evaluate, prepare_reduced
from distill.jobs import report as report_page
from distill.jobs.distillation import Fitted, find_features, fit_features, take_sample
from distill.jobs.evaluation import fidelity
from distill.jobs.figures import draw_weights
from distill.jobs.forms import FORMS, written
from distill.jobs.job import one_processor
from distill.jobs.measured import measured
from distill.jobs.outlook import look
from distill.jobs.sample import known_rows
from distill.models import Checkpoint
from distill.models.figures import draw_predictions
from distill.planning.cache import cache_folder

CONFIGS = Path(__file__).parents[1] / "configs" / "runs"
CLASSES = ("gripper", "blocks-clear", "blocks-on")
_ROUNDS = 5


def bare(config: RunConfig, folder: Path) -> None:
    """All that a job computes, and what a person would write down of it."""
    splits = config.splits()
    sets = {split.name: prepare_reduced(split, reduce="none")[0] for split in splits}
    checkpoint = Checkpoint.load(config.checkpoint)
    settings, told = config.distillation, lambda *_: None
    whole = known_rows(sets)
    sample = take_sample(checkpoint, sets, whole, settings)
    fitted: Fitted = fit_features(find_features(sample, settings, told), sample, whole, settings, told)
    outlook = look(checkpoint, sets)
    distilled = fitted.distilled
    values = distilled.predict(sets)
    found = evaluate(values, distilled.policy(config.evaluation.max_steps), splits, sets)
    result = measured(fitted, values, found, fidelity(outlook.values, values, splits, sets))
    distilled.save(folder / "model.json")
    checkpoint.save(folder / "network.safetensors")
    tables = [
        pd.DataFrame(
            {"split": name, "v_star": data.v_star, "network": outlook.values[name], "value": values[name]}
        )
        for name, data in sets.items()
    ]
    pd.concat(tables).to_parquet(folder / "predictions.parquet")
    draw_weights(distilled.terms(), folder / "weights.svg")
    panels = {
        name: (data.v_star[data.v_star >= 0], values[name][data.v_star >= 0]) for name, data in sets.items()
    }
    draw_predictions(panels, folder / "errors.svg")
    words = sets["train"].vocabulary
    for form in config.export.formats:
        (folder / FORMS[form].file).write_text(written(distilled, form, words))
    figures = {name: (folder / f"{name}.svg").read_text() for name in ("weights", "errors")}
    page = report_page("a run", config.to_mapping(), result.metrics, distilled, words, figures)
    (folder / "report.html").write_text(page)


def timed(task: Callable[[Path], object]) -> float:
    """Processor time of a task in a folder of its own."""
    folder = Path(tempfile.mkdtemp())
    begun = time.process_time()
    task(folder)
    spent = time.process_time() - begun
    shutil.rmtree(folder)
    return spent


def compared(name: str) -> Row:
    """The job and the bare calls on one class, in turn; the fastest of each."""
    config = RunConfig.read(CONFIGS / f"{name}.yaml")

    def job(folder: Path) -> None:
        cache = folder / "cache"
        (cache / "data").parent.mkdir(parents=True)
        (cache / "data").symlink_to(cache_folder() / "data")
        do_job(config, folder / "runs", cache=cache)

    with one_processor():
        bare(config, Path(tempfile.mkdtemp()))
        both = [(timed(job), timed(lambda folder: bare(config, folder))) for _ in range(_ROUNDS)]
    ours, peer = np.min(both, axis=0)
    return Row(f"{name}: a job / the bare calls", float(ours), float(peer))


def main() -> None:
    """Compare; a ratio of 1.05 says that the job layer costs 5 %."""
    report("a job with all it keeps / the bare calls", [compared(name) for name in CLASSES], 1.05)


if __name__ == "__main__":
    main()
