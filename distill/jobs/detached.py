"""Detached jobs: commands of `distill` that outlive the process that starts them.

`launch` starts a `DetachedJob`; `detached_jobs` lists those of a folder of runs, also from another process. A
few run at the same time, the others wait (`distill.common.watcher`).
"""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distill.common import (
    CANCEL,
    COMMAND,
    EXIT,
    KILLED_MESSAGE,
    LOG,
    OUTPUT,
    REQUEST,
    WATCHER,
    InputError,
    Process,
    is_open,
    read_dataclass,
    read_json,
    write_json,
)
from distill.runs import JOBS, Status

LAUNCHED = ".launched"
WAITING, RUNNING, DONE, FAILED, CANCELLED = "waiting", "running", "done", "failed", "cancelled"
_MOST = 20  # commands that may wait or run
_DISTILL = [sys.executable, "-c", "from distill.cli import main; main()"]
_LONGEST = 4_000  # characters of an error
_START = 15.0  # seconds until a new process has written its number


@dataclass(frozen=True)
class _Request:
    """The content of the file of a request."""

    name: str
    arguments: tuple[str, ...]
    asked: float


@dataclass(frozen=True)
class _Ending:
    """The content of the file about the end of a job."""

    code: int
    cancelled: bool = False
    when: float = 0.0
    error: str = ""


@dataclass(frozen=True)
class JobState:
    """The progress of a detached job.

    Attributes
    ----------
    state : `waiting`, `running`, `done`, `failed` or `cancelled`.
    stage, done, total : the current stage and its steps, if the job reports them (see `Status`).
    seconds : since it began, or its duration; while it waits, since it was requested.
    error : the cause of its failure, in a sentence.
    """

    state: str
    stage: str = ""
    done: int = 0
    total: int = 0
    seconds: float = 0.0
    error: str = ""

    @property
    def is_over(self) -> bool:
        """Whether the job has ended."""
        return self.state in (DONE, FAILED, CANCELLED)


@dataclass(frozen=True)
class DetachedJob:
    """A command that runs in a process of its own.

    Attributes
    ----------
    folder : the folder of its files.
    name : a name for display.
    arguments : of `distill`.
    request_time : when it was requested, in seconds since 1970.
    """

    folder: Path
    name: str
    arguments: tuple[str, ...]
    request_time: float

    @property
    def key(self) -> str:
        """A unique name."""
        return self.folder.name

    @property
    def store(self) -> Path:
        """The folder of runs that it belongs to."""
        return self.folder.parents[1]

    def state(self) -> JobState:
        """The current state."""
        now = time.time()
        ended = self._ended()
        begun = _changed(self.folder / COMMAND)
        if ended is not None:
            spent = max(0.0, ended.when - (begun or self.request_time))
            if ended.cancelled:
                return JobState(CANCELLED, seconds=spent)
            if ended.code == 0:
                return JobState(DONE, seconds=spent)
            return JobState(FAILED, seconds=spent, error=self._error(ended))
        if not is_open(self.folder) and (
            (self.folder / WATCHER).exists() or now - self.request_time > _START or begun is not None
        ):
            if (self.folder / EXIT).exists():  # it ended meanwhile
                return self.state()
            if (self.folder / CANCEL).exists():
                return JobState(CANCELLED)
            return JobState(FAILED, error=KILLED_MESSAGE)
        if begun is None:
            return JobState(WAITING, seconds=max(0.0, now - self.request_time))
        status = self._status() or Status(RUNNING)
        return JobState(RUNNING, status.stage, status.done, status.total, max(0.0, now - begun))

    def cancel(self) -> None:
        """Request its end; finished stages stay in the cache.

        A signal is sent only to a process that is still the one that was started.
        """
        if self.state().is_over:
            return
        try:
            (self.folder / CANCEL).touch()
        except OSError as error:
            raise InputError(f"Cannot cancel {self.name}: {error.strerror or error}.") from error
        watcher, command = Process.read(self.folder / WATCHER), Process.read(self.folder / COMMAND)
        if watcher is not None and watcher.is_alive:
            return  # the watcher reads the file
        if command is not None and command.is_alive:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(command.number, signal.SIGTERM)

    def restart(self) -> "DetachedJob":
        """Start the same command again."""
        return launch(*self.arguments, store=self.store, name=self.name)

    def forget(self) -> None:
        """Remove it from the list if it has ended; runs stay."""
        if self.state().is_over:
            shutil.rmtree(self.folder, ignore_errors=True)

    def result(self) -> Mapping[str, Any]:
        """Its JSON output; empty without one."""
        return read_json(self.folder / OUTPUT)

    def log(self) -> str:
        """The end of its log."""
        try:
            return (self.folder / LOG).read_bytes()[-20_000:].decode(errors="replace")
        except OSError:
            return ""

    def _status(self) -> Status | None:
        """The status that its process reports."""
        process = Process.read(self.folder / COMMAND)
        for file in (self.store / JOBS).glob("*.json") if process else ():
            status = Status.read(file)
            if status is not None and process is not None and status.process == process.number:
                return status
        return None

    def _ended(self) -> "_Ending | None":
        """How it ended; None if it has not. A damaged file is the end of a failed job."""
        file = self.folder / EXIT
        if not file.exists():
            return None
        try:
            return read_dataclass(_Ending, file)
        except InputError as error:
            return _Ending(code=1, error=str(error))

    def _error(self, ended: "_Ending") -> str:
        """The cause of its failure: its error message, or the last line of its log."""
        if ended.error:
            return f"It did not run to its end: {ended.error}"
        log = self.log().strip()
        _, found, sentence = log.rpartition("Error: ")
        code = ended.code
        if found and code > 0:
            return " ".join(sentence.split())[:_LONGEST]
        if code < 0:
            return KILLED_MESSAGE
        return log.splitlines()[-1][:_LONGEST] if log else f"It ended with code {code} and without output."


