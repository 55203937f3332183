"""Processes that carry out calls within limits of time and memory, which their parent enforces.

A library in C++ may block, crash or use all memory. In such a process this ends only the call, and an
interrupt of the parent ends it at once. Scripts need no `if __name__ == "__main__":`, unlike those that use
`multiprocessing`.
"""

import atexit
import contextlib
import fcntl
import json
import math
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Literal

from distill.common.memory import available_memory

GIGABYTE = 10**9
_INTERVAL = 0.1  # seconds between two looks at the limits
_GRACE = 1.0  # seconds between the request to end and the kill
_SHARE = 0.8  # of the memory that is available
_IDLE = 0.5 * GIGABYTE  # a larger process is not kept for the next calls
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); "
    "from distill.common.worker import serve; serve(int(sys.argv[1]))"
)

Call = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function that can be imported, and its arguments."""


class WorkerEndedError(Exception):
    """A process ended before its call did.

    Attributes
    ----------
    cause : `crash`, `killed` (from outside), `time` or `memory`.
    position : the position of the call.
    """

    def __init__(self, cause: Literal["crash", "killed", "time", "memory"], position: int) -> None:
        super().__init__(cause, position)
        self.cause, self.position = cause, position


class _Worker:
    """A process that carries out one call after the other."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            handle = theirs.fileno()
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-c", _START, str(handle), json.dumps(list(map(str, sys.path)))],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[handle],
            )
        self.connection = Connection(ours.detach())

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    @property
    def memory(self) -> int:
        """Its resident memory in bytes; 0 if unknown."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            if Path("/proc/self/statm").exists():
                pages = Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]
                return int(pages) * os.sysconf("SC_PAGE_SIZE")
            command = ["ps", "-o", "rss=", "-p", str(self._process.pid)]
            return 1024 * int(subprocess.run(command, capture_output=True, check=False).stdout)  # noqa: S603
        return 0

    def begin(self, call: Call) -> None:
        with contextlib.suppress(OSError):  # its end is seen when its answer is read
            self.connection.send_bytes(pickle.dumps(call))

    def result(self, position: int) -> Any:
        """The result of the call, when the connection has something to read."""
        try:
            done, answer = pickle.loads(self.connection.recv_bytes())  # noqa: S301
        except (EOFError, OSError) as error:
            killed = self._process.wait() == -signal.SIGKILL
            raise WorkerEndedError("killed" if killed else "crash", position) from error
        if done:
            return answer
        if isinstance(answer, MemoryError):
            raise WorkerEndedError("memory", position)
        raise answer

    def kill(self) -> None:
        self._process.kill()

    def terminate(self) -> None:
        self._process.terminate()

    def close(self) -> None:
        """Wait for its end, which its closed input brings about at the latest."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        self._process.kill()
        self._process.wait()
        self.connection.close()
        if self._process.stdin is not None:
            self._process.stdin.close()


@dataclass
class _Running:
    worker: _Worker
    position: int
    begun: float


_idle: list[_Worker] = []
_is_worker = False


def in_worker() -> bool:
    """Whether this process carries out calls for another one."""
    return _is_worker


def carry_out(
    calls: Sequence[Call], workers: int = 1, *, seconds: float = math.inf, memory: float = 0.0
) -> Iterator[tuple[int, Any]]:
    """Carry out calls in other processes; one of these is kept for the next calls.

    Parameters
    ----------
    workers : the number of processes.
    seconds : for each call, at most.
    memory : bytes for each process, at most; 0 for 80% of the available memory for all processes together.

    Yields
    ------
    The position and the result of each call, in order of completion. An error in a call is raised here. A
    process that crashes or exceeds a limit raises `WorkerEndedError`. In any case no process goes on.

    Examples
    --------
    >>> dict(carry_out([(abs, (-3,)), (divmod, (7, 2))]))
    {0: 3, 1: (3, 1)}
    """
    waiting = deque(enumerate(calls))
    busy: dict[Any, _Running] = {}
    free: list[_Worker] = []
    share = _SHARE * available_memory()
    try:
        while waiting or busy:
            while waiting and len(busy) < workers:
                position, call = waiting.popleft()
                worker = free.pop() if free else _idle_worker()
                busy[worker.connection] = _Running(worker, position, time.monotonic())
                worker.begin(call)
            for connection in wait(list(busy), _INTERVAL):
                one = busy[connection]
                result = one.worker.result(one.position)
                free.append(busy.pop(connection).worker)
                yield one.position, result
            _enforce(busy.values(), seconds, memory, share)
    finally:
        while free and not _idle and free[-1].memory < _IDLE:
            _idle.append(free.pop())
        _end([*free, *(one.worker for one in busy.values())])


def _enforce(busy: Iterable[_Running], seconds: float, memory: float, share: float) -> None:
    """End a process beyond a limit."""
    used = {one.position: one.worker.memory for one in busy}
    for one in busy:
        largest = used[one.position] == max(used.values())
        if used[one.position] > memory if memory else largest and sum(used.values()) > share:
            one.worker.kill()  # it would go on to use memory
            raise WorkerEndedError("memory", one.position)
        if time.monotonic() - one.begun > seconds:
            raise WorkerEndedError("time", one.position)


def _idle_worker() -> _Worker:
    while _idle:
        worker = _idle.pop()
        if worker.is_alive:
            return worker
        worker.close()
    return _Worker()


def _end(workers: Sequence[_Worker]) -> None:
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.close()


@atexit.register
def _end_idle() -> None:
    for worker in _idle:
        worker.kill()
    _end(_idle)
    _idle.clear()


def serve(handle: int) -> None:
    """Carry out calls until the parent closes the connection or ends."""
    global _is_worker
    _is_worker = True
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    # The parent never writes to the input. When it ends, the system ends this process, even inside a library.
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    with contextlib.suppress(OSError):
        fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
    connection = Connection(handle)
    while True:
        try:
            request = connection.recv_bytes()
        except (EOFError, OSError):
            return
        connection.send_bytes(_answer(request))


def _answer(request: bytes) -> bytes:
    try:
        function, arguments = pickle.loads(request)  # noqa: S301
        return pickle.dumps((True, function(*arguments)))
    except Exception as error:
        answer = pickle.dumps((False, error))
        try:
            pickle.loads(answer)  # noqa: S301
        except Exception:
            return pickle.dumps((False, RuntimeError(repr(error))))
        return answer
