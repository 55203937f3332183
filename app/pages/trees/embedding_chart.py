"""The embeddings of a layer as a chart of points; a click selects an object."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from app.components.charts import chart
from app.components.state_formula import ask_formula
from app.components.tables import table_download
from app.drawings.palette import COLOURS
from app.pages.trees.embedding_points import (
    COLOURED_BY,
    FORMULA,
    LEAF_SET,
    MOST,
    V_STAR,
    Cloud,
    cloud_of,
    colours_of,
    points_table,
)
from app.pages.trees.path import ObjectChoice
from app.pages.trees.tree_choice import TreeView
from app.session.selection import pick, select

_SELECTION = "picked"
_HEIGHT = 460


def show_embeddings(shown: TreeView, split: str, picked: ObjectChoice | None) -> None:
    """Show the embeddings of the objects of some states."""
    cloud = cloud_of(shown.run, split, shown.tree.layer)
    if cloud is None:
        st.info("This run was made without a network, so there are no embeddings.")
        return
    by = pick("Coloured by", COLOURED_BY, "coloured", width=240)
    formula = ask_formula(shown.run) if by == FORMULA else None
    if by == FORMULA and formula is None:
        st.info("Type a formula, or choose one of this run, to colour objects by it.")
        by = LEAF_SET
    colour, names = colours_of(cloud, by, shown, shown.run.states(split).v_star, formula)
    chosen = None if picked is None or picked.place is None else (picked.number, picked.place)
    table = points_table(cloud, colour, shown.run, split, chosen)
    _describe(cloud, table, shown, chosen)
    title = {V_STAR: "V*", LEAF_SET: "leaf set"}.get(by, "formula")
    key = f"embeddings/{shown.name}/{split}"
    figure = figure_of(table, names, title, cloud)

    def clicked() -> None:
        found = clicked_object(st.session_state.get(key))
        if found is not None:
            select(split=split, state=found[0], object=found[1])

    chart(figure, key=key, on_select=clicked, selection_mode=_SELECTION)
    kept = ["state", "object", "v_star", "x", "y", "colour", "objects"]
    table_download(table[kept].rename(columns={"colour": title}), f"{shown.name}-points", "Points as CSV")


def _describe(cloud: Cloud, table: pd.DataFrame, shown: TreeView, chosen: tuple[int, int] | None) -> None:
    lost = cloud.states.n_objects - int(table["objects"].sum())
    cut = f" ({lost:,} of them are left out: at most {MOST:,} points are drawn)" if lost > 0 else ""
    last = " Trees about states use the embeddings of the last layer." * (shown.tree.about_states)
    first, second = (f"{share:.0%}" for share in cloud.shares)
    objects, states = cloud.states.n_objects, len(cloud.numbers)
    st.caption(
        f"Layer {cloud.layer}: {objects:,} objects of {states:,} states, spread over V*{cut}, in the first "
        f"two principal components ({first} and {second} of the variance). Objects with equal embeddings "
        f"share a point; a click selects one of them.{last}"
    )
    if chosen is not None and not bool(table["chosen"].any()):
        st.caption("The chosen object is not among these; its embedding is not stored.")


def clicked_object(event: Any) -> tuple[int, str] | None:
    """The state and the name of the clicked object; None without a click on a point.

    Examples
    --------
    >>> clicked_object({"selection": {"picked": [{"key": "12/ball/3"}]}})
    (12, 'ball/3')
    >>> clicked_object({"selection": {"picked": []}})
    """
    points = [] if event is None else event["selection"].get(_SELECTION, [])
    if not points or "key" not in points[0]:
        return None
    state, _, name = str(points[0]["key"]).partition("/")
    return (int(state), name) if state.isdecimal() else None


def figure_of(table: pd.DataFrame, names: list[str], title: str, cloud: Cloud) -> dict[str, Any]:
    """The chart as a Vega-Lite specification.

    Parameters
    ----------
    table : the result of `points_table`.
    names : all values of the colour, in order; empty for numbers.
    """
    colour: dict[str, Any] = {"field": "colour", "title": title}
    if names:
        colour |= {"type": "nominal", "scale": {"domain": names, "range": COLOURS[: len(names)]}}
    else:
        colour |= {"type": "quantitative", "scale": {"scheme": "viridis"}}
    most = int(table["objects"].max()) if len(table) else 1
    axis = {"type": "quantitative", "scale": {"zero": False, "nice": True}}
    shares = [f"{share:.0%}" for share in np.asarray(cloud.shares)]
    wanted = {"test": "datum.chosen"}
    return {
        "data": {"values": table.drop(columns="place").to_dict("records")},
        "mark": {"type": "point", "filled": True},
        "height": _HEIGHT,
        "params": [{"name": _SELECTION, "select": {"type": "point", "fields": ["key"]}}],
        "encoding": {
            "x": {**axis, "field": "x", "title": f"first component ({shares[0]} of the variance)"},
            "y": {**axis, "field": "y", "title": f"second component ({shares[1]})"},
            "color": colour,
            "size": {
                "field": "objects",
                "type": "quantitative",
                "title": "objects",
                "legend": {"symbolFillColor": "#888888", "symbolStrokeColor": "#888888"},
                "scale": {"type": "sqrt", "domain": [1, max(2, most)], "range": [35, 500]},
            },
            "opacity": {"condition": {**wanted, "value": 1.0}, "value": 0.75},
            "stroke": {"condition": {**wanted, "value": "#D55E00"}, "value": None},
            "strokeWidth": {"condition": {**wanted, "value": 4}, "value": 0},
            "tooltip": [
                {"field": "object", "title": "object"},
                {"field": "state", "title": "state"},
                {"field": "v_star", "title": "V*"},
                {"field": "colour", "title": title},
                {"field": "objects", "title": "objects"},
            ],
        },
    }
