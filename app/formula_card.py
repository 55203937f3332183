"""The card of a formula: what it says, where it is from, what it does on data, and what is near it."""

from collections.abc import Callable
from typing import cast

import streamlit as st

from app.chosen_formula import choose, large
from app.formula_data import show_data
from app.formula_graph import show_inside
from app.formula_neighbours import show_neighbours
from app.formula_simplified import show_simplified
from app.opened import Opened
from app.own_state import show_own_state
from app.parts import formula_downloads, preformatted, show_formula
from app.plain import plain
from app.selection import pick_section
from distill.errors import InputError
from distill.jobs.catalogue import OBJECTS, Catalogue, Entry
from distill.logic import Node, Number, Truth, explain
from distill.trees import Origin

_EXPLAINED = 400  # symbols that are said in words
_FRAGMENTS = {
    "GC2": "guarded C2: what a relational GNN can see of an object",
    "C2": "first-order logic with two variables and counting",
    "BEYOND": "more than C2: closures, distances, products, or relations of three and more arguments",
}
FAILURES = (InputError, OSError, ValueError, LookupError, TypeError, ArithmeticError)


def show_card(formula: Truth | Number, opened: Opened, catalogue: Catalogue) -> None:
    """The card of a formula, of the run or typed."""
    entry = catalogue.entry(formula)
    with st.container(key="first"):
        show_formula(formula, opened)
        if formula.size <= _EXPLAINED:
            st.text(f"In words: {explain(formula)}.")
    _show_facts(formula, entry)
    _show_origin(entry, opened)
    # The forms of features also say what holds of objects.
    _carefully(lambda: formula_downloads(cast(Number, formula), opened, "formula"))
    sections: dict[str, Callable[[], None]] = {
        "On the data": lambda: show_data(formula, opened, catalogue),
        "Neighbours": lambda: show_neighbours(formula, opened, catalogue),
        "Inside": lambda: show_inside(formula, lambda part: choose(part, catalogue)),
        "Simplify": lambda: show_simplified(formula, opened, catalogue),
        "Try it": lambda: show_own_state(formula, opened),
    }
    _carefully(sections[pick_section(list(sections), "card")])


def _carefully(part: Callable[[], None]) -> None:
    """A part of the card; if it fails, the others stay."""
    try:
        part()
    except FAILURES as error:
        st.error(plain(str(error) or type(error).__name__))


def _show_facts(formula: Node, entry: Entry | None) -> None:
    name = formula.fragment.name
    facts = [
        ("Size", large(formula.size), "Symbols when written out"),
        ("Depth", str(formula.depth), "How deeply modals are nested"),
        ("Fragment", "beyond C2" if name == "BEYOND" else name, _FRAGMENTS[name]),
        ("Kind", _kind(formula, entry), "Of the feature, or what the formula is about"),
        ("Weight", _weight(entry), "In the value function"),
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
    return "none, but inside a term" if entry.used else "not used"


def _show_origin(entry: Entry | None, opened: Opened) -> None:
    if entry is None:
        st.text("Not a formula of this run; here is what it says on the run's states.")
        return
    within = f"It is part of {entry.features:,} feature{'s' if entry.features != 1 else ''} of the pool."
    if entry.origin is None:
        st.text(f"No tree bore it by itself. {within}")
        return
    st.text(" ".join([*told_origin(entry.origin), within if entry.kind == OBJECTS else ""]).strip())
    if entry.origin.formula is not None:
        st.text("What the tree itself said; on what it was learned from, that is the same:")
        show_formula(entry.origin.formula, opened)
    if entry.origin.chain is not None:
        st.text("The steps are along this relation, from this concept:")
        preformatted(f"{entry.origin.chain.relation}    {entry.origin.chain.concept}")


def told_origin(origin: Origin) -> list[str]:
    """Where a formula was born, a sentence each.

    Examples
    --------
    >>> told_origin(Origin(2, 0, (4, 7)))
    ['Born in layer 2 of the network, in tree 0, as the set of leaves 4, 7.']
    >>> told_origin(Origin(0)), told_origin(Origin(-1, 3))
    (['Given by the domain.'], ['Born in the trees about states, in tree 3, as a split.'])
    """
    if origin.pool == "enumerate":
        return ["Made without a network: it is one of all short formulas."]
    if origin.layer == 0:
        found = ["Given by the domain."]
    else:
        where = "the trees about states" if origin.layer < 0 else f"layer {origin.layer} of the network"
        tree = f", in tree {origin.tree}" if origin.tree >= 0 else ""
        leaves = (
            f"as the set of leaves {', '.join(map(str, origin.leaves))}" if origin.leaves else "as a split"
        )
        found = [f"Born in {where}{tree}, {leaves}."]
    if origin.pool == "polish":
        found = [
            "Not born in trees, but found near features that were, when these were said in fewer symbols."
        ]
    if origin.chain is not None:
        first, last = origin.chain.steps
        layers = ", ".join(map(str, origin.chain.layers))
        found.append(f"Admitted as trees bore the steps {first} to {last} in a row (layers {layers}).")
    return found
