"""A histogram of the values of a formula over states."""

from itertools import pairwise
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from app.drawings.palette import COLOURS

_BARS = 40  # of the histogram


def histogram(values: NDArray[np.int64]) -> pd.DataFrame:
    """The number of states with each value; many different values are put into bins.

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


@st.cache_data(max_entries=200, show_spinner=False)
def bars(table: pd.DataFrame, label: str, height: int = 260) -> dict[str, Any]:
    """A bar chart of a histogram."""
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
