"""What each term of a value function does: how often it fires, and what it adds to V, at each V*."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from app.opened import Opened
from distill.jobs import ordered_terms
from distill.logic import Constant, Evaluator, Number
from distill.trees import StateFeature

Array = NDArray[np.float64]
CONSTANT = "constant"
OTHERS = "all others"


@dataclass(frozen=True, eq=False)
class Term:
    """A term of a value function.

    Attributes
    ----------
    place : from 1, heavy ones first; 0 for the constant.
    weight : what its value is multiplied with.
    number : its formula.
    feature : where it was born; none if that is not known.
    """

    place: int
    weight: float
    number: Number
    feature: StateFeature | None

    @property
    def kind(self) -> str:
        """Its kind, as the run has it."""
        if self.place == 0:
            return CONSTANT
        return self.feature.kind if self.feature else "unknown"


@dataclass(frozen=True, eq=False)
class Effects:
    """What terms do on the states of a split; states that cannot reach the goal have no V* and are left out.

    Attributes
    ----------
    states : how many there are.
    v_star : (n_values,) the V* that occur.
    count : (n_values,) how many states have each.
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


def terms_of(run: Opened) -> list[Term]:
    """The terms of a run's value function, heavy ones first, its constant last."""
    born = {feature.number: feature for feature in run.distilled.pool}
    found = []
    for place, (weight, number) in enumerate(ordered_terms(run.distilled.value), 1):
        if isinstance(number, Constant):
            found.append(Term(0, weight, number, None))
        else:
            found.append(Term(place, weight, number, born.get(number)))
    return found


def effects_of(run: Opened, split: str) -> Effects:
    """What all terms of a run do on a split."""
    return _effects(str(run.folder), run.stamp, split, run)


@st.cache_resource(max_entries=32, show_spinner="Evaluating the terms")
def _effects(folder: str, stamp: int, split: str, _run: Opened) -> Effects:
    numbers = [term.number for term in terms_of(_run)]
    return effects(numbers, Evaluator(_run.structures(split)), _run.states(split).v_star)


def effects(numbers: Sequence[Number], evaluator: Evaluator, v_star: NDArray[np.integer]) -> Effects:
    """What numbers do on states.

    Parameters
    ----------
    v_star : (n_states,) of the evaluator's states; negative where there is none.
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


def stacked(terms: Sequence[Term], found: Effects, names: Sequence[str], shown: int) -> pd.DataFrame:
    """What terms add to V at each V*: one row for each V* and each of the terms that add most.

    All other terms are one row for what they add and one for what they take away.

    Parameters
    ----------
    names : of the terms, for the column `term`.
    shown : so many terms at most have rows of their own.
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


def told_origin(feature: StateFeature | None) -> str:
    """Where a feature was born, in words.

    Examples
    --------
    >>> from distill.logic import parse
    >>> from distill.trees import Origin
    >>> told_origin(StateFeature(parse("#a"), "numerical", Origin(2, 3, (0, 4))))
    'layer 2, tree 3, leaves 0, 4'
    """
    if feature is None:
        return ""
    origin = feature.origin
    given = {"polish": "made of formulas that are used", "enumerate": "made without a network"}
    where = {-1: "final layer", 0: given.get(origin.pool, "the domain itself")}
    told = [where.get(origin.layer, f"layer {origin.layer}")]
    if origin.tree >= 0:
        leaves = f"leaves {', '.join(map(str, origin.leaves))}" if origin.leaves else "a split"
        told += [f"tree {origin.tree}", leaves]
    if origin.chain is not None:
        first, last = origin.chain.steps
        told.append(f"admitted by a chain of steps {first} to {last}")
    if origin.pool != "ridt" and origin.layer != 0:
        told.append(f"pool {origin.pool}")
    return ", ".join(told)
