"""The selection: it is part of the address, so that a link shows the same to everyone.

A click on another page drops the parameters of the address, so the session stores them as well.
"""

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from app.components.escape import escape

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
    """The value of a key in the address, else in the session, else the default."""
    if key in st.query_params:
        return str(st.query_params[key])
    return str(st.session_state.get(_OWN + key, default))


def select(**values: object) -> None:
    """Select values, on this page and on those opened later; None removes a selection."""
    for key, value in values.items():
        if value is None or value == "":
            st.session_state.pop(_OWN + key, None)
            st.query_params.pop(key, None)
        else:
            st.session_state[_OWN + key] = str(value)
            st.query_params[key] = str(value)


def start_afresh() -> None:
    """Remove all selections, so that the next address alone decides."""
    for key in list(st.session_state):
        if str(key).startswith(_OWN) or key == "runs/wanted":
            del st.session_state[key]


def remember(*keys: str) -> None:
    """Store the selection of some keys both in the address and in the session."""
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
    else:  # a page that runs outside the workbench, as in tests
        st.link_button(label, link(page, **values))


def pick(
    label: str,
    options: Sequence[str],
    key: str,
    *,
    show: Callable[[str], str] = str,
    resets: Sequence[str] = (),
    depends_on: str = "",
    **options_of_widget: Any,
) -> str:
    """A select box tied to a selection; a message reports a selected option that does not exist.

    Parameters
    ----------
    show : the label of an option.
    resets : the keys of selections that depend on this one; a new choice removes them.
    depends_on : the choice that decides the default. Each has a box of its own: a value that the browser
        still sends from the box before is not a choice in this one.
    """
    widget = "/".join(filter(None, (_WIDGET + key, depends_on)))
    wanted = selected(key)
    if wanted and wanted not in options:
        st.info(f"{label}: “{escape(wanted)}” does not exist; “{escape(show(options[0]))}” is shown instead.")
        select(**{key: None})
        wanted = ""
    st.session_state[widget] = wanted or options[0]

    def changed() -> None:
        select(**{key: st.session_state[widget]}, **dict.fromkeys(resets))

    return str(
        st.selectbox(label, options, key=widget, on_change=changed, format_func=show, **options_of_widget)
    )


def pick_section(sections: Sequence[str], key: str) -> str:
    """The visible section of a page, tied to a selection; hidden sections are not computed."""
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
    """The notation of all formulas, chosen in the sidebar."""
    found = selected("notation", "ascii")
    return found if found in NOTATIONS else "ascii"
