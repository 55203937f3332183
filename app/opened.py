"""Runs that are open: what pages need of them, read once and kept as long as the run does not change."""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from app.listing import Listed, runs_in
from distill.errors import InputError
from distill.jobs import Distilled, Run, Store
from distill.logic import Evaluator, Node, Number
from distill.planning import DataSet
from distill.structures import Structures, Vocabulary

STORE = "DISTILL_STORE"
DEMO = Path(__file__).parent / "demo"
_KEPT = 8  # splits whose states are kept in memory


def store() -> Store:
    """The runs that the workbench was started with."""
    return Store(Path(os.environ.get(STORE, "artifacts/runs")))


def listed() -> list[Listed]:
    """All runs: the user's, newest first, then the one that comes along."""
    mine = runs_in(store().folder)
    names = {run.name for run in mine}
    return [*mine, *(run for run in runs_in(DEMO) if run.name not in names)]


def run_names() -> list[str]:
    """The names of all runs, in the order of `listed`."""
    return [run.name for run in listed()]


def folder_of(name: str) -> Path:
    """Where a run of a name is; only runs that are listed are ever opened."""
    for run in listed():
        if run.name == name:
            return run.folder
    raise InputError(f"There is no run {name} any more; choose another one on the page Runs.")


@dataclass(frozen=True)
class Opened:
    """A run that is open.

    Attributes
    ----------
    folder : where it is.
    stamp : when it was written; a run that was made again is read again.
    """

    folder: Path
    stamp: int

    @staticmethod
    def of(name: str) -> "Opened":
        """Open a run by its name."""
        folder = folder_of(name)
        try:
            return Opened(folder, (folder / "inputs.json").stat().st_mtime_ns)
        except OSError as error:
            raise InputError(f"The run {name} is incomplete ({error.strerror}); make it again.") from error

    @property
    def name(self) -> str:
        """The name of the run."""
        return self.folder.name

    @cached_property
    def run(self) -> Run:
        """The run."""
        return _run(str(self.folder), self.stamp)

    @property
    def distilled(self) -> Distilled:
        """Its value function and features."""
        return self.run.distilled

    @property
    def vocabulary(self) -> Vocabulary:
        """Its predicates, with plain goals."""
        return self.run.vocabulary

    @property
    def splits(self) -> list[str]:
        """The names of its splits."""
        return self.run.splits

    def states(self, split: str) -> DataSet:
        """All labelled states of a split."""
        return _states(str(self.folder), self.stamp, split)

    def structures(self, split: str) -> Structures:
        """The states of a split as structures, with goals as the value function sees them."""
        return _structures(str(self.folder), self.stamp, split)

    def table(self) -> pd.DataFrame:
        """For each state: split, instance, state, v_star, network (if there is one), value, error."""
        return _table(str(self.folder), self.stamp)

    def values(self, feature: Number, split: str) -> NDArray[np.int64]:
        """(n_states,) the number that each state of a split has."""
        found: NDArray[np.int64] = _values(str(self.folder), self.stamp, split, feature.order[2], feature)
        return found

    def holds(self, formula: Node, split: str) -> NDArray[np.bool_]:
        """(n_objects,) of which objects, or (n_states,) of which states of a split a formula holds."""
        found: NDArray[np.bool_] = _values(str(self.folder), self.stamp, split, formula.order[2], formula)
        return found


def opened() -> Opened:
    """The run that is selected; the first one if none is."""
    from app.selection import select, selected

    names = run_names()
    if not names:
        raise InputError("There are no runs; make one with `distill run configs/runs/gripper.yaml`.")
    name = selected("run") or names[0]
    found = Opened.of(name)
    select(run=name)
    return found


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _run(folder: str, stamp: int) -> Run:
    return Run.load(Path(folder))


@st.cache_resource(max_entries=_KEPT, show_spinner="Reading states")
def _states(folder: str, stamp: int, split: str) -> DataSet:
    return _run(folder, stamp).states(split)


@st.cache_resource(max_entries=_KEPT, show_spinner="Reading states")
def _structures(folder: str, stamp: int, split: str) -> Structures:
    marking = _run(folder, stamp).distilled.goal_marking
    return _states(folder, stamp, split).structures(goal_marking=marking)


@st.cache_resource(max_entries=_KEPT, show_spinner="Reading predictions")
def _table(folder: str, stamp: int) -> pd.DataFrame:
    table = _run(folder, stamp).predictions()
    known = table["v_star"] >= 0
    return table.assign(error=(table["value"] - table["v_star"]).abs().where(known))


@st.cache_resource(max_entries=400, show_spinner=False)
def _values(folder: str, stamp: int, split: str, key: bytes, _formula: Node) -> Any:
    """What a formula says; its key stands for it, as a text would be long and nodes have no hash here."""
    evaluator = Evaluator(_structures(folder, stamp, split))
    return evaluator.number(_formula) if isinstance(_formula, Number) else evaluator.holds(_formula)  # type: ignore[arg-type]
