"""The formula that is selected: read from the address or typed, never evaluated as code."""

from pathlib import Path

import pandas as pd
import streamlit as st

from app.opened import Opened
from app.plain import plain
from app.selection import select, selected
from distill.errors import InputError
from distill.jobs.catalogue import Catalogue
from distill.logic import Node, Number, Truth

_WIDGET = "formulas/formula"


def catalogue_of(opened: Opened) -> Catalogue:
    """All formulas of a run."""
    return _catalogue(str(opened.folder), opened.stamp)


@st.cache_resource(max_entries=8, show_spinner="Listing formulas")
def _catalogue(folder: str, stamp: int) -> Catalogue:
    return Catalogue(Opened(Path(folder), stamp).distilled)


def choose(formula: Node, catalogue: Catalogue) -> None:
    """Select a formula; what was open inside another one is forgotten."""
    address = catalogue.address(formula)
    if address is None:
        st.toast("This formula is too large for an address; open the one that it is part of.")
    else:
        select(formula=address, open=None)


def chosen(catalogue: Catalogue) -> Truth | Number | None:
    """The formula that is selected, with a place to type one; None if there is none that can be read."""
    text = selected("formula")
    st.session_state[_WIDGET] = text
    st.text_input(
        "Formula",
        key=_WIDGET,
        placeholder="Click one in the list, or type one: #<on^-1>clear, or exists y (on(x,y) & clear(y))",
        on_change=lambda: select(formula=st.session_state[_WIDGET].strip(), open=None),
    )
    if not text.strip():
        st.info("Click a formula in the list, or type one, to see what it says and where.")
        return None
    try:
        return catalogue.read(text)
    except (InputError, RecursionError) as error:
        st.error(plain(error))
        return None


def clickable(table: pd.DataFrame, formulas: list[Node], catalogue: Catalogue, key: str) -> None:
    """A table of formulas, one a row; a click on a row selects its formula."""

    def clicked() -> None:
        cells = st.session_state[key].selection.cells
        if cells:
            choose(formulas[cells[0][0]], catalogue)

    st.dataframe(
        table,
        hide_index=True,
        key=key,
        on_select=clicked,
        selection_mode="single-cell",
        placeholder="",
        height=min(340, 37 + 35 * len(table)),
        column_config={
            "formula": st.column_config.TextColumn(width="large"),
            "weight": st.column_config.NumberColumn(format="%g", help="In the value function"),
            "features": st.column_config.NumberColumn(help="Features of the pool that contain it"),
        },
    )


def large(number: int) -> str:
    """A number as people read it; of very large ones only how large they are.

    Examples
    --------
    >>> large(12345), large(3 * 10**40)
    ('12,345', '10^40')
    """
    return f"{number:,}" if number < 10**9 else f"10^{len(str(number)) - 1}"
