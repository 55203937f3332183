"""The page Accuracy: the errors of the value function and of the network."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from app.components.charts import chart
from app.components.escape import escape
from app.components.failures import FAILURES
from app.components.tables import Column, hints, linked_rows, small_table, table_download
from app.pages.accuracy import error_tables
from app.pages.accuracy.error_charts import box_plot, error_lines, heat_map
from app.pages.accuracy.greedy_choices import show_choices
from app.session.run_session import RunSession, current_run
from app.session.selection import page_link, pick, pick_section, remember, select
from distill.common import InputError

OF = {"value": "the value function", "network": "the network"}
_ALL = "all"
_WORST = 25  # states in the list
_ABREAST = 3  # box plots side by side


def show() -> None:
    """Show the page."""
    st.title("Accuracy")
    st.caption("The errors of the value function, and the states where it is wrong.")
    run = current_run()
    remember("split", "of", "v", "see", "looked")
    with st.container(key="first"), _part("The metrics"):
        _verdict(run.run.metrics)
        _metrics(run)
    left, right, _ = st.columns([1, 1, 2])
    table = run.table()
    known = [str(split) for split in table["split"].unique() if split in run.splits]
    with left:
        of = pick("Values of", [one for one in OF if one in table], "of", show=OF.__getitem__)
    with right:
        split = pick("Split", [_ALL, *known], "split")
    if split == _ALL:
        select(split=None)  # other pages have no split of this name
    splits = tuple(known) if split == _ALL else (split,)
    found = _aggregated(str(run.folder), run.stamp, splits, of)
    if found["by V*"].empty:
        st.info("None of these states has both a V* and a value.")
        return
    _left_out(table, splits, found["by V*"])
    name = f"{run.name}-{of}-{split}"
    sections: dict[str, Callable[[], None]] = {
        "Predictions": lambda: _boxes(found, splits, of, name),
        "Errors by V*": lambda: _by_v_star(found, of, name),
        "Errors by objects": lambda: _by_objects(run, splits, of, name),
        "Worst states": lambda: _worst(run, splits, of, found["by V*"], name),
        "Greedy choices": lambda: show_choices(run, splits, f"{run.name}-{split}"),
    }
    section = pick_section(list(sections), "see")
    with _part(section):
        sections[section]()


@contextmanager
def _part(what: str) -> Iterator[None]:
    """Report an error of a part of the page in its place; the other parts are still shown."""
    try:
        yield
    except InputError as error:
        st.error(escape(error))
    except FAILURES as error:
        st.error(escape(f"{what} cannot be shown ({type(error).__name__}: {error}): the run may be damaged."))


@st.cache_resource(max_entries=6, show_spinner="Comparing with V*")
def _labelled(folder: str, stamp: int, splits: tuple[str, ...], of: str) -> pd.DataFrame:
    return error_tables.labelled_states(RunSession(Path(folder), stamp).table(), splits, of)


@st.cache_data(max_entries=40, show_spinner=False)
def _aggregated(folder: str, stamp: int, splits: tuple[str, ...], of: str) -> dict[str, pd.DataFrame]:
    states = _labelled(folder, stamp, splits, of)
    return {
        "boxes": error_tables.boxes(states),
        "outliers": error_tables.outliers(states),
        "confusion": error_tables.confusion(states),
        "by V*": error_tables.by_v_star(states),
    }


@st.cache_data(max_entries=40, show_spinner=False)
def _network_errors(folder: str, stamp: int) -> dict[str, float]:
    run = RunSession(Path(folder), stamp)
    return error_tables.network_errors(run.table(), run.splits)


@st.cache_data(max_entries=40, show_spinner="Counting objects")
def _aggregated_by_objects(folder: str, stamp: int, splits: tuple[str, ...], of: str) -> pd.DataFrame:
    run = RunSession(Path(folder), stamp)
    sizes: dict[str, NDArray[np.int64]] = {split: run.states(split).n_objects for split in splits}
    return error_tables.by_objects(_labelled(folder, stamp, splits, of), sizes)


@st.cache_data(max_entries=40, show_spinner=False)
def _worst_of(
    folder: str, stamp: int, splits: tuple[str, ...], of: str, v_star: int | None
) -> tuple[pd.DataFrame, int]:
    """The states with the largest errors, and the number of states that are not exact."""
    states = _labelled(folder, stamp, splits, of)
    if v_star is not None:
        states = states[states["v_star"] == v_star]
    return error_tables.worst(states, _WORST), int((states["error"] > error_tables.EXACT).sum())


def _verdict(metrics: Mapping[str, Any]) -> None:
    """Show whether the value function is exact, and its largest error."""
    scores = {str(name): score for name, score in metrics["splits"].items()}
    exact = [name for name, score in scores.items() if score["max_error"] <= error_tables.EXACT]
    states = sum(score["states"] for score in scores.values())
    if len(exact) == len(scores):
        named = ", ".join(map(escape, scores))
        st.success(f"Exact: on all {states:,} states ({named}) the value function equals V\\*.")
        return
    worst = max((name for name in scores if name not in exact), key=lambda name: scores[name]["max_error"])
    rounded = sum(score["within_half"] * score["states"] for score in scores.values()) / max(states, 1)
    summary = f"Exact on {', '.join(map(escape, exact))} only. " if exact else "Not exact. "
    st.warning(
        f"{summary}On {rounded:.1%} of all {states:,} states the value function is within ½ of V\\*; the "
        f"largest error is {scores[worst]['max_error']:.3g} ({escape(worst)})."
    )


def _metrics(run: RunSession) -> None:
    metrics = run.run.metrics
    try:
        network = _network_errors(str(run.folder), run.stamp)
    except InputError:
        network = {}  # reported where the page needs the predictions
    table = error_tables.scores(metrics["splits"], network)
    small_table(table, _METRICS)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Meaning of the columns", help=hints(table, _METRICS), width="content")
        _fidelity(metrics.get("fidelity") or {})
        table_download(table, f"{run.name}-metrics", "Metrics as CSV")


_METRICS = {
    "split": Column("split"),
    "states": Column("states", ",.0f"),
    "mae": Column("mean error", ".4f", "Mean |V − V*|."),
    "max_error": Column("largest error", ".4f"),
    "within_half": Column("within ½", ".1%", "States with |V − V*| < ½: the rounded value equals V*."),
    "greedy_optimal_steps": Column(
        "greedy steps optimal",
        ".1%",
        "States in which the greedy successor by V is one step closer to the goal, in instances with labels "
        "for all states. Empty if there are none.",
    ),
    "instances": Column("instances", ",.0f"),
    "solved": Column("solved", ".1%", "By the greedy policy."),
    "plan_length_ratio": Column(
        "plan length", ".3f", "Length of greedy plans divided by that of optimal plans."
    ),
    "network_mae": Column("network's mean error", ".4f", "Mean |V − V*| of the network itself."),
}


def _fidelity(faithful: Mapping[str, Any]) -> None:
    """Show how close the value function is to the network, if there is one."""
    agreement, distance = faithful.get("greedy_agreement"), faithful.get("mae")
    parts = []
    if isinstance(distance, int | float):
        parts.append(f"value function and network differ by {distance:.4f} on average")
    if isinstance(agreement, int | float):
        parts.append(
            f"{1 - agreement:.1%} of the network's greedy successors are not best by the value function"
        )
    if parts:
        st.caption(
            f"Fidelity to the network: {'; '.join(parts)}.",
            help="Counted when the run was made, in instances with labels for all states. The section "
            "“Greedy choices” lists such states.",
        )


def _left_out(table: pd.DataFrame, splits: tuple[str, ...], counted: pd.DataFrame) -> None:
    missing = int(table["split"].isin(splits).sum()) - int(counted["states"].sum())
    if missing:
        st.caption(f"{missing:,} dead ends are left out.")


def _boxes(found: Mapping[str, pd.DataFrame], splits: tuple[str, ...], of: str, name: str) -> None:
    st.caption(
        f"V of {OF[of]} by V\\*. Boxes show quartiles with the median; whiskers end at the last state within "
        "1½ heights of the box; dots are some of the outliers. Dashed line: V = V\\*."
    )
    shown = [split for split in splits if (found["boxes"]["split"] == split).any()]
    for begin in range(0, len(shown), _ABREAST):
        row = shown[begin : begin + _ABREAST]
        for place, split in zip(st.columns(len(row)), row, strict=True):
            with place:
                mine = {key: found[key][found[key]["split"] == split] for key in ("boxes", "outliers")}
                title = f"{split}: {int(mine['boxes']['states'].sum()):,} states"
                chart(box_plot(mine["boxes"], mine["outliers"], title), key=f"accuracy/boxes/{split}")
    with st.container(horizontal=True):
        table_download(found["boxes"], f"{name}-boxes", "Boxes as CSV")
        if len(found["outliers"]):
            table_download(found["outliers"], f"{name}-outliers", "Dots as CSV")


def _by_v_star(found: Mapping[str, pd.DataFrame], of: str, name: str) -> None:
    left, right = st.columns(2)
    with left:
        st.caption(
            f"Rounded predictions of {OF[of]}. The shade of a cell is its share of the states of its V\\*; "
            "the numbers count states. Dashed line: V = V\\*. Outliers are put at the border."
        )
        chart(heat_map(found["confusion"]), key="accuracy/heat map")
        table_download(found["confusion"], f"{name}-confusion", "Cells as CSV")
    with right:
        st.caption(f"Right: within ½ of V\\*, for {OF[of]}. An admissible function is never too high.")
        _errors(found["by V*"], name)


def _errors(counted: pd.DataFrame, name: str) -> None:
    number = st.column_config.NumberColumn
    columns = {
        "v_star": number("V*"),
        **{
            one: number(one.replace("_", " "), format="localized")
            for one in ("states", "right", "too_low", "too_high")
        },
        "mean_error": number("mean error", format="%.4f"),
        "largest_error": number("largest error", format="%.4f"),
    }
    st.dataframe(counted, column_config=columns, hide_index=True, key="accuracy/by V*")
    table_download(counted, f"{name}-by-v-star", "Errors as CSV")


def _by_objects(run: RunSession, splits: tuple[str, ...], of: str, name: str) -> None:
    st.caption(f"Errors of {OF[of]} by the number of objects; large instances are harder.")
    found = _aggregated_by_objects(str(run.folder), run.stamp, splits, of)
    for place, column in zip(st.columns(2), ("mean_error", "largest_error"), strict=True):
        with place:
            chart(error_lines(found, column, splits), key=f"accuracy/{column}")
    table_download(found, f"{name}-by-objects", "Errors by objects as CSV")


def _worst(run: RunSession, splits: tuple[str, ...], of: str, counted: pd.DataFrame, name: str) -> None:
    wrong = counted[counted["largest_error"] > error_tables.EXACT]
    if wrong.empty:
        st.info(f"There are none: {OF[of]} is exact on all these states.")
        return
    narrow, _ = st.columns([1, 3])
    with narrow:
        v_star = pick("V*", [_ALL, *map(str, wrong["v_star"])], "v")
    only = None if v_star == _ALL else int(v_star)
    found, many = _worst_of(str(run.folder), run.stamp, splits, of, only)
    st.caption(
        f"{len(found):,} of {many:,} states that are not exact, by decreasing error. "
        "Tick a row to open its state."
    )
    targets = [
        {"run": run.name, "split": split, "state": state}
        for split, state in zip(found["split"], found["state"], strict=True)
    ]
    shown = found[["split", "instance", "state", "v_star", "v", "error"]]
    number = st.column_config.NumberColumn
    columns = {
        "v_star": number("V*"),
        "v": number("V", format="%.4f"),
        "error": number("error", format="%.4f"),
    }
    page_link("state", "Open the first state", **targets[0])
    linked_rows(shown, "state", targets, "accuracy/worst", column_config=columns)
    table_download(shown, f"{name}-worst", "Worst states as CSV")
