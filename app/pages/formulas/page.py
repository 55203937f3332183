"""The page Formulas: all formulas of a run, also those that the value function does not use."""

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.components.escape import escape
from app.components.failures import FAILURES
from app.components.formula_display import formula_text
from app.components.formula_selection import ask_formula, catalogue_of, formula_table
from app.pages.formulas.card import show_card
from app.session.run_session import RunSession, current_run
from app.session.selection import notation, remember, select, selected
from distill.common import InputError
from distill.explanations import Catalogue, Entry

_SHOWN = 100  # formulas in the list
_EXPORTED = 1_000  # formulas in the file
_LISTED = 400  # symbols of a formula in the chosen notation; longer ones are shown as typed
_KEYS = ("find", "predicate", "layer", "kind", "used", "smallest", "largest")
_USED = {"yes": True, "no": False}
_LAYERS = {-1: "states", 0: "domain"}


def show() -> None:
    """Show the page."""
    st.title("Formulas")
    st.caption(
        "The meaning, the provenance and the values of a formula, and equivalent formulas: for all features "
        "of the run, the formulas about objects inside them, and any formula that you type."
    )
    run = current_run()
    remember("run", "notation", "formula", "split", "state", *_KEYS, "card", "inside", "open", "levels")
    remember("simplify", "atoms", "objects")
    catalogue = catalogue_of(run)
    try:
        _show_list(run, catalogue)
    except (InputError, *FAILURES) as error:
        st.error(escape(str(error) or type(error).__name__))
    st.divider()
    formula = ask_formula(catalogue)
    if formula is not None:
        show_card(formula, run, catalogue)


def _show_list(run: RunSession, catalogue: Catalogue) -> None:
    if not len(catalogue):
        st.info("This run has no features; type a formula below to evaluate it on the states.")
        return
    found = _filtered(catalogue)
    features = sum(entry.kind != "objects" for entry in found)
    shown = f"; the first {_SHOWN} are listed" if len(found) > _SHOWN else ""
    st.text(
        f"{len(found):,} of {len(catalogue):,} formulas: {features:,} features of states, "
        f"{len(found) - features:,} formulas about objects{shown}."
    )
    if not found:
        st.info("No formula satisfies all conditions; remove one of them.")
        st.button("Remove all conditions", key="formulas/reset", on_click=_reset)
        return
    listed = found[:_SHOWN]
    formula_table(
        _table(listed, run, _listed), [entry.formula for entry in listed], catalogue, "formulas/list"
    )
    _show_export(found, run)


def _filtered(catalogue: Catalogue) -> list[Entry]:
    """The formulas that satisfy the conditions in the address."""
    notes = st.container()
    several = {
        "predicate": _wanted(notes, "Predicates", "predicate", catalogue.predicates),
        "kind": _wanted(notes, "Kinds", "kind", catalogue.kinds),
        "layer": _wanted(notes, "Layer", "layer", [str(layer) for layer in catalogue.layers]),
    }
    active = any(selected(key) for key in _KEYS if key != "find")
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    with left:
        _text("Find", "find", "Text in the typed formula, such as <on> or clear_G")
    with right, st.expander("More conditions", active, key="formulas/more", on_change="rerun") as more:
        # Hidden widgets take time as well.
        if more.open:
            _more_conditions(catalogue, several)
    return catalogue.find(
        selected("find"),
        predicates=several["predicate"],
        kinds=several["kind"],
        layers=[int(layer) for layer in several["layer"]],
        used=_USED.get(selected("used")),
        smallest=_whole("smallest") or 0,
        largest=_whole("largest"),
    )


def _more_conditions(catalogue: Catalogue, several: dict[str, list[str]]) -> None:
    first = st.columns([3, 2], vertical_alignment="bottom")
    with first[0]:
        _several("Predicates", "predicate", catalogue.predicates, several, "Predicates that must all occur")
    with first[1]:
        hint = "“objects”: formulas about objects inside features"
        _several("Kinds", "kind", catalogue.kinds, several, hint)
    second = st.columns([2, 2, 1, 1, 1], vertical_alignment="bottom")
    with second[0]:
        _several(
            "Layer",
            "layer",
            [str(layer) for layer in catalogue.layers],
            several,
            "Layer of the network; “states”: trees about states; “domain”: no tree",
            lambda layer: _LAYERS.get(int(layer), layer),
        )
    with second[1]:
        _one("In the value function", "used", {"": "any", "yes": "used", "no": "not used"})
    for place, label, key in ((2, "Size from", "smallest"), (3, "Size to", "largest")):
        with second[place]:
            _number(label, key)
    with second[4]:
        st.button("Clear", key="formulas/clear", on_click=_reset, help="Remove all conditions")


