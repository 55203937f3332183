"""Saved views in the sidebar: pages with their selection, stored under a name."""

from collections.abc import Callable

import streamlit as st

from app.components.escape import escape
from app.session.run_index import run_names, store
from app.session.selection import OPEN_PAGES, start_afresh
from app.session.view_files import SavedView, Views
from distill.common import InputError

_MESSAGE = "views/message"


def show_views(page: str) -> None:
    """List the views of this store and offer to save the current one.

    Parameters
    ----------
    page : the address of the current page.
    """
    views = Views(store().folder)
    with st.popover("Saved views", width="stretch", key="views", on_change="rerun") as opened:
        if not opened.open:
            return
        with st.form("views/new", clear_on_submit=True, border=False):
            name = st.text_input("Save this view as", key="views/name", placeholder="a name")
            if st.form_submit_button("Save", key="views/save"):
                _try(lambda: views.save(name, page, dict(st.query_params)))
        if wrong := st.session_state.pop(_MESSAGE, None):
            st.error(escape(wrong))
        found, broken = views.every()
        for file in broken:
            st.warning(escape(f"{file} in {views.folder} is not a readable view; delete it."))
        if not found:
            st.caption("No view is saved yet. Everyone who uses this folder of runs sees the same views.")
        for view in found:
            _show(views, view)


def _try(action: Callable[[], None]) -> None:
    try:
        action()
    except InputError as error:
        st.session_state[_MESSAGE] = str(error)


def missing(view: SavedView) -> str | None:
    """Why a view cannot be shown; None if it can."""
    if view.page not in OPEN_PAGES:
        return f"there is no page {view.page}"
    run = view.selection.get("run")
    return f"the run {run} does not exist" if run and run not in run_names() else None


def _show(views: Views, view: SavedView) -> None:
    with st.container(border=True):
        if wrong := missing(view):
            st.text(view.name)
            st.warning(escape(f"This view cannot be shown: {wrong}."))
        else:
            if st.button(escape(view.name), key=f"views/open/{view.name}", type="tertiary"):
                # A selection that is not part of the view must not stay.
                start_afresh()
                st.switch_page(OPEN_PAGES[view.page], query_params=dict(view.selection))
        with st.container(horizontal=True, vertical_alignment="bottom"):
            other = st.text_input(
                "New name", view.name, key=f"views/other/{view.name}", label_visibility="collapsed"
            )
            st.button(
                "Rename", key=f"views/rename/{view.name}", on_click=_rename, args=(views, view.name, other)
            )
            st.button("Delete", key=f"views/delete/{view.name}", on_click=_delete, args=(views, view.name))


def _rename(views: Views, name: str, other: str) -> None:
    _try(lambda: views.rename(name, other))


def _delete(views: Views, name: str) -> None:
    _try(lambda: views.delete(name))
