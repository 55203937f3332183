"""Hostile input in bulk: each module makes cases from a seed and checks each of them.

A module has two functions. `cases(number, seed)` yields that many cases. `failure(case, folder)` runs one in
an empty folder and returns a sentence about what went wrong, or None. The tests run a fixed number of cases,
and `benchmarks/hostile.py` runs as many as one asks for.
"""

from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any


@dataclass(frozen=True)
class Case:
    """One hostile input: a name that tells it apart, and whatever its module needs to run it."""

    name: str
    data: Any


def refused(done: CompletedProcess[str], codes: tuple[int, ...] = (1, 2)) -> str | None:
    """What is wrong with a refusal, which needs a sentence and an exit code; None if nothing is.

    Examples
    --------
    >>> refused(CompletedProcess([], 2, "", "Error: there is no such run."))
    >>> refused(CompletedProcess([], 0, "", ""))
    'the exit code is 0'
    """
    if done.returncode not in codes:
        return f"the exit code is {done.returncode}"
    if "Traceback" in done.stderr + done.stdout:
        return "it printed a traceback"
    if not done.stderr.strip() and not done.stdout.strip():
        return "it said nothing"
    return None


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of every file below a folder, to tell whether something changed."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
