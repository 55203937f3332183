"""Views with names, at the side: what is shown now can be saved, and what was saved can be shown again."""

from collections.abc import Callable

import streamlit as st

from app.opened import run_names, store
from app.plain import plain
from app.selection import OPEN_PAGES, start_afresh
from distill.errors import InputError
from distill.jobs.views import SavedView, Views

_TOLD = "views/told"


def show_views(page: str) -> None:
    """The views of this folder, and a way to save this one.

    Parameters
    ----------
    page : the address of the page that is shown.
    """
    views = Views(store().folder)
    with st.popover("Saved views", width="stretch", key="views", on_change="rerun") as opened:
        if not opened.open:
            return
        with st.form("views/new", clear_on_submit=True, border=False):
            name = st.text_input("Save this view as", key="views/name", placeholder="a name")
            if st.form_submit_button("Save", key="views/save"):
                _told(lambda: views.save(name, page, dict(st.query_params)))
        if wrong := st.session_state.pop(_TOLD, None):
            st.error(plain(wrong))
        found, broken = views.every()
        for file in broken:
            st.warning(plain(f"{file} in {views.folder} is no view that can be read; delete it."))
        if not found:
            st.caption("No view was saved yet. All who use this folder of runs see the same views.")
        for view in found:
            _show(views, view)


def _told(do: Callable[[], None]) -> None:
    try:
        do()
    except InputError as error:
        st.session_state[_TOLD] = str(error)


def missing(view: SavedView) -> str | None:
    """What a view shows that is not there any more."""
    if view.page not in OPEN_PAGES:
        return f"there is no page {view.page}"
    run = view.selection.get("run")
    return f"the run {run} is gone" if run and run not in run_names() else None


def _show(views: Views, view: SavedView) -> None:
    with st.container(border=True):
        if wrong := missing(view):
            st.text(view.name)
            st.warning(plain(f"It cannot be shown: {wrong}."))
        else:
            if st.button(plain(view.name), key=f"views/open/{view.name}", type="tertiary"):
                # What is selected now but was not then would be shown otherwise.
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
    _told(lambda: views.rename(name, other))


def _delete(views: Views, name: str) -> None:
    _told(lambda: views.delete(name))
