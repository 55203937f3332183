"""Sweeps that were done: what came out of their jobs, and which settings matter."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from app.parts import table_download
from app.plain import plain
from app.row_links import linked_rows
from app.selection import pick, remember
from distill.errors import InputError
from distill.jobs import Effect
from distill.jobs.summary import MEASURES, SWEEPS

_SCORES = ("test_mae", "train_mae", "validation_mae", "exact", "features", "formula_size", "network_greedy")
_PERCENT = st.column_config.NumberColumn(format="percent")


@dataclass(frozen=True, eq=False)
class Done:
    """A sweep that was done.

    Attributes
    ----------
    folder : where its summary is.
    jobs : one row for each job, as in `summary.csv`.
    effects : how much each setting matters, most first.
    """

    folder: Path
    jobs: pd.DataFrame
    effects: tuple[Effect, ...]

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.name

    @property
    def settings(self) -> list[str]:
        """The settings that vary, as columns of `jobs`."""
        columns = list(map(str, self.jobs.columns))
        return columns[columns.index("state") + 1 : columns.index("train_mae")]

    @property
    def told(self) -> str:
        """The settings that matter, in words."""
        found = [
            f"{one.setting.removeprefix('distillation.')} for {MEASURES.get(one.measure, one.measure)} "
            f"({one.share:.0%}, best: {one.best})"
            for one in self.effects
            if one.matters
        ]
        return "; ".join(found) or "no setting matters more than chance"


def sweeps_in(store: Path) -> tuple[list[Done], list[str]]:
    """The sweeps of a folder of runs, newest first, and sentences about those that cannot be read."""
    found, wrong = [], []
    for file in (store / SWEEPS).glob("*/summary.csv"):
        try:
            stamp = file.stat().st_mtime_ns
            found.append((-stamp, file.parent.name, _read(str(file.parent), stamp)))
        except (InputError, OSError) as error:
            wrong.append(str(error))
    return [done for *_, done in sorted(found, key=lambda one: one[:2])], sorted(wrong)


@st.cache_resource(max_entries=200, show_spinner="Reading sweeps")
def _read(folder: str, stamp: int) -> Done:
    place = Path(folder)
    try:
        jobs = pd.read_csv(place / "summary.csv")
        rows = json.loads((place / "effects.json").read_text())
        done = Done(place, jobs, tuple(Effect(**row) for row in rows))
        _ = done.settings, done.told, jobs[["run", "state", "error", *_SCORES]]
    except (OSError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise InputError(
            f"The sweep {place.name} cannot be read ({error}); `distill batch` writes its summary again."
        ) from error
    return done


def show_sweeps(store: Path) -> None:
    """All sweeps in a table, and the one that is chosen with its figure and its jobs."""
    found, wrong = sweeps_in(store)
    if not found and not wrong:
        return
    st.header("Sweeps", divider="gray")
    st.caption("What came out when settings were varied, and which of them matter.")
    for sentence in wrong:
        st.warning(plain(sentence))
    if not found:
        return
    st.dataframe(overview(found), hide_index=True, key="sweeps/table", column_config=_OVERVIEW)
    names = [done.name for done in found]
    remember("sweep")
    chosen = found[names.index(pick("Sweep", names, "sweep", width=420))]
    _show(chosen)


def overview(found: list[Done]) -> pd.DataFrame:
    """One row for each sweep: its jobs, the best of them, and the settings that matter."""
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
                "matters": done.told,
            }
        )
    return pd.DataFrame(rows)


_OVERVIEW = {
    "best_mae": st.column_config.NumberColumn("least MAE on test", format="%.4f"),
    "matters": st.column_config.TextColumn("what matters", width="large"),
}


def _show(done: Done) -> None:
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
            "Share: how much of the variance between jobs a setting explains. Chance: what a setting that "
            "does nothing reaches in one of twenty sweeps."
        )
    else:
        st.info("Too few jobs, or all came out the same: there is nothing to tell about settings.")
    _show_figure(done)
    jobs = done.jobs
    varied = [name for name in done.settings if jobs[name].astype(str).nunique() > 1]
    order = ["run", "state", *varied, *_SCORES, "error"]
    targets = [{"run": name} if state == "done" else None for name, state in _ids(jobs)]
    st.caption("Tick a job that is done to open its value function.")
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


def _show_figure(done: Done) -> None:
    file = done.folder / "summary.svg"
    if not file.exists():
        return
    try:
        text = file.read_text()
        st.image(text, width="stretch")
    except (OSError, ValueError) as error:
        st.warning(plain(f"The figure of the sweep cannot be shown ({error})."))
        return
    st.download_button(
        "Figure as SVG", text, f"{done.name}.svg", "image/svg+xml", key="sweeps/svg", on_click="ignore"
    )
