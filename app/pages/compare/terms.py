"""Equivalent terms of several runs: equal values on the same states."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import streamlit as st

from app.session.run_session import RunSession
from distill.evaluation import sample_evenly
from distill.explanations import SharedTerm, denotations, features_of, shared_terms
from distill.logic import Evaluator, Number
from distill.structures import Structures

_STATES = 20_000  # states on which terms are compared
_OBJECTS = 400_000


@dataclass(frozen=True, eq=False)
class TermComparison:
    """The terms of several runs.

    Attributes
    ----------
    terms : sorted by the number of runs, then by size.
    states : the number of training states of the first run that were evaluated.
    apart : names of the runs with other predicates; their formulas are compared by their text.
    """

    terms: tuple[SharedTerm, ...]
    states: int
    apart: tuple[str, ...]


def common_terms(runs: Sequence[RunSession]) -> TermComparison:
    """Compare the terms of several runs."""
    first = runs[0]
    same = [run.vocabulary == first.vocabulary for run in runs]
    states, keys = 0, []
    for run, alike in zip(runs, same, strict=True):
        own: dict[Number, str] = {}
        if alike:
            states, own = _denotations(str(first.folder), first.stamp, str(run.folder), run.stamp)
        keys.append(own)
    terms = shared_terms([run.value_function.value for run in runs], keys)
    apart = tuple(run.name for run, alike in zip(runs, same, strict=True) if not alike)
    return TermComparison(terms, states, apart)


@st.cache_resource(max_entries=200, show_spinner="Evaluating the terms")
def _denotations(first: str, first_stamp: int, other: str, stamp: int) -> tuple[int, dict[Number, str]]:
    """The number of evaluated states, and a key of the values of each term of a run."""
    run = RunSession(Path(other), stamp)
    states = _sample(RunSession(Path(first), first_stamp), run.value_function.goal_marking)
    return len(states), denotations(features_of(run.value_function.value), [Evaluator(states)])


def _sample(run: RunSession, goal_marking: bool) -> Structures:
    """Training states of a run, spread over the split."""
    split = "train" if "train" in run.splits else run.splits[0]
    states = run.structures(split)
    numbers = sample_evenly(states, _STATES, _OBJECTS)
    if goal_marking == run.value_function.goal_marking:
        return states[numbers]
    return run.states(split).structures(numbers, goal_marking=goal_marking)


def terms_table(common: TermComparison, names: Sequence[str], texts: Sequence[str]) -> pd.DataFrame:
    """One row for each term: its number of runs, its formula, and its weight in each run.

    Parameters
    ----------
    texts : the displayed formulas.
    """
    return pd.DataFrame(
        {
            "runs": [one.n_functions for one in common.terms],
            "formula": list(texts),
            "size": [one.formula.size for one in common.terms],
            **{
                name: pd.array([one.weights[place] for one in common.terms], dtype="Float64")
                for place, name in enumerate(names)
            },
        }
    )
