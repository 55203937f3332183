"""Who does jobs: processes of this machine, or a Dask cluster. Both are executors of `concurrent.futures`."""

import multiprocessing
import queue
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

from distill.errors import InputError
from distill.processes import CONTEXT, obey_parent, stop

LOCAL = "local"
DASK = "dask"
_TRIES = 3  # of a job whose worker dies
_PATIENCE = 10  # seconds that a scheduler has to answer
Result = TypeVar("Result")


class Lanes(Executor):
    """Processes that work each for itself: one that dies takes only its own task with it, which is repeated.

    Examples
    --------
    >>> with Lanes(2) as lanes:
    ...     [future.result() for future in [lanes.submit(abs, -1), lanes.submit(abs, 2)]]
    [1, 2]
    """

    def __init__(self, workers: int) -> None:
        self._others = set(multiprocessing.active_children())
        self._abandoned = False
        self._threads = ThreadPoolExecutor(workers)
        self._free: queue.SimpleQueue[ProcessPoolExecutor] = queue.SimpleQueue()
        for _ in range(workers):
            self._free.put(_process())

    def submit(self, task: Callable[..., Result], /, *arguments: Any, **options: Any) -> "Future[Result]":
        """Have a task done by the next process that is free."""
        return self._threads.submit(self._do, task, arguments, options)

    def _do(self, task: Callable[..., Result], arguments: tuple[Any, ...], options: dict[str, Any]) -> Result:
        for _ in range(_TRIES):
            process = self._free.get()
            try:
                return process.submit(task, *arguments, **options).result()
            except BrokenProcessPool:
                if self._abandoned:
                    raise
                process.shutdown(wait=False)
                process = _process()
            finally:
                self._free.put(process)
        raise InputError(
            f"Its process died {_TRIES} times, most likely for want of memory; use fewer workers, or fewer "
            "states, and try again."
        )

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the processes end, after their tasks."""
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        while not self._free.empty():
            self._free.get().shutdown(wait)

    def abandon(self) -> None:
        """End all work at once."""
        self._abandoned = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        stop(set(multiprocessing.active_children()) - self._others)


def _process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, CONTEXT, obey_parent)


@contextmanager
def executor(where: str, workers: int) -> Iterator[Executor]:
    """An executor; an interruption or error in the body ends its work at once.

    Parameters
    ----------
    where : `local`, or `dask://HOST:PORT` for the scheduler of a cluster.
    workers : the number of local processes.
    """
    if where == LOCAL:
        with _local(workers) as found:
            yield found
    elif where.startswith(f"{DASK}://"):
        with _dask(where) as found:
            yield found
    else:
        raise InputError(f"There is no executor {where!r}; choose {LOCAL} or {DASK}://HOST:PORT.")


@contextmanager
def _local(workers: int) -> Iterator[Executor]:
    lanes = Lanes(workers)
    try:
        yield lanes
    except BaseException:
        lanes.abandon()
        raise
    lanes.shutdown()


@contextmanager
def _dask(address: str) -> Iterator[Executor]:
    try:
        import distributed
    except ImportError as error:
        raise InputError(
            "Dask is not installed; install the extra `cluster`: pip install 'planning-distill[cluster]'."
        ) from error
    try:
        place = urlsplit(address)
        if place.hostname is None or place.port is None:
            raise ValueError("a host or a port is missing")
    except ValueError as error:
        raise InputError(
            f"The scheduler {address} must look like {DASK}://HOST:PORT, for example {DASK}://127.0.0.1:8786."
        ) from error
    connect: Any = distributed.Client
    try:
        client = connect(f"tcp://{place.hostname}:{place.port}", timeout=_PATIENCE, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise InputError(
            f"The scheduler {address} does not answer; start one with `dask scheduler`, and workers with "
            "`dask worker HOST:PORT --nthreads 1`."
        ) from error
    with client:
        # A task whose worker dies is repeated by the scheduler; one that fails is not worth repeating.
        found = client.get_executor(pure=False)
        try:
            yield found
        except BaseException:
            found.shutdown(wait=False)
            raise
