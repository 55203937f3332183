"""Choosing a state: by number, instance, V*, error, atoms, or at random."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from app.opened import Opened
from app.parts import plain
from app.selection import pick, remember, select, selected
from distill.errors import InputError
from distill.jobs.atom_search import states_with
from distill.planning import SPLITS, UNSOLVABLE, DataSet

Numbers = NDArray[np.int64]
ORDERS = {"number": "number", "error": "worst first", "v_star": "largest V*"}
FILTERS = ("instance", "v_star", "search")
_LISTED = 200  # states in a list
_MORE = "Choose by instance, V*, error or atoms"
_NUMBER, _LIST = "state/number", "state/list"


@dataclass(frozen=True, eq=False)
class Chosen:
    """The state that is looked at.

    Attributes
    ----------
    split : its split.
    number : its number within the split.
    data : all states of the split.
    rows : what is known of each of them, in their order; see `Opened.table`.
    """

    split: str
    number: int
    data: DataSet
    rows: pd.DataFrame

    @property
    def instance(self) -> int:
        """The number of its instance."""
        return int(self.data.state_instance[self.number])

    @property
    def network(self) -> NDArray[np.float64] | None:
        """(n_states,) the network's values, if there is a network."""
        return self.rows["network"].to_numpy() if "network" in self.rows else None


def v_star_text(v_star: int | None) -> str:
    """V* for people."""
    return "–" if v_star is None else "no way" if v_star == UNSOLVABLE else str(v_star)


def candidates(
    rows: pd.DataFrame,
    data: DataSet,
    *,
    instance: int | None = None,
    v_star: int | None = None,
    search: str = "",
    order: str = "number",
) -> Numbers:
    """The numbers of the states that meet all conditions, in an order.

    Parameters
    ----------
    rows : what is known of all states of the set, in their order.
    search : atoms that must hold, see `states_with`.
    order : one of `ORDERS`; states of equal error or V* are ordered by number.
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
        # Where there is no way to the goal, nothing is known to be wrong.
        worst = rows[order].to_numpy(dtype=np.float64, na_value=-1.0)[found]
        found = found[np.argsort(-np.nan_to_num(worst, nan=-1.0), kind="stable")]
    return found


def choose_state(run: Opened) -> Chosen:
    """Ask for a state; the one in the address is shown, and the first one if there is none."""
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
    return Chosen(split, number, data, rows)


@st.cache_resource(max_entries=8, show_spinner=False)
def _rows(folder: str, stamp: int, split: str) -> pd.DataFrame:
    run = Opened(Path(folder), stamp)
    table = run.table()
    found = table[table["split"] == split].sort_values("state", kind="stable")
    if len(found) != len(run.states(split)):
        raise InputError(f"The predictions of {run.name} do not fit its states; make the run again.")
    return found.reset_index(drop=True)


def _asked_for(split: str, data: DataSet) -> int | None:
    """The state in the address, if there is such a one."""
    wanted = selected("state")
    if not wanted:
        return None
    if wanted.isdecimal() and int(wanted) < len(data):
        return int(wanted)
    st.warning(
        f"There is no state “{plain(wanted)}” in the split {plain(split)}, which has 0 to {len(data) - 1}; "
        "another one is shown."
    )
    select(state=None, plan=None, step=None)
    return None


def _drop_filters(number: int | None, data: DataSet) -> None:
    """Take back what the state that is asked for does not meet."""
    if number is None:
        return
    if selected("instance") not in ("", str(data.state_instance[number])):
        select(instance=None)
    if selected("v_star") not in ("", str(data.v_star[number])):
        select(v_star=None)


def _found(data: DataSet, rows: pd.DataFrame, place: DeltaGenerator) -> Numbers:
    """The states that the conditions of the address let through."""
    levels = ["", *map(str, np.unique(data.v_star))]
    offered = {
        "instance": ["", *map(str, range(len(data.instances)))],
        "v_star": levels,
        "order": list(ORDERS),
    }
    active = any(selected(key) for key in ("order", *FILTERS))
    with place, st.expander(_MORE, active, key="state/more", on_change="rerun") as more:
        # What is not here any more is told even if nobody looks.
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
        place.warning(plain(error))
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
        help="All of them must hold. A question mark stands for any object; what ends in \\_G is the goal.",
    )


def _show_choice(number: int, found: Numbers, rows: pd.DataFrame) -> int:
    """The state among those found, and ways to others."""
    if not len(found):
        st.info("No state is like this; take something back. Meanwhile another one is shown.")
    place = np.flatnonzero(found == number)
    rank = int(place[0]) if len(place) else None
    first = 0 if rank is None else max(0, min(rank - _LISTED // 2, len(found) - _LISTED))
    listed = found[first : first + _LISTED].tolist()
    if rank is None:
        listed = [number, *listed]
    told = _told(rows, listed)
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
            format_func=told.__getitem__,
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


def _told(rows: pd.DataFrame, numbers: list[int]) -> dict[int, str]:
    """What is known of some states, in words."""
    some = rows.iloc[numbers]
    network = some["network"].tolist() if "network" in some else [None] * len(some)
    return {
        number: f"{number}: V* {v_star_text(int(v_star))}, value {value:.4g}"
        + ("" if one is None else f", network {one:.2f}")
        for number, v_star, value, one in zip(
            numbers, some["v_star"].tolist(), some["value"].tolist(), network, strict=True
        )
    }
