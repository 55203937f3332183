"""Batches: an executor runs the jobs of a sweep; a failure does not affect other jobs."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from distill.common import STAGES, InputError, cache_folder
from distill.jobs.detached import FAILED, RUNNING
from distill.jobs.job import job_from, run_name
from distill.jobs.stages import Stages
from distill.jobs.sweep import PlannedJob, Sweep
from distill.planning import Split
from distill.runs import Run, Status, report_failure, status_file

WAITING, DONE = "waiting", "done"
_INTERVAL = 0.3  # seconds between two checks of running jobs


@dataclass(eq=False)
class Work:
    """A job of a batch, and its progress.

    Attributes
    ----------
    job : its plan in the sweep.
    name : the name of its run; None if unknown.
    keys : the keys of its stages.
    cached_stages : the stages whose results exist.
    state : `waiting`, `running`, `done` or `failed`.
    stage : the current stage, or that of the failure.
    seconds : since it began, or its duration; 0 if its run existed before.
    metrics : of its run, once it is done.
    error : the cause of its failure.
    """

    job: PlannedJob
    name: str | None = None
    keys: Mapping[str, str | None] = field(default_factory=dict)
    cached_stages: frozenset[str] = frozenset()
    state: str = WAITING
    stage: str = ""
    seconds: float = 0.0
    metrics: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""

    def fail(self, error: str) -> None:
        """Mark it as failed."""
        self.state, self.error = FAILED, error


@dataclass(frozen=True)
class StageCount:
    """How often a stage is needed by the jobs of a batch.

    Attributes
    ----------
    stage : its name.
    wanted : the number of jobs that need it.
    distinct : the number of different results.
    kept : the number of results that exist.
    """

    stage: str
    wanted: int
    distinct: int
    kept: int


class JobBatch:
    """The jobs of a sweep.

    Parameters
    ----------
    store : the folder of runs.
    cache : the folder of cached stages; see `cache_folder`.
    retry : whether jobs that failed earlier are run again.
    """

    def __init__(self, sweep: Sweep, store: Path, *, cache: Path | None = None, retry: bool = False) -> None:
        self.sweep, self.store, self.cache = sweep, store, cache or cache_folder()
        self.works = [Work(job) for job in sweep.jobs]
        self._begun = 0.0
        splits: dict[Any, list[Split]] = {}
        for work in self.works:
            self._plan(work, splits, retry)

    def _plan(self, work: Work, splits: dict[Any, list[Split]], retry: bool) -> None:
        config = work.job.config
        if config is None:
            work.fail(work.job.error or "Its config is not valid.")
            return
        stages = Stages(config, cache=self.cache)
        # Jobs with the same source share its instances.
        source = (tuple(sorted(config.source.items())), tuple(sorted(config.labelling.items())))
        try:
            if source not in splits:
                splits[source] = stages.splits
            stages.splits = splits[source]
            work.name, work.keys = run_name(stages), stages.keys
            work.cached_stages = frozenset(stage for stage in STAGES[:-1] if stages.is_cached(stage))
            if (self.store / work.name).exists():
                self._finish(work)
                return
        except InputError as error:
            work.fail(str(error))
            return
        status = Status.read(status_file(self.store, work.name))
        if status is not None and status.state == FAILED and not retry:
            work.stage = status.stage
            work.fail(status.error)

    def stage_counts(self) -> list[StageCount]:
        """For each stage, how often it is needed and how often it has to be computed."""
        found = []
        for stage in STAGES[:-1]:
            wanted = [work for work in self.works if work.keys.get(stage)]
            if stage == "train":
                wanted = [work for work in wanted if _is_trained(work)]
            distinct = {work.keys[stage]: stage in work.cached_stages for work in wanted}
            found.append(StageCount(stage, len(wanted), len(distinct), sum(distinct.values())))
        return found

    def run(self, executor: Executor, progress: Callable[[Sequence[Work]], None] | None = None) -> None:
        """Run all waiting jobs; a failure does not affect other jobs.

        Parameters
        ----------
        progress : called whenever the state of a job may have changed.
        """
        report = progress or (lambda works: None)
        self._check_store()
        self._begun = time.time()
        futures = {
            executor.submit(
                job_from, work.job.config.to_mapping(), str(self.store.resolve()), str(self.cache)
            ): work
            for work in self._execution_order()
            if work.job.config is not None
        }
        pending = set(futures)
        while pending:
            report(self.works)
            finished, pending = wait(pending, _INTERVAL, FIRST_COMPLETED)
            for future in finished:
                self._end(futures[future], future)
            for future in pending:
                self._update(futures[future])
        report(self.works)

    def _check_store(self) -> None:
        try:
            status_file(self.store, "").parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"Cannot write to {self.store}: {error.strerror or error}; choose another folder with --out."
            ) from error

    def _execution_order(self) -> list[Work]:
        """Waiting jobs; jobs that share a stage are kept apart, so that none waits for another."""
        rank: Counter[tuple[str, str | None]] = Counter()
        ranked = []
        for work in self.works:
            if work.state == WAITING:
                shared = [(stage, work.keys[stage]) for stage in ("distil", "replay", "data")]
                ranked.append(([rank[stage] for stage in shared], work))
                rank.update(shared)
        return [work for _, work in sorted(ranked, key=lambda one: one[0])]

    def _update(self, work: Work) -> None:
        """Read the progress of a job."""
        status = Status.read(status_file(self.store, str(work.name)))
        if status is not None and status.state == RUNNING and status.seen >= self._begun:
            counted = f" {status.done}/{status.total}" if status.total > 1 else ""
            work.state, work.stage = RUNNING, status.stage + counted
            work.seconds = max(0.0, time.time() - status.begun)

    def _end(self, work: Work, future: "Future[str]") -> None:
        file = status_file(self.store, str(work.name))
        try:
            future.result()
            self._finish(work)
        except CancelledError:
            work.fail("The cluster lost it; check the scheduler and run the batch again.")
        except Exception as error:
            status = Status.read(file)
            if status is None or status.state != FAILED:
                report_failure(file, error)
                status = Status.read(file)
            work.fail(status.error if status else str(error))

    def _finish(self, work: Work) -> None:
        folder = self.store / str(work.name)
        if not folder.exists():
            raise InputError(
                f"The run {work.name} was made but is not in {self.store}; all workers must share it."
            )
        work.state, work.stage, work.metrics = DONE, "", Run.load(folder).metrics


def _is_trained(work: Work) -> bool:
    return work.job.config is not None and work.job.config.training is not None
