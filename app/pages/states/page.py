"""The page States: a picture of a state, its atoms, its value and its successors."""

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.components.failures import part
from app.components.formula_display import preformatted
from app.components.formula_selection import catalogue_of
from app.components.state_formula import LARGEST, ask_formula, show_held
from app.components.state_picture import scene_of, show_picture
from app.components.state_view import StateView, v_star_text
from app.components.tables import Target, linked_rows, table_download
from app.drawings import DRAWINGS, drawings_for
from app.drawings.png import to_png
from app.drawings.shapes import Picture
from app.drawings.svg import to_svg
from app.pages.states.greedy_plan import plan_view
from app.pages.states.state_choice import choose_state
from app.pages.states.tables import (
    MOST_PARTS,
    TICK,
    numbers_table,
    successors_table,
    terms_table,
    truth_table,
)
from app.session.run_session import RunSession, current_run
from app.session.selection import page_link, pick, remember, select
from distill.evaluation import Inspection, subformulas
from distill.explanations import ordered_terms
from distill.logic import Node

_BESIDE = 700.0  # the largest width of a picture beside the numbers


def show() -> None:
    """Show the page."""
    st.title("States")
    st.caption(
        "A state with the objects of which a formula holds, the contributions of terms to its value, its "
        "successors and the greedy plan."
    )
    run = current_run()
    remember("formula", "drawing")
    chosen = choose_state(run)
    inspection = Inspection(chosen.data, chosen.instance, run.value_function, chosen.network)
    view = StateView(run, chosen, inspection, inspection.stored(chosen.number))
    with part():
        view = plan_view(view)
    formula = ask_formula(run)
    picture = None
    with part():
        picture = _drawn(view, formula)
    with st.container(key="first"):
        left, right = _places(picture)
    if picture is not None:
        with left, part():
            _show(view, picture)
    with right, part():
        _value(view)
    if formula is not None:
        with part():
            _parts(view, formula)
    with part():
        _successors(view)
    with part():
        _atoms(view)


def _drawn(view: StateView, formula: Node | None) -> Picture:
    """The picture of the state, with the objects of which the formula holds, or which it counts."""
    held = np.zeros(0, dtype=np.int64)
    narrow, wide = st.columns([1, 3], vertical_alignment="bottom")
    with narrow:
        keys = drawings_for(view.run.vocabulary)
        key = pick("Drawing", keys, "drawing", show=lambda one: DRAWINGS[one].name)
    if formula is not None:
        with wide, part():
            held = show_held(view, formula)
    scene = scene_of(view.run, view.choice.split, view.choice.instance, view.state.structure, held)
    return DRAWINGS[key].draw(scene)


def _places(picture: Picture | None) -> tuple[DeltaGenerator, DeltaGenerator]:
    """The places of the picture and the numbers: side by side, or one below the other if it is wide."""
    if picture is not None and picture.width <= _BESIDE:
        left, right = st.columns([3, 2], gap="medium")
        return left, right
    return st.container(), st.container()


def _show(view: StateView, picture: Picture) -> None:
    show_picture(picture)
    pddl = view.inspection.pddl(view.state)
    files = (
        ("SVG", to_svg(picture), "svg", "image/svg+xml"),
        ("PNG", lambda: to_png(picture), "png", "image/png"),
        ("PDDL", pddl, "pddl", "text/plain"),
    )
    with st.container(horizontal=True):
        for label, content, ending, kind in files:
            st.download_button(
                label, content, f"{view.name}.{ending}", kind, key=f"state/{ending}", on_click="ignore"
            )


