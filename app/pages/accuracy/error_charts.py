"""Charts of errors: box plots and heat maps of predictions by V*, and lines over the number of objects.

Charts are cached as plain data: Altair takes longer to create one than a browser to draw it.
"""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

from app.components.charts import scale
from app.drawings.palette import COLOURS
from app.pages.accuracy.error_tables import EXACT

_GREY = "#888888"  # of the line V = V*, in both themes
_WRITTEN = 12  # columns of a heat map with numbers in its cells


_keep = st.cache_data(max_entries=200, show_spinner=False)


@_keep
def box_plot(boxes: pd.DataFrame, outliers: pd.DataFrame, title: str) -> dict[str, Any]:
    """Predictions by V* as in the thesis (Figure 5.2), from their quartiles.

    Parameters
    ----------
    boxes, outliers : tables of `error_tables` for one split.
    """
    x = _whole(alt.X("v_star:Q", title="V*", scale=alt.Scale(nice=False, padding=14)))
    numbers = ("states", "least", "q1", "median", "q3", "most", "outliers")
    tooltip = [alt.Tooltip("v_star:Q", title="V*"), *(alt.Tooltip(f"{n}:Q", format=",.4~f") for n in numbers)]
    span = max(boxes["v_star"].max() - boxes["v_star"].min() + 1, 6)
    width = float(np.clip(160 / span, 2, 18))
    base = alt.Chart(boxes)
    dots = alt.Chart(outliers).mark_circle(size=14, color=COLOURS[0], opacity=0.7)
    dot_tooltip = [
        alt.Tooltip("v_star:Q", title="V*"),
        alt.Tooltip("v:Q", format=".4~f"),
        alt.Tooltip("states:Q"),
    ]
    layers = [
        _diagonal(boxes, 0.0).encode(x=x, y=_free("v_star:Q")),
        base.mark_rule(color=COLOURS[0]).encode(x=x, y=_free("low:Q"), y2="high:Q", tooltip=tooltip),
        base.mark_bar(color=COLOURS[0], opacity=0.45, size=width).encode(
            x=x, y=_free("q1:Q"), y2="q3:Q", tooltip=tooltip
        ),
        base.mark_tick(color=COLOURS[1], thickness=2, size=width, orient="horizontal").encode(
            x=x, y=_free("median:Q"), tooltip=tooltip
        ),
        dots.encode(x=x, y=_free("v:Q"), tooltip=dot_tooltip),
    ]
    return _plain(alt.layer(*layers).properties(title=title, height=300))


@_keep
def heat_map(cells: pd.DataFrame) -> dict[str, Any]:
    """Rounded predictions by V*; the shade of a cell is its share of the states of its V*."""
    drawn = cells.assign(
        left=cells["v_star"] - 0.5,
        right=cells["v_star"] + 0.5,
        below=cells["rounded"] - 0.5,
        above=cells["rounded"] + 0.5,
    )
    tooltip = [
        alt.Tooltip("v_star:Q", title="V*"),
        alt.Tooltip("rounded:Q", title="V, rounded"),
        alt.Tooltip("states:Q", format=","),
        alt.Tooltip("share:Q", title="share of this V*", format=".2%"),
    ]
    tight = alt.Scale(nice=False)
    shade = alt.Scale(domain=[0, 1], range=[0.15, 0.9])
    base = alt.Chart(drawn)
    layers: list[Any] = [
        _diagonal(cells, 0.5).encode(x="v_star:Q", y="v_star:Q"),
        base.mark_rect(color=COLOURS[0]).encode(
            x=_whole(alt.X("left:Q", title="V*", scale=tight)),
            x2="right:Q",
            y=_whole(alt.Y("below:Q", title="V, rounded", scale=tight)),
            y2="above:Q",
            opacity=alt.Opacity("share:Q", scale=shade, legend=alt.Legend(format=".0%")),
            tooltip=tooltip,
        ),
    ]
    if cells["v_star"].nunique() <= _WRITTEN:
        layers.append(
            base.mark_text().encode(
                x="v_star:Q",
                y="rounded:Q",
                text=alt.Text("states:Q", format=".3~s"),
                color=alt.condition("datum.share > 0.4", alt.value("white"), alt.value(_GREY)),
                tooltip=tooltip,
            )
        )
    return _plain(alt.layer(*layers).properties(height=340))


@_keep
def error_lines(errors: pd.DataFrame, column: str, splits: Sequence[str]) -> dict[str, Any]:
    """An error by the number of objects, one line for each split."""
    tooltip = [
        alt.Tooltip("split:N"),
        alt.Tooltip("objects:Q"),
        alt.Tooltip("states:Q", format=","),
        alt.Tooltip("mean_error:Q", title="mean error", format=".4~f"),
        alt.Tooltip("largest_error:Q", title="largest error", format=".4~f"),
    ]
    largest = float(errors[column].max())
    drawn = (
        alt.Chart(errors)
        .mark_line(point=True)
        .encode(
            x=_whole(alt.X("objects:Q", scale=alt.Scale(zero=False))),
            y=alt.Y(
                f"{column}:Q",
                title=column.replace("_", " "),
                scale=alt.Scale(domain=[0, largest if largest > EXACT else 1]),
            ),
            color=alt.Color("split:N", scale=scale(list(splits)), title=None),
            tooltip=tooltip,
        )
        .properties(height=240)
    )
    return _plain(drawn)


def _plain(figure: Any) -> dict[str, Any]:
    found: dict[str, Any] = figure.to_dict()
    return found


def _diagonal(cells: pd.DataFrame, beyond: float) -> Any:
    """The line V = V*, from the least to the largest V*, with a margin."""
    ends = [float(cells["v_star"].min()) - beyond, float(cells["v_star"].max()) + beyond]
    return alt.Chart(pd.DataFrame({"v_star": ends})).mark_line(color=_GREY, strokeDash=[4, 3])


def _free(field: str) -> alt.Y:
    return alt.Y(field, title="V", scale=alt.Scale(zero=False))


def _whole(axis: Any) -> Any:
    """An axis with whole numbers only."""
    return axis.axis(alt.Axis(tickMinStep=1, format="d"))
