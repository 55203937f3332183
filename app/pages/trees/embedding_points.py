"""The embeddings of objects in a layer of the network, and their colours."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from app.pages.trees.tree_choice import TreeView
from app.session.run_session import RunSession
from distill.common import InputError
from distill.logic import Evaluator, Node, Number, Truth
from distill.structures import UNSOLVABLE, Structures

MOST = 3_000  # drawn points
LEAF_SET, FORMULA, V_STAR = "leaf set", "formula", "V*"
COLOURED_BY = (LEAF_SET, FORMULA, V_STAR)
YES, NO = "holds", "does not hold"
_DIGITS = 5  # digits of a coordinate, relative to the largest


@dataclass(frozen=True, eq=False)
class Cloud:
    """The embeddings of the objects of some states in a layer.

    Attributes
    ----------
    layer : the layer of the network; 0 is the input.
    numbers : (n_states,) the numbers of the states in the split.
    states : the structures of these states.
    places : (n_objects, 2) the coordinates.
    shares : (2,) the share of the variance of each component.
    """

    layer: int
    numbers: NDArray[np.int64]
    states: Structures
    places: NDArray[np.float64]
    shares: NDArray[np.float64]

    @property
    def state_of(self) -> NDArray[np.int64]:
        """(n_objects,) the number of the state of each object."""
        return self.numbers[self.states.state_of_object]

    @property
    def place_of(self) -> NDArray[np.int64]:
        """(n_objects,) the number of each object in its state."""
        begin = self.states.object_offsets[self.states.state_of_object]
        return np.arange(self.states.n_objects) - begin


def cloud_of(run: RunSession, split: str, layer: int) -> Cloud | None:
    """The embeddings of a split in a layer, the last one for trees about states; None without a network."""
    outlook = run.run.embeddings
    if outlook is None:
        return None
    points = outlook.points.get(split)
    if points is None or points.ndim != 3 or not len(points) or outlook.shares.shape != (len(points), 2):
        raise InputError(f"The embeddings of {run.name} do not match its splits; run it again.")
    layer = layer if 0 <= layer < len(points) else len(points) - 1
    numbers = outlook.drawn[split].astype(np.int64)
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(run.states(split)):
        raise InputError(f"The embeddings of {run.name} do not match its states; run it again.")
    states = _drawn(str(run.folder), run.stamp, split)
    if points.shape[1:] != (states.n_objects, 2):
        raise InputError(f"The embeddings of {run.name} do not match its states; run it again.")
    return Cloud(layer, numbers, states, points[layer], outlook.shares[layer])


@st.cache_resource(max_entries=8, show_spinner=False)
def _drawn(folder: str, stamp: int, split: str) -> Structures:
    run = RunSession(Path(folder), stamp)
    outlook = run.run.embeddings
    chosen = np.zeros(0, dtype=np.int64) if outlook is None else outlook.drawn[split]
    return run.states(split).structures(chosen, goal_marking=run.value_function.goal_marking)


def colours_of(
    cloud: Cloud, by: str, shown: TreeView, v_star: NDArray[np.integer], formula: Node | None
) -> tuple[NDArray[np.object_] | NDArray[np.float64], list[str]]:
    """(n_objects,) the value that colours each object, and all values in order; empty for numbers.

    Parameters
    ----------
    by : one of `COLOURED_BY`.
    v_star : (n_states,) V* of the states of the split.
    """
    owner = cloud.states.state_of_object
    if by == V_STAR:
        own = v_star[cloud.state_of].astype(np.float64)
        return np.where(own == UNSOLVABLE, np.nan, own), []
    if by == FORMULA:
        if not isinstance(formula, Number | Truth):
            raise InputError("Type a formula, or choose one of this run, to colour objects by it.")
        evaluator = Evaluator(cloud.states)
        if isinstance(formula, Number):
            return evaluator.number(formula).astype(np.float64)[owner], []
        holds = evaluator.holds(formula)
        holds = holds[owner] if formula.of_state else holds
        return np.where(holds, YES, NO).astype(object), [YES, NO]
    leaf = shown.tree.leaves_of(cloud.states)
    leaf = leaf[owner] if shown.tree.about_states else leaf
    names = [f"leaf set {number}" for number in range(len(shown.sets))]
    return np.array(names, dtype=object)[shown.set_of_leaf[leaf]], names


def points_table(
    cloud: Cloud,
    colour: NDArray[np.object_] | NDArray[np.float64],
    run: RunSession,
    split: str,
    picked: tuple[int, int] | None = None,
) -> pd.DataFrame:
    """One row for each point and colour: one of its objects, and their number; at most `MOST` rows.

    Parameters
    ----------
    colour : (n_objects,) the value that colours each object.
    picked : the state and the number of an object that represents its point.
    """
    data = run.states(split)
    size = float(np.abs(cloud.places).max(initial=0.0)) or 1.0
    table = pd.DataFrame(
        {
            "x": np.round(cloud.places[:, 0] / size, _DIGITS) * size,
            "y": np.round(cloud.places[:, 1] / size, _DIGITS) * size,
            "colour": colour,
            "state": cloud.state_of,
            "place": cloud.place_of,
        }
    )
    first = np.zeros(len(table), dtype=bool)
    if picked is not None:
        first = ((table["state"] == picked[0]) & (table["place"] == picked[1])).to_numpy()
    # The chosen object comes first, so that it represents its point.
    table = table.assign(chosen=first).sort_values("chosen", ascending=False, kind="stable")
    table["objects"] = table.groupby(["x", "y", "colour"], dropna=False)["state"].transform("size")
    table = table.drop_duplicates(["x", "y", "colour"]).reset_index(drop=True)
    if len(table) > MOST:
        table = table.iloc[np.unique(np.linspace(0, len(table) - 1, MOST).astype(np.int64))]
    names = [
        data.instances[int(data.state_instance[state])]["objects"][place]
        for state, place in zip(table["state"].tolist(), table["place"].tolist(), strict=True)
    ]
    own = data.v_star[table["state"].to_numpy()]
    table = table.assign(object=names, v_star=own)
    return table.assign(key=[f"{s}/{o}" for s, o in zip(table["state"], table["object"], strict=True)])
