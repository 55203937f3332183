"""Work that was started: how far it is, what became of it, and a way to stop it or to try again."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import streamlit as st

from app.opened import store
from app.plain import plain
from app.selection import page_link
from distill.errors import InputError
from distill.jobs import STAGES
from distill.jobs.launch import CANCELLED, DONE, FAILED, RUNNING, WAITING, Launched, State, launched
from distill.watch import AT_ONCE, CANCEL

_OFTEN = 1.0  # seconds between two looks
_SHOWN = 12
_MARKS = {WAITING: "⏳", RUNNING: "▶", DONE: "✓", FAILED: "✗", CANCELLED: "◼"}
_WRONG = "work/wrong"
COMMAND = "run"


def show_jobs() -> None:
    """All work that was started from here, newest first; it is looked at again and again while some runs."""
    st.header("Started here", divider="gray")
    if wrong := st.session_state.pop(_WRONG, None):
        st.error(plain(wrong))
    every = started()
    if not every:
        st.info("Nothing was started from this page yet. What you start goes on when you close the page.")
        return
    busy = any(not one.state().is_over for one in every)
    st.fragment(_look, run_every=_OFTEN if busy else None)(busy)
    over = [one for one in every if one.state().is_over]
    if over:
        st.button("Forget what is over", key="work/forget", on_click=_forget, args=(over,), help="Runs stay.")


def started() -> list[Launched]:
    """What was started from this page; other pages start other commands."""
    return [one for one in launched(store().folder) if one.arguments[:1] == (COMMAND,)]


def _look(busy: bool) -> None:
    every = started()
    states = {one.key: one.state() for one in every}
    if busy and all(state.is_over for state in states.values()):
        st.rerun(scope="app")  # the list of runs at the side has changed, and nothing is to be waited for
    for one in every[:_SHOWN]:
        with st.container(border=True):
            _show(one, states[one.key])
    if len(every) > _SHOWN:
        st.caption(f"{len(every) - _SHOWN} older ones are not shown.")


def _show(one: Launched, state: State) -> None:
    left, right = st.columns([5, 2], vertical_alignment="center")
    stopping = not state.is_over and (one.folder / CANCEL).exists()
    with left:
        word = "being cancelled" if stopping else state.state
        st.text(f"{_MARKS[state.state]} {one.name}: {word}, {duration(state.seconds)}")
        if state.state == RUNNING:
            st.progress(fraction(state), text=plain(stage_told(state)))
        elif state.state == WAITING:
            st.caption(f"It waits for its turn: {AT_ONCE} run at a time, those of other pages included.")
        elif state.state == FAILED:
            st.error(plain(state.error))
        elif state.state == CANCELLED:
            st.caption("It was cancelled; stages that were done are kept for the next time.")
    with right, st.container(horizontal=True, horizontal_alignment="right"):
        if not state.is_over:
            _button("Cancel", one, one.cancel, stopping)
        elif state.state == DONE:
            if run := run_of(one):
                page_link("value", "Open the run", run=run)
            else:
                st.caption("Its run is not there any more.")
        else:
            _button("Try again", one, one.again)
    if state.state == FAILED and (log := one.log().strip()):
        with st.expander("What it said", key=f"work/log/{one.key}"):
            st.code(log, language=None, height=240)


def run_of(one: Launched) -> str | None:
    """The name of the run that it made, if that is there."""
    name = Path(str(one.result().get("run", ""))).name
    return name if name and (store().folder / name / "metrics.json").exists() else None


def fraction(state: State) -> float:
    """How much of all stages is done, roughly.

    Examples
    --------
    >>> fraction(State(RUNNING, "data")), fraction(State(RUNNING, "export", 1, 1))
    (0.0, 1.0)
    """
    stage = state.stage.partition(":")[0].split("/")[0].strip()
    place = STAGES.index(stage) if stage in STAGES else 0
    inside = state.done / state.total if state.total else 0.0
    return min(1.0, (place + inside) / len(STAGES))


def stage_told(state: State) -> str:
    """What is done at the moment.

    Examples
    --------
    >>> stage_told(State(RUNNING, "distil: layer 2", 3, 12))
    'distil: layer 2, step 3 of 12'
    """
    if not state.stage:
        return "it begins, or comes to its end"
    return f"{state.stage}, step {state.done} of {state.total}" if state.total > 1 else state.stage


def duration(seconds: float) -> str:
    """A time for people.

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


def _button(label: str, one: Launched, do: Callable[[], object], disabled: bool = False) -> None:
    def clicked() -> None:
        try:
            do()
        except InputError as error:
            st.session_state[_WRONG] = str(error)

    if st.button(label, key=f"work/{label}/{one.key}", on_click=clicked, disabled=disabled):
        st.rerun(scope="app")


def _forget(over: list[Launched]) -> None:
    for one in over:
        with suppress(OSError):
            one.forget()
