"""The card of a formula: its meaning, its provenance, its values and its neighbours."""

from collections.abc import Callable
from typing import cast

import streamlit as st

from app.components.escape import escape
from app.components.failures import FAILURES
from app.components.formula_display import formula_downloads, preformatted, show_formula
from app.components.formula_selection import number_text, select_formula
from app.pages.formulas.distribution import show_data
from app.pages.formulas.neighbours import show_neighbours
from app.pages.formulas.simplification import show_simplified
from app.pages.formulas.state_editor import show_state_editor
from app.pages.formulas.syntax_graph import show_inside
from app.session.run_session import RunSession
from app.session.selection import pick_section
from distill.common import InputError
from distill.explanations import OBJECTS, Catalogue, Entry
from distill.logic import Node, Number, Truth, explain

_EXPLAINED = 400  # symbols of a formula that is explained in words
_FRAGMENTS = {
    "GC2": "guarded C2: properties of an object that a relational GNN can compute",
    "C2": "first-order logic with two variables and counting",
    "BEYOND": "more than C2: closures, distances, products, or relations of three and more arguments",
}


def show_card(formula: Truth | Number, run: RunSession, catalogue: Catalogue) -> None:
    """Show the card of a formula of the run, or of a typed one."""
    entry = catalogue.entry(formula)
    with st.container(key="first"):
        show_formula(formula, run)
        if formula.size <= _EXPLAINED:
            st.text(f"In words: {explain(formula)}.")
    _show_facts(formula, entry)
    _show_origin(entry, run)
    # The forms of features also express formulas about objects.
    _carefully(lambda: formula_downloads(cast(Number, formula), run, "formula"))
    sections: dict[str, Callable[[], None]] = {
        "On the data": lambda: show_data(formula, run, catalogue),
        "Neighbours": lambda: show_neighbours(formula, run, catalogue),
        "Inside": lambda: show_inside(formula, lambda part: select_formula(part, catalogue)),
        "Simplify": lambda: show_simplified(formula, run, catalogue),
        "Try it": lambda: show_state_editor(formula, run),
    }
    _carefully(sections[pick_section(list(sections), "card")])


def _carefully(part: Callable[[], None]) -> None:
    """Show a part of the card; if it fails, the other parts are still shown."""
    try:
        part()
    except (InputError, *FAILURES) as error:
        st.error(escape(str(error) or type(error).__name__))


def _show_facts(formula: Node, entry: Entry | None) -> None:
    name = formula.fragment.name
    facts = [
        ("Size", number_text(formula.size), "Number of symbols"),
        ("Depth", str(formula.depth), "Nested modals"),
        ("Fragment", "beyond C2" if name == "BEYOND" else name, _FRAGMENTS[name]),
        ("Kind", _kind(formula, entry), "Kind of the feature, or the subject of the formula"),
        ("Weight", _weight(entry), "Weight in the value function"),
    ]
    for column, (label, value, hint) in zip(st.columns(len(facts)), facts, strict=True):
        column.caption(label, help=hint)
        column.text(value)


def _kind(formula: Node, entry: Entry | None) -> str:
    if entry is not None and entry.kind != OBJECTS:
        return entry.kind
    if isinstance(formula, Number):
        return "number"
    return "about states" if getattr(formula, "of_state", False) else "about objects"


def _weight(entry: Entry | None) -> str:
    if entry is None:
        return "not in this run"
    if entry.weight:
        return f"{entry.weight:g}"
    return "none, but part of a term" if entry.used else "not used"


def _show_origin(entry: Entry | None, run: RunSession) -> None:
    if entry is None:
        st.text("Not a formula of this run; it is evaluated on the run's states.")
        return
    within = f"It is part of {entry.features:,} feature{'s' if entry.features != 1 else ''} of the pool."
    if entry.provenance is None:
        st.text(f"It is not a leaf set or a split of a tree. {within}")
        return
    st.text(" ".join([*entry.provenance.sentences, *([within] if entry.kind == OBJECTS else [])]))
    if entry.provenance.formula is not None:
        st.text("The formula in the tree; it is equivalent on the training data:")
        show_formula(entry.provenance.formula, run)
    if entry.provenance.chain is not None:
        st.text("The relation of the steps, and the concept where they start:")
        preformatted(f"{entry.provenance.chain.relation}    {entry.provenance.chain.concept}")
