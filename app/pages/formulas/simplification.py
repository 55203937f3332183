"""Shorter formulas: by laws of logic, or by a search relative to data."""

from pathlib import Path

import streamlit as st

from app.components.formula_display import show_formula
from app.components.formula_selection import number_text, select_formula
from app.pages.formulas.distribution import WORK
from app.pages.formulas.neighbours import training
from app.session.run_session import RunSession
from app.session.selection import select, selected
from distill.evaluation import Shortening, sample_evenly, shorten
from distill.explanations import Catalogue
from distill.logic import Node, simplify

_LAWS, _SEARCH = "laws", "search"


def show_simplified(formula: Node, run: RunSession, catalogue: Catalogue) -> None:
    """Offer the two methods and show their results."""
    split = training(run)
    st.caption(
        "Laws of logic always preserve the meaning. The search finds a shorter formula that is equivalent on "
        "the training states; on other states it may differ."
    )
    by_laws, by_search, _ = st.columns([1, 1, 3])
    by_laws.button(
        "Apply laws", key="simplify/laws", on_click=lambda: select(simplify=_LAWS), width="stretch"
    )
    by_search.button(
        "Search for a shorter one",
        key="simplify/search",
        on_click=lambda: select(simplify=_SEARCH),
        width="stretch",
    )
    method = selected("simplify")
    if method == _LAWS:
        found, known = _by_laws(formula.order[2], formula), "Equivalent on all states."
    elif method == _SEARCH:
        short = _by_search(str(run.folder), run.stamp, split, formula.order[2], formula)
        found, known = (
            short.formula,
            f"{short.sentence[0].upper()}{short.sentence[1:]} {_of(short.states, run, split)}.",
        )
    else:
        return
    if found is formula:
        by = "By these laws" if method == _LAWS else "By this search"
        st.info(f"{by} no shorter formula was found ({number_text(formula.size)} symbols).")
        return
    st.text(f"{number_text(formula.size)} symbols become {number_text(found.size)}. {known}")
    show_formula(found, run)
    st.button("Select this formula", key="simplify/use", on_click=lambda: select_formula(found, catalogue))


def _of(states: int, run: RunSession, split: str) -> str:
    everything = len(run.structures(split))
    return f"of {split}" if states == everything else f"of {split} that were evaluated, of {everything:,}"


@st.cache_resource(max_entries=200, show_spinner="Simplifying")
def _by_laws(key: bytes, _formula: Node) -> Node:
    return simplify(_formula)


@st.cache_resource(max_entries=200, show_spinner="Searching")
def _by_search(folder: str, stamp: int, split: str, key: bytes, _formula: Node) -> Shortening:
    run = RunSession(Path(folder), stamp)
    data, states = run.states(split), run.structures(split)
    # A shorter formula is evaluated a few times.
    objects = max(1, WORK // (8 * sum(1 for _ in _formula.walk())))
    chosen = sample_evenly(states, len(states), objects)
    if len(chosen) < len(states):
        data, states = data.pick(chosen), states[chosen]
    return shorten(_formula, data, states)
