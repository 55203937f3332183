"""What is selected: it lives in the address, so that a link shows what its sender saw.

A click on another page drops the address's parameters, so the session remembers them as well.
"""

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from app.plain import plain

_OWN = "selected/"
_WIDGET = "widget/"
OPEN_PAGES: dict[str, Any] = {}  # the pages of the workbench, by their addresses
NOTATIONS = {
    "ascii": "typed",
    "emlc": "EMLC",
    "c2": "C2",
    "english": "English",
    "latex": "LaTeX",
    "dlplan": "dlplan",
}


def selected(key: str, default: str = "") -> str:
    """What the address says of a key; else what was selected before; else the default."""
    if key in st.query_params:
        return str(st.query_params[key])
    return str(st.session_state.get(_OWN + key, default))


def select(**values: object) -> None:
    """Select something, here and on the pages to come; None takes a selection back."""
    for key, value in values.items():
        if value is None or value == "":
            st.session_state.pop(_OWN + key, None)
            st.query_params.pop(key, None)
        else:
            st.session_state[_OWN + key] = str(value)
            st.query_params[key] = str(value)


def start_afresh() -> None:
    """Take all selections back, so that only what an address says is selected next."""
    for key in list(st.session_state):
        if str(key).startswith(_OWN) or key == "runs/wanted":
            del st.session_state[key]


def remember(*keys: str) -> None:
    """Keep what a page depends on both in the address and in the session."""
    for key in keys:
        if value := selected(key):
            select(**{key: value})


def link(page: str, **values: object) -> str:
    """The address of a page with a selection, relative to this one."""
    given = {key: str(value) for key, value in values.items() if value not in (None, "")}
    return f"{page}?{urlencode(given)}"


def page_link(page: str, label: str, **values: object) -> None:
    """A link to a page with a selection, in the same tab."""
    given = {key: str(value) for key, value in values.items() if value not in (None, "")}
    if page in OPEN_PAGES:
        st.page_link(OPEN_PAGES[page], label=label, query_params=given)
    else:  # a page that is shown by itself
        st.link_button(label, link(page, **values))


def pick(
    label: str,
    options: Sequence[str],
    key: str,
    *,
    show: Callable[[str], str] = str,
    resets: Sequence[str] = (),
    **options_of_widget: Any,
) -> str:
    """A list to choose from, tied to a selection; a choice that is not there any more is told.

    Parameters
    ----------
    show : how an option is shown.
    resets : the keys of selections that belong to the old choice; a new one takes them back.
    """
    wanted = selected(key)
    if wanted and wanted not in options:
        st.info(f"{label}: “{plain(wanted)}” is not here; “{plain(show(options[0]))}” is shown instead.")
        select(**{key: None})
        wanted = ""
    st.session_state[_WIDGET + key] = wanted or options[0]

    def changed() -> None:
        select(**{key: st.session_state[_WIDGET + key]}, **dict.fromkeys(resets))

    return str(
        st.selectbox(
            label, options, key=_WIDGET + key, on_change=changed, format_func=show, **options_of_widget
        )
    )


def pick_section(sections: Sequence[str], key: str) -> str:
    """The section of a page that is shown, tied to a selection; the others cost no time."""
    widget = f"section/{key}"
    wanted = selected(key)
    st.session_state[widget] = wanted if wanted in sections else sections[0]
    found = st.segmented_control(
        "Section",
        sections,
        key=widget,
        required=True,
        label_visibility="collapsed",
        on_change=lambda: select(**{key: st.session_state[widget]}),
    )
    return str(found)


def notation() -> str:
    """The notation of all formulas, chosen at the side."""
    found = selected("notation", "ascii")
    return found if found in NOTATIONS else "ascii"
