"""The page Runs: the runs of the store with their main figures, its jobs and its sweeps."""

import shlex
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import pandas as pd
import streamlit as st

from app.components.equation import show_equation
from app.components.escape import escape
from app.components.failures import FAILURES
from app.components.tables import table_download
from app.pages.runs.sweeps import show_sweeps
from app.session.run_index import DEMO, all_runs, store
from app.session.run_session import RunSession
from app.session.selection import page_link, pick, remember, select, selected
from distill.common import InputError
from distill.planning import SPLITS
from distill.runs import RunSummary, Status

_WANTED = "runs/wanted"
_SHORT = 400  # symbols of a value function that is shown above the list
_ROWS = 10  # visible rows of the list
_QUIET = 600.0  # seconds without a report after which a job may have been killed
_OPENED = {"value": "Value function", "formulas": "Formulas", "state": "States", "accuracy": "Accuracy"}


def show() -> None:
    """Show the page."""
    st.title("Runs")
    st.caption(
        "The runs of this folder with their value functions and metrics, and the jobs that are not finished."
    )
    remember("problem", "exact")
    _look_for(_wanted())
    every = all_runs()
    mine = [run for run in every if not is_demo(run)]
    if not mine:
        _welcome(every)
    _show_damaged()
    if every:
        with st.container(key="first"):
            _show_selected(every)
        kept = _filtered(every)
        _show_table(kept, len(every))
    _apart("jobs", lambda: _show_jobs(store().jobs()))
    _apart("sweeps", lambda: show_sweeps(store().folder))


def _apart(what: str, show: Callable[[], None]) -> None:
    """Show a part of the page; if it fails, the rest is still shown."""
    try:
        show()
    except (InputError, *FAILURES) as error:
        st.warning(escape(f"The {what} of this folder cannot be shown ({type(error).__name__}: {error})."))


def is_demo(run: RunSummary) -> bool:
    """Whether a run is part of the workbench."""
    return run.folder.parent == DEMO


def filter_runs(runs: Sequence[RunSummary], find: str, problem: str, exact: bool) -> list[RunSummary]:
    """The runs that contain all words of the query, on a problem, and only exact runs if asked for."""
    words = find.lower().split()

    def fits(run: RunSummary) -> bool:
        text = " ".join([run.name, run.problem, run.mode, run.pool, run.control]).lower()
        return (
            all(word in text for word in words) and problem in ("", run.problem) and (run.exact or not exact)
        )

    return [run for run in runs if fits(run)]


def runs_table(runs: Sequence[RunSummary]) -> pd.DataFrame:
    """One row for each run with its main metrics."""
    rows: list[dict[str, Any]] = []
    for run in runs:
        demo = is_demo(run)
        rows.append(
            {
                "run": run.name,
                "demo": demo,
                "problem": run.problem,
                "exact": run.exact,
                **{f"mae_{split}": run.mae.get(split) for split in SPLITS},
                "features": run.features,
                "size": run.size,
                "fidelity": run.fidelity,
                "mode": run.mode,
                "pool": run.pool,
                "control": run.control,
                # The files of the demonstration run are as old as the installation.
                "made": None if demo else datetime.fromtimestamp(run.made),
            }
        )
    return pd.DataFrame(rows).astype({"made": "datetime64[ns]"})


def _welcome(every: Sequence[RunSummary]) -> None:
    st.info(
        "The workbench shows value functions that were distilled from learned planners. It contains a "
        "demonstration run on Gripper; start with its value function. Your own runs are listed here, for "
        "example after this command:"
    )
    st.code(f"distill run configs/runs/gripper.yaml --out {shlex.quote(str(store().folder))}", language=None)
    if every:
        page_link("value", "Open the value function of the demo run", run=every[0].name)


def _show_damaged() -> None:
    for name, reason in store().summaries()[1].items():
        st.warning(escape(f"{name} is not a readable run: {reason}"))


def _filtered(every: Sequence[RunSummary]) -> list[RunSummary]:
    """The runs that pass the filters; the filters are part of the address."""
    first, second, third = st.columns([3, 2, 1], vertical_alignment="bottom")
    st.session_state["runs/find"] = _wanted()
    st.session_state["widget/exact"] = selected("exact") == "yes"
    with first:
        find = st.text_input(
            "Find",
            key="runs/find",
            placeholder="words of name, problem, mode, pool, control",
            on_change=_found,
        )
    with second:
        problems = sorted({run.problem for run in every})
        problem = pick("Problem", ["", *problems], "problem", show=lambda name: name or "all")
    with third:
        exact = st.checkbox("Exact only", key="widget/exact", on_change=_exact)
    return filter_runs(every, find, problem, exact)


