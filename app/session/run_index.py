"""The runs that the workbench lists: those of the store, and the demonstration run."""

import os
from pathlib import Path

from distill.common import InputError
from distill.runs import RunSummary, Store

STORE = "DISTILL_STORE"
DEMO = Path(__file__).parents[1] / "demo"


def store() -> Store:
    """The folder of runs that the workbench was started with."""
    return Store(Path(os.environ.get(STORE, "artifacts/runs")))


def all_runs() -> list[RunSummary]:
    """All runs: those of the store, newest first, then the demonstration run."""
    mine = store().summaries()[0]
    names = {run.name for run in mine}
    return [*mine, *(run for run in Store(DEMO).summaries()[0] if run.name not in names)]


def run_names() -> list[str]:
    """The names of all runs, in the order of `all_runs`."""
    return [run.name for run in all_runs()]


def folder_of(name: str) -> Path:
    """The folder of a run; only runs in the index are ever opened."""
    for run in all_runs():
        if run.name == name:
            return run.folder
    raise InputError(f"There is no run {name}; choose another one on the page Runs.")
