"""Commands as a user runs them."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
import unittest.mock
from pathlib import Path

PATIENCE = 300
"""Seconds after which a test that waits fails: far more than anything takes on a busy machine."""


def until(true) -> None:
    """Wait for a condition; all waiting in tests is done here."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def children(number: int) -> list[int]:
    """The living child processes of a process."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == number and fields[0] != "Z":
            found.append(int(status.parent.name))
    return found


DISTILL = [sys.executable, "-c", "from distill.cli import main; main()"]


def distill(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a user does; in this process, which has its libraries, unless it needs another."""
    if not environment:
        return _here(list(map(str, arguments)))
    return subprocess.run(
        [*DISTILL, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "100", **environment},
    )


def _here(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    from distill.cli.main import main

    out, told = io.StringIO(), io.StringIO()
    code: object = 0
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    with (
        unittest.mock.patch.object(sys, "argv", ["distill", *arguments]),
        unittest.mock.patch.object(sys, "stdin", io.StringIO()),
        unittest.mock.patch.dict(os.environ, {"COLUMNS": "100"}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(told),
    ):
        try:
            main()
        except SystemExit as done:
            code = done.code
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
    return subprocess.CompletedProcess(arguments, int(code or 0), out.getvalue(), told.getvalue())


def answer(*arguments: object):
    done = distill(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
