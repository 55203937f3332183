"""The exact solve: a job in a process of its own."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from app.components.escape import escape
from app.components.jobs import INTERVAL, show_job
from app.pages.laboratory.edits import Edits
from app.session.run_index import store
from app.session.run_session import RunSession
from app.session.selection import page_link
from distill.common import InputError
from distill.explanations import candidates
from distill.jobs import DetachedJob, detached_jobs, launch
from distill.logic import write
from distill.runs import StoredRefit, refits_in

_COMMAND = "refit"
_POOL, _PRODUCTS, _SECONDS = "lab/pool", "lab/products", "lab/seconds"
_SHOWN = 10  # results
_LINKED = 2_000  # characters of formulas in an address


def show_exact_solve(run: RunSession, edits: Edits) -> None:
    """Offer an exact solve of the edited function, and show earlier results."""
    st.caption(
        "An integer programme finds the shortest function with whole weights that equals V\\* on all "
        "training states, from the formulas above. The job continues when this page is closed."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.checkbox("other features of the run", key=_POOL)
        st.checkbox("products of two features", key=_PRODUCTS)
        st.number_input("Time limit in seconds", 1, 3600, 60, key=_SECONDS, width=160)
        st.button("Start a job", key="lab/start", on_click=_start, args=(run, edits))
    if message := st.session_state.pop("lab/started", None):
        st.warning(escape(message))
    going = [job for job in jobs_of(run) if not job.state().is_over]
    st.fragment(run_every=INTERVAL if going else None)(_show_all)(run, len(going))


def request(run: RunSession, edits: Edits, *, pool: bool, products: bool, seconds: int) -> list[str]:
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


def _start(run: RunSession, edits: Edits) -> None:
    asked = {"pool": st.session_state[_POOL], "products": st.session_state[_PRODUCTS]}
    arguments = request(run, edits, **asked, seconds=int(st.session_state[_SECONDS]))
    try:
        launch(*arguments, store=store().folder, name=f"Exact solve on {run.name}")
    except InputError as error:
        st.session_state["lab/started"] = str(error)


def jobs_of(run: RunSession) -> list[DetachedJob]:
    """The exact solves of a run that were started, newest first."""
    wanted = (_COMMAND, str(run.folder))
    return [job for job in detached_jobs(store().folder) if job.arguments[:2] == wanted]


def _show_all(run: RunSession, going: int) -> None:
    jobs = jobs_of(run)
    open_jobs = [job for job in jobs if not job.state().is_over]
    if len(open_jobs) < going:
        st.rerun()
    for job in jobs:
        show_job(job)
    results = list(refits_in(store().folder, run.name))
    for found in results[:_SHOWN]:
        with st.expander(escape(result_summary(found)), expanded=found is results[0]):
            _show_result(run, found)
    if not jobs and not results:
        st.caption("No exact solve of this run was started yet.")


def result_summary(found: StoredRefit) -> str:
    """A result in one line."""
    result = found.result
    after = next(iter(result["after"].values()))
    exact = "exact" if result["exact"] else f"mean error {after['mae']:.4f}"
    proved = ", proved shortest among its columns" if result.get("proved") else ""
    edits = [f"{len(result['added'])} added" if result["added"] else ""]
    edits += [f"without {', '.join(map(str, result['dropped']))}" if result["dropped"] else ""]
    edits += ["with the pool" if result["asked"].get("pool") else ""]
    asked = ", ".join(filter(None, edits)) or "the run's terms"
    return f"{asked}: {exact}{proved}, {len(result['terms'])} terms"


def _show_result(run: RunSession, found: StoredRefit) -> None:
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
    st.text(f"Files: {found.folder}")
    with st.container(horizontal=True):
        added, dropped = as_edits(run, result["terms"])
        if len(added) <= _LINKED:
            page_link(
                "laboratory", "Load into the laboratory", run=run.name, base=run.name, add=added, drop=dropped
            )
        for state in result.get("blocking", ()):
            split = next(iter(result["before"]))
            page_link("state", f"State {state} prevents an exact fit", run=run.name, split=split, state=state)


def _wrong(result: Mapping[str, Any], split: str) -> dict[str, int]:
    return {
        "wrong before": result["before"][split]["wrong"],
        "wrong after": result["after"][split]["wrong"],
    }


def as_edits(run: RunSession, terms: Sequence[Sequence[Any]]) -> tuple[str, str]:
    """The edits, for an address, that turn a run's function into given terms (weight and formula)."""
    wanted = [str(formula) for _, formula in terms]
    own = {write(one.number): one.place for one in candidates(run.value_function.value)[0]}
    added = [formula for formula in wanted if formula not in own]
    return "\n".join(added), " ".join(str(place) for formula, place in own.items() if formula not in wanted)
