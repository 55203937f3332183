"""Terms of several runs that mean the same: equal numbers on the same states."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from app.opened import Opened
from distill.jobs.neighbours import spread
from distill.logic import Constant, Evaluator, Number, weighted
from distill.structures import Structures

_STATES = 20_000  # states on which terms are held against each other
_OBJECTS = 400_000


@dataclass(frozen=True, eq=False)
class Shared:
    """Terms of runs that have equal numbers.

    Attributes
    ----------
    formula : the shortest of them.
    weights : for each run; None where it has no such term.
    """

    formula: Number
    weights: tuple[float | None, ...]

    @property
    def runs(self) -> int:
        """How many runs have it."""
        return sum(weight is not None for weight in self.weights)


@dataclass(frozen=True, eq=False)
class Common:
    """The terms of several runs, and on what they were held against each other.

    Attributes
    ----------
    terms : those of most runs first, then short ones.
    states : how many training states of the first run were looked at.
    apart : names of the runs with other predicates; their formulas are compared by themselves.
    """

    terms: tuple[Shared, ...]
    states: int
    apart: tuple[str, ...]


def common_terms(runs: Sequence[Opened]) -> Common:
    """Put the terms of runs side by side."""
    first = runs[0]
    same = [run.vocabulary == first.vocabulary for run in runs]
    found: dict[object, tuple[Number, list[float | None]]] = {}
    states = 0
    for place, run in enumerate(runs):
        keys: dict[Number, str] = {}
        if same[place]:
            states, keys = _denotations(str(first.folder), first.stamp, str(run.folder), run.stamp)
        for weight, number in weighted(run.distilled.value):
            if isinstance(number, Constant):
                continue
            key: object = keys.get(number, number)
            shortest, weights = found.get(key, (number, [None] * len(runs)))
            weights[place] = (weights[place] or 0) + weight
            found[key] = (min(shortest, number, key=lambda one: one.order), weights)
    terms = [Shared(formula, tuple(weights)) for formula, weights in found.values()]
    terms.sort(key=lambda one: (-one.runs, one.formula.order))
    apart = tuple(run.name for run, alike in zip(runs, same, strict=True) if not alike)
    return Common(tuple(terms), states, apart)


@st.cache_resource(max_entries=200, show_spinner="Evaluating the terms")
def _denotations(first: str, first_stamp: int, other: str, stamp: int) -> tuple[int, dict[Number, str]]:
    """How many states were looked at, and a key of the numbers that each term of a run has on them."""
    run = Opened(Path(other), stamp)
    numbers = [number for _, number in weighted(run.distilled.value) if not isinstance(number, Constant)]
    states = _sample(Opened(Path(first), first_stamp), run.distilled.goal_marking)
    evaluator = Evaluator(states)
    return len(states), {
        number: hashlib.sha256(np.asarray(evaluator.number(number), dtype=np.float64).tobytes()).hexdigest()
        for number in numbers
    }


def _sample(run: Opened, goal_marking: bool) -> Structures:
    """Training states of a run, from all over the split."""
    split = "train" if "train" in run.splits else run.splits[0]
    states = run.structures(split)
    numbers = spread(states, _STATES, _OBJECTS)
    if goal_marking == run.distilled.goal_marking:
        return states[numbers]
    return run.states(split).structures(numbers, goal_marking=goal_marking)


def terms_table(common: Common, names: Sequence[str], texts: Sequence[str]) -> pd.DataFrame:
    """One row for each term: in how many runs it is, its formula, and its weight in each run.

    Parameters
    ----------
    texts : the formulas as they are shown.
    """
    return pd.DataFrame(
        {
            "runs": [one.runs for one in common.terms],
            "formula": list(texts),
            "size": [one.formula.size for one in common.terms],
            **{
                name: pd.array([one.weights[place] for one in common.terms], dtype="Float64")
                for place, name in enumerate(names)
            },
        }
    )
