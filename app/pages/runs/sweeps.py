"""Finished sweeps: the results of their jobs, and the settings that matter."""

from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from app.components.escape import escape
from app.components.sweeps import SCORES, SweepResult, sweeps_in
from app.components.tables import linked_rows, table_download
from app.session.selection import pick, remember
from distill.jobs import MEASURES

_PERCENT = st.column_config.NumberColumn(format="percent")


def show_sweeps(store: Path) -> None:
    """Show all sweeps in a table, and the chosen one with its figure and its jobs."""
    found, wrong = sweeps_in(store)
    if not found and not wrong:
        return
    st.header("Sweeps", divider="gray")
    st.caption("The results of varied settings, and the settings that matter.")
    for sentence in wrong:
        st.warning(escape(sentence))
    if not found:
        return
    st.dataframe(overview(found), hide_index=True, key="sweeps/table", column_config=_OVERVIEW)
    names = [done.name for done in found]
    remember("sweep")
    chosen = found[names.index(pick("Sweep", names, "sweep", width=420))]
    _show(chosen)


def overview(found: list[SweepResult]) -> pd.DataFrame:
    """One row for each sweep: its jobs, the least error, and the settings that matter."""
    rows: list[dict[str, Any]] = []
    for done in found:
        states = done.jobs["state"]
        rows.append(
            {
                "sweep": done.name,
                "jobs": len(done.jobs),
                "done": int((states == "done").sum()),
                "failed": int((states == "failed").sum()),
                "exact": int((done.jobs["exact"].astype(str) == "True").sum()),
                "best_mae": done.jobs["test_mae"].min(),
                "matters": done.main_effects,
            }
        )
    return pd.DataFrame(rows)


_OVERVIEW = {
    "best_mae": st.column_config.NumberColumn("least MAE on test", format="%.4f"),
    "matters": st.column_config.TextColumn("settings that matter", width="large"),
}


def _show(done: SweepResult) -> None:
    if done.effects:
        table = pd.DataFrame(
            {
                "setting": one.setting,
                "for": MEASURES.get(one.measure, one.measure),
                "share": one.share,
                "chance": one.chance,
                "matters": one.matters,
                "best": one.best,
            }
            for one in done.effects
        )
        columns = {"share": _PERCENT, "chance": _PERCENT}
        st.dataframe(table, hide_index=True, key="sweeps/effects", column_config=columns)
        st.caption(
            "Share: the share of the variance between jobs that a setting explains. Chance: the share that "
            "a setting without effect exceeds in one of twenty sweeps."
        )
    else:
        st.info("There are too few jobs, or all have equal results, so no effects can be estimated.")
    _show_figure(done)
    jobs = done.jobs
    varied = [name for name in done.settings if jobs[name].astype(str).nunique() > 1]
    order = ["run", "state", *varied, *SCORES, "error"]
    targets = [{"run": name} if state == "done" else None for name, state in _ids(jobs)]
    st.caption("Tick a finished job to open its value function.")
    linked_rows(
        jobs, "value", targets, "sweeps/jobs", column_order=order, column_config=_JOBS, placeholder="–"
    )
    table_download(done.jobs, f"{done.name}-summary", "Jobs as CSV")


_JOBS: dict[str, Any] = {
    "network_greedy": st.column_config.NumberColumn("fidelity", format="percent"),
    "formula_size": "size",
    **{
        f"{split}_mae": st.column_config.NumberColumn(f"MAE {split}", format="%.4f")
        for split in ("train", "validation", "test")
    },
}


def _ids(jobs: pd.DataFrame) -> list[tuple[str, str]]:
    return list(zip(jobs["run"].astype(str), jobs["state"].astype(str), strict=True))


def _show_figure(done: SweepResult) -> None:
    file = done.folder / "summary.svg"
    if not file.exists():
        return
    try:
        text = file.read_text()
        st.image(text, width="stretch")
    except (OSError, ValueError) as error:
        st.warning(escape(f"The figure of the sweep cannot be shown ({error})."))
        return
    st.download_button(
        "Figure as SVG", text, f"{done.name}.svg", "image/svg+xml", key="sweeps/svg", on_click="ignore"
    )
