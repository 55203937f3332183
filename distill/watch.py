"""A process that waits for its turn, runs one command, and writes down how that ended.

It lives on when who asked for it is gone. It is told to stop by a file, so that nobody has to send signals to
a process that may be another one by now. This module imports nothing heavy: it stays in memory beside its
command.

The folder of a command holds `asked.json` (what to run), `watcher.json` and `command.json` (who does it),
`output.txt` and `log.txt` (what it said), `cancel` (it shall stop) and `ended.json` (how it ended).
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from distill.errors import InputError
from distill.files import locked, written_whole

ASKED, WATCHER, COMMAND, ENDED = "asked.json", "watcher.json", "command.json", "ended.json"
OUTPUT, LOG, CANCEL = "output.txt", "log.txt", "cancel"
AT_ONCE = 2
"""So many commands of one folder run at the same time; the others wait."""
ENDED_SILENTLY = "It was ended from outside, perhaps for lack of memory; start it again."
_LOOK = 0.2  # seconds between two looks
_GRACE = 5.0  # seconds that a command has to end by itself


@dataclass(frozen=True)
class Process:
    """A process that cannot be taken for a later one with the same number.

    Attributes
    ----------
    number : the system's number for it, which is given again when it is gone.
    started : when it started, as the system tells it.
    """

    number: int
    started: str

    @staticmethod
    def of(number: int) -> "Process | None":
        """The process that has a number now; none if it is gone, or is dead and only not buried.

        Examples
        --------
        >>> Process.of(os.getpid()).is_alive
        True
        >>> Process(os.getpid(), "long ago").is_alive
        False
        """
        status = Path(f"/proc/{number}/stat")
        if Path("/proc/self/stat").exists():
            try:
                # The name in brackets may hold anything; numbers begin after the last bracket.
                fields = status.read_text().rpartition(")")[2].split()
                begun = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
            except (OSError, IndexError):
                return None
            return None if fields[0] in "ZX" else Process(number, f"{begun} {fields[19]}")
        asked = ["ps", "-o", "stat=,lstart=", "-p", str(int(number))]
        told = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.split(None, 1)  # noqa: S603
        return None if len(told) < 2 or told[0].startswith("Z") else Process(number, told[1].strip())

    @property
    def is_alive(self) -> bool:
        """Whether this very process still runs."""
        return Process.of(self.number) == self

    def write(self, file: Path) -> None:
        """Write down who it is."""
        write_json(file, asdict(self))

    @staticmethod
    def read(file: Path) -> "Process | None":
        """Who was written down; none if nobody was."""
        told = read_json(file)
        try:
            return Process(int(told["number"]), str(told["started"]))
        except (KeyError, TypeError, ValueError):
            return None


def read_json(file: Path) -> dict[str, Any]:
    """What a file says; nothing if it is not there or cannot be read."""
    try:
        found = json.loads(file.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write_json(file: Path, content: dict[str, Any]) -> None:
    """Write a file whole or not at all."""
    with written_whole(file) as stream:
        stream.write(json.dumps(content).encode())


def is_open(folder: Path) -> bool:
    """Whether somebody works in the folder of a command, or waits there."""
    if (folder / ENDED).exists():
        return False
    known = (Process.read(folder / WATCHER), Process.read(folder / COMMAND))
    return any(process is not None and process.is_alive for process in known)


def watch(folder: Path) -> int:
    """Wait for the turn of a command, run it to its end or until it shall stop; gives its exit code."""
    code, cancelled = _watched(folder)
    write_json(folder / ENDED, {"code": code, "cancelled": cancelled, "when": time.time()})
    return code


def _watched(folder: Path) -> tuple[int, bool]:
    asked = read_json(folder / ASKED)
    while True:
        if _stopped or (folder / CANCEL).exists():
            return -signal.SIGTERM, (folder / CANCEL).exists()
        with locked(folder.parent / "turn"):
            if _has_turn(folder):
                command = _started(folder, asked["command"])
                break
        time.sleep(_LOOK)
    code = _waited(command, folder / CANCEL)
    cancelled = code != 0 and (folder / CANCEL).exists()
    _tidy(folder.parents[1] / ".jobs", command.pid, cancelled)
    return code, cancelled


def _has_turn(folder: Path) -> bool:
    """Whether few enough run, and nobody has waited longer; names of folders are in the order of asking."""
    others = [
        one for one in sorted(folder.parent.iterdir()) if one != folder and one.is_dir() and is_open(one)
    ]
    running = [one for one in others if (one / COMMAND).exists()]
    earlier = [one for one in others if one not in running and one.name < folder.name]
    return len(running) + len(earlier) < AT_ONCE


def _started(folder: Path, command: list[str]) -> subprocess.Popen[bytes]:
    with (folder / OUTPUT).open("wb") as output, (folder / LOG).open("wb") as log:
        started = subprocess.Popen(  # noqa: S603  (a list of arguments; no shell reads it)
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=log, process_group=0
        )
    process = Process.of(started.pid) or Process(started.pid, "ended at once")
    process.write(folder / COMMAND)
    return started


def _waited(command: "subprocess.Popen[bytes]", cancel: Path) -> int:
    """Wait for the end; a command that shall stop is asked first and made to later. Gives its exit code."""
    deadline = None
    while True:
        try:
            return command.wait(_LOOK)
        except subprocess.TimeoutExpired:
            # The command was not waited for yet, so its number is still its own.
            if deadline is None and (_stopped or cancel.exists()):
                deadline = time.monotonic() + _GRACE
                os.killpg(command.pid, signal.SIGTERM)
            elif deadline is not None and time.monotonic() > deadline:
                os.killpg(command.pid, signal.SIGKILL)


def _tidy(jobs: Path, number: int, cancelled: bool) -> None:
    """What a job told last is not true any more if it was cancelled, or ended without a word."""
    for file in jobs.glob("*.json"):
        told = read_json(file)
        if (told.get("process"), told.get("host")) != (number, socket.gethostname()):
            continue
        if cancelled:
            file.unlink(missing_ok=True)
        elif told.get("state") == "running":
            write_json(file, {**told, "state": "failed", "error": ENDED_SILENTLY})


_stopped: list[int] = []


def _stop(number: int, _frame: FrameType | None) -> None:
    _stopped.append(number)


def main() -> None:
    """Watch over the command of a folder: `python -m distill.watch FOLDER`."""
    signal.signal(signal.SIGTERM, _stop)
    try:
        watch(Path(sys.argv[1]))
    except (InputError, OSError, KeyError) as error:
        write_json(Path(sys.argv[1]) / ENDED, {"code": 1, "error": str(error), "when": time.time()})


if __name__ == "__main__":
    main()
