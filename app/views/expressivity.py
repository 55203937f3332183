"""Expressivity: which states colourings, and so networks, confuse, and what more power would change."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from app.expressivity_pairs import show_pairs
from app.expressivity_table import changes, conflicts_table
from app.opened import Opened, opened
from app.parts import plain, table_download
from app.selection import pick, remember
from app.state_view import part
from distill.jobs.expressivity import COLOURINGS, Expressivity, whole_instances

Integers = NDArray[np.int64]
STATES = 1_000  # that are looked at at first
_QUICK = 3e5  # cubes of vertices that take 2-FWL a quarter of a second


def page() -> None:
    """Show the page."""
    st.title("Expressivity")
    st.caption(
        "Which states of this run does a network confuse, whatever its weights? Two states of one instance "
        "with the same colours that are not isomorphic are an E-conflict; if their V* differ, a V-conflict, "
        "and no network of that power can be right on both."
    )
    run = opened()
    remember("run", "notation", "split", "colouring", "conflict", "pair")
    split = pick(
        "States of", run.splits, "split", resets=("state", "colouring", "conflict", "pair"), width=240
    )
    if not len(run.states(split)):
        st.info("This split has no states; choose another one.")
        return
    numbers, looked = _looked(run, split)
    with part():
        _show_table(run, split, looked)
    st.subheader("A pair", anchor=False)
    with part():
        show_pairs(run, split, looked, numbers)


def _looked(run: Opened, split: str) -> tuple[Integers, Expressivity]:
    """The states that are looked at, and what is known of them."""
    data = run.states(split)
    kept = _kept()
    key = (str(run.folder), run.stamp, split)
    if key in kept:
        st.caption(f"All {len(data):,} states of the split were looked at.")
        return kept[key]
    found = _sample(*key)
    numbers = found[0]
    if len(numbers) == len(data):
        st.caption(f"All {len(data):,} states of the split were looked at.")
        return found
    own = data.state_instance[numbers]
    sizes = np.bincount(data.state_instance, minlength=len(data.instances))
    whole = int((np.bincount(own, minlength=len(sizes)) == sizes)[np.unique(own)].sum())
    smallest = (
        f"all states of the {whole} smallest instances" if whole else "some states of the smallest instance"
    )
    st.info(
        f"{len(numbers):,} of {len(data):,} states were looked at: {smallest}. Conflicts of larger instances "
        "are not counted here."
    )
    if st.button(f"Look at all {len(data):,} states", key="expressivity/all"):
        everything = np.arange(len(data))
        kept[key] = (
            everything,
            _with_progress(
                lambda progress: _first_look(Expressivity.of(data, progress), progress), "Comparing states"
            ),
        )
        st.rerun()
    return found


@st.cache_resource(max_entries=1, show_spinner=False)
def _kept() -> dict[tuple[str, int, str], tuple[Integers, Expressivity]]:
    """What took long, as long as the workbench runs."""
    return {}


@st.cache_resource(max_entries=16, show_spinner="Comparing states")
def _sample(folder: str, stamp: int, split: str) -> tuple[Integers, Expressivity]:
    data = Opened(Path(folder), stamp).states(split)
    numbers = whole_instances(data, STATES)
    return numbers, _first_look(Expressivity.of(data.pick(numbers)), None)


def _first_look(looked: Expressivity, progress: Callable[[int, int], None] | None) -> Expressivity:
    """Count what does not take long."""
    for name, colouring in COLOURINGS.items():
        if not colouring.pairs or looked.work(name) <= _QUICK:
            looked.conflicts(name, progress)
    return looked


def _with_progress(work: Callable[[Callable[[int, int], None]], Expressivity], label: str) -> Expressivity:
    bar = st.progress(0.0, label)

    def told(done: int, todo: int) -> None:
        bar.progress(min(1.0, done / max(1, todo)), f"{label}: {done:,} of {todo:,}")

    try:
        return work(told)
    finally:
        bar.empty()


def _show_table(run: Opened, split: str, looked: Expressivity) -> None:
    classes = sum(len(one) for one in looked.classes)
    st.text(
        f"{len(looked.data):,} states, {classes:,} classes of isomorphic states, counted for each solvable "
        "instance."
    )
    table = conflicts_table(looked.found)
    wide = st.column_config.TextColumn(width="large")
    st.dataframe(
        table, hide_index=True, column_config={"what sees so much": wide}, key="expressivity/conflicts"
    )
    table_download(table, f"conflicts-{split}", "Conflicts as CSV")
    missing = [name for name in COLOURINGS if name not in looked.found]
    if missing:
        asked = sum(len(looked.suspects(name)) for name in missing)
        st.info(
            f"A dash: {', '.join(missing)} would have to look at {asked:,} large states, which takes a while."
        )
        if st.button("Count these, too", key="expressivity/pairs"):
            _with_progress(
                lambda progress: _the_rest(looked, missing, progress), "Comparing pairs of objects"
            )
            st.rerun()
    marking = run.distilled.goal_marking
    sees = "marked as achieved or missing" if marking else "as they are, not marked as achieved"
    st.text(f"The value function of this run sees goals {sees}.")
    for sentence in changes(looked.found, marking):
        st.markdown(f"- {plain(sentence)}")


def _the_rest(looked: Expressivity, names: list[str], progress: Callable[[int, int], None]) -> Expressivity:
    for name in names:
        looked.conflicts(name, progress)
    return looked