def _wanted() -> str:
    """The words of the query; they are not shared with other pages, which have queries of their own."""
    return str(st.query_params.get("find", st.session_state.get(_WANTED, ""))).strip()


def _look_for(words: str) -> None:
    st.session_state[_WANTED] = words
    if words:
        st.query_params["find"] = words
    else:
        st.query_params.pop("find", None)


def _found() -> None:
    _look_for(st.session_state["runs/find"].strip())


def _exact() -> None:
    select(exact="yes" if st.session_state["widget/exact"] else None)


def _show_all() -> None:
    select(problem=None, exact=None)
    _look_for("")


def _show_table(kept: Sequence[RunSummary], total: int) -> None:
    if not kept:
        st.info("No run passes these filters.")
        st.button("Show all runs", key="runs/all", on_click=_show_all)
        return
    names = [run.name for run in kept]
    # Each list is a table of its own, so that no row stays marked that is another run now.
    key = f"runs/table/{_wanted()}/{selected('problem')}/{selected('exact')}"

    def chosen() -> None:
        if rows := st.session_state[key]["selection"]["rows"]:
            select(run=names[rows[0]])

    table = runs_table(kept)
    shown = table["run"].where(~table["demo"], table["run"] + " (demo)")
    st.dataframe(
        table.assign(run=shown).drop(columns="demo"),
        column_config=_COLUMNS,
        hide_index=True,
        key=key,
        on_select=chosen,
        selection_mode="single-row",
        placeholder="–",
        height="content" if len(kept) <= _ROWS else 36 * (_ROWS + 1),
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f"{len(kept):,} of {total:,} runs. Click a column to sort by it. Tick a row to select its run "
            "on all pages."
        )
        table_download(table, "runs")


_ERROR = "Mean |V − V*| on this split."
_COLUMNS: dict[str, Any] = {
    "run": st.column_config.TextColumn(pinned=True),
    "exact": st.column_config.CheckboxColumn(help="V = V* on all training states.", width=55),
    **{
        f"mae_{split}": st.column_config.NumberColumn(f"MAE {split}", format="%.4f", help=_ERROR)
        for split in SPLITS
    },
    "features": st.column_config.NumberColumn(help="Terms of the value function.", width=70),
    "size": st.column_config.NumberColumn(help="Symbols of the value function.", width=60),
    "fidelity": st.column_config.NumberColumn(
        format="percent",
        help="Share of states in which the network's greedy successor is also a best one by V.",
        width=70,
    ),
    "made": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm"),
}


def _show_selected(every: Sequence[RunSummary]) -> None:
    name = selected("run") or every[0].name
    run = next((one for one in every if one.name == name), every[0])
    with st.container(border=True):
        st.text(f"Selected: {run.name}" + (" (demonstration run)" if is_demo(run) else ""))
        try:
            if run.size <= _SHORT:
                show_equation(RunSession.of(run.name))
            else:
                st.caption(f"{run.features:,} terms and {run.size:,} symbols: too long to display here.")
        except InputError as error:
            st.error(escape(str(error)))
        with st.container(horizontal=True):
            for path, title in _OPENED.items():
                page_link(path, title, run=run.name)


def _show_jobs(jobs: dict[str, Status]) -> None:
    if not jobs:
        return
    st.header("Jobs", divider="gray")
    st.caption("Jobs that failed or are not finished.")
    st.dataframe(jobs_table(jobs, time.time()), hide_index=True, key="jobs/table", column_config=_JOB_COLUMNS)
    st.button("Refresh", key="jobs/again")
    with_details = {name: status.details for name, status in jobs.items() if status.details}
    if with_details:
        with st.expander("Tracebacks of unexpected errors", key="jobs/details"):
            for name, details in with_details.items():
                st.text(name)
                st.code(details, language=None, height=240)


_JOB_COLUMNS = {
    "error": st.column_config.TextColumn("message", width="large"),
    "progress": st.column_config.ProgressColumn(min_value=0.0, max_value=1.0, format="percent"),
    "heard": st.column_config.DatetimeColumn("last report", format="YYYY-MM-DD HH:mm"),
}


def jobs_table(jobs: dict[str, Status], now: float) -> pd.DataFrame:
    """One row for each job, with a message for one that has not reported for long."""
    rows: list[dict[str, Any]] = []
    for name, status in jobs.items():
        message = status.error
        if status.state == "running" and now - status.seen > _QUIET:
            message = (
                f"No report for {_duration(now - status.seen)}: it may have been killed; start it again."
            )
        rows.append(
            {
                "run": name,
                "state": status.state,
                "stage": status.stage,
                "progress": status.done / status.total if status.total else None,
                "error": message,
                "heard": datetime.fromtimestamp(status.seen) if status.seen else None,
            }
        )
    return pd.DataFrame(rows)


def _duration(seconds: float) -> str:
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} seconds"
