"""The formula of the laboratory: typed with completions, or taken from the run."""

from collections.abc import Sequence

import streamlit as st

from app.components.escape import escape
from app.components.formula_display import show_formula
from app.components.formula_selection import catalogue_of
from app.pages.laboratory.completion import completions, insert_completion
from app.session.run_session import RunSession
from app.session.selection import page_link, select, selected
from distill.common import InputError
from distill.explanations import Catalogue
from distill.logic import Atom, Node, Number, Role, Truth, explain, resolve_predicate
from distill.structures import Vocabulary

_WIDGET, _TEMPLATE = "lab/formula", "lab/template"
_EXPLAINED = 200  # symbols of a formula that is explained in words
_LISTED = 200  # formulas of the run in the list
_TEXT = 110  # characters of each of them
_PAUSE = "400ms"  # in typing, after which the page is updated


def ask_formula(run: RunSession) -> Truth | Number | None:
    """Show an input for the formula and parse it; None if it is empty or invalid."""
    text = selected("formula")
    if st.session_state.get(_WIDGET) != text:
        st.session_state[_WIDGET] = text
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        st.text_input(
            "Formula",
            key=_WIDGET,
            live=_PAUSE,
            on_change=lambda: select(formula=st.session_state[_WIDGET]),
            placeholder="#<on^-1>clear, or exists y (on(x,y) & clear(y))",
        )
    with right:
        _show_templates(run)
    words = formula_vocabulary(run)
    _show_offers(text, words, catalogue_of(run).predicates)
    if not text.strip():
        st.info("Type a formula, or take one of this run, to evaluate it and to add it to V.")
        return None
    try:
        formula = catalogue_of(run).read(text)
        check_predicates(formula, words)
    except InputError as error:
        st.warning(escape(error))
        return None
    if text.strip() != typed_text(formula):
        show_formula(formula, run)
    if formula.size <= _EXPLAINED:
        st.text(f"In words: {explain(formula)}.")
    page_link("formulas", "Open it on the page Formulas", run=run.name, formula=text.strip())
    return formula


def formula_vocabulary(run: RunSession) -> Vocabulary:
    """The predicates of the formulas of a run, with marked goals if it uses them."""
    return run.vocabulary.marked() if run.value_function.goal_marking else run.vocabulary


def check_predicates(formula: Node, words: Vocabulary) -> None:
    """Raise an `InputError` for unknown predicates, with suggestions."""
    for node in formula.walk():
        if isinstance(node, Atom | Role):
            resolve_predicate(words, node.fields[0])


def typed_text(formula: Node) -> str:
    """A formula as typed; empty for a large one."""
    return str(formula) if formula.size <= _EXPLAINED else ""


def _show_offers(text: str, words: Vocabulary, used: Sequence[str]) -> None:
    """Show the completions as buttons."""

    def insert(offer: str) -> None:
        # The input may have changed after these buttons were shown.
        select(formula=insert_completion(st.session_state.get(_WIDGET, selected("formula")), offer))

    with st.container(horizontal=True, gap="small", key="lab/offers"):
        for number, offer in enumerate(completions(text, words, used)):
            shown = escape(offer.text.strip())
            st.button(
                shown,
                key=f"lab/offer/{number}",
                on_click=insert,
                args=(offer.text,),
                help=offer.meaning or None,
                type="secondary",
            )


def _show_templates(run: RunSession) -> None:
    catalogue = catalogue_of(run)
    listed = _templates(str(run.folder), run.stamp, catalogue)
    st.session_state[_TEMPLATE] = None
    st.selectbox(
        "Start with a formula of this run",
        list(listed),
        key=_TEMPLATE,
        format_func=listed.__getitem__,
        placeholder=f"terms, their parts, other features ({len(listed)})",
        on_change=lambda: select(formula=st.session_state[_TEMPLATE]),
    )


@st.cache_data(max_entries=20, show_spinner=False)
def _templates(folder: str, stamp: int, _catalogue: Catalogue) -> dict[str, str]:
    """Formulas of the run with their labels: terms, then their parts, then others."""
    found: dict[str, str] = {}
    for entry in _catalogue:
        if len(found) == _LISTED:
            break
        address = _catalogue.address(entry.formula)
        if address is None:
            continue
        text = address if len(address) <= _TEXT else f"{address[:_TEXT]}…"
        kind = f"{entry.weight:+g} · " if entry.weight else "part of V: " if entry.used else ""
        found[address] = f"{kind}{text}"
    return found
