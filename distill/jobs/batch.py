"""Batches: the jobs of a sweep, done by an executor, one failure at a time."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from distill.errors import InputError
from distill.jobs.job import FAILED, RUNNING, Status, job_from, report_failure, run_name, status_file
from distill.jobs.run import Run
from distill.jobs.stages import STAGES, Stages
from distill.jobs.sweep import Planned, Sweep
from distill.planning import Split
from distill.planning.cache import cache_folder

WAITING, DONE = "waiting", "done"
_LOOK = 0.3  # seconds between two looks at running jobs


@dataclass(eq=False)
class Work:
    """A job of a batch, and how far it is.

    Attributes
    ----------
    planned : what the sweep says of it.
    name : of its run; none if that cannot be told.
    keys : the names of its stages.
    kept : those that were done before.
    state : `waiting`, `running`, `done` or `failed`.
    stage : what is done at the moment, or was when it failed.
    seconds : since it began, or how long it took; 0 where its run was there.
    metrics : of its run, once it is done.
    error : why it failed.
    """

    planned: Planned
    name: str | None = None
    keys: Mapping[str, str | None] = field(default_factory=dict)
    kept: frozenset[str] = frozenset()
    state: str = WAITING
    stage: str = ""
    seconds: float = 0.0
    metrics: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""

    def fail(self, error: str) -> None:
        """It cannot be done."""
        self.state, self.error = FAILED, error


@dataclass(frozen=True)
class Shared:
    """A stage of all jobs together.

    Attributes
    ----------
    stage : its name.
    wanted : jobs that need it.
    distinct : how often it has to be done for all of them.
    kept : how many of these are done already.
    """

    stage: str
    wanted: int
    distinct: int
    kept: int


class Batch:
    """The jobs of a sweep on their way to runs.

    Parameters
    ----------
    store : the folder that keeps runs.
    cache : where stages are kept; see `cache_folder`.
    retry : whether jobs that failed earlier are tried again.
    """

    def __init__(self, sweep: Sweep, store: Path, *, cache: Path | None = None, retry: bool = False) -> None:
        self.sweep, self.store, self.cache = sweep, store, cache or cache_folder()
        self.works = [Work(planned) for planned in sweep.jobs]
        self._begun = 0.0
        known: dict[Any, list[Split]] = {}
        for work in self.works:
            self._plan(work, known, retry)

    def _plan(self, work: Work, known: dict[Any, list[Split]], retry: bool) -> None:
        config = work.planned.config
        if config is None:
            work.fail(work.planned.error or "It makes no sense.")
            return
        stages = Stages(config, cache=self.cache)
        # Instances are made or read once for all jobs that share them.
        source = (tuple(sorted(config.source.items())), tuple(sorted(config.labelling.items())))
        try:
            if source not in known:
                known[source] = stages.splits
            stages.splits = known[source]
            work.name, work.keys = run_name(stages), stages.keys
            work.kept = frozenset(stage for stage in STAGES[:-1] if stages.is_kept(stage))
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

    def shared(self) -> list[Shared]:
        """For each stage, how often it is needed and how often it has to be done."""
        found = []
        for stage in STAGES[:-1]:
            wanted = [work for work in self.works if work.keys.get(stage)]
            if stage == "train":
                wanted = [work for work in wanted if _is_trained(work)]
            distinct = {work.keys[stage]: stage in work.kept for work in wanted}
            found.append(Shared(stage, len(wanted), len(distinct), sum(distinct.values())))
        return found

    def do(self, executor: Executor, told: Callable[[Sequence[Work]], None] | None = None) -> None:
        """Do all jobs that are not done; whatever fails, the others go on.

        Parameters
        ----------
        told : called whenever something may have changed.
        """
        tell = told or (lambda works: None)
        self._check_store()
        self._begun = time.time()
        futures = {
            executor.submit(
                job_from, work.planned.config.to_mapping(), str(self.store.resolve()), str(self.cache)
            ): work
            for work in self._in_turn()
            if work.planned.config is not None
        }
        open_ones = set(futures)
        while open_ones:
            tell(self.works)
            finished, open_ones = wait(open_ones, _LOOK, FIRST_COMPLETED)
            for future in finished:
                self._end(futures[future], future)
            for future in open_ones:
                self._look(futures[future])
        tell(self.works)

    def _check_store(self) -> None:
        try:
            status_file(self.store, "").parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"Cannot write to {self.store}: {error.strerror or error}; choose another folder with --out."
            ) from error

    def _in_turn(self) -> list[Work]:
        """Waiting jobs; those that share a stage stand apart, so that no job waits for another's."""
        rank: Counter[tuple[str, str | None]] = Counter()
        placed = []
        for work in self.works:
            if work.state == WAITING:
                place = []
                for stage in ("distil", "replay", "data"):
                    place.append(rank[stage, work.keys[stage]])
                    rank[stage, work.keys[stage]] += 1
                placed.append((place, work))
        return [work for _, work in sorted(placed, key=lambda one: one[0])]

    def _look(self, work: Work) -> None:
        """See how far a job is."""
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
            work.fail("The cluster lost it; see whether the scheduler is there, and run the batch again.")
        except Exception as error:
            status = Status.read(file)
            if status is None or status.state != FAILED:
                report_failure(file, error)
                status = Status.read(file)
            work.fail(status.error if status else str(error))

    def _finish(self, work: Work) -> None:
        place = self.store / str(work.name)
        if not place.exists():
            raise InputError(
                f"The run {work.name} was made but is not in {self.store}; all workers must share it."
            )
        run = Run.load(place)
        work.state, work.stage, work.metrics = DONE, "", run.metrics


def _is_trained(work: Work) -> bool:
    return work.planned.config is not None and work.planned.config.training is not None
