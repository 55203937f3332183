"""The layers at which the network knows the terms of a value function, from a job with linear probes."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from app.components.charts import chart
from app.components.escape import escape
from app.components.jobs import INTERVAL, show_job
from app.components.tables import Column, small_table, table_download
from app.session.run_index import store
from app.session.run_session import RunSession
from distill.common import InputError
from distill.jobs import DONE, DetachedJob, detached_jobs, launch
from distill.networks import KNOWN, ProbeRow, known_places

_COMMAND = "probe"
_REFUSED = "layers/refused"
NETWORKS = {"trained": "The network", "untrained": "Control: an untrained network"}


def show_layers(run: RunSession) -> None:
    """Offer a job with probes of all terms, and show the result of the last one."""
    st.caption(
        "Explicit feature testing: a linear map extracts the value of a term from the pooled embedding of "
        "each layer, from the readout, and from the pool vector (what is pooled, the readout's inner values, "
        "and V). It is fitted to half of at most 1500 training states and tested on the others."
    )
    if not (run.folder / "network.safetensors").exists():
        st.info("This run has no network, so there are no layers to test.")
        return
    if not run.value_function.terms():
        st.info("This value function has no features; it is constant.")
        return
    busy = any(not job.state().is_over for job in jobs_of(run))
    st.button("Start a job", key="layers/start", on_click=_start, args=(run,), disabled=busy)
    if message := st.session_state.pop(_REFUSED, None):
        st.warning(escape(message))
    st.fragment(run_every=INTERVAL if busy else None)(_show_jobs)(run, busy)
    rows = probes_of(run)
    if rows is None:
        st.caption("The terms of this run were not tested yet.")
        return
    _show_known(rows)
    _show_scores(rows)


def request(run: RunSession) -> list[str]:
    """The arguments of `distill` that probe all terms of a run in its network."""
    return [
        _COMMAND,
        str(run.folder / "network.safetensors"),
        f"--states={run.folder / 'states'}",
        f"--features-of={run.folder}",
        "--json",
    ]


def jobs_of(run: RunSession) -> list[DetachedJob]:
    """The jobs that probe the terms of a run as it is now, newest first."""
    wanted = tuple(request(run))
    return [
        job
        for job in detached_jobs(store().folder)
        if job.arguments == wanted and job.request_time * 1e9 > run.stamp
    ]


def probes_of(run: RunSession) -> list[ProbeRow] | None:
    """The result of the last job that is done; None if there is none."""
    for job in jobs_of(run):
        if job.state().state == DONE:
            return [ProbeRow.from_json(row) for row in job.result()["probes"]]
    return None


def known_table(rows: Sequence[ProbeRow]) -> pd.DataFrame:
    """For each term the first place at which the network, and the untrained one, knows it."""
    return pd.DataFrame(
        [
            {
                "term": one.feature,
                "network": one.trained or "nowhere",
                "untrained": one.untrained or "nowhere",
                "constant": one.constant_mae,
            }
            for one in known_places(rows)
        ]
    )


def scores_table(rows: Sequence[ProbeRow]) -> pd.DataFrame:
    """For each term and place the errors and scores of the probes."""
    return pd.DataFrame([row.to_json() for row in rows])


def _start(run: RunSession) -> None:
    try:
        launch(*request(run), store=store().folder, name=f"Probes of {run.name}")
    except InputError as error:
        st.session_state[_REFUSED] = str(error)


def _show_jobs(run: RunSession, busy: bool) -> None:
    jobs = jobs_of(run)
    if busy and all(job.state().is_over for job in jobs):
        st.rerun(scope="app")
    for job in jobs:
        show_job(job)


def _show_known(rows: Sequence[ProbeRow]) -> None:
    table = known_table(rows)
    columns = {
        "term": Column("term"),
        "network": Column("network"),
        "untrained": Column("untrained network"),
        "constant": Column("error of a constant", ".3f"),
    }
    st.subheader("Where a term is known first", anchor=False)
    small_table(table, columns)
    st.caption(
        f"Known: the test error is at most {1 - KNOWN:.0%} of that of a constant. What an untrained network "
        "knows as well was not learned."
    )


def _show_scores(rows: Sequence[ProbeRow]) -> None:
    table = scores_table(rows)
    for network, title in NETWORKS.items():
        chart(_heat_map(table, network, title), key=f"layers/{network}")
    st.caption("1: perfect prediction on the test states. 0: no better than a constant.")
    table_download(table, "probes", "Probes as CSV")


@st.cache_data(max_entries=32, show_spinner=False)
def _heat_map(table: pd.DataFrame, network: str, title: str) -> dict[str, Any]:
    """The score of each term at each place; scores below 0 are drawn as 0."""
    score, test, train = (f"{network}_{name}" for name in ("share", "mae", "train_mae"))
    cells = table.assign(drawn=table[score].astype(float).clip(lower=0))
    terms, places = table["feature"].nunique(), list(table["place"].unique())
    tooltip = [
        alt.Tooltip("feature:N", title="term"),
        alt.Tooltip("place:N"),
        alt.Tooltip(f"{score}:Q", title="score", format=".3f"),
        alt.Tooltip(f"{test}:Q", title="test error", format=".4f"),
        alt.Tooltip(f"{train}:Q", title="training error", format=".4f"),
        alt.Tooltip("constant_mae:Q", title="error of a constant", format=".4f"),
    ]
    drawn = (
        alt.Chart(cells)
        .mark_rect()
        .encode(
            x=alt.X("place:N", title=None, sort=places),
            y=alt.Y("feature:N", title=None, sort=None, axis=alt.Axis(labelLimit=320)),
            color=alt.Color("drawn:Q", title="score", scale=alt.Scale(domain=[0, 1], scheme="viridis")),
            tooltip=tooltip,
        )
        .properties(title=title, height=60 + 26 * terms)
    )
    figure: dict[str, Any] = drawn.to_dict()
    return figure
