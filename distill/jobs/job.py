"""Jobs: a config becomes a run; who waits for it is told how far it is."""

import json
import os
import shutil
import socket
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from threadpoolctl import threadpool_limits

from distill.errors import InputError
from distill.files import locked, written_whole
from distill.jobs.folder import PART, write_run
from distill.jobs.run import Run
from distill.jobs.run_config import RunConfig, about
from distill.jobs.stages import STAGES, Stages
from distill.planning.cache import cache_folder

Progress = Callable[[str, int, int], None]
RUNNING, FAILED = "running", "failed"
JOBS = ".jobs"
_TURN = threading.Lock()
_OFTEN = 0.5  # seconds between two reports


@dataclass(frozen=True)
class Status:
    """How far a job is, or why it failed; there is none for a job that is done.

    Attributes
    ----------
    state : `running` or `failed`.
    stage : what is done, with its part after a colon.
    done, total : steps of it.
    begun, seen : when the job began, and when it last said something (seconds since 1970).
    host, process : who works on it.
    error : why it failed, in a sentence.
    details : where in the code, if nobody foresaw it.
    """

    state: str
    stage: str = ""
    done: int = 0
    total: int = 0
    begun: float = 0.0
    seen: float = 0.0
    host: str = ""
    process: int = 0
    error: str = ""
    details: str = ""

    def write(self, file: Path) -> None:
        """Tell those who look."""
        with written_whole(file) as stream:
            stream.write(json.dumps(asdict(self)).encode())

    @staticmethod
    def read(file: Path) -> "Status | None":
        """What was told last; None if nothing was, or if it cannot be read."""
        try:
            return Status(**json.loads(file.read_text()))
        except (OSError, ValueError, TypeError):
            return None


def run_name(stages: Stages) -> str:
    """The name of a run: what it is about, and a key of all it is made from."""
    config = stages.config
    if config.checkpoint is not None:
        by = config.checkpoint.stem
    else:
        by = config.distillation.pool if config.network is None else "trained"
    return f"{about(config.source)}-{by}-{str(stages.keys['export'])[:8]}"


def status_file(store: Path, name: str) -> Path:
    """Where a job tells how far it is."""
    return store / JOBS / f"{name}.json"


def do_job(
    config: RunConfig,
    store: Path,
    *,
    workers: int = 1,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> Run:
    """Make the run of a config; one that is there already is returned as it is.

    What goes wrong is also written down beside the runs, for those who did not wait for it.

    Parameters
    ----------
    store : the folder that keeps runs.
    workers : the number of processes that may be used.
    cache : where stages are kept; see `cache_folder`.
    progress : called with what is done, and the steps done and to do.
    """
    stages = Stages(config, workers, cache or cache_folder())
    name = run_name(stages)
    place, file = store / name, status_file(store, name)
    if place.exists():
        return Run.load(place)
    with one_processor(), locked(file) as alone:
        if place.exists():
            return Run.load(place)
        if alone:
            for left in store.glob(f"{PART}{name}-*"):
                shutil.rmtree(left, ignore_errors=True)
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


def report_failure(file: Path, error: Exception) -> None:
    """Write down why a job failed; a store that cannot be written to is told by the error itself."""
    foreseen = isinstance(error, InputError)
    known = Status.read(file)
    sentence = str(error) if foreseen else f"An unforeseen error: {type(error).__name__}: {error}"
    details = "" if foreseen else "".join(traceback.format_exception(error))
    failed = replace(known or Status(FAILED), state=FAILED, error=sentence, details=details, seen=time.time())
    with suppress(InputError):
        failed.write(file)


def _reporter(file: Path, progress: Progress | None) -> Progress:
    """Tells those who look at the file, not too often, and who waits."""
    begun = time.time()
    last = ("", 0.0)

    def tell(stage: str, done: int, total: int) -> None:
        nonlocal last
        now = time.time()
        if stage != last[0] or now - last[1] > _OFTEN:
            last = stage, now
            Status(RUNNING, stage, done, total, begun, now, socket.gethostname(), os.getpid()).write(file)
        if progress is not None:
            progress(stage, done, total)

    return tell


def job_from(config: Mapping[str, Any], store: str, cache: str) -> str:
    """Do a job in another process: from plain data to the name of the run.

    Threads of one process, as Dask's workers have, take turns.
    """
    made = RunConfig.from_mapping(config, Path(), lambda *path: "The config")
    with _TURN:
        return do_job(made, Path(store), cache=Path(cache)).name


@contextmanager
def one_processor() -> Iterator[None]:
    """Compute on one processor: n jobs use n of them, and sums are added up in the same order everywhere."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(before)
