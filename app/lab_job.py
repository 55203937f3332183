"""A full exact solve, handed to a process of its own: it goes on when the page is closed."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from app.lab_edits import Edits
from app.opened import Opened, store
from app.plain import plain
from app.selection import page_link
from distill.errors import InputError
from distill.jobs.experiment import candidates
from distill.jobs.launch import Launched, launch, launched
from distill.jobs.refitting import Refitted, refits_in
from distill.logic import write

_COMMAND = "refit"
_POOL, _PRODUCTS, _SECONDS = "lab/pool", "lab/products", "lab/seconds"
_OFTEN = 1.5  # seconds between two looks at jobs that run
_SHOWN = 10  # results
_LINKED = 2_000  # characters of formulas in an address


def show_job(run: Opened, edits: Edits) -> None:
    """Hand the edited function to an exact solve, and see what came out of earlier ones."""
    st.caption(
        "An integer programme looks for the shortest function with whole weights that meets all training "
        "states, among the formulas above. It runs in a process of its own, also when this page is closed."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.checkbox("also the run's other features", key=_POOL)
        st.checkbox("also products of two", key=_PRODUCTS)
        st.number_input("Seconds at most", 1, 3600, 60, key=_SECONDS, width=160)
        st.button("Hand to a job", key="lab/start", on_click=_start, args=(run, edits))
    if told := st.session_state.pop("lab/started", None):
        st.warning(plain(told))
    going = [job for job in jobs_of(run) if not job.state().is_over]
    st.fragment(run_every=_OFTEN if going else None)(_show_all)(run, len(going))


def request(run: Opened, edits: Edits, *, pool: bool, products: bool, seconds: int) -> list[str]:
    """The arguments of `distill` that solve the edited function exactly."""
    return [
        _COMMAND,
        str(run.folder),
        *(f"--add={text}" for text in edits.added),
        *(f"--drop={place}" for place in edits.dropped),
        "--exact",
        *(["--pool"] if pool else []),
        *(["--products"] if products else []),
        f"--seconds={seconds}",
        f"--out={store().folder}",
        "--json",
    ]


def _start(run: Opened, edits: Edits) -> None:
    asked = {"pool": st.session_state[_POOL], "products": st.session_state[_PRODUCTS]}
    arguments = request(run, edits, **asked, seconds=int(st.session_state[_SECONDS]))
    try:
        launch(*arguments, store=store().folder, name=f"Exact solve on {run.name}")
    except InputError as error:
        st.session_state["lab/started"] = str(error)


def jobs_of(run: Opened) -> list[Launched]:
    """The solves of a run that were started and not forgotten, newest first."""
    wanted = (_COMMAND, str(run.folder))
    return [job for job in launched(store().folder) if job.arguments[:2] == wanted]


def _show_all(run: Opened, going: int) -> None:
    jobs = jobs_of(run)
    open_jobs = [job for job in jobs if not job.state().is_over]
    if len(open_jobs) < going:
        st.rerun()
    for job in jobs:
        _show_job(job)
    results = list(refits_in(store().folder, run.name))
    for found in results[:_SHOWN]:
        with st.expander(plain(told_result(found)), expanded=found is results[0]):
            _show_result(run, found)
    if not jobs and not results:
        st.caption("No solve of this run was asked for yet.")


def _show_job(job: Launched) -> None:
    state = job.state()
    if state.state == "done":
        return
    text, button = st.columns([5, 1], vertical_alignment="center")
    with text:
        doing = f", {state.stage}" if state.stage else ""
        st.text(f"{job.name}: {state.state}{doing}, {state.seconds:.0f} s")
        if state.error:
            st.warning(plain(state.error))
    with button:
        if state.is_over:
            st.button("Forget", key=f"lab/forget/{job.key}", on_click=job.forget)
        else:
            st.button("Cancel", key=f"lab/cancel/{job.key}", on_click=job.cancel)


def told_result(found: Refitted) -> str:
    """What came out, in a line."""
    result = found.result
    after = next(iter(result["after"].values()))
    exact = "exact" if result["exact"] else f"mean error {after['mae']:.4f}"
    proved = ", proved shortest among its columns" if result.get("proved") else ""
    edits = [f"{len(result['added'])} added" if result["added"] else ""]
    edits += [f"without {', '.join(map(str, result['dropped']))}" if result["dropped"] else ""]
    edits += ["with the pool" if result["asked"].get("pool") else ""]
    asked = ", ".join(filter(None, edits)) or "the run's terms"
    return f"{asked}: {exact}{proved}, {len(result['terms'])} terms"


def _show_result(run: Opened, found: Refitted) -> None:
    result = found.result
    st.code(result["value"], language=None, wrap_lines=True)
    st.dataframe(
        pd.DataFrame(
            {
                "split": split,
                "before": old["mae"],
                "after": result["after"][split]["mae"],
                **_wrong(result, split),
            }
            for split, old in result["before"].items()
        ),
        hide_index=True,
        width="content",
        key=f"lab/result/{found.folder.name}",
        column_config={
            "before": st.column_config.NumberColumn("MAE before", format="%.4f"),
            "after": st.column_config.NumberColumn("MAE after", format="%.4f"),
        },
    )
    st.text(f"In every form: {found.folder}")
    with st.container(horizontal=True):
        added, dropped = as_edits(run, result["terms"])
        if len(added) <= _LINKED:
            page_link(
                "laboratory", "Put it on the bench", run=run.name, base=run.name, add=added, drop=dropped
            )
        for state in result.get("blocking", ()):
            split = next(iter(result["before"]))
            page_link("state", f"State {state} stands in the way", run=run.name, split=split, state=state)


def _wrong(result: Mapping[str, Any], split: str) -> dict[str, int]:
    return {
        "wrong before": result["before"][split]["wrong"],
        "wrong after": result["after"][split]["wrong"],
    }


def as_edits(run: Opened, terms: Sequence[Sequence[Any]]) -> tuple[str, str]:
    """The edits, as an address has them, that make terms (weight and formula) out of a run's function."""
    wanted = [str(formula) for _, formula in terms]
    own = {write(one.number): one.place for one in candidates(run.distilled.value)[0]}
    added = [formula for formula in wanted if formula not in own]
    return "\n".join(added), " ".join(str(place) for formula, place in own.items() if formula not in wanted)
