"""A formula made shorter: by laws that always hold, or by a search that is relative to data."""

from pathlib import Path

import streamlit as st

from app.chosen_formula import choose, large
from app.formula_data import WORK
from app.formula_neighbours import training
from app.opened import Opened
from app.parts import show_formula
from app.selection import select, selected
from distill.jobs.catalogue import Catalogue
from distill.jobs.neighbours import spread
from distill.jobs.shortening import Shortened, shorten
from distill.logic import Node, simplify

_LAWS, _SEARCH = "laws", "search"


def show_simplified(formula: Node, opened: Opened, catalogue: Catalogue) -> None:
    """Two ways to a shorter formula, each a button, and what they give."""
    split = training(opened)
    st.caption(
        "Laws of logic hold always. The search looks for a shorter formula that says the same on the "
        "training states; elsewhere it may differ."
    )
    by_laws, by_search, _ = st.columns([1, 1, 3])
    by_laws.button(
        "Apply laws", key="simplify/laws", on_click=lambda: select(simplify=_LAWS), width="stretch"
    )
    by_search.button(
        "Search a shorter one",
        key="simplify/search",
        on_click=lambda: select(simplify=_SEARCH),
        width="stretch",
    )
    way = selected("simplify")
    if way == _LAWS:
        found, known = _by_laws(formula.order[2], formula), "The same on all states there are."
    elif way == _SEARCH:
        short = _by_search(str(opened.folder), opened.stamp, split, formula.order[2], formula)
        found, known = (
            short.formula,
            f"{short.sentence[0].upper()}{short.sentence[1:]} {_of(short.states, opened, split)}.",
        )
    else:
        return
    if found is formula:
        by = "By these laws" if way == _LAWS else "By this search"
        st.info(f"{by} nothing shorter was found ({large(formula.size)} symbols).")
        return
    st.text(f"{large(formula.size)} symbols become {large(found.size)}. {known}")
    show_formula(found, opened)
    st.button("Go on with this formula", key="simplify/use", on_click=lambda: choose(found, catalogue))


def _of(states: int, opened: Opened, split: str) -> str:
    everything = len(opened.structures(split))
    return f"of {split}" if states == everything else f"of {split} that were looked at, of {everything:,}"


@st.cache_resource(max_entries=200, show_spinner="Simplifying")
def _by_laws(key: bytes, _formula: Node) -> Node:
    return simplify(_formula)


@st.cache_resource(max_entries=200, show_spinner="Searching")
def _by_search(folder: str, stamp: int, split: str, key: bytes, _formula: Node) -> Shortened:
    opened = Opened(Path(folder), stamp)
    data, states = opened.states(split), opened.structures(split)
    # A shorter one is checked a few times.
    objects = max(1, WORK // (8 * sum(1 for _ in _formula.walk())))
    chosen = spread(states, len(states), objects)
    if len(chosen) < len(states):
        data, states = data.pick(chosen), states[chosen]
    return shorten(_formula, data, states)
