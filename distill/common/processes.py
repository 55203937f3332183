"""Worker processes that end with their parent."""

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.process import BaseProcess
from typing import Any

from distill.common.errors import InputError

# A forked child would inherit the locks of the threads of a progress bar; a spawned child does not.
CONTEXT = multiprocessing.get_context("spawn")


@contextlib.contextmanager
def process_pool(
    workers: int, message: str, initializer: Callable[..., None] | None = None, *arguments: Any
) -> Iterator[ProcessPoolExecutor]:
    """A pool of processes; an interrupt or an error in the body ends them at once.

    Parameters
    ----------
    message : the error message if a process dies.
    initializer, arguments : called in each process before its first task.
    """
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers, CONTEXT, _initialize, (initializer, arguments))
    try:
        yield pool
    except BaseException as error:
        pool.shutdown(wait=False, cancel_futures=True)
        stop(set(multiprocessing.active_children()) - others)
        if isinstance(error, BrokenProcessPool):
            raise InputError(message) from error
        raise
    pool.shutdown()


def _initialize(initializer: Callable[..., None] | None, arguments: tuple[Any, ...]) -> None:
    end_with_parent()
    if initializer is not None:
        initializer(*arguments)


def end_with_parent() -> None:
    """In a worker: end when the parent terminates it or ends; interrupts from the keyboard are ignored."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_exit_after, args=(parent,), daemon=True).start()


def _exit_after(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def stop(children: Iterable[BaseProcess]) -> None:
    """Terminate worker processes, and kill those that do not end within two seconds."""
    for child in children:
        child.terminate()
    for child in children:
        child.join(2)
        child.kill()
