"""A watcher: a process that waits for its turn, runs one command, and records how the command ended.

The watcher outlives the process that started it. The file `cancel` stops it, so that no signal has to be sent
to a process number that may be in use again. This module imports no large package, because it stays in memory
with its command.

The folder of a command contains `asked.json` (the command), `watcher.json` and `command.json` (processes),
`output.txt` and `log.txt` (standard output and error), `cancel` (a request to stop) and `ended.json` (exit).
"""

import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType

from distill.common.errors import InputError
from distill.common.files import file_lock, read_json, write_json
from distill.common.records import read_dataclass

REQUEST, WATCHER, COMMAND, EXIT = "asked.json", "watcher.json", "command.json", "ended.json"
OUTPUT, LOG, CANCEL = "output.txt", "log.txt", "cancel"
MAX_COMMANDS = 2
"""Number of commands of one folder that run at the same time; the others wait."""
KILLED_MESSAGE = "It was ended from outside, perhaps for lack of memory; start it again."
_INTERVAL = 0.2  # seconds between two checks
_GRACE = 5.0  # seconds between the request to end and the kill


@dataclass(frozen=True)
class Process:
    """A process, identified so that it differs from a later one with the same number.

    Attributes
    ----------
    number : the process id, which the system uses again after the end of the process.
    started : the start time that the system reports.
    """

    number: int
    started: str

    @staticmethod
    def of(number: int) -> "Process | None":
        """The process that has a number now; None if there is none, or only a zombie.

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
                # The name in brackets is arbitrary text; the other fields follow the last bracket.
                fields = status.read_text().rpartition(")")[2].split()
                boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
            except (OSError, IndexError):
                return None
            return None if fields[0] in "ZX" else Process(number, f"{boot} {fields[19]}")
        command = ["ps", "-o", "stat=,lstart=", "-p", str(int(number))]
        fields = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split(None, 1)  # noqa: S603
        return None if len(fields) < 2 or fields[0].startswith("Z") else Process(number, fields[1].strip())

    @property
    def is_alive(self) -> bool:
        """Whether this process still runs."""
        return Process.of(self.number) == self

    def write(self, file: Path) -> None:
        """Write the process to a file."""
        write_json(file, asdict(self))

    @staticmethod
    def read(file: Path) -> "Process | None":
        """The process in a file; None if there is none."""
        try:
            return read_dataclass(Process, file)
        except InputError:
            return None


def is_open(folder: Path) -> bool:
    """Whether the watcher or the command of a folder runs."""
    if (folder / EXIT).exists():
        return False
    known = (Process.read(folder / WATCHER), Process.read(folder / COMMAND))
    return any(process is not None and process.is_alive for process in known)


def watch(folder: Path) -> int:
    """Wait for the turn of a command and run it until it ends or is cancelled; returns its exit code."""
    code, cancelled = _run(folder)
    write_json(folder / EXIT, {"code": code, "cancelled": cancelled, "when": time.time()})
    return code


def _run(folder: Path) -> tuple[int, bool]:
    """The exit code, and whether the command was cancelled."""
    request, cancel = read_json(folder / REQUEST), folder / CANCEL
    while True:
        if _signals or cancel.exists():
            return -signal.SIGTERM, cancel.exists()
        with file_lock(folder.parent / "turn"):
            if _has_turn(folder):
                command = _start(folder, request["command"])
                break
        time.sleep(_INTERVAL)
    code = _wait(command, cancel)
    cancelled = code != 0 and cancel.exists()
    _correct_statuses(folder.parents[1] / ".jobs", command.pid, cancelled)
    return code, cancelled


def _has_turn(folder: Path) -> bool:
    """Whether a place is free and no other command waits longer. Folder names have the order of requests."""
    others = [
        one for one in sorted(folder.parent.iterdir()) if one != folder and one.is_dir() and is_open(one)
    ]
    running = [one for one in others if (one / COMMAND).exists()]
    earlier = [one for one in others if one not in running and one.name < folder.name]
    return len(running) + len(earlier) < MAX_COMMANDS


def _start(folder: Path, command: list[str]) -> subprocess.Popen[bytes]:
    with (folder / OUTPUT).open("wb") as output, (folder / LOG).open("wb") as log:
        started = subprocess.Popen(  # noqa: S603  (a list of arguments; no shell reads it)
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=log, process_group=0
        )
    process = Process.of(started.pid) or Process(started.pid, "ended at once")
    process.write(folder / COMMAND)
    return started


def _wait(command: "subprocess.Popen[bytes]", cancel: Path) -> int:
    """The exit code at the end. A cancelled command is terminated, and killed if it does not end in time."""
    deadline = None
    while True:
        try:
            return command.wait(_INTERVAL)
        except subprocess.TimeoutExpired:
            # The exit of the command was not collected yet, so its number is still its own.
            if deadline is None and (_signals or cancel.exists()):
                deadline = time.monotonic() + _GRACE
                os.killpg(command.pid, signal.SIGTERM)
            elif deadline is not None and time.monotonic() > deadline:
                os.killpg(command.pid, signal.SIGKILL)


def _correct_statuses(jobs: Path, number: int, cancelled: bool) -> None:
    """Remove the status of a job that was cancelled; a job that ended without a message has failed."""
    for file in jobs.glob("*.json"):
        status = read_json(file)
        if (status.get("process"), status.get("host")) != (number, socket.gethostname()):
            continue
        if cancelled:
            file.unlink(missing_ok=True)
        elif status.get("state") == "running":
            write_json(file, {**status, "state": "failed", "error": KILLED_MESSAGE})


_signals: list[int] = []


def _stop(number: int, _frame: FrameType | None) -> None:
    _signals.append(number)


def main() -> None:
    """Run the command of a folder: `python -m distill.common.watcher FOLDER`."""
    signal.signal(signal.SIGTERM, _stop)
    try:
        watch(Path(sys.argv[1]))
    except (InputError, OSError, KeyError) as error:
        write_json(Path(sys.argv[1]) / EXIT, {"code": 1, "error": str(error), "when": time.time()})


if __name__ == "__main__":
    main()
