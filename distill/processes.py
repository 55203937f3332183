"""Worker processes that end when the work does, whatever ends it."""

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

from distill.errors import InputError

# A forked child would inherit the threads of a progress bar half-way through; a spawned one is clean.
CONTEXT = multiprocessing.get_context("spawn")


@contextlib.contextmanager
def process_pool(
    workers: int, died: str, begin: Callable[..., None] | None = None, *arguments: Any
) -> Iterator[ProcessPoolExecutor]:
    """A pool of processes; an interruption or error in the body ends them at once.

    Parameters
    ----------
    died : what to tell the user if a process dies.
    begin, arguments : called in each process before its first task.
    """
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers, CONTEXT, _begin, (begin, arguments))
    try:
        yield pool
    except BaseException as error:
        pool.shutdown(wait=False, cancel_futures=True)
        stop(set(multiprocessing.active_children()) - others)
        if isinstance(error, BrokenProcessPool):
            raise InputError(died) from error
        raise
    pool.shutdown()


def _begin(begin: Callable[..., None] | None, arguments: tuple[Any, ...]) -> None:
    """In a worker: leave interrupts from the keyboard to the parent, and end tidily when it says so."""
    obey_parent()
    if begin is not None:
        begin(*arguments)


def obey_parent() -> None:
    """In a worker: end when the parent says so, and when it is gone; interrupts are its business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def stop(children: Iterable[BaseProcess]) -> None:
    """End worker processes, by force if they are deep in their work."""
    for child in children:
        child.terminate()
    for child in children:
        child.join(2)
        child.kill()
