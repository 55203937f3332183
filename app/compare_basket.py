"""The basket: the runs that are compared, as the address has them."""

from collections.abc import Sequence

import streamlit as st

from app.opened import run_names
from app.plain import plain
from app.selection import select, selected

MOST = 12  # runs
_WIDGET = "compare/basket"


def packed(names: Sequence[str]) -> str:
    """Names as an address has them, with commas between them.

    Examples
    --------
    >>> packed(["one", "two, too"]), unpacked(packed(["one", "two, too"]))
    ('one,two%2C too', ['one', 'two, too'])
    """
    return ",".join(name.replace("%", "%25").replace(",", "%2C") for name in names)


def unpacked(text: str) -> list[str]:
    """Undo `packed`; each name once."""
    names = (one.strip().replace("%2C", ",").replace("%25", "%") for one in text.split(","))
    return list(dict.fromkeys(filter(None, names)))


def ask_basket() -> list[str]:
    """The names of the runs to compare; those that are not there any more are told and left out."""
    there = run_names()
    wanted = unpacked(selected("runs")) or [one for one in [selected("run")] if one in there]
    unknown = [name for name in wanted if name not in there]
    if unknown:
        st.warning(f"Not here any more, and left out: {plain(', '.join(unknown))}.")
    kept = [name for name in wanted if name in there]
    if len(kept) > MOST:
        st.warning(f"{len(kept)} runs are more than can be read side by side; the first {MOST} are shown.")
    kept = kept[:MOST]
    select(runs=packed(kept))
    st.session_state[_WIDGET] = kept
    st.multiselect(
        "Runs in the basket",
        there,
        key=_WIDGET,
        max_selections=MOST,
        placeholder="Choose two or more",
        on_change=lambda: select(runs=packed(st.session_state[_WIDGET]), run=_first()),
    )
    return kept


def _first() -> str | None:
    """The run at the side stays, unless it is no longer in the basket."""
    basket, current = st.session_state[_WIDGET], selected("run")
    return current if current in basket or not basket else str(basket[0])
