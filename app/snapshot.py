"""A page as one HTML file: what it shows now, without any script, to be kept, sent or printed.

Whatever a page shows goes to the browser as messages; they are noted on their way, so that no page has to
know of it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from app.plain import plain
from app.snapshot_markup import Shown, shown_markup
from distill import __version__
from distill.errors import InputError
from distill.jobs.markup import element, page, table

_MAIN = 0  # where paths of what is not at the side begin


@contextmanager
def noted() -> Iterator[dict[tuple[int, ...], Shown]]:
    """Note what is shown while the body runs, by its place on the page; later things replace earlier ones."""
    found: dict[tuple[int, ...], Shown] = {}
    context = get_script_run_ctx()
    if context is None:
        yield found
        return
    send = context.enqueue

    def note(message: Any) -> None:
        kind = message.delta.WhichOneof("type") if message.HasField("delta") else None
        path = tuple(message.metadata.delta_path)
        if kind in ("new_element", "add_block") and path[:1] == (_MAIN,):
            found[path] = getattr(message.delta, kind)
        send(message)

    context.enqueue = note  # type: ignore[method-assign, assignment]
    try:
        yield found
    finally:
        context.enqueue = send  # type: ignore[method-assign]


def offer(title: str, found: dict[tuple[int, ...], Shown]) -> None:
    """A button at the side that gives what was noted as a file.

    Parameters
    ----------
    title : of the page.
    """
    with st.popover("This page as a file", width="stretch", key="snapshot", on_change="rerun") as opened:
        if not opened.open:
            return
        st.caption("One HTML file with all texts, tables and figures of this page; it needs nothing else.")
        try:
            text = as_html(title, found)
        except (InputError, ValueError, LookupError, TypeError) as error:
            st.error(plain(f"This page cannot be kept ({error})."))
            return
        name = f"{title.lower().replace(' ', '-')}.html"
        st.download_button("Save", text, name, "text/html", key="snapshot/save", on_click="ignore")


def as_html(title: str, found: dict[tuple[int, ...], Shown]) -> str:
    """The page that was noted, in HTML."""
    dark = st.context.theme.type == "dark"
    chosen = sorted(st.query_params.to_dict().items())
    where = [table("What is selected", ["key", "value"], chosen)] if chosen else []
    address = f"{(st.context.url or '').partition('?')[0]}?{urlencode(chosen)}"
    told = f"Seen in the workbench of planning-distill {__version__}, {datetime.now():%Y-%m-%d %H:%M}."
    return page(
        title,
        *shown_markup(found, dark),
        element("h2", "Where this was seen"),
        element("p", told, class_="note"),
        element("p", element("code", address), class_="note"),
        *where,
    )
