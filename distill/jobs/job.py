"""Jobs: make the run of a config and report progress."""

import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from distill.common import STAGES, cache_folder, file_lock
from distill.jobs.detached import RUNNING
from distill.jobs.run_config import RunConfig
from distill.jobs.stages import Stages
from distill.networks import one_thread
from distill.runs import PART, Run, Status, problem_name, report_failure, status_file, write_run

Progress = Callable[[str, int, int], None]
_LOCK = threading.Lock()
_INTERVAL = 0.5  # seconds between two reports


def run_name(stages: Stages) -> str:
    """The name of a run: its problem, its network or pool, and its key."""
    config = stages.config
    if config.checkpoint is not None:
        by = config.checkpoint.stem
    else:
        by = config.distillation.pool if config.network is None else "trained"
    return f"{problem_name(config.source)}-{by}-{str(stages.keys['export'])[:8]}"


def do_job(
    config: RunConfig,
    store: Path,
    *,
    workers: int = 1,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> Run:
    """Make the run of a config; an existing run is returned.

    The cause of a failure is also written to the status file beside the runs.

    Parameters
    ----------
    store : the folder of runs.
    workers : the number of processes.
    cache : the folder of cached stages; see `cache_folder`.
    progress : called with the stage, the number of finished steps and of all steps.
    """
    stages = Stages(config, workers, cache or cache_folder())
    name = run_name(stages)
    place, file = store / name, status_file(store, name)
    if place.exists():
        return Run.load(place)
    with one_thread(), file_lock(file) as alone:
        if place.exists():
            return Run.load(place)
        if alone:
            for part in store.glob(f"{PART}{name}-*"):
                shutil.rmtree(part, ignore_errors=True)
        stages.progress = _reporter(file, progress)
        try:
            stages.check()
            stages.finish()
            stages.progress(STAGES[-1], 0, 1)
            write_run(place, stages)
        except Exception as error:
            report_failure(file, error)
            raise
        with suppress(OSError):
            file.unlink()
    return Run.load(place)


def _reporter(file: Path, progress: Progress | None) -> Progress:
    """A callback that writes the status file, not too often, and calls `progress`."""
    begun = time.time()
    last = ("", 0.0)

    def report(stage: str, done: int, total: int) -> None:
        nonlocal last
        now = time.time()
        if stage != last[0] or now - last[1] > _INTERVAL:
            last = stage, now
            Status(RUNNING, stage, done, total, begun, now, socket.gethostname(), os.getpid()).write(file)
        if progress is not None:
            progress(stage, done, total)

    return report


def job_from(config: Mapping[str, Any], store: str, cache: str) -> str:
    """Run a job in another process: from plain data to the name of the run.

    Threads of one process, such as those of a Dask worker, run one job at a time.
    """
    made = RunConfig.from_mapping(config, Path(), lambda *path: "The config")
    with _LOCK:
        return do_job(made, Path(store), cache=Path(cache)).name
