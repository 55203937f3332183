"""What a formula says on the states of a split: how often which value, and where it is largest."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from app.opened import Opened
from app.parts import COLOURS, chart, table_download
from app.row_links import linked_rows
from app.selection import page_link, pick
from distill.jobs.catalogue import Catalogue, as_number, counted
from distill.jobs.neighbours import spread
from distill.logic import Evaluator, Node, Truth

_BARS = 40  # of the histogram
_FIRING = 12  # states that are listed
WORK = 2 * 10**8  # parts times objects that are evaluated within about a second


def show_data(formula: Node, opened: Opened, catalogue: Catalogue) -> None:
    """A histogram of its values, and the states where it is largest."""
    split = pick("States of", opened.splits, "split", width=240)
    chosen, values = _values(formula, opened, split)
    if not len(values):
        st.info("This split has no states.")
        return
    about_objects = isinstance(formula, Truth) and not formula.of_state
    label = "objects of which it holds" if about_objects else "value"
    table = histogram(values)
    left, right = st.columns([3, 2])
    with left:
        chart(bars(table, label), key="card/histogram")
        table_download(table, "formula-values")
    with right:
        some = int((values != 0).sum())
        all_states = len(opened.structures(split))
        if len(values) < all_states:
            st.text(f"It is large, so only some of the {all_states:,} states were looked at.")
        st.text(f"{len(values):,} states; not 0 in {some:,} ({some / len(values):.1%}).")
        st.text(f"Least {values.min():g}, mean {values.mean():.4g}, most {values.max():g}.")
    st.markdown("**States where it is largest**")
    _show_firing(formula, opened, split, chosen, values, catalogue)


@st.cache_data(max_entries=200, show_spinner=False)
def bars(table: pd.DataFrame, label: str, height: int = 260) -> dict[str, Any]:
    """A histogram of a formula's numbers."""
    figure = (
        alt.Chart(table.assign(order=range(len(table))))
        .mark_bar(color=COLOURS[0])
        .encode(
            x=alt.X("value:N", sort=alt.SortField("order"), title=label, axis=alt.Axis(labelAngle=0)),
            y=alt.Y("states:Q", title="states"),
            tooltip=["value", alt.Tooltip("states:Q", format=","), alt.Tooltip("share:Q", format=".1%")],
        )
        .properties(height=height)
    )
    drawn: dict[str, Any] = figure.to_dict()
    return drawn


def _values(formula: Node, opened: Opened, split: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The states that are looked at, and the number that each of them has."""
    states = opened.structures(split)
    parts = sum(1 for _ in formula.walk())
    chosen = spread(states, len(states), max(1, WORK // parts))
    if len(chosen) == len(states):
        return chosen, opened.values(as_number(formula), split)
    return chosen, _some_values(str(opened.folder), opened.stamp, split, formula.order[2], formula, chosen)


@st.cache_resource(max_entries=50, show_spinner="Evaluating")
def _some_values(
    folder: str, stamp: int, split: str, key: bytes, _formula: Node, _chosen: NDArray[np.int64]
) -> NDArray[np.int64]:
    states = Opened(Path(folder), stamp).structures(split)
    return Evaluator(states[_chosen]).number(as_number(_formula))


def histogram(values: NDArray[np.int64]) -> pd.DataFrame:
    """How many states have each value; values are put together where there are many different ones.

    Examples
    --------
    >>> histogram(np.array([0, 2, 2, 2])).to_dict("list")
    {'value': ['0', '2'], 'states': [1, 3], 'share': [0.25, 0.75]}
    """
    distinct, counts = np.unique(values, return_counts=True)
    labels = [f"{value:g}" for value in distinct] if len(distinct) <= _BARS else []
    if not labels:
        counts, edges = np.histogram(values, bins=_BARS // 2)
        labels = [f"{low:.4g} to {high:.4g}" for low, high in pairwise(edges)]
    return pd.DataFrame({"value": labels, "states": counts, "share": counts / len(values)})


def _show_firing(
    formula: Node,
    opened: Opened,
    split: str,
    chosen: NDArray[np.int64],
    values: NDArray[np.int64],
    catalogue: Catalogue,
) -> None:
    if not (values != 0).any():
        st.info("It is 0 in all states that were looked at.")
        return
    places = largest(values, _FIRING)
    data, inner = opened.states(split), counted(formula)
    structures = opened.structures(split)[chosen[places]]
    held = None if inner is None else Evaluator(structures).holds(inner)
    address = catalogue.address(formula)
    rows = []
    for place, state in enumerate(chosen[places].tolist()):
        instance = data.instances[int(data.state_instance[state])]
        row = {
            "state": state,
            "instance": instance["name"],
            "value": float(values[places[place]]),
            "V*": int(data.v_star[state]),
        }
        if held is not None:
            own = held[slice(*structures.object_offsets[[place, place + 1]])]
            row["objects"] = ", ".join(np.array(instance["objects"])[own][:30])
        rows.append(row)
    st.caption("Tick one to look at it.")
    linked_rows(
        pd.DataFrame(rows),
        "state",
        [
            {"run": opened.name, "split": split, "state": state, "formula": address}
            for state in chosen[places].tolist()
        ],
        "card/firing",
        column_config={
            "state": st.column_config.NumberColumn(width="small"),
            "value": st.column_config.NumberColumn(width="small"),
            "V*": st.column_config.NumberColumn(width="small"),
        },
        height=37 + 35 * len(rows),
    )
    first = int(chosen[places[0]])
    page_link("state", "Look at the first", run=opened.name, split=split, state=first, formula=address)


def largest(values: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """(n,) the states with the largest values, largest first; of equal ones some from all over the split.

    Examples
    --------
    >>> largest(np.array([1, 3, 1, 2, 1]), 3)
    array([1, 3, 0])
    """
    order = np.argsort(-values, kind="stable")[: min(n, len(values))]
    least = values[order[-1]]
    sure = order[values[order] > least]
    equal = np.flatnonzero(values == least)
    places = np.linspace(0, len(equal) - 1, n - len(sure)).astype(np.int64)
    return np.concatenate([sure, equal[np.unique(places)]])
