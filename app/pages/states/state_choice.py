"""The choice of a state: by number, instance, V*, error, atoms, or at random."""

from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from app.components.escape import escape
from app.components.state_view import StateChoice, v_star_text
from app.session.run_session import RunSession
from app.session.selection import pick, remember, select, selected
from distill.common import InputError
from distill.evaluation import states_with
from distill.planning import SPLITS
from distill.structures import DataSet

Numbers = NDArray[np.int64]
ORDERS = {"number": "number", "error": "worst first", "v_star": "largest V*"}
FILTERS = ("instance", "v_star", "search")
_LISTED = 200  # states in the list
_MORE = "Choose by instance, V*, error or atoms"
_NUMBER, _LIST = "state/number", "state/list"


def candidates(
    rows: pd.DataFrame,
    data: DataSet,
    *,
    instance: int | None = None,
    v_star: int | None = None,
    search: str = "",
    order: str = "number",
) -> Numbers:
    """The numbers of the states that satisfy all conditions, sorted.

    Parameters
    ----------
    rows : one row for each state of the set.
    search : atoms that must hold; see `states_with`.
    order : one of `ORDERS`; ties are sorted by number.
    """
    keep = np.ones(len(rows), dtype=bool)
    if instance is not None:
        keep &= data.state_instance == instance
    if v_star is not None:
        keep &= data.v_star == v_star
    if search.strip():
        keep &= states_with(data, search)
    found: Numbers = np.flatnonzero(keep)
    if order in ("error", "v_star"):
        # A dead end has no error.
        worst = rows[order].to_numpy(dtype=np.float64, na_value=-1.0)[found]
        found = found[np.argsort(-np.nan_to_num(worst, nan=-1.0), kind="stable")]
    return found


def choose_state(run: RunSession) -> StateChoice:
    """Ask for a state; the default is the one in the address, else the first."""
    remember("split", "state", "order", *FILTERS)
    splits = sorted(run.splits, key=lambda name: (name not in SPLITS, [*SPLITS, name].index(name)))
    with st.container(border=True):
        narrow, wide = st.columns([2, 11], vertical_alignment="bottom")
        with narrow:
            split = pick("Split", splits, "split", resets=("state", "plan", "step", *FILTERS))
        data, rows = run.states(split), _rows(str(run.folder), run.stamp, split)
        if not len(data):
            raise InputError(f"The split {split} has no states; choose another one.")
        number = _asked_for(split, data)
        _drop_filters(number, data)
        more = st.container()
        found = _found(data, rows, more)
        if number is None:
            number = int(found[0]) if len(found) else 0
        with wide:
            number = _show_choice(number, found, rows)
    select(state=number)
    return StateChoice(split, number, data, rows)


@st.cache_resource(max_entries=8, show_spinner=False)
def _rows(folder: str, stamp: int, split: str) -> pd.DataFrame:
    run = RunSession(Path(folder), stamp)
    table = run.table()
    found = table[table["split"] == split].sort_values("state", kind="stable")
    if len(found) != len(run.states(split)):
        raise InputError(f"The predictions of {run.name} do not match its states; run it again.")
    return found.reset_index(drop=True)


def _asked_for(split: str, data: DataSet) -> int | None:
    """The state in the address; None if it does not exist."""
    wanted = selected("state")
    if not wanted:
        return None
    if wanted.isdecimal() and int(wanted) < len(data):
        return int(wanted)
    st.warning(
        f"There is no state “{escape(wanted)}” in the split {escape(split)}, which has 0 to {len(data) - 1}; "
        "another one is shown."
    )
    select(state=None, plan=None, step=None)
    return None


def _drop_filters(number: int | None, data: DataSet) -> None:
    """Remove conditions that the state in the address does not satisfy."""
    if number is None:
        return
    if selected("instance") not in ("", str(data.state_instance[number])):
        select(instance=None)
    if selected("v_star") not in ("", str(data.v_star[number])):
        select(v_star=None)


