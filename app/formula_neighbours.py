"""Which formulas of a run say nearly the same as a formula, on training states."""

from pathlib import Path

import pandas as pd
import streamlit as st

from app.chosen_formula import clickable
from app.opened import Opened
from app.parts import table_download, written
from distill.jobs.catalogue import OBJECTS, Catalogue
from distill.jobs.neighbours import EQUAL, OPPOSITE, STRONGER, WEAKER, Neighbour, Neighbourhood, spread
from distill.logic import Node, Truth

_RELATIONS = {
    EQUAL: ("the same", "the same"),
    OPPOSITE: ("holds exactly where this does not", "1 exactly where this is 0, and the other way round"),
    WEAKER: ("holds wherever this holds (implied)", "never less than this"),
    STRONGER: ("holds only where this holds (implies it)", "never more than this"),
}


def show_neighbours(formula: Node, opened: Opened, catalogue: Catalogue) -> None:
    """Which formulas of the run are the same, opposite, implied or implying, on training states."""
    about_objects = isinstance(formula, Truth) and not formula.of_state
    known = _neighbourhood(str(opened.folder), opened.stamp, about_objects, catalogue)
    near = known.of(formula)
    found = list(near.found)
    things = "objects" if about_objects else "states"
    left_out = f" ({known.left_out:,} were too many or too large)" if known.left_out else ""
    st.caption(
        f"Which formulas of the run say nearly the same? {len(known):,} formulas{left_out} were compared on "
        f"{len(known.states):,} of the {len(opened.structures(training(opened))):,} training states; "
        "elsewhere they may differ. Click a row to open it."
    )
    if near.constant:
        st.info(f"It is the same for all {things} looked at, so only formulas that are, too, are near it.")
    if not found:
        st.info("No other formula of the run is the same, opposite, implied or implying on these states.")
        return
    table = neighbour_table(found, opened, about_objects)
    clickable(table, [one.formula for one in found], catalogue, "card/neighbours")
    table_download(table, "formula-neighbours")


def neighbour_table(found: list[Neighbour], opened: Opened, about_objects: bool) -> pd.DataFrame:
    """Neighbours as a table, in the chosen notation."""
    return pd.DataFrame(
        {
            "relation": [_RELATIONS[one.relation][not about_objects] for one in found],
            "formula": [written(one.formula, opened) for one in found],
            "size": [_clipped(one.formula.size) for one in found],
            f"{'objects' if about_objects else 'states'} apart": [one.apart for one in found],
        }
    )


def _clipped(size: int) -> int:
    """A size that a table can hold."""
    return min(size, 10**15)


def training(opened: Opened) -> str:
    """The split that formulas were learned from."""
    return "train" if "train" in opened.splits else opened.splits[0]


@st.cache_resource(max_entries=6, show_spinner="Comparing formulas")
def _neighbourhood(folder: str, stamp: int, about_objects: bool, _catalogue: Catalogue) -> Neighbourhood:
    opened = Opened(Path(folder), stamp)
    states = opened.structures(training(opened))
    formulas = [entry.formula for entry in _catalogue if (entry.kind == OBJECTS) == about_objects]
    return Neighbourhood(formulas, states[spread(states)])
