"""The selected formula: parsed from the address or from typed text, never executed."""

from pathlib import Path

import pandas as pd
import streamlit as st

from app.components.escape import escape
from app.session.run_session import RunSession
from app.session.selection import select, selected
from distill.common import InputError
from distill.explanations import Catalogue
from distill.logic import Node, Number, Truth

_WIDGET = "formulas/formula"


def catalogue_of(run: RunSession) -> Catalogue:
    """All formulas of a run."""
    return _catalogue(str(run.folder), run.stamp)


@st.cache_resource(max_entries=8, show_spinner="Listing formulas")
def _catalogue(folder: str, stamp: int) -> Catalogue:
    return Catalogue(RunSession(Path(folder), stamp).value_function)


def select_formula(formula: Node, catalogue: Catalogue) -> None:
    """Select a formula and close the parts that were open in the last one."""
    address = catalogue.address(formula)
    if address is None:
        st.toast("This formula is too large for an address; open the formula that contains it.")
    else:
        select(formula=address, open=None)


def ask_formula(catalogue: Catalogue) -> Truth | Number | None:
    """Show an input for the selected formula and parse it; None if it is empty or invalid."""
    text = selected("formula")
    st.session_state[_WIDGET] = text
    st.text_input(
        "Formula",
        key=_WIDGET,
        placeholder="Click one in the list, or type one: #<on^-1>clear, or exists y (on(x,y) & clear(y))",
        on_change=lambda: select(formula=st.session_state[_WIDGET].strip(), open=None),
    )
    if not text.strip():
        st.info("Click a formula in the list, or type one, to see its meaning and its values.")
        return None
    try:
        return catalogue.read(text)
    except InputError as error:
        st.error(escape(error))
        return None


def formula_table(table: pd.DataFrame, formulas: list[Node], catalogue: Catalogue, key: str) -> None:
    """Show a table with one formula per row; a click on a row selects its formula."""

    def clicked() -> None:
        cells = st.session_state[key].selection.cells
        if cells:
            select_formula(formulas[cells[0][0]], catalogue)

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
            "weight": st.column_config.NumberColumn(format="%g", help="Weight in the value function"),
            "features": st.column_config.NumberColumn(help="Features of the pool that contain it"),
        },
    )


def number_text(number: int) -> str:
    """A number with separators; of a very large one only the order of magnitude.

    Examples
    --------
    >>> number_text(12345), number_text(3 * 10**40)
    ('12,345', '10^40')
    """
    return f"{number:,}" if number < 10**9 else f"10^{len(str(number)) - 1}"
