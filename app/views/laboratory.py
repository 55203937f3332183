"""The laboratory: try a formula on states and on the value function, whose weights are fitted at once."""

import numpy as np
import streamlit as st

from app.chosen_formula import catalogue_of
from app.lab_edits import Bench, Edits, add, edits_of, method_of
from app.lab_formula import ask_formula
from app.lab_function import (
    show_downloads,
    show_equation,
    show_errors,
    show_way_back,
    show_weights,
    told_fit,
)
from app.lab_job import show_job
from app.lab_relation import show_data, show_relation
from app.lab_state import show_state
from app.opened import Opened, opened
from app.selection import page_link, pick, remember, select
from app.state_view import part
from distill.jobs.catalogue import as_number
from distill.jobs.experiment import EXACT, METHODS, Errors, Refit
from distill.jobs.refitting import splits_of
from distill.logic import Node, Number, Truth

RUN, NOW, WITH, AGAIN = "run", "edited", "with the formula", "fitted again"


def page() -> None:
    """Show the page."""
    st.title("Laboratory")
    st.caption(
        "What does a formula say on a state and over the data, what has it to do with V\\*, and what becomes "
        "of the value function with it, or without one of its terms? Weights are fitted again at once."
    )
    run = opened()
    remember("run", "notation", "formula", "split", "state", "add", "drop", "base", "again", "fit")
    formula = None
    with part():
        formula = ask_formula(run)
    edits = edits_of(run)
    number = None if formula is None else as_number(formula)
    bench = Bench.of(run, [*edits.added.values(), *([] if number is None else [number])])
    fitted = None
    with part():
        fitted = bench.edited(edits, method_of())
    if fitted is None:
        return
    _show_formula(run, formula, number, bench, fitted)
    st.header("The value function", divider="gray")
    with part():
        _show_function(run, formula, number, bench, edits, fitted)
    st.subheader("A full exact solve", anchor=False)
    with part():
        show_job(run, edits)


def _show_formula(
    run: Opened, formula: Truth | Number | None, number: Number | None, bench: Bench, fitted: Refit
) -> None:
    """The formula on a state and over the data."""
    split = pick("States of", splits_of(run.run), "split", resets=("state",), width=240)
    rows = bench.rows[split]
    v = bench.values(fitted, split)
    off = (np.abs(v - rows.v_star) > EXACT)[rows.row_of]
    left, right = st.columns([1, 1], gap="medium")
    values = None if number is None else run.values(number, split)
    with left, part():
        show_state(run, split, formula, values, rows.known[off], fitted.value)
    if number is None or values is None or not len(values):
        return
    with right:
        with part():
            st.markdown("**Over the data**")
            show_data(values, _about_objects(formula), split)
        with part():
            st.markdown("**By V\\***")
            show_relation(bench.column(number, split), rows.v_star, v, rows.counts)


def _about_objects(formula: Node | None) -> bool:
    return isinstance(formula, Truth) and not formula.of_state


def _show_function(
    run: Opened, formula: Node | None, number: Number | None, bench: Bench, edits: Edits, fitted: Refit
) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        pick("Weights by", list(METHODS), "fit", show=lambda one: METHODS[one].capitalize(), width=240)  # type: ignore[index]
        _show_add(run, formula, number, bench, edits)
        st.button(
            "Fit the weights again",
            key="lab/again",
            disabled=edits.some,
            help="Other weights for the same terms may be better; with edits they are always fitted again.",
            on_click=lambda: select(again="yes"),
        )
        show_way_back(edits)
    if fitted.method != method_of():
        st.caption("There are too many different states and terms for a quick programme: least squares.")
    before = bench.before()
    st.text(told_fit(fitted, before, edits))
    functions: dict[str, dict[str, Errors]] = {RUN: before}
    if edits.some:
        functions[NOW] = dict(fitted.errors)
    features = bench.features(edits)
    if not edits.some:
        other = bench.fit(features, method_of())
        if not other.as_before:
            functions[AGAIN] = dict(other.errors)
    if number is not None and number not in {one.number for one in features}:
        functions[WITH] = dict(bench.fit(bench.features(edits, number), method_of()).errors)
    with part():
        show_errors(functions)
    with part():
        show_weights(run, edits, fitted, bench.without_each(features, method_of()))
    with part():
        show_equation(run, fitted.value)
    with part(), st.container(horizontal=True):
        show_downloads(run, edits, fitted, before)
        page_link("value", "The run's own function", run=run.name)
        page_link("compare", "Compare runs", runs=run.name)


def _show_add(run: Opened, formula: Node | None, number: Number | None, bench: Bench, edits: Edits) -> None:
    address = None if formula is None else catalogue_of(run).address(formula)
    used = number is not None and number in {one.number for one in bench.features(edits)}
    st.button(
        "It is a term already" if used else "Add the formula to V",
        key="lab/add",
        type="primary",
        disabled=address is None or used,
        on_click=add,
        args=(address,),
    )
