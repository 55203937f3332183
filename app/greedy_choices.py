"""The greedy choices of the value function, the network and V*: how often they differ, and where."""

from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from app.opened import Opened
from app.parts import chart, scale, table_download
from app.row_links import linked_rows
from app.selection import pick
from distill.jobs.choices import choices, choices_by_v_star, spread_states

_MOST = ("300", "1000", "3000")  # states that are looked at
_LISTED = 50
_KINDS = {
    "value_wrong": "value function not optimal",
    "network_wrong": "network not optimal",
    "apart": "network against value function",
}


def show_choices(run: Opened, splits: tuple[str, ...], name: str) -> None:
    """Shares of states by V*, and the states themselves.

    Parameters
    ----------
    name : for files.
    """
    st.caption(
        "Where does the greedy policy choose an action that leads no closer to the goal, and where do value "
        "function and network choose differently? Found out by planning, in states spread over all V\\* and "
        "over some instances; those with an action to a state that is not in the run are left out."
    )
    narrow, _ = st.columns([1, 3])
    with narrow:
        most = int(pick("States looked at, at most", _MOST, "looked", show=lambda one: f"{int(one):,}"))
    found = _found(str(run.folder), run.stamp, splits, most)
    if found.empty:
        st.info("In none of these states all actions lead to states of the run: there is nothing to compare.")
        return
    kinds = [kind for kind in _KINDS if kind == "value_wrong" or "network" in run.table()]
    counted = choices_by_v_star(found)
    st.text(_told(found, kinds))
    chart(_shares(counted, tuple(kinds)), key="accuracy/choices")
    kept = counted.drop(columns=list(set(_KINDS) - set(kinds)))
    table_download(kept, f"{name}-choices-by-v-star", "Counts as CSV")
    wrong = found[found[kinds].any(axis=1)]
    if wrong.empty:
        st.info("There is no such state among them.")
        return
    some = wrong.head(_LISTED)
    st.text(f"{len(some):,} of {len(wrong):,} such states; tick one to look at it.")
    shown = some.drop(columns=list(set(_KINDS) - set(kinds))).rename(columns=_KINDS)
    linked_rows(
        shown if len(kinds) > 1 else shown.drop(columns="by_network"),
        "state",
        [
            {"run": run.name, "split": split, "state": state}
            for split, state in zip(some["split"], some["state"], strict=True)
        ],
        "accuracy/choices/rows",
        column_config={
            "v_star": st.column_config.NumberColumn("V*"),
            "by_v_star": st.column_config.TextColumn("choice by V*", help="The first of the best actions."),
            "by_value": "by value function",
            "by_network": "by network",
        },
    )
    table_download(wrong, f"{name}-choices", "States as CSV")


def _told(found: pd.DataFrame, kinds: list[str]) -> str:
    shares = [f"{_KINDS[kind]} in {found[kind].mean():.1%}" for kind in kinds]
    return f"Of {len(found):,} states: {', '.join(shares)}."


@st.cache_data(max_entries=20, show_spinner="Looking at choices")
def _found(folder: str, stamp: int, splits: tuple[str, ...], most: int) -> pd.DataFrame:
    """The choices in some states of all these splits."""
    run = Opened(Path(folder), stamp)
    table = run.table()
    parts = []
    for split in splits:
        data = run.states(split)
        rows = table[table["split"] == split].sort_values("state")
        network = rows["network"].to_numpy() if "network" in rows else None
        numbers = spread_states(data.v_star, data.state_instance, max(1, most // len(splits)))
        found = choices(data, numbers.tolist(), run.distilled, network)
        parts.append(found.assign(split=split))
    whole = pd.concat(parts, ignore_index=True)
    return whole[["split", *whole.columns.drop("split")]]


@st.cache_data(max_entries=50, show_spinner=False)
def _shares(counted: pd.DataFrame, kinds: tuple[str, ...]) -> dict[str, Any]:
    rows = counted.melt(["v_star", "states"], list(kinds), "kind", "differ")
    rows = rows.assign(share=rows["differ"] / rows["states"], kind=rows["kind"].map(_KINDS))
    figure = (
        alt.Chart(rows)
        .mark_bar()
        .encode(
            x=alt.X("v_star:O", title="V*", axis=alt.Axis(labelAngle=0, labelOverlap=True)),
            xOffset=alt.XOffset("kind:N", sort=None),  # of lines, equal ones would hide each other
            y=alt.Y("share:Q", title="share of states", axis=alt.Axis(format="%")),
            color=alt.Color(
                "kind:N",
                title=None,
                scale=scale([_KINDS[kind] for kind in kinds]),
                legend=alt.Legend(orient="top", labelLimit=400),
            ),
            tooltip=[
                alt.Tooltip("kind:N", title="choice"),
                alt.Tooltip("v_star:O", title="V*"),
                alt.Tooltip("differ:Q", title="states like this"),
                alt.Tooltip("states:Q", title="states looked at"),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
        .properties(height=320)
    )
    drawn: dict[str, Any] = figure.to_dict()
    return drawn
