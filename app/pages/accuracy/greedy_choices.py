"""The greedy successors of the value function, the network and V*: how often and where they differ."""

from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from app.components.charts import chart, scale
from app.components.tables import linked_rows, table_download
from app.session.run_session import RunSession
from app.session.selection import pick
from distill.evaluation import choices_by_v_star, sample_by_v_star, tabulate_choices

_MOST = ("300", "1000", "3000")  # evaluated states
_LISTED = 50
_KINDS = {
    "value_wrong": "value function not optimal",
    "network_wrong": "network not optimal",
    "apart": "network and value function differ",
}


def show_choices(run: RunSession, splits: tuple[str, ...], name: str) -> None:
    """Show the shares of states by V*, and the states.

    Parameters
    ----------
    name : the name for files.
    """
    st.caption(
        "States in which the greedy successor is not optimal, or in which the value function and the network "
        "choose different successors. The successors are computed in states spread over V\\* and instances; "
        "states with a successor outside the run are left out."
    )
    narrow, _ = st.columns([1, 3])
    with narrow:
        most = int(pick("Largest number of states", _MOST, "looked", show=lambda one: f"{int(one):,}"))
    found = _found(str(run.folder), run.stamp, splits, most)
    if found.empty:
        st.info("Each of these states has a successor outside the run, so none can be compared.")
        return
    kinds = [kind for kind in _KINDS if kind == "value_wrong" or "network" in run.table()]
    counted = choices_by_v_star(found)
    st.text(_summary(found, kinds))
    chart(_shares(counted, tuple(kinds)), key="accuracy/choices")
    kept = counted.drop(columns=list(set(_KINDS) - set(kinds)))
    table_download(kept, f"{name}-choices-by-v-star", "Counts as CSV")
    wrong = found[found[kinds].any(axis=1)]
    if wrong.empty:
        st.info("There is no such state.")
        return
    some = wrong.head(_LISTED)
    st.text(f"{len(some):,} of {len(wrong):,} such states. Tick a row to open its state.")
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


def _summary(found: pd.DataFrame, kinds: list[str]) -> str:
    shares = [f"{_KINDS[kind]} in {found[kind].mean():.1%}" for kind in kinds]
    return f"Of {len(found):,} states: {', '.join(shares)}."


@st.cache_data(max_entries=20, show_spinner="Computing successors")
def _found(folder: str, stamp: int, splits: tuple[str, ...], most: int) -> pd.DataFrame:
    """The greedy successors in some states of these splits."""
    run = RunSession(Path(folder), stamp)
    table = run.table()
    parts = []
    for split in splits:
        data = run.states(split)
        rows = table[table["split"] == split].sort_values("state")
        network = rows["network"].to_numpy() if "network" in rows else None
        numbers = sample_by_v_star(data.v_star, data.state_instance, max(1, most // len(splits)))
        found = tabulate_choices(data, numbers.tolist(), run.value_function, network)
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
            xOffset=alt.XOffset("kind:N", sort=None),  # equal lines would hide each other
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
                alt.Tooltip("differ:Q", title="such states"),
                alt.Tooltip("states:Q", title="evaluated states"),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
        .properties(height=320)
    )
    drawn: dict[str, Any] = figure.to_dict()
    return drawn
