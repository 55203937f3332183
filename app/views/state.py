"""States: what one looks like, what holds in it, what the value function makes of it, where it leads."""

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.chosen_formula import catalogue_of
from app.drawings import DRAWINGS, Picture, drawings_for, to_png, to_svg
from app.opened import Opened, opened
from app.parts import preformatted, table_download
from app.row_links import Target, linked_rows
from app.selection import page_link, pick, remember, select
from app.state_choice import choose_state, v_star_text
from app.state_formula import ask_formula, show_held, show_parts
from app.state_picture import scene_of, show_picture
from app.state_plan import played
from app.state_tables import successors_table, terms_table
from app.state_view import View, part
from distill.jobs import ordered_terms
from distill.jobs.inspection import Inspection
from distill.logic import Node

_BESIDE = 700.0  # how wide a picture may be beside the numbers


def page() -> None:
    """Show the page."""
    st.title("States")
    st.caption(
        "What one state looks like, where a formula holds in it, what the terms of the value function add up "
        "to, and where actions and the greedy plan lead."
    )
    run = opened()
    remember("formula", "drawing")
    chosen = choose_state(run)
    inspection = Inspection(chosen.data, chosen.instance, run.distilled, chosen.network)
    view = View(run, chosen, inspection, inspection.stored(chosen.number))
    with part():
        view = played(view)
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
            show_parts(view, formula)
    with part():
        _successors(view)
    with part():
        _atoms(view)


def _drawn(view: View, formula: Node | None) -> Picture:
    """The picture of the state, with the objects that the formula holds of, or counts."""
    held = np.zeros(0, dtype=np.int64)
    narrow, wide = st.columns([1, 3], vertical_alignment="bottom")
    with narrow:
        keys = drawings_for(view.run.vocabulary)
        key = pick("Drawing", keys, "drawing", show=lambda one: DRAWINGS[one].name)
    if formula is not None:
        with wide, part():
            held = show_held(view, formula)
    scene = scene_of(view.run, view.chosen.split, view.chosen.instance, view.state.structure, held)
    return DRAWINGS[key].draw(scene)


def _places(picture: Picture | None) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Where the picture and the numbers stand: side by side, or one below the other if it is wide."""
    if picture is not None and picture.width <= _BESIDE:
        left, right = st.columns([3, 2], gap="medium")
        return left, right
    return st.container(), st.container()


def _show(view: View, picture: Picture) -> None:
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


def _value(view: View) -> None:
    state = view.state
    value = view.inspection.value(state)
    known = state.v_star is not None and state.v_star >= 0
    metrics = st.columns(3)
    metrics[0].metric("V*", v_star_text(state.v_star))
    if view.chosen.network is not None:
        metrics[1].metric("Network", "–" if state.network is None else f"{state.network:.3f}")
    off = None
    if known:
        error = value - float(state.v_star or 0)
        off = "exact" if abs(error) < 1e-6 else f"{error:+.4g}"
    metrics[2].metric("Distilled", f"{value:.6g}", off, delta_color="off", delta_arrow="off")
    name = view.inspection.instance.name
    where = "Not among the run's states" if state.number is None else f"State {state.number}"
    st.text(f"{where}: {len(view.inspection.objects)} objects, instance {name}")
    if view.step and state.number is not None:
        here = {"run": view.run.name, "split": view.chosen.split, "state": state.number}
        page_link("state", "Look at this state by itself", **here)
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
    st.caption(f"The contributions of {terms} add up to {total}. Tick one to open it.")
    table_download(table, f"{view.name}-terms", "Terms as CSV")


@st.cache_data(max_entries=20, show_spinner=False)
def _addresses(folder: str, stamp: int, _run: Opened) -> list[str | None]:
    """The formula of each term as an address has it, in the order of the table."""
    catalogue = catalogue_of(_run)
    return [catalogue.address(feature) for _, feature in ordered_terms(_run.distilled.value)]


def _successors(view: View) -> None:
    st.subheader("Successors", anchor=False)
    found = view.inspection.successors(view.state)
    if not found:
        st.info("No action is applicable here.")
        return
    table = successors_table(found, network=view.chosen.network is not None)
    st.caption(
        "Tick an action to go to the state after it. ▶ is the greedy choice, ✓ is as good; of equal ones the "
        "first in alphabetical order is chosen, and never one that changes nothing. A dash: the state after "
        "it is not among the run's states, and takes no part. Infinity: from there is no way to the goal."
    )
    number = st.column_config.NumberColumn
    config = {
        "action": st.column_config.TextColumn(width="medium"),
        "V*": number(format="%d"),
        "network": number(format="%.3f"),
        "value": number(format="%.6g"),
        "state": number(help="Its number, if it is among the run's states."),
    }
    # Another state has another table, of which no row is ticked yet.
    key = f"state/successors/{view.name}"

    def gone() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        after = table["state"].iloc[rows[0]] if rows else pd.NA
        if not pd.isna(after):
            select(state=int(after), v_star=None, search=None, plan=None, step=None)
        elif rows:
            st.toast("The state after this action is not among the run's states.")

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


def _atoms(view: View) -> None:
    decoded = view.state.structure.decode(0, view.inspection.objects)
    atoms = [f"({' '.join([name, *map(str, arguments)])})" for name, arguments in decoded]
    with st.expander(f"All {len(atoms)} atoms, goals included"):
        preformatted("\n".join(atoms))
        table_download(pd.DataFrame({"atom": atoms}), f"{view.name}-atoms", "Atoms as CSV")
