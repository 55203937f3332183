"""Commands of `distill` that run on their own: they outlive who started them, and can be found and cancelled.

`launch` starts one and gives a `Launched`; `launched` finds those that were started before, by anybody who
uses the same folder of runs. A few run at a time and the others wait (`distill.watch`).
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

from distill.errors import InputError
from distill.jobs.job import JOBS, Status
from distill.watch import (
    ASKED,
    CANCEL,
    COMMAND,
    ENDED,
    ENDED_SILENTLY,
    LOG,
    OUTPUT,
    WATCHER,
    Process,
    is_open,
    read_json,
    write_json,
)

LAUNCHED = ".launched"
WAITING, RUNNING, DONE, FAILED, CANCELLED = "waiting", "running", "done", "failed", "cancelled"
_MOST = 20  # commands that may wait or run
_DISTILL = [sys.executable, "-c", "from distill.cli import main; main()"]
_LONGEST = 4_000  # characters of an error
_START = 15.0  # seconds until somebody who was started has said who he is


@dataclass(frozen=True)
class State:
    """How far a command is.

    Attributes
    ----------
    state : `waiting`, `running`, `done`, `failed` or `cancelled`.
    stage, done, total : what is done at the moment, and steps of it, if it tells (see `Status`).
    seconds : since it began, or how long it took; while it waits, since it was asked for.
    error : why it failed, in a sentence.
    """

    state: str
    stage: str = ""
    done: int = 0
    total: int = 0
    seconds: float = 0.0
    error: str = ""

    @property
    def is_over(self) -> bool:
        """Whether nothing will happen any more."""
        return self.state in (DONE, FAILED, CANCELLED)


@dataclass(frozen=True)
class Launched:
    """A command that was started.

    Attributes
    ----------
    folder : where it tells what it does.
    name : for people.
    arguments : of `distill`.
    asked : when it was started, in seconds since 1970.
    """

    folder: Path
    name: str
    arguments: tuple[str, ...]
    asked: float

    @property
    def key(self) -> str:
        """A name that no other command has."""
        return self.folder.name

    @property
    def store(self) -> Path:
        """The folder of runs that it belongs to."""
        return self.folder.parents[1]

    def state(self) -> State:
        """How far it is."""
        now = time.time()
        ended = read_json(self.folder / ENDED)
        begun = _changed(self.folder / COMMAND)
        if ended:
            spent = max(0.0, float(ended.get("when", now)) - (begun or self.asked))
            if ended.get("cancelled"):
                return State(CANCELLED, seconds=spent)
            if ended.get("code") == 0:
                return State(DONE, seconds=spent)
            return State(FAILED, seconds=spent, error=self._error(ended))
        if not is_open(self.folder) and (
            (self.folder / WATCHER).exists() or now - self.asked > _START or begun is not None
        ):
            if (self.folder / ENDED).exists():  # it ended between two looks
                return self.state()
            if (self.folder / CANCEL).exists():
                return State(CANCELLED)
            return State(FAILED, error=ENDED_SILENTLY)
        if begun is None:
            return State(WAITING, seconds=max(0.0, now - self.asked))
        told = self._told() or Status(RUNNING)
        spent = max(0.0, now - begun)
        return State(RUNNING, told.stage, told.done, told.total, spent)

    def cancel(self) -> None:
        """Ask it to stop; what is done already is kept for the next time.

        Signals go only to a process that was started here and still is that process.
        """
        if self.state().is_over:
            return
        try:
            (self.folder / CANCEL).touch()
        except OSError as error:
            raise InputError(f"Cannot cancel {self.name}: {error.strerror or error}.") from error
        watcher, command = Process.read(self.folder / WATCHER), Process.read(self.folder / COMMAND)
        if watcher is not None and watcher.is_alive:
            return  # it sees the file
        if command is not None and command.is_alive:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(command.number, signal.SIGTERM)

    def again(self) -> "Launched":
        """Start the same command once more."""
        return launch(*self.arguments, store=self.store, name=self.name)

    def forget(self) -> None:
        """Take one that is over from the list; runs stay."""
        if self.state().is_over:
            shutil.rmtree(self.folder, ignore_errors=True)

    def result(self) -> Mapping[str, Any]:
        """What it printed as JSON; nothing if it printed none."""
        return read_json(self.folder / OUTPUT)

    def log(self) -> str:
        """What it said on the way, the end of it."""
        try:
            return (self.folder / LOG).read_bytes()[-20_000:].decode(errors="replace")
        except OSError:
            return ""

    def _told(self) -> Status | None:
        """What its job says of itself."""
        process = Process.read(self.folder / COMMAND)
        for file in (self.store / JOBS).glob("*.json") if process else ():
            status = Status.read(file)
            if status is not None and process is not None and status.process == process.number:
                return status
        return None

    def _error(self, ended: Mapping[str, Any]) -> str:
        """Why it failed: its own sentence, or the last that it said."""
        if told := ended.get("error"):
            return f"It could not be started: {told}"
        log = self.log().strip()
        _, found, sentence = log.rpartition("Error: ")
        code = int(ended.get("code") or 0)
        if found and code > 0:
            return " ".join(sentence.split())[:_LONGEST]
        if code < 0:
            return ENDED_SILENTLY
        return log.splitlines()[-1][:_LONGEST] if log else f"It ended with code {code} and said nothing."


def launch(*arguments: str, store: Path, name: str) -> Launched:
    """Start a command of `distill` that goes on when this process ends.

    Parameters
    ----------
    arguments : of `distill`; with `--json` its answer can be read from `Launched.result`.
    store : the folder of runs that it belongs to; what it does is written down there.
    name : for people.
    """
    if sum(not one.state().is_over for one in launched(store)) >= _MOST:
        raise InputError(f"{_MOST} jobs wait or run already; cancel one, or wait until some are done.")
    asked = time.time()
    folder = store.resolve() / LAUNCHED / f"{int(asked * 1e6):017d}-{secrets.token_hex(3)}"
    write_json(
        folder / ASKED,
        {
            "name": name,
            "arguments": list(arguments),
            "command": [*_DISTILL, *arguments],
            "asked": asked,
        },
    )
    try:
        watcher = subprocess.Popen(  # noqa: S603  (a list of arguments; no shell reads it)
            [sys.executable, "-m", "distill.watch", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": _search_path()},
        )
    except OSError as error:
        raise InputError(f"No process can be started here: {error.strerror or error}.") from error
    (Process.of(watcher.pid) or Process(watcher.pid, "ended at once")).write(folder / WATCHER)
    # Who ends is to be waited for, or stays in the system's list as long as this process lives.
    threading.Thread(target=watcher.wait, daemon=True).start()
    return Launched(folder, name, arguments, asked)


def launched(store: Path) -> list[Launched]:
    """All commands that were started and not forgotten, newest first."""
    found = []
    for file in (store.resolve() / LAUNCHED).glob(f"*/{ASKED}"):
        told = read_json(file)
        try:
            arguments = tuple(map(str, told["arguments"]))
            found.append(Launched(file.parent, str(told["name"]), arguments, float(told["asked"])))
        except (KeyError, TypeError, ValueError):
            continue
    return sorted(found, key=lambda one: one.key, reverse=True)


def _search_path() -> str:
    """Where the command finds this very package."""
    home = str(Path(__file__).parents[2])
    return os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")]))


def _changed(file: Path) -> float | None:
    try:
        return file.stat().st_mtime
    except OSError:
        return None
