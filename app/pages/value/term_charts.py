"""Charts of the terms of a value function: contributions at each V*, and weights."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from app.components.charts import chart, scale
from app.components.tables import table_download
from app.drawings.palette import COLOURS
from app.pages.value.contributions import CONSTANT, OTHERS, Effects, ValueTerm, contribution_rows
from app.pages.value.term_table import term_texts
from app.session.run_session import RunSession

_REST = "#999999"  # all other terms, in both themes
_NAMED = 25  # weights that are labelled with their formulas
_LONGEST = 60  # characters of a formula in a figure
_keep = st.cache_data(max_entries=100, show_spinner=False)
_KINDS = ("numerical", "boolean", "combined", "distance", "product", "unknown")


def show_contributions(run: RunSession, terms: Sequence[ValueTerm], found: Effects, split: str) -> None:
    """Show what each term adds to V at each V*; the bars of a V* add up to the mean V."""
    if not found.states:
        st.info("No state of this split has a V*.")
        return
    names = _names(run, terms)
    table = contribution_rows(terms, found, names, len(COLOURS))
    drawn = list(table["term"].unique())
    ink = "#EEEEEE" if st.context.theme.type == "dark" else "#222222"
    chart(_contributions(table, ink), key="value/contributions")
    st.caption("Bars: mean contributions of terms over the states of each V*. Dashed line: V*. Dots: mean V.")
    if OTHERS in drawn:
        st.caption(f"The {len(drawn) - 1} terms that contribute most are coloured; all others are grey.")
    table_download(_table(table), f"contributions-{split}", "Contributions as CSV")


@_keep
def _contributions(table: pd.DataFrame, ink: str) -> dict[str, Any]:
    drawn = list(table["term"].unique())
    colours = alt.Scale(domain=drawn, range=[*COLOURS, _REST][: len(drawn)])
    at = alt.X("v_star:O", title="V*", axis=alt.Axis(labelAngle=0, labelOverlap=True))
    bars = (
        alt.Chart(table)
        .mark_bar()
        .encode(
            x=at,
            y=alt.Y("contribution:Q", title="weight × value, mean", stack="zero"),
            color=alt.Color(
                "term:N",
                title=None,
                scale=colours,
                sort=drawn,
                legend=alt.Legend(orient="bottom", columns=2, labelLimit=520),
            ),
            tooltip=[
                alt.Tooltip("term:N"),
                alt.Tooltip("v_star:O", title="V*"),
                alt.Tooltip("contribution:Q", title="mean contribution", format=".4~f"),
                alt.Tooltip("states:Q", format=","),
            ],
        )
    )
    sums = table.groupby("v_star", as_index=False)["contribution"].sum()
    lines = alt.Chart(sums.assign(v=sums["contribution"])).encode(x=at)
    tooltip = [
        alt.Tooltip("v_star:O", title="V*"),
        alt.Tooltip("v:Q", title="mean V", format=".4~f"),
    ]
    dashed = lines.mark_line(strokeDash=[6, 4], color=ink, strokeWidth=2).encode(
        y="v_star:Q", tooltip=tooltip
    )
    points = lines.mark_point(color=ink, filled=True, size=60).encode(y="v:Q", tooltip=tooltip)
    figure: dict[str, Any] = (bars + dashed + points).properties(height=420).to_dict()
    return figure


def show_weights(run: RunSession, terms: Sequence[ValueTerm]) -> None:
    """Show the weights, largest first, coloured by the kind of the feature."""
    own = [term for term in terms if term.place]
    if not own:
        st.info("There are no weights to show.")
        return
    table = pd.DataFrame(
        {
            "rank": range(1, len(own) + 1),
            "weight": [float(term.weight) for term in own],
            "kind": [term.kind for term in own],
            "formula": [name for name, term in zip(_names(run, terms), terms, strict=True) if term.place],
        }
    )
    chart(_weights(table), key="value/weights")
    table_download(table, "weights", "Weights as CSV")


@_keep
def _weights(table: pd.DataFrame) -> dict[str, Any]:
    present = set(table["kind"])
    kinds = [kind for kind in _KINDS if kind in present] + sorted(present - set(_KINDS))
    colour = alt.Color("kind:N", title=None, scale=scale(kinds), sort=kinds, legend=alt.Legend(orient="top"))
    tooltip = ["rank:O", alt.Tooltip("weight:Q", format=".6~g"), "kind:N", "formula:N"]
    base = alt.Chart(table)
    if len(table) <= _NAMED:
        formula = alt.Y("formula:N", title=None, sort=None, axis=alt.Axis(labelLimit=420, labelOverlap=False))
        drawn = base.mark_bar().encode(x="weight:Q", y=formula, color=colour, tooltip=tooltip)
        drawn = drawn.properties(height=120 + 26 * len(table))
    else:
        rank = alt.X(
            "rank:O",
            title="terms by decreasing weight",
            axis=alt.Axis(labels=False, ticks=False),
            scale=alt.Scale(paddingInner=0.1, paddingOuter=0),
        )
        drawn = base.mark_bar().encode(x=rank, y="weight:Q", color=colour, tooltip=tooltip)
        drawn = drawn.properties(height=320)
    figure: dict[str, Any] = drawn.to_dict()
    return figure


def _names(run: RunSession, terms: Sequence[ValueTerm]) -> list[str]:
    """Short names that start with the rank; as typed, since a legend cannot typeset LaTeX."""
    texts = zip(terms, term_texts(run, "ascii"), strict=True)
    return [f"{term.place}: {_short(text)}" if term.place else CONSTANT for term, text in texts]


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _table(table: pd.DataFrame) -> pd.DataFrame:
    """One row for each V* and one column for each term."""
    wide = table.pivot_table(index="v_star", columns="term", values="contribution", aggfunc="sum", sort=False)
    counts = table.groupby("v_star")["states"].first()
    wide.insert(0, "states", counts)
    wide["mean_v"] = wide.drop(columns="states").sum(axis=1)
    return wide.sort_index().reset_index()
