"""A formula on a state: its input, and the objects of which it holds."""

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from app.components.escape import escape
from app.components.formula_display import show_formula
from app.components.formula_selection import catalogue_of
from app.components.state_view import StateView
from app.session.run_session import RunSession
from app.session.selection import notation, page_link, select, selected
from distill.common import InputError
from distill.explanations import counted_concept
from distill.logic import Count, Evaluator, Node, Number, Truth

LARGEST = 300  # symbols of a formula whose parts are shown
_OFFERED = 40  # formulas of the run in the list
_TEXT = 90  # characters of a formula in a list
_NAMED = 60  # objects that are named


def ask_formula(run: RunSession) -> Node | None:
    """Show an input for the formula and parse it; None if it is empty or invalid."""
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
            "or a formula of this run",
            list(offered),
            key="state/terms",
            on_change=taken,
            format_func=offered.__getitem__,
            placeholder="terms and the formulas that they count",
        )
    if not text:
        return None
    try:
        formula = _read(str(run.folder), run.stamp, text, run)
    except InputError as error:
        st.warning(escape(error))
        return None
    if notation() != "ascii" or text != str(formula):
        show_formula(formula, run)
    page_link("formulas", "Open it on the page Formulas", run=run.name, formula=text)
    return formula


@st.cache_resource(max_entries=200, show_spinner=False)
def _read(folder: str, stamp: int, text: str, _run: RunSession) -> Truth | Number:
    return catalogue_of(_run).read(text)


@st.cache_data(max_entries=20, show_spinner=False)
def _offered(folder: str, stamp: int, _run: RunSession) -> dict[str, str]:
    """Terms of the value function and the formulas that they count: labels by address."""
    catalogue = catalogue_of(_run)
    found: dict[str, str] = {}
    for weight, feature in sorted(_run.value_function.terms(), key=lambda term: -abs(term[0])):
        inside = [node.fields[0] for node in feature.number.walk() if isinstance(node, Count)]
        for formula in (feature.number, *inside):
            address = catalogue.address(formula)
            if address and len(found) < _OFFERED:
                text = str(formula) if formula.size <= LARGEST else f"a formula of {formula.size} symbols"
                text = text if len(text) <= _TEXT else f"{text[:_TEXT]}…"
                found.setdefault(address, f"{weight:g} · {text}" if formula is feature.number else text)
    return found


def show_held(view: StateView, formula: Node) -> NDArray[np.int64]:
    """Show the value of a formula in a state; returns the objects of which it holds, or which it counts."""
    evaluator = Evaluator(view.state.structure)
    inner = counted_concept(formula)
    if isinstance(formula, Number):
        st.text(f"Its value here: {evaluator.number(formula)[0]:.6g}")
    elif isinstance(formula, Truth) and formula.of_state:
        st.text(f"It {'holds' if evaluator.holds(formula)[0] else 'does not hold'} in this state.")
    if inner is None:
        return np.zeros(0, dtype=np.int64)
    held = np.flatnonzero(evaluator.holds(inner))
    names = [view.inspection.objects[one] for one in held[:_NAMED]]
    more = f" and {len(held) - _NAMED} more" if len(held) > _NAMED else ""
    listed = f": {', '.join(names)}{more}" if names else ""
    what = "It holds of" if inner is formula else "It counts"
    st.text(f"{what} {len(held)} of {len(view.inspection.objects)} objects{listed}")
    return held