def _found(data: DataSet, rows: pd.DataFrame, place: DeltaGenerator) -> Numbers:
    """The states that satisfy the conditions in the address."""
    levels = ["", *map(str, np.unique(data.v_star))]
    offered = {
        "instance": ["", *map(str, range(len(data.instances)))],
        "v_star": levels,
        "order": list(ORDERS),
    }
    active = any(selected(key) for key in ("order", *FILTERS))
    with place, st.expander(_MORE, active, key="state/more", on_change="rerun") as more:
        # Invalid conditions are reported even if the expander is closed.
        unknown = any(selected(key) not in ("", *options) for key, options in offered.items())
        if more.open or unknown:
            _conditions(data, offered)
    instance, v_star = selected("instance"), selected("v_star")
    within = int(instance) if instance else None
    level = int(v_star) if v_star else None
    search, order = selected("search"), selected("order", "number")
    try:
        return candidates(rows, data, instance=within, v_star=level, search=search, order=order)
    except InputError as error:
        place.warning(escape(error))
        return candidates(rows, data, instance=within, v_star=level, order=order)


def _conditions(data: DataSet, offered: dict[str, list[str]]) -> None:
    resets = ("state", "plan", "step")
    shown = {
        "instance": lambda one: f"{one}: {data.instances[int(one)]['name']}" if one else "all",
        "v_star": lambda one: v_star_text(int(one)) if one else "any",
        "order": ORDERS.__getitem__,
    }
    labels = {"instance": "Instance", "v_star": "V*", "order": "Order"}
    *columns, last = st.columns([3, 2, 2, 4])
    for column, (key, label) in zip(columns, labels.items(), strict=True):
        with column:
            pick(label, offered[key], key, show=shown[key], resets=resets)
    with last:
        _typed_atoms()


def _typed_atoms() -> None:
    st.session_state["state/search"] = selected("search")

    def changed() -> None:
        select(search=st.session_state["state/search"], state=None, plan=None, step=None)

    st.text_input(
        "Atoms that hold",
        key="state/search",
        on_change=changed,
        placeholder="(on a b) (clear ?)",
        help="All of them must hold. A question mark stands for any object; \\_G marks goals.",
    )


def _show_choice(number: int, found: Numbers, rows: pd.DataFrame) -> int:
    """Show the chosen state in the list, and buttons to others."""
    if not len(found):
        st.info("No state satisfies these conditions; remove one of them. Another state is shown.")
    place = np.flatnonzero(found == number)
    rank = int(place[0]) if len(place) else None
    first = 0 if rank is None else max(0, min(rank - _LISTED // 2, len(found) - _LISTED))
    listed = found[first : first + _LISTED].tolist()
    if rank is None:
        listed = [number, *listed]
    labels = _labels(rows, listed)
    st.session_state[_NUMBER] = st.session_state[_LIST] = number

    def go(to: int) -> None:
        select(state=to, plan=None, step=None)

    def at_random() -> None:
        go(int(np.random.default_rng().choice(found)))

    left, middle, *buttons = st.columns([2, 5, 1.7, 1.3, 1.5], vertical_alignment="bottom")
    with left:
        st.number_input(
            "State", 0, len(rows) - 1, key=_NUMBER, on_change=lambda: go(int(st.session_state[_NUMBER]))
        )
    with middle:
        part = f", {len(listed)} of them listed" if len(listed) < len(found) else ""
        st.selectbox(
            f"One of {len(found):,} states{part}",
            listed,
            key=_LIST,
            format_func=labels.__getitem__,
            on_change=lambda: go(int(st.session_state[_LIST])),
        )
    for place_of, label, step in ((buttons[0], "Previous", -1), (buttons[1], "Next", 1)):
        target = rank + step if rank is not None else 0
        there = 0 <= target < len(found)
        args = (int(found[target]),) if there else ()
        with place_of:
            st.button(
                label, on_click=go, args=args, disabled=not there, key=f"state/{label}", width="stretch"
            )
    with buttons[2]:
        st.button("Random", on_click=at_random, disabled=not len(found), key="state/random", width="stretch")
    return number


def _labels(rows: pd.DataFrame, numbers: list[int]) -> dict[int, str]:
    """The labels of some states."""
    some = rows.iloc[numbers]
    network = some["network"].tolist() if "network" in some else [None] * len(some)
    return {
        number: f"{number}: V* {v_star_text(int(v_star))}, value {value:.4g}"
        + ("" if one is None else f", network {one:.2f}")
        for number, v_star, value, one in zip(
            numbers, some["v_star"].tolist(), some["value"].tolist(), network, strict=True
        )
    }
