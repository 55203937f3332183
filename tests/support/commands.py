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
    """Run a command as a user does, but in this process, which has its libraries."""
    from distill.cli.main import main

    given = list(map(str, arguments))
    out, errors = io.StringIO(), io.StringIO()
    code: object = 0
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    with (
        unittest.mock.patch.object(sys, "argv", ["distill", *given]),
        unittest.mock.patch.object(sys, "stdin", io.StringIO()),
        unittest.mock.patch.dict(os.environ, {"COLUMNS": "100", **environment}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(errors),
    ):
        try:
            main()
        except SystemExit as done:
            code = done.code
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
    return subprocess.CompletedProcess(given, int(str(code or 0)), out.getvalue(), errors.getvalue())


def answer(*arguments: object):
    done = distill(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
