"""The formula of the laboratory: typed with completion, or begun from one of the run."""

from collections.abc import Sequence

import streamlit as st

from app.chosen_formula import catalogue_of
from app.lab_completion import inserted, offers
from app.opened import Opened
from app.parts import show_formula
from app.plain import plain
from app.selection import page_link, select, selected
from distill.errors import InputError
from distill.jobs.catalogue import Catalogue
from distill.logic import Atom, Node, Number, Role, Truth, explain
from distill.logic.evaluation import meant_by
from distill.structures import Vocabulary

_WIDGET, _TEMPLATE = "lab/formula", "lab/template"
_EXPLAINED = 200  # symbols that are said in words
_LISTED = 200  # formulas of the run that a new one can begin with
_TEXT = 110  # characters of each of them
_PAUSE = "400ms"  # in typing, after which the page looks


def ask_formula(run: Opened) -> Truth | Number | None:
    """The formula that is typed; None if there is none, or if it cannot be read, which is told."""
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
    words = spoken(run)
    _show_offers(text, words, catalogue_of(run).predicates)
    if not text.strip():
        st.info("Type a formula, or begin with one of this run, to see what it says and what it adds to V.")
        return None
    try:
        formula = catalogue_of(run).read(text)
        check_words(formula, words)
    except (InputError, RecursionError) as error:
        st.warning(plain(error))
        return None
    if text.strip() != str_of(formula):
        show_formula(formula, run)
    if formula.size <= _EXPLAINED:
        st.text(f"In words: {explain(formula)}.")
    page_link("formulas", "Its card on the page Formulas", run=run.name, formula=text.strip())
    return formula


def spoken(run: Opened) -> Vocabulary:
    """The predicates as the formulas of a run see them."""
    return run.vocabulary.marked() if run.distilled.goal_marking else run.vocabulary


def check_words(formula: Node, words: Vocabulary) -> None:
    """Refuse what speaks of predicates that are not there, and suggest others."""
    for node in formula.walk():
        if isinstance(node, Atom | Role):
            meant_by(words, node.fields[0])


def str_of(formula: Node) -> str:
    """A formula as it is typed, if it is not huge."""
    return str(formula) if formula.size <= _EXPLAINED else ""


def _show_offers(text: str, words: Vocabulary, used: Sequence[str]) -> None:
    """Buttons with what may come next."""

    def insert(offer: str) -> None:
        # What was typed last may be newer than these buttons.
        select(formula=inserted(st.session_state.get(_WIDGET, selected("formula")), offer))

    with st.container(horizontal=True, gap="small", key="lab/offers"):
        for number, offer in enumerate(offers(text, words, used)):
            shown = plain(offer.text.strip())
            st.button(
                shown,
                key=f"lab/offer/{number}",
                on_click=insert,
                args=(offer.text,),
                help=offer.meaning or None,
                type="secondary",
            )


def _show_templates(run: Opened) -> None:
    catalogue = catalogue_of(run)
    listed = _templates(str(run.folder), run.stamp, catalogue)
    st.session_state[_TEMPLATE] = None
    st.selectbox(
        "Begin with a formula of this run",
        list(listed),
        key=_TEMPLATE,
        format_func=listed.__getitem__,
        placeholder=f"terms, what they are made of, other features ({len(listed)})",
        on_change=lambda: select(formula=st.session_state[_TEMPLATE]),
    )


@st.cache_data(max_entries=20, show_spinner=False)
def _templates(folder: str, stamp: int, _catalogue: Catalogue) -> dict[str, str]:
    """Formulas as an address has them, and how they are listed: terms, then their parts, then others."""
    found: dict[str, str] = {}
    for entry in _catalogue:
        if len(found) == _LISTED:
            break
        address = _catalogue.address(entry.formula)
        if address is None:
            continue
        text = address if len(address) <= _TEXT else f"{address[:_TEXT]}…"
        kind = f"{entry.weight:+g} · " if entry.weight else "inside V: " if entry.used else ""
        found[address] = f"{kind}{text}"
    return found
