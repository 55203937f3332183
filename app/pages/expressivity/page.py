"""The page Expressivity: pairs of states that colourings, and so networks, cannot distinguish."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from app.components.escape import escape
from app.components.failures import part
from app.components.tables import table_download
from app.pages.expressivity.conflict_table import changes, conflicts_table
from app.pages.expressivity.pairs import show_pairs
from app.pages.expressivity.state_models import show_state_model
from app.session.run_session import RunSession, current_run
from app.session.selection import pick, remember
from distill.symmetry import COLOURINGS, Expressivity, whole_instances

Integers = NDArray[np.int64]
STATES = 1_000  # states of the first analysis
_QUICK = 3e5  # sum of cubed numbers of vertices; 2-FWL takes a quarter of a second


def show() -> None:
    """Show the page."""
    st.title("Expressivity")
    st.caption(
        "Pairs of states that no network can distinguish, whatever its weights. Two states of an instance "
        "with the same colours that are not isomorphic are an E-conflict. If their V* differ, they are a "
        "V-conflict, and no network of that expressivity can be right on both."
    )
    run = current_run()
    remember("run", "notation", "split", "colouring", "conflict", "pair", "model", "class")
    split = pick(
        "States of",
        run.splits,
        "split",
        resets=("state", "colouring", "conflict", "pair", "model", "class"),
        width=240,
    )
    if not len(run.states(split)):
        st.info("This split has no states; choose another one.")
        return
    numbers, analysis = _analysis(run, split)
    with part():
        _show_table(run, split, analysis)
    st.subheader("A pair", anchor=False)
    with part():
        show_pairs(run, split, analysis, numbers)
    st.subheader("Classes of isomorphic states", anchor=False)
    with part():
        show_state_model(run, split)


def _analysis(run: RunSession, split: str) -> tuple[Integers, Expressivity]:
    """The numbers of the analysed states, and the analysis."""
    data = run.states(split)
    kept = _kept()
    key = (str(run.folder), run.stamp, split)
    if key in kept:
        st.caption(f"All {len(data):,} states of the split were analysed.")
        return kept[key]
    found = _sample(*key)
    numbers = found[0]
    if len(numbers) == len(data):
        st.caption(f"All {len(data):,} states of the split were analysed.")
        return found
    own = data.state_instance[numbers]
    sizes = np.bincount(data.state_instance, minlength=len(data.instances))
    whole = int((np.bincount(own, minlength=len(sizes)) == sizes)[np.unique(own)].sum())
    smallest = (
        f"all states of the {whole} smallest instances" if whole else "some states of the smallest instance"
    )
    st.info(
        f"{len(numbers):,} of {len(data):,} states were analysed: {smallest}. Conflicts of larger instances "
        "are not counted."
    )
    if st.button(f"Analyse all {len(data):,} states", key="expressivity/all"):
        everything = np.arange(len(data))
        kept[key] = (
            everything,
            _with_progress(
                lambda progress: _count_fast(Expressivity.of(data, progress), progress), "Comparing states"
            ),
        )
        st.rerun()
    return found


@st.cache_resource(max_entries=1, show_spinner=False)
def _kept() -> dict[tuple[str, int, str], tuple[Integers, Expressivity]]:
    """Long analyses, kept while the workbench runs."""
    return {}


@st.cache_resource(max_entries=16, show_spinner="Comparing states")
def _sample(folder: str, stamp: int, split: str) -> tuple[Integers, Expressivity]:
    data = RunSession(Path(folder), stamp).states(split)
    numbers = whole_instances(data, STATES)
    return numbers, _count_fast(Expressivity.of(data.pick(numbers)), None)


def _count_fast(analysis: Expressivity, progress: Callable[[int, int], None] | None) -> Expressivity:
    """Count the conflicts of the fast colourings."""
    for name, colouring in COLOURINGS.items():
        if not colouring.pairs or analysis.work(name) <= _QUICK:
            analysis.conflicts(name, progress)
    return analysis


def _with_progress(work: Callable[[Callable[[int, int], None]], Expressivity], label: str) -> Expressivity:
    bar = st.progress(0.0, label)

    def report(done: int, todo: int) -> None:
        bar.progress(min(1.0, done / max(1, todo)), f"{label}: {done:,} of {todo:,}")

    try:
        return work(report)
    finally:
        bar.empty()


def _show_table(run: RunSession, split: str, analysis: Expressivity) -> None:
    classes = sum(len(one) for one in analysis.classes)
    st.text(
        f"{len(analysis.data):,} states, {classes:,} classes of isomorphic states, counted for each solvable "
        "instance."
    )
    table = conflicts_table(analysis.conflicts_by_colouring)
    wide = st.column_config.TextColumn(width="large")
    st.dataframe(
        table, hide_index=True, column_config={"networks and formulas": wide}, key="expressivity/conflicts"
    )
    table_download(table, f"conflicts-{split}", "Conflicts as CSV")
    missing = [name for name in COLOURINGS if name not in analysis.conflicts_by_colouring]
    if missing:
        asked = sum(len(analysis.suspects(name)) for name in missing)
        st.info(f"A dash: {', '.join(missing)} must analyse {asked:,} large states, which takes a while.")
        if st.button("Count these as well", key="expressivity/pairs"):
            _with_progress(lambda progress: _count(analysis, missing, progress), "Comparing pairs of objects")
            st.rerun()
    marking = run.value_function.goal_marking
    sees = "marked as achieved or missing" if marking else "without marks"
    st.text(f"The value function of this run sees goals {sees}.")
    for sentence in changes(analysis.conflicts_by_colouring, marking):
        st.markdown(f"- {escape(sentence)}")


def _count(analysis: Expressivity, names: list[str], progress: Callable[[int, int], None]) -> Expressivity:
    for name in names:
        analysis.conflicts(name, progress)
    return analysis
