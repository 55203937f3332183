"""Jobs that were started from this page: progress, results, and buttons to cancel or repeat them."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import streamlit as st

from app.components.escape import escape
from app.session.run_index import store
from app.session.selection import page_link
from distill.common import CANCEL, MAX_COMMANDS, STAGES, InputError
from distill.jobs import (
    CANCELLED,
    DONE,
    FAILED,
    RUNNING,
    WAITING,
    DetachedJob,
    JobState,
    detached_jobs,
)

_INTERVAL = 1.0  # seconds between two updates
_SHOWN = 12
_MARKS = {WAITING: "⏳", RUNNING: "▶", DONE: "✓", FAILED: "✗", CANCELLED: "◼"}
_WRONG = "work/wrong"
COMMAND = "run"


def show_jobs() -> None:
    """Show all jobs that were started here, newest first; the list is updated while one runs."""
    st.header("Started here", divider="gray")
    if wrong := st.session_state.pop(_WRONG, None):
        st.error(escape(wrong))
    every = started_jobs()
    if not every:
        st.info("No job was started from this page yet. Jobs continue when you close the page.")
        return
    busy = any(not one.state().is_over for one in every)
    st.fragment(_look, run_every=_INTERVAL if busy else None)(busy)
    over = [one for one in every if one.state().is_over]
    if over:
        st.button(
            "Remove finished jobs",
            key="work/forget",
            on_click=_forget,
            args=(over,),
            help="Their runs are kept.",
        )


def started_jobs() -> list[DetachedJob]:
    """The jobs of this page; other pages start other commands."""
    return [one for one in detached_jobs(store().folder) if one.arguments[:1] == (COMMAND,)]


def _look(busy: bool) -> None:
    every = started_jobs()
    states = {one.key: one.state() for one in every}
    if busy and all(state.is_over for state in states.values()):
        st.rerun(scope="app")  # the list of runs in the sidebar has changed
    for one in every[:_SHOWN]:
        with st.container(border=True):
            _show(one, states[one.key])
    if len(every) > _SHOWN:
        st.caption(f"{len(every) - _SHOWN} older jobs are not shown.")


def _show(one: DetachedJob, state: JobState) -> None:
    left, right = st.columns([5, 2], vertical_alignment="center")
    stopping = not state.is_over and (one.folder / CANCEL).exists()
    with left:
        word = "being cancelled" if stopping else state.state
        st.text(f"{_MARKS[state.state]} {one.name}: {word}, {duration(state.seconds)}")
        if state.state == RUNNING:
            st.progress(fraction(state), text=escape(stage_text(state)))
        elif state.state == WAITING:
            st.caption(
                f"Waiting: at most {MAX_COMMANDS} jobs run at the same time, including those of other pages."
            )
        elif state.state == FAILED:
            st.error(escape(state.error))
        elif state.state == CANCELLED:
            st.caption("Cancelled. Finished stages are kept for the next run.")
    with right, st.container(horizontal=True, horizontal_alignment="right"):
        if not state.is_over:
            _button("Cancel", one, one.cancel, stopping)
        elif state.state == DONE:
            if run := result_run(one):
                page_link("value", "Open the run", run=run)
            else:
                st.caption("Its run does not exist any more.")
        else:
            _button("Try again", one, one.restart)
    if state.state == FAILED and (log := one.log().strip()):
        with st.expander("Log", key=f"work/log/{one.key}"):
            st.code(log, language=None, height=240)


def result_run(one: DetachedJob) -> str | None:
    """The name of the run that a job made; None if the run does not exist."""
    name = Path(str(one.result().get("run", ""))).name
    return name if name and (store().folder / name / "metrics.json").exists() else None


def fraction(state: JobState) -> float:
    """The approximate share of finished work.

    Examples
    --------
    >>> fraction(JobState(RUNNING, "data")), fraction(JobState(RUNNING, "export", 1, 1))
    (0.0, 1.0)
    """
    stage = state.stage.partition(":")[0].split("/")[0].strip()
    place = STAGES.index(stage) if stage in STAGES else 0
    inside = state.done / state.total if state.total else 0.0
    return min(1.0, (place + inside) / len(STAGES))


def stage_text(state: JobState) -> str:
    """The current stage and step.

    Examples
    --------
    >>> stage_text(JobState(RUNNING, "distil: layer 2", 3, 12))
    'distil: layer 2, step 3 of 12'
    """
    if not state.stage:
        return "starting or finishing"
    return f"{state.stage}, step {state.done} of {state.total}" if state.total > 1 else state.stage


def duration(seconds: float) -> str:
    """A duration as text.

    Examples
    --------
    >>> duration(3.2), duration(75), duration(4000)
    ('3 s', '1 min 15 s', '1 h 6 min')
    """
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    return (
        f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"
    )


def _button(label: str, one: DetachedJob, do: Callable[[], object], disabled: bool = False) -> None:
    def clicked() -> None:
        try:
            do()
        except InputError as error:
            st.session_state[_WRONG] = str(error)

    if st.button(label, key=f"work/{label}/{one.key}", on_click=clicked, disabled=disabled):
        st.rerun(scope="app")


def _forget(over: list[DetachedJob]) -> None:
    for one in over:
        with suppress(OSError):
            one.forget()
