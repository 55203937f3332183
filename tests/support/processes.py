"""Processes as the system lists them."""

import subprocess


def children(process: int) -> set[int]:
    """The children of a process."""
    rows = [line.split(None, 2) for line in _ps("-A", "-o", "pid=,ppid=,comm=").splitlines()]
    return {int(child) for child, parent, name in rows if int(parent) == process and name != "ps"}


def is_alive(process: int) -> bool:
    """Whether a process runs."""
    return _ps("-o", "stat=", "-p", str(process)).strip()[:1] not in ("", "Z")


def seconds_used(process: int) -> int:
    """Seconds of processor time."""
    parts = [int(float(part)) for part in _ps("-o", "time=", "-p", str(process)).strip().split(":") if part]
    hours, minutes, seconds = [0, 0, 0, *parts][-3:]
    return 3600 * hours + 60 * minutes + seconds


def _ps(*arguments: str) -> str:
    return subprocess.run(["ps", *arguments], capture_output=True, text=True, check=False).stdout  # noqa: S607