def _value(view: StateView) -> None:
    state = view.state
    value = view.inspection.value(state)
    known = state.v_star is not None and state.v_star >= 0
    metrics = st.columns(3)
    metrics[0].metric("V*", v_star_text(state.v_star))
    if view.choice.network is not None:
        metrics[1].metric("Network", "–" if state.network is None else f"{state.network:.3f}")
    off = None
    if known:
        error = value - float(state.v_star or 0)
        off = "exact" if abs(error) < 1e-6 else f"{error:+.4g}"
    metrics[2].metric("ValueFunction", f"{value:.6g}", off, delta_color="off", delta_arrow="off")
    name = view.inspection.instance.name
    where = "Not a state of the run" if state.number is None else f"State {state.number}"
    st.text(f"{where}: {len(view.inspection.objects)} objects, instance {name}")
    if view.step and state.number is not None:
        here = {"run": view.run.name, "split": view.choice.split, "state": state.number}
        page_link("state", "Open this state", **here)
    table = terms_table(view.inspection.terms(state), view.write)
    targets: list[Target] = [
        None if address is None else {"run": view.run.name, "formula": address}
        for address in _addresses(str(view.run.folder), view.run.stamp, view.run)
    ]
    config = {
        name: st.column_config.NumberColumn(format="%.6g", width=width)
        for name, width in (("weight", 75), ("value", 65), ("contribution", 100))
    }
    linked_rows(table, "formulas", targets, "state/terms table", column_config=config)
    total = f"{table['contribution'].sum():.6g}"
    terms = f"{len(table)} term{'s' if len(table) != 1 else ''}"
    st.caption(f"The contributions of {terms} add up to {total}. Tick a row to open its formula.")
    table_download(table, f"{view.name}-terms", "Terms as CSV")


@st.cache_data(max_entries=20, show_spinner=False)
def _addresses(folder: str, stamp: int, _run: RunSession) -> list[str | None]:
    """The formula of each term for an address, in the order of the table."""
    catalogue = catalogue_of(_run)
    return [catalogue.address(feature) for _, feature in ordered_terms(_run.value_function.value)]


def _parts(view: StateView, formula: Node) -> None:
    """Show of which objects each part of the formula holds, and the values of parts about the state."""
    st.subheader("Where the parts of the formula hold", anchor=False)
    if formula.size > LARGEST:
        st.info(f"The formula has {formula.size:,} symbols; parts are shown for at most {LARGEST}.")
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


def _successors(view: StateView) -> None:
    st.subheader("Successors", anchor=False)
    found = view.inspection.successors(view.state)
    if not found:
        st.info("No action is applicable here.")
        return
    table = successors_table(found, network=view.choice.network is not None)
    st.caption(
        "Tick an action to open its successor. ▶ marks the greedy successor, ✓ equally good ones; ties go to "
        "the first action in alphabetical order, and actions without effect are never chosen. A dash marks a "
        "successor that is not a state of the run. Infinity marks a dead end."
    )
    number = st.column_config.NumberColumn
    config = {
        "action": st.column_config.TextColumn(width="medium"),
        "V*": number(format="%d"),
        "network": number(format="%.3f"),
        "value": number(format="%.6g"),
        "state": number(help="Its number, if it is a state of the run."),
    }
    # Each state has a table of its own, so that no row is ticked yet.
    key = f"state/successors/{view.name}"

    def gone() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        after = table["state"].iloc[rows[0]] if rows else pd.NA
        if not pd.isna(after):
            select(state=int(after), v_star=None, search=None, plan=None, step=None)
        elif rows:
            st.toast("The successor of this action is not a state of the run.")

    st.dataframe(
        table,
        hide_index=True,
        placeholder="–",
        column_config=config,
        key=key,
        on_select=gone,
        selection_mode="single-row",
    )
    table_download(table, f"{view.name}-successors", "Successors as CSV")


def _atoms(view: StateView) -> None:
    decoded = view.state.structure.decode(0, view.inspection.objects)
    atoms = [f"({' '.join([name, *map(str, arguments)])})" for name, arguments in decoded]
    with st.expander(f"All {len(atoms)} atoms, goals included"):
        preformatted("\n".join(atoms))
        table_download(pd.DataFrame({"atom": atoms}), f"{view.name}-atoms", "Atoms as CSV")