def _reset() -> None:
    select(**dict.fromkeys(_KEYS))


def _wanted(notes: DeltaGenerator, label: str, key: str, options: Sequence[str]) -> list[str]:
    """The options in the address, separated by spaces, which PDDL names cannot contain."""
    wanted = selected(key).split()
    unknown = [one for one in wanted if one not in options]
    if unknown:
        notes.info(f"{label}: “{escape(' '.join(unknown))}” does not occur in this run and is ignored.")
        wanted = [one for one in wanted if one in options]
        select(**{key: " ".join(wanted)})
    return wanted


def _whole(key: str) -> int | None:
    """The positive whole number in the address; None if it is none."""
    wanted = selected(key)
    return int(wanted) if wanted.isdecimal() and len(wanted) < 10 and int(wanted) > 0 else None


def _text(label: str, key: str, hint: str) -> None:
    widget = f"formulas/{key}"
    st.session_state[widget] = selected(key)
    st.text_input(
        label,
        key=widget,
        placeholder=hint,
        on_change=lambda: select(**{key: st.session_state[widget].strip()}),
    )


def _several(
    label: str,
    key: str,
    options: Sequence[str],
    wanted: dict[str, list[str]],
    hint: str,
    show: Callable[[str], str] = str,
) -> None:
    widget = f"formulas/{key}"
    st.session_state[widget] = wanted[key]
    st.multiselect(
        label,
        options,
        key=widget,
        help=hint,
        format_func=show,
        placeholder="any",
        on_change=lambda: select(**{key: " ".join(st.session_state[widget])}),
    )


def _one(label: str, key: str, options: dict[str, str]) -> None:
    widget = f"formulas/{key}"
    wanted = selected(key)
    st.session_state[widget] = wanted if wanted in options else ""
    st.selectbox(
        label,
        list(options),
        key=widget,
        format_func=options.__getitem__,
        on_change=lambda: select(**{key: st.session_state[widget]}),
    )


def _number(label: str, key: str) -> None:
    widget = f"formulas/{key}"
    st.session_state[widget] = _whole(key)
    st.number_input(
        label,
        min_value=1,
        value=None,
        key=widget,
        placeholder="any",
        on_change=lambda: select(**{key: st.session_state[widget]}),
    )


def _table(
    entries: Sequence[Entry], run: RunSession, write: Callable[[Entry, RunSession], str]
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "formula": [write(entry, run) for entry in entries],
            "kind": [entry.kind for entry in entries],
            "weight": [float(entry.weight) or None for entry in entries],
            "used": ["yes" if entry.used else "no" for entry in entries],
            "size": [min(entry.formula.size, 10**15) for entry in entries],
            "depth": [entry.formula.depth for entry in entries],
            "layer": ["" if e.layer is None else _LAYERS.get(e.layer, str(e.layer)) for e in entries],
            "features": [entry.features for entry in entries],
        }
    )


def _listed(entry: Entry, run: RunSession) -> str:
    """A formula in the list, in the chosen notation unless it is too long."""
    form = notation() if entry.formula.size <= _LISTED else "ascii"
    # A table cannot typeset LaTeX.
    return formula_text(entry.formula, run, "emlc" if form == "latex" else form)


def _show_export(found: list[Entry], run: RunSession) -> None:
    """Offer the list as a file."""
    numbers = tuple(entry.number for entry in found[:_EXPORTED])
    text = _as_csv(str(run.folder), run.stamp, numbers, found[:_EXPORTED], run)
    cut = f" (first {_EXPORTED:,})" if len(found) > _EXPORTED else ""
    st.download_button(f"List as CSV{cut}", text, "formulas.csv", "text/csv", key="formulas/csv")


@st.cache_data(max_entries=20, show_spinner=False)
def _as_csv(
    folder: str, stamp: int, numbers: tuple[int, ...], _found: list[Entry], _run: RunSession
) -> bytes:
    """The entries with these numbers as a table."""
    table = _table(_found, _run, lambda entry, run: formula_text(entry.formula, run, "ascii"))
    return bytes(table.to_csv(index=False).encode())
