"""The entry of the workbench: its pages, the sidebar, and error messages.

This script must not be in the folder above `pages`: Streamlit would take that folder for pages of its own.
"""

from collections.abc import Callable

import streamlit as st

from app.components.escape import escape
from app.components.failures import FAILURES
from app.pages import accuracy, compare, expressivity, formulas, laboratory, runs, start, states, trees, value
from app.session.run_index import run_names
from app.session.saved_views import show_views
from app.session.selection import NOTATIONS, OPEN_PAGES, pick, remember
from distill.common import InputError

PAGES: list[tuple[str, str, Callable[[], None]]] = [
    ("runs", "Runs", runs.show),
    ("value", "Value function", value.show),
    ("formulas", "Formulas", formulas.show),
    ("state", "States", states.show),
    ("accuracy", "Accuracy", accuracy.show),
    ("trees", "Trees and embeddings", trees.show),
    ("expressivity", "Expressivity", expressivity.show),
    ("laboratory", "Laboratory", laboratory.show),
    ("compare", "Compare", compare.show),
    ("work", "Start work", start.show),
]


def with_error_messages(page: Callable[[], None]) -> Callable[[], None]:
    """The page, with a message in place of an exception."""

    def shown() -> None:
        try:
            page()
        except InputError as error:
            st.error(escape(error))
            st.page_link(OPEN_PAGES["runs"], label="Choose a run")
        except FAILURES as error:
            st.error(escape(f"This cannot be shown ({type(error).__name__}: {error})."))
            st.info(
                "The run may be damaged; check it with `distill verify-run`. Try another run or a new link."
            )
            st.page_link(OPEN_PAGES["runs"], label="Choose a run")

    return shown


def main() -> None:
    """Show the page that the address names."""
    st.set_page_config(page_title="Workbench", page_icon="🔎", layout="wide")
    OPEN_PAGES.update(
        {path: st.Page(with_error_messages(page), title=title, url_path=path) for path, title, page in PAGES}
    )
    # A default page has no address of its own, but `runs?…` must be a link like any other.
    first = st.Page(
        with_error_messages(runs.show), title="Runs", url_path="start", default=True, visibility="hidden"
    )
    chosen = st.navigation([first, *OPEN_PAGES.values()])
    with st.sidebar:
        names = run_names()
        if names:
            pick("Run", names, "run")
        pick("Notation", list(NOTATIONS), "notation", show=NOTATIONS.__getitem__)
    remember("run", "notation")
    chosen.run()
    with st.sidebar:
        # Only now the address holds everything that the page selects.
        show_views(chosen.url_path or "runs")


if __name__ == "__main__":
    main()
