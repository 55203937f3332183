"""The workbench: pages, what is selected at the side, and what happens when something goes wrong."""

from collections.abc import Callable

import streamlit as st

from app.opened import run_names
from app.plain import plain
from app.saved_views import show_views
from app.selection import NOTATIONS, OPEN_PAGES, pick, remember
from app.snapshot import noted, offer
from app.views import accuracy, compare, expressivity, formulas, laboratory, runs, start, state, trees, value
from distill.errors import InputError

PAGES: list[tuple[str, str, Callable[[], None]]] = [
    ("runs", "Runs", runs.page),
    ("value", "Value function", value.page),
    ("formulas", "Formulas", formulas.page),
    ("state", "States", state.page),
    ("accuracy", "Accuracy", accuracy.page),
    ("trees", "Trees and embeddings", trees.page),
    ("expressivity", "Expressivity", expressivity.page),
    ("laboratory", "Laboratory", laboratory.page),
    ("compare", "Compare", compare.page),
    ("work", "Start work", start.page),
]


def careful(page: Callable[[], None]) -> Callable[[], None]:
    """The page, but what a user can mend is told in a sentence, and what nobody foresaw in two."""

    def shown() -> None:
        try:
            page()
        except InputError as error:
            st.error(plain(error))
            st.page_link(OPEN_PAGES["runs"], label="Choose a run")
        except (OSError, ValueError, LookupError, TypeError, ArithmeticError) as error:
            st.error(plain(f"This cannot be shown ({type(error).__name__}: {error})."))
            st.info(
                "The run may be damaged: `distill verify-run` tells. Another run or a fresh link may help."
            )
            st.page_link(OPEN_PAGES["runs"], label="Choose a run")

    shown.__name__ = page.__module__.rpartition(".")[2]
    return shown


def main() -> None:
    """Show the page that the address asks for."""
    st.set_page_config(page_title="Workbench", page_icon="🔎", layout="wide")
    OPEN_PAGES.update(
        {path: st.Page(careful(page), title=title, url_path=path) for path, title, page in PAGES}
    )
    # A default page has no address of its own, but `runs?…` should be a link like any other.
    first = st.Page(careful(runs.page), title="Runs", url_path="start", default=True, visibility="hidden")
    chosen = st.navigation([first, *OPEN_PAGES.values()])
    with st.sidebar:
        names = run_names()
        if names:
            pick("Run", names, "run")
        pick("Notation", list(NOTATIONS), "notation", show=NOTATIONS.__getitem__)
    remember("run", "notation")
    with noted() as shown:
        chosen.run()
    with st.sidebar:
        # Only now all that the page selects is in the address.
        show_views(chosen.url_path or "runs")
        offer(chosen.title, shown)


if __name__ == "__main__":
    main()
