"""Choosing a state: by number, instance, V*, error, atoms, or at random."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from app.opened import Opened
from app.parts import plain
from app.selection import pick, remember, select, selected
from distill.errors import InputError
from distill.jobs.inspection import states_with
from distill.planning import SPLITS, UNSOLVABLE, DataSet

Numbers = NDArray[np.int64]
ORDERS = {"number": "number", "error": "worst first", "v_star": "largest V*"}
FILTERS = ("instance", "v_star", "search")
_LISTED = 200  # states in a list
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
        columns = st.columns([2, 3, 2, 2, 4])
        with columns[0]:
            split = pick("Split", splits, "split", resets=("state", "plan", "step", *FILTERS))
        data, rows = run.states(split), _rows(run, split)
        if not len(data):
            raise InputError(f"The split {split} has no states; choose another one.")
        number = _asked_for(split, data)
        _drop_filters(number, data)
        found = _found(data, rows, columns[1:])
        if number is None:
            number = int(found[0]) if len(found) else 0
        number = _show_choice(number, found, rows)
    select(state=number)
    return Chosen(split, number, data, rows)


def _rows(run: Opened, split: str) -> pd.DataFrame:
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


def _found(data: DataSet, rows: pd.DataFrame, columns: list[st.delta_generator.DeltaGenerator]) -> Numbers:
    """The states that the user lets through."""
    resets = ("state", "plan", "step")

    def named(option: str) -> str:
        return f"{option}: {data.instances[int(option)]['name']}" if option else "all"

    with columns[0]:
        instances = ["", *map(str, range(len(data.instances)))]
        instance = pick("Instance", instances, "instance", show=named, resets=resets)
    with columns[1]:
        levels = ["", *map(str, np.unique(data.v_star))]
        v_star = pick(
            "V*", levels, "v_star", show=lambda v: v_star_text(int(v)) if v else "any", resets=resets
        )
    with columns[2]:
        order = pick("Order", list(ORDERS), "order", show=ORDERS.__getitem__, resets=resets)
    with columns[3]:
        search = _typed_atoms()
    within = int(instance) if instance else None
    level = int(v_star) if v_star else None
    try:
        return candidates(rows, data, instance=within, v_star=level, search=search, order=order)
    except InputError as error:
        st.warning(plain(error))
        return candidates(rows, data, instance=within, v_star=level, order=order)


def _typed_atoms() -> str:
    st.session_state["state/search"] = selected("search")

    def changed() -> None:
        select(search=st.session_state["state/search"], state=None, plan=None, step=None)

    return str(
        st.text_input(
            "Atoms that hold",
            key="state/search",
            on_change=changed,
            placeholder="(on a b) (clear ?)",
            help="All of them must hold. A question mark stands for any object, and what ends in \\_G is the "
            "goal.",
        )
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
    st.session_state[_NUMBER] = st.session_state[_LIST] = number

    def go(to: int) -> None:
        select(state=to, plan=None, step=None)

    def at_random() -> None:
        go(int(np.random.default_rng().choice(found)))

    left, middle, *buttons = st.columns([2, 5, 1.3, 1.3, 1.5], vertical_alignment="bottom")
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
            format_func=lambda one: _told(rows, one),
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


def _told(rows: pd.DataFrame, number: int) -> str:
    row = rows.iloc[number]
    network = f", network {row['network']:.2f}" if "network" in rows else ""
    return f"{number}: V* {v_star_text(int(row['v_star']))}, value {row['value']:.4g}{network}"