def launch(*arguments: str, store: Path, name: str) -> DetachedJob:
    """Start a command of `distill` that continues when this process ends.

    Parameters
    ----------
    arguments : of `distill`; with `--json`, `DetachedJob.result` gives its output.
    store : the folder of runs that it belongs to.
    name : a name for display.
    """
    if sum(not one.state().is_over for one in detached_jobs(store)) >= _MOST:
        raise InputError(f"{_MOST} jobs wait or run already; cancel one, or wait until some are done.")
    now = time.time()
    folder = store.resolve() / LAUNCHED / f"{int(now * 1e6):017d}-{secrets.token_hex(3)}"
    command = [*_DISTILL, *arguments]
    request = {"name": name, "arguments": list(arguments), "command": command, "asked": now}
    write_json(folder / REQUEST, request)
    try:
        watcher = subprocess.Popen(  # noqa: S603  (a list of arguments; no shell reads it)
            [sys.executable, "-m", "distill.common.watcher", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": _search_path()},
        )
    except OSError as error:
        raise InputError(f"No process can be started here: {error.strerror or error}.") from error
    (Process.of(watcher.pid) or Process(watcher.pid, "ended at once")).write(folder / WATCHER)
    # A child that nobody waits for stays a zombie as long as this process lives.
    threading.Thread(target=watcher.wait, daemon=True).start()
    return DetachedJob(folder, name, arguments, now)


def detached_jobs(store: Path) -> list[DetachedJob]:
    """The detached jobs of a folder of runs, newest first."""
    found = []
    for file in (store.resolve() / LAUNCHED).glob(f"*/{REQUEST}"):
        try:
            row = read_dataclass(_Request, file)
        except InputError:
            continue
        found.append(DetachedJob(file.parent, row.name, row.arguments, row.asked))
    return sorted(found, key=lambda one: one.key, reverse=True)


def _search_path() -> str:
    """The search path with this package first."""
    home = str(Path(__file__).parents[2])
    return os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")]))


def _changed(file: Path) -> float | None:
    try:
        return file.stat().st_mtime
    except OSError:
        return None
