"""The association of a formula with V*: its values over the data, by V*, and where V is wrong."""

from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from app.components.charts import chart
from app.components.histogram import bars, histogram
from app.components.tables import table_download
from app.drawings.palette import COLOURS
from distill.explanations import EXACT

Array = NDArray[Any]
_keep = st.cache_data(max_entries=200, show_spinner=False)


@dataclass(frozen=True)
class Association:
    """The association of the values of a formula with V*.

    Attributes
    ----------
    states : the number of states with a V*.
    correlation : the correlation with V*; None if one of them is constant.
    wrong : the number of states in which V is wrong.
    fires_wrong, fires_right : the share of wrong and of right states in which the formula is not 0; None
        if there are none.
    explained : the share of the variance of the errors of V that the formula explains; None if V is exact.
    """

    states: int
    correlation: float | None
    wrong: int
    fires_wrong: float | None
    fires_right: float | None
    explained: float | None


def association(values: Array, v_star: Array, v: Array, counts: Array) -> Association:
    """The association of values with V*, and with the errors of V.

    Parameters
    ----------
    values, v_star, v : (n_rows,) the values of a formula, the labels, and the values of V.
    counts : (n_rows,) the number of states of each row.

    Examples
    --------
    >>> values, v_star, v = np.array([0, 1]), np.array([1, 3]), np.array([1, 2])
    >>> found = association(values, v_star, v, np.array([2, 2]))
    >>> found.correlation, found.wrong, found.fires_wrong, found.fires_right, found.explained
    (1.0, 2, 1.0, 0.0, 1.0)
    """
    left = v_star - v
    wrong, fires = np.abs(left) > EXACT, values != 0
    explained = None
    if wrong.any():
        # A constant offset is not due to the formula, so it does not count.
        explained = round((_correlation(values, left, counts) or 0.0) ** 2, 6)
    return Association(
        int(counts.sum()),
        _correlation(values, v_star, counts),
        int(counts[wrong].sum()),
        float(np.average(fires[wrong], weights=counts[wrong])) if wrong.any() else None,
        float(np.average(fires[~wrong], weights=counts[~wrong])) if not wrong.all() else None,
        explained,
    )


def _correlation(one: Array, other: Array, counts: Array) -> float | None:
    if not len(one) or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    both = [values - np.average(values, weights=counts) for values in (one, other)]
    spreads = [np.sqrt(counts @ values**2) for values in both]
    return round(float(counts @ (both[0] * both[1]) / (spreads[0] * spreads[1])), 6)


def by_v_star(values: Array, v_star: Array, counts: Array) -> pd.DataFrame:
    """For each V* the number of states, and the mean, the quartiles and the extremes of the values.

    Parameters
    ----------
    values, v_star, counts : (n_rows,) the values of a formula, the labels, and the number of states.

    Examples
    --------
    >>> table = by_v_star(np.array([0, 2, 4, 4]), np.array([1, 1, 1, 5]), np.array([1, 2, 1, 1]))
    >>> table.drop(columns=["least", "most"]).to_numpy().tolist()
    [[1.0, 4.0, 2.0, 0.0, 2.0, 2.0], [5.0, 1.0, 4.0, 4.0, 4.0, 4.0]]
    """
    order = np.lexsort((values, v_star))
    values, v_star, counts = values[order], v_star[order], counts[order]
    table = []
    for label in np.unique(v_star):
        mine = slice(*np.searchsorted(v_star, [label, label + 1]))
        own, below = values[mine], np.cumsum(counts[mine])
        quartiles = own[np.searchsorted(below, below[-1] * np.array([0.25, 0.5, 0.75]))]
        mean = np.average(own, weights=counts[mine])
        table.append([label, below[-1], mean, own[0], *quartiles, own[-1]])
    columns = ["v_star", "states", "mean", "least", "q1", "median", "q3", "most"]
    return pd.DataFrame(table, columns=columns).astype({"v_star": int, "states": int})


def association_sentences(found: Association) -> list[str]:
    """The association as sentences."""
    sentences = []
    if found.correlation is None:
        sentences.append("There is no correlation with V*: one of them is constant.")
    else:
        sentences.append(f"Correlation with V*: {found.correlation:+.3f}.")
    if not found.wrong:
        sentences.append(f"V is right in all {found.states:,} states: no error is left to explain.")
        return sentences
    right = "" if found.fires_right is None else f", and in {found.fires_right:.1%} of the others"
    sentences.append(
        f"V is wrong in {found.wrong:,} of {found.states:,} states. The formula is not 0 in "
        f"{found.fires_wrong or 0:.1%} of these{right}."
    )
    sentences.append(f"It explains {found.explained or 0:.1%} of the variance of the errors of V.")
    return sentences


def show_data(values: Array, about_objects: bool, split: str) -> None:
    """Show a histogram of the values."""
    table = histogram(values)
    label = "objects of which it holds" if about_objects else "value"
    chart(bars(table, label, 200))
    some = int((values != 0).sum())
    st.text(
        f"{split}: {len(values):,} states; not 0 in {some:,} ({some / max(len(values), 1):.1%}). "
        f"Least {values.min():g}, mean {values.mean():.4g}, most {values.max():g}."
    )
    table_download(table, "laboratory-values", "Values as CSV")


def show_association(values: Array, v_star: Array, v: Array, counts: Array) -> None:
    """Show a chart of the values by V*, and sentences; see `association`."""
    if not len(values):
        st.info("No state of this split has a V*.")
        return
    table = by_v_star(values, v_star, counts)
    chart(_lines(table))
    for sentence in association_sentences(association(values, v_star, v, counts)):
        st.text(sentence)
    table_download(table, "laboratory-by-v-star", "By V* as CSV")


@_keep
def _lines(table: pd.DataFrame) -> dict[str, Any]:
    x = alt.X("v_star:Q", title="V*", axis=alt.Axis(tickMinStep=1, format="d"))
    shown = [
        alt.Tooltip("v_star:Q", title="V*"),
        *(
            alt.Tooltip(f"{n}:Q", format=",.4~f")
            for n in ("states", "mean", "least", "q1", "median", "q3", "most")
        ),
    ]
    base = alt.Chart(table)
    layers = [
        base.mark_rule(color=COLOURS[0], opacity=0.5).encode(
            x=x, y=alt.Y("least:Q", title="value"), y2="most:Q"
        ),
        base.mark_bar(color=COLOURS[0], opacity=0.45, size=8).encode(x=x, y="q1:Q", y2="q3:Q", tooltip=shown),
        base.mark_line(color=COLOURS[1], point={"color": COLOURS[1], "size": 28}).encode(
            x=x, y="mean:Q", tooltip=shown
        ),
    ]
    found: dict[str, Any] = alt.layer(*layers).properties(height=200).to_dict()
    return found
