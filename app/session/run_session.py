"""The open run: its states, predictions and formula values, cached as long as the run does not change."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from app.components.escape import escape
from app.session.run_index import folder_of, run_names
from app.session.selection import select, selected
from distill.common import InputError
from distill.explanations import ValueFunction
from distill.logic import Evaluator, Node, Number
from distill.runs import Run
from distill.structures import DataSet, Structures, Vocabulary

_CACHED = 8  # splits whose states stay in memory


@dataclass(frozen=True)
class RunSession:
    """An open run.

    Attributes
    ----------
    folder : the folder of the run.
    stamp : the time of writing in nanoseconds; a run that was made again is read again.
    """

    folder: Path
    stamp: int

    @staticmethod
    def of(name: str) -> "RunSession":
        """Open a run by its name."""
        folder = folder_of(name)
        try:
            return RunSession(folder, (folder / "inputs.json").stat().st_mtime_ns)
        except OSError as error:
            raise InputError(f"The run {name} is incomplete ({error.strerror}); run it again.") from error

    @property
    def name(self) -> str:
        """The name of the run."""
        return self.folder.name

    @cached_property
    def run(self) -> Run:
        """The run."""
        return _run(str(self.folder), self.stamp)

    @property
    def value_function(self) -> ValueFunction:
        """The value function and its features."""
        return self.run.value_function

    @property
    def vocabulary(self) -> Vocabulary:
        """The predicates, with plain goals."""
        return self.run.vocabulary

    @property
    def splits(self) -> list[str]:
        """The names of the splits."""
        return self.run.splits

    def states(self, split: str) -> DataSet:
        """All labelled states of a split."""
        return _states(str(self.folder), self.stamp, split)

    def structures(self, split: str) -> Structures:
        """The states of a split as structures, with goals marked if the value function needs that."""
        return _structures(str(self.folder), self.stamp, split)

    def table(self) -> pd.DataFrame:
        """For each state: split, instance, state, v_star, network (if there is one), value, error."""
        return _table(str(self.folder), self.stamp)

    def values(self, feature: Number, split: str) -> NDArray[np.int64]:
        """(n_states,) the value of a feature in each state of a split."""
        found: NDArray[np.int64] = _values(str(self.folder), self.stamp, split, feature.order[2], feature)
        return found

    def holds(self, formula: Node, split: str) -> NDArray[np.bool_]:
        """(n_objects,) or (n_states,) whether a formula holds of each object or state of a split."""
        found: NDArray[np.bool_] = _values(str(self.folder), self.stamp, split, formula.order[2], formula)
        return found


def current_run() -> RunSession:
    """The selected run; the first run if none is selected."""
    names = run_names()
    if not names:
        raise InputError("There are no runs; create one with `distill run configs/runs/gripper.yaml`.")
    name = selected("run") or names[0]
    found = RunSession.of(name)
    select(run=name)
    if found.run.outdated:
        st.warning(escape(found.run.outdated))
    return found


@st.cache_resource(max_entries=_CACHED, show_spinner=False)
def _run(folder: str, stamp: int) -> Run:
    return Run.load(Path(folder))


@st.cache_resource(max_entries=_CACHED, show_spinner="Reading states")
def _states(folder: str, stamp: int, split: str) -> DataSet:
    return _run(folder, stamp).states(split)


@st.cache_resource(max_entries=_CACHED, show_spinner="Reading states")
def _structures(folder: str, stamp: int, split: str) -> Structures:
    marking = _run(folder, stamp).value_function.goal_marking
    return _states(folder, stamp, split).structures(goal_marking=marking)


@st.cache_resource(max_entries=_CACHED, show_spinner="Reading predictions")
def _table(folder: str, stamp: int) -> pd.DataFrame:
    table = _run(folder, stamp).predictions()
    known = table["v_star"] >= 0
    return table.assign(error=(table["value"] - table["v_star"]).abs().where(known))


@st.cache_resource(max_entries=400, show_spinner=False)
def _values(folder: str, stamp: int, split: str, key: bytes, _formula: Node) -> Any:
    """The values of a formula; Streamlit cannot hash nodes, so the key identifies it."""
    evaluator = Evaluator(_structures(folder, stamp, split))
    return evaluator.number(_formula) if isinstance(_formula, Number) else evaluator.holds(_formula)  # type: ignore[arg-type]
