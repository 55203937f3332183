"""Executors of jobs (`concurrent.futures`): processes of this machine, or a Dask cluster."""

import multiprocessing
import queue
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

from distill.common import CONTEXT, InputError, end_with_parent, stop

LOCAL = "local"
DASK = "dask"
_TRIES = 3  # attempts for a job whose worker dies
_PATIENCE = 10  # seconds to wait for a scheduler
Result = TypeVar("Result")


class IsolatedProcesses(Executor):
    """Independent processes: if one dies, only its own task is affected, and is repeated.

    Examples
    --------
    >>> with IsolatedProcesses(2) as processes:
    ...     [future.result() for future in [processes.submit(abs, -1), processes.submit(abs, 2)]]
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
        """Run a task in the next free process."""
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
            f"Its process died {_TRIES} times, most likely for lack of memory; use fewer workers, or fewer "
            "states, and try again."
        )

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes after their tasks."""
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        while not self._free.empty():
            self._free.get().shutdown(wait)

    def abandon(self) -> None:
        """End all work at once."""
        self._abandoned = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        stop(set(multiprocessing.active_children()) - self._others)


def _process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, CONTEXT, end_with_parent)


@contextmanager
def executor(where: str, workers: int) -> Iterator[Executor]:
    """An executor; an interruption or an error in the body ends its tasks at once.

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
    processes = IsolatedProcesses(workers)
    try:
        yield processes
    except BaseException:
        processes.abandon()
        raise
    processes.shutdown()


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
        # The scheduler repeats a task whose worker dies, but not a task that fails.
        found = client.get_executor(pure=False)
        try:
            yield found
        except BaseException:
            found.shutdown(wait=False)
            raise
