"""The formula that is asked of a state: reading it, and where it and its parts hold."""

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from app.chosen_formula import catalogue_of
from app.opened import Opened
from app.parts import plain, show_formula, table_download
from app.selection import notation, page_link, select, selected
from app.state_tables import LARGEST, MOST_PARTS, TICK, numbers_table, truth_table
from app.state_view import View
from distill.errors import InputError
from distill.jobs.catalogue import counted
from distill.jobs.inspection import subformulas
from distill.logic import Count, Evaluator, Node, Number, Truth

_OFFERED = 40  # formulas of the run to choose from
_TEXT = 90  # characters of a formula in a list
_NAMED = 60  # objects that are named one by one


def ask_formula(run: Opened) -> Node | None:
    """The formula that is asked for; what cannot be read is told."""
    st.session_state["state/formula"] = selected("formula")
    st.session_state["state/terms"] = None
    offered = _offered(str(run.folder), run.stamp, run)

    def typed() -> None:
        select(formula=st.session_state["state/formula"].strip())

    def taken() -> None:
        select(formula=st.session_state["state/terms"])

    left, right = st.columns([3, 2])
    with left:
        text = st.text_input(
            "Formula",
            key="state/formula",
            on_change=typed,
            placeholder="<on>clear, or #clear, or [#clear > 1]",
        )
    with right:
        st.selectbox(
            "or one of this run",
            list(offered),
            key="state/terms",
            on_change=taken,
            format_func=offered.__getitem__,
            placeholder="terms, and what they count",
        )
    if not text:
        return None
    try:
        formula = _read(str(run.folder), run.stamp, text, run)
    except InputError as error:
        st.warning(plain(error))
        return None
    if notation() != "ascii" or text != str(formula):
        show_formula(formula, run)
    page_link("formulas", "Open it on the page Formulas", run=run.name, formula=text)
    return formula


@st.cache_resource(max_entries=200, show_spinner=False)
def _read(folder: str, stamp: int, text: str, _run: Opened) -> Truth | Number:
    return catalogue_of(_run).read(text)


@st.cache_data(max_entries=20, show_spinner=False)
def _offered(folder: str, stamp: int, _run: Opened) -> dict[str, str]:
    """Terms of the value function and what they count, as the address has them, and how they are listed."""
    catalogue = catalogue_of(_run)
    found: dict[str, str] = {}
    for weight, feature in sorted(_run.distilled.terms(), key=lambda term: -abs(term[0])):
        inside = [node.fields[0] for node in feature.number.walk() if isinstance(node, Count)]
        for formula in (feature.number, *inside):
            address = catalogue.address(formula)
            if address and len(found) < _OFFERED:
                text = str(formula) if formula.size <= LARGEST else f"a formula of {formula.size} symbols"
                text = text if len(text) <= _TEXT else f"{text[:_TEXT]}…"
                found.setdefault(address, f"{weight:g} · {text}" if formula is feature.number else text)
    return found


def show_held(view: View, formula: Node) -> NDArray[np.int64]:
    """Say what the formula is in this state; the objects that it holds of, or that it counts."""
    evaluator = Evaluator(view.state.structure)
    inner = counted(formula)
    if isinstance(formula, Number):
        st.text(f"Its number here: {evaluator.number(formula)[0]:.6g}")
    elif isinstance(formula, Truth) and formula.of_state:
        st.text(f"It {'holds' if evaluator.holds(formula)[0] else 'does not hold'} in this state.")
    if inner is None:
        return np.zeros(0, dtype=np.int64)
    held = np.flatnonzero(evaluator.holds(inner))
    names = [view.inspection.objects[one] for one in held[:_NAMED]]
    more = f" and {len(held) - _NAMED} more" if len(held) > _NAMED else ""
    listed = f": {', '.join(names)}{more}" if names else ""
    what = "It holds of" if inner is formula else "It is about"
    st.text(f"{what} {len(held)} of {len(view.inspection.objects)} objects{listed}")
    return held


def show_parts(view: View, formula: Node) -> None:
    """Which parts of the formula hold of which objects, and what they are in the whole state."""
    st.subheader("Where the parts of the formula hold", anchor=False)
    if formula.size > LARGEST:
        st.info(f"The formula has {formula.size:,} symbols; its parts are told up to {LARGEST}.")
        return
    table = truth_table(formula, view.state, view.inspection.objects, view.write)
    numbers = numbers_table(formula, view.state, view.write)
    if len(subformulas(formula)) > MOST_PARTS:
        st.caption(f"The {MOST_PARTS} largest parts are shown.")
    if len(table.columns) > 1:
        ticks = table.replace({True: TICK, False: ""})
        st.dataframe(ticks, hide_index=True, key="state/parts")
        table_download(table, f"{view.name}-formula", "Truth table as CSV")
    if len(numbers) > 1:
        st.dataframe(numbers, hide_index=True, width="content", key="state/numbers")
