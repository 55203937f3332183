"""What the job layer costs: a job with its stages, cache and run folder, against the bare calls it makes.

A job runs with an empty cache, but for labelled states. The bare calls, which a user without jobs would make
one after the other (read data and network, replay, distil, fit, run the network on all states, measure, draw,
and write model, predictions, forms and report), are timed while the job makes them: two runs of the same work
differ by more than the layer costs. The rest is the layer: keys, locks, the stored results of each stage,
checksums, status, and what only a run's folder has. The least ratio of a few rounds counts.
"""

import shutil
import tempfile
import time
from collections.abc import Callable
from inspect import getattr_static
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd
from comparing import Row, report

from distill.common import cache_folder
from distill.explanations import ValueFunction
from distill.jobs import RunConfig, do_job, stages
from distill.networks import Checkpoint
from distill.runs import writer as folder

CONFIGS = Path(__file__).parents[1] / "configs" / "runs"
CLASSES = ("gripper", "blocks-clear", "blocks-on")
BARE: list[tuple[Any, tuple[str, ...]]] = [
    (RunConfig, ("splits",)),
    (
        stages,
        (
            "prepare_reduced",
            "known_rows",
            "take_sample",
            "find_features",
            "fit_features",
            "compute_predictions",
        ),
    ),
    (stages, ("evaluate", "fidelity", "metrics_of", "check_distillation")),
    (ValueFunction, ("predict", "save", "export")),
    (Checkpoint, ("load", "save")),
    (folder, ("draw_weights", "draw_predictions", "report")),
    (pd.DataFrame, ("to_parquet",)),
]
_ROUNDS = 3


class Clock:
    """Adds up the processor time of calls; a call inside another counts once."""

    def __init__(self) -> None:
        self.spent = 0.0
        self._inside = False

    def timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """The same call, timed."""

        def timed(*arguments: Any, **options: Any) -> Any:
            if self._inside:
                return call(*arguments, **options)
            self._inside, begun = True, time.process_time()
            try:
                return call(*arguments, **options)
            finally:
                self._inside = False
                self.spent += time.process_time() - begun

        return timed


def once(config: RunConfig) -> tuple[float, float]:
    """Processor time of a job, and of the bare calls in it."""
    place = Path(tempfile.mkdtemp())
    (place / "cache").mkdir()
    (place / "cache" / "data").symlink_to(cache_folder() / "data")
    clock = Clock()
    patches = []
    for owner, names in BARE:
        for name in names:
            call = clock.timed(getattr(owner, name))
            static = isinstance(getattr_static(owner, name), staticmethod)
            patches.append(patch.object(owner, name, staticmethod(call) if static else call))
    for one in patches:
        one.start()
    begun = time.process_time()
    do_job(config, place / "runs", cache=place / "cache")
    spent = time.process_time() - begun
    for one in patches:
        one.stop()
    shutil.rmtree(place)
    return spent, clock.spent


def compared(name: str) -> Row:
    """A job on one class; the first, which also loads libraries, does not count."""
    config = RunConfig.read(CONFIGS / f"{name}.yaml")
    do_job(config, Path(tempfile.mkdtemp()))
    ours, bare = min((once(config) for _ in range(_ROUNDS)), key=lambda both: both[0] / both[1])
    return Row(f"{name}: a job / its bare calls", ours, bare)


def main() -> None:
    """Compare; a ratio of 1.05 means that the job layer costs 5 %."""
    report("a job with all it keeps / the bare calls", [compared(name) for name in CLASSES], 1.05)


if __name__ == "__main__":
    main()
