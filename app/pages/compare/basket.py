"""The basket: the compared runs, as part of the address."""

from collections.abc import Sequence

import streamlit as st

from app.components.escape import escape
from app.session.run_index import run_names
from app.session.selection import select, selected

MOST = 12  # runs
_WIDGET = "compare/basket"


def encode_names(names: Sequence[str]) -> str:
    """Join names with commas for an address.

    Examples
    --------
    >>> encode_names(["one", "two, too"]), decode_names(encode_names(["one", "two, too"]))
    ('one,two%2C too', ['one', 'two, too'])
    """
    return ",".join(name.replace("%", "%25").replace(",", "%2C") for name in names)


def decode_names(text: str) -> list[str]:
    """The inverse of `encode_names`; each name once."""
    names = (one.strip().replace("%2C", ",").replace("%25", "%") for one in text.split(","))
    return list(dict.fromkeys(filter(None, names)))


def ask_basket() -> list[str]:
    """Ask for the runs to compare; a message names runs that do not exist."""
    there = run_names()
    wanted = decode_names(selected("runs")) or [one for one in [selected("run")] if one in there]
    unknown = [name for name in wanted if name not in there]
    if unknown:
        st.warning(f"These runs do not exist and are left out: {escape(', '.join(unknown))}.")
    kept = [name for name in wanted if name in there]
    if len(kept) > MOST:
        st.warning(f"{len(kept)} runs are too many to compare; the first {MOST} are shown.")
    kept = kept[:MOST]
    select(runs=encode_names(kept))
    st.session_state[_WIDGET] = kept
    st.multiselect(
        "Runs in the basket",
        there,
        key=_WIDGET,
        max_selections=MOST,
        placeholder="Choose two or more",
        on_change=lambda: select(runs=encode_names(st.session_state[_WIDGET]), run=_first()),
    )
    return kept


def _first() -> str | None:
    """The selected run, unless it is no longer in the basket."""
    basket, current = st.session_state[_WIDGET], selected("run")
    return current if current in basket or not basket else str(basket[0])
