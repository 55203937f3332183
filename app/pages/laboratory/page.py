"""The page Laboratory: evaluates a formula on states, and refits the value function with it."""

import numpy as np
import streamlit as st

from app.components.failures import part
from app.components.formula_selection import catalogue_of
from app.pages.laboratory.association import show_association, show_data
from app.pages.laboratory.edited_function import (
    fit_summary,
    show_downloads,
    show_equation,
    show_errors,
    show_reset,
    show_weights,
)
from app.pages.laboratory.edits import Bench, Edits, add, edits_of, method_of
from app.pages.laboratory.exact_solve import show_exact_solve
from app.pages.laboratory.formula_input import ask_formula
from app.pages.laboratory.state import show_state
from app.session.run_session import RunSession, current_run
from app.session.selection import page_link, pick, remember, select
from distill.explanations import EXACT, METHODS, Refit, SplitErrors, as_number
from distill.logic import Node, Number, Truth
from distill.runs import splits_of

RUN, NOW, WITH, AGAIN = "run", "edited", "with the formula", "refitted"


def show() -> None:
    """Show the page."""
    st.title("Laboratory")
    st.caption(
        "A formula on a state and over the data, its relation to V\\*, and the value function with the "
        "formula added or with terms removed. The weights are refitted at once."
    )
    run = current_run()
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
        show_exact_solve(run, edits)


def _show_formula(
    run: RunSession, formula: Truth | Number | None, number: Number | None, bench: Bench, fitted: Refit
) -> None:
    """Show the formula on a state and over the data."""
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
            show_association(bench.column(number, split), rows.v_star, v, rows.counts)


def _about_objects(formula: Node | None) -> bool:
    return isinstance(formula, Truth) and not formula.of_state


def _show_function(
    run: RunSession, formula: Node | None, number: Number | None, bench: Bench, edits: Edits, fitted: Refit
) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        pick("Weights by", list(METHODS), "fit", show=lambda one: METHODS[one].capitalize(), width=240)  # type: ignore[index]
        _show_add(run, formula, number, bench, edits)
        st.button(
            "Refit the weights",
            key="lab/again",
            disabled=edits.some,
            help="Other weights for the same terms may be better. Edited functions are always refitted.",
            on_click=lambda: select(again="yes"),
        )
        show_reset(edits)
    if fitted.method != method_of():
        st.caption("There are too many states and terms for a linear programme, so least squares are used.")
    before = bench.before()
    st.text(fit_summary(fitted, before, edits))
    functions: dict[str, dict[str, SplitErrors]] = {RUN: before}
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
        page_link("value", "The run's function", run=run.name)
        page_link("compare", "Compare runs", runs=run.name)


def _show_add(
    run: RunSession, formula: Node | None, number: Number | None, bench: Bench, edits: Edits
) -> None:
    address = None if formula is None else catalogue_of(run).address(formula)
    used = number is not None and number in {one.number for one in bench.features(edits)}
    st.button(
        "It is already a term" if used else "Add the formula to V",
        key="lab/add",
        type="primary",
        disabled=address is None or used,
        on_click=add,
        args=(address,),
    )
