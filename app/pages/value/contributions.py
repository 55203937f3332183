"""The effects of the terms of a value function: how often each is not 0, and what it adds to V at each V*."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from app.session.run_session import RunSession
from distill.explanations import StateFeature, ordered_terms
from distill.logic import Constant, Evaluator, Number

Array = NDArray[np.float64]
CONSTANT = "constant"
OTHERS = "all others"


@dataclass(frozen=True, eq=False)
class ValueTerm:
    """A term of a value function.

    Attributes
    ----------
    place : its rank by weight, from 1; 0 for the constant.
    weight : the factor of its value.
    number : its formula.
    feature : the feature with its provenance; None if unknown.
    """

    place: int
    weight: float
    number: Number
    feature: StateFeature | None

    @property
    def kind(self) -> str:
        """The kind of the feature."""
        if self.place == 0:
            return CONSTANT
        return self.feature.kind if self.feature else "unknown"


@dataclass(frozen=True, eq=False)
class Effects:
    """The effects of terms on the states of a split, without dead ends, which have no V*.

    Attributes
    ----------
    states : the number of states.
    v_star : (n_values,) the values of V*.
    count : (n_values,) the number of states with each V*.
    fires : (n_terms,) the share of states in which the term is not 0.
    mean : (n_terms,) its mean value, without its weight.
    by_v_star : (n_terms, n_values) its mean value at each V*.
    """

    states: int
    v_star: NDArray[np.int64]
    count: NDArray[np.int64]
    fires: Array
    mean: Array
    by_v_star: Array


def terms_of(run: RunSession) -> list[ValueTerm]:
    """The terms of a run's value function by decreasing weight, the constant last."""
    features = {feature.number: feature for feature in run.value_function.pool}
    found = []
    for place, (weight, number) in enumerate(ordered_terms(run.value_function.value), 1):
        if isinstance(number, Constant):
            found.append(ValueTerm(0, weight, number, None))
        else:
            found.append(ValueTerm(place, weight, number, features.get(number)))
    return found


def effects_of(run: RunSession, split: str) -> Effects:
    """The effects of all terms of a run on a split."""
    return _effects(str(run.folder), run.stamp, split, run)


@st.cache_resource(max_entries=32, show_spinner="Evaluating the terms")
def _effects(folder: str, stamp: int, split: str, _run: RunSession) -> Effects:
    numbers = [term.number for term in terms_of(_run)]
    return effects(numbers, Evaluator(_run.structures(split)), _run.states(split).v_star)


def effects(numbers: Sequence[Number], evaluator: Evaluator, v_star: NDArray[np.integer]) -> Effects:
    """The effects of features on states.

    Parameters
    ----------
    v_star : (n_states,) V* of the evaluator's states; negative for dead ends.
    """
    known = v_star >= 0
    values, group = np.unique(v_star[known], return_inverse=True)
    count = np.bincount(group, minlength=len(values))
    fires, mean, by_v_star = [], [], []
    for number in numbers:
        found = np.broadcast_to(evaluator.number(number), v_star.shape)[known].astype(np.float64)
        fires.append(float(np.mean(found != 0)) if len(found) else np.nan)
        mean.append(float(found.mean()) if len(found) else np.nan)
        by_v_star.append(np.bincount(group, found, len(values)) / np.maximum(count, 1))
    return Effects(
        int(known.sum()),
        values.astype(np.int64),
        count.astype(np.int64),
        np.array(fires),
        np.array(mean),
        np.array(by_v_star).reshape(len(numbers), len(values)),
    )


def contribution_rows(
    terms: Sequence[ValueTerm], found: Effects, names: Sequence[str], shown: int
) -> pd.DataFrame:
    """The mean contributions at each V*: one row for each V* and each of the terms that contribute most.

    All other terms share two rows, for positive and for negative contributions.

    Parameters
    ----------
    names : of the terms, for the column `term`.
    shown : the largest number of terms with rows of their own.
    """
    weight = np.array([term.weight for term in terms], dtype=np.float64)
    added = weight[:, None] * found.by_v_star
    total = np.abs(added) @ found.count
    chosen = sorted(np.argsort(-total, kind="stable")[:shown].tolist())
    rest = np.setdiff1d(np.arange(len(terms)), chosen)
    parts = [(names[i], added[i]) for i in chosen]
    if len(rest):
        others = names[rest[0]] if len(rest) == 1 else OTHERS
        parts += [(others, np.where(added[rest] * sign > 0, added[rest], 0).sum(axis=0)) for sign in (1, -1)]
    rows = [
        pd.DataFrame({"v_star": found.v_star, "term": name, "contribution": part, "states": found.count})
        for name, part in parts
    ]
    return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame()
