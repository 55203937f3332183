"""The formulas of a run that are equivalent, opposite, implied or implying on training states."""

from pathlib import Path

import pandas as pd
import streamlit as st

from app.components.formula_display import formula_text
from app.components.formula_selection import formula_table
from app.components.tables import table_download
from app.session.run_session import RunSession
from distill.evaluation import EQUAL, OPPOSITE, STRONGER, WEAKER, Neighbour, Neighbourhood, sample_evenly
from distill.explanations import OBJECTS, Catalogue
from distill.logic import Node, Truth

_RELATIONS = {
    EQUAL: ("equivalent", "equal"),
    OPPOSITE: ("the negation", "1 minus this"),
    WEAKER: ("implied by this", "at least this"),
    STRONGER: ("implies this", "at most this"),
}


def show_neighbours(formula: Node, run: RunSession, catalogue: Catalogue) -> None:
    """Show the neighbours of a formula on training states."""
    about_objects = isinstance(formula, Truth) and not formula.of_state
    known = _neighbourhood(str(run.folder), run.stamp, about_objects, catalogue)
    near = known.of(formula)
    found = list(near.formulas)
    things = "objects" if about_objects else "states"
    left_out = f" ({known.left_out:,} others were too many or too large)" if known.left_out else ""
    st.caption(
        f"Similar formulas of the run: {len(known):,} formulas{left_out} were compared on "
        f"{len(known.states):,} of the {len(run.structures(training(run))):,} training states; "
        "on other states they may differ. Click a row to open its formula."
    )
    if near.constant:
        st.info(f"It is constant on the compared {things}, so only constant formulas are similar.")
    if not found:
        st.info("No other formula of the run is equivalent, opposite, implied or implying on these states.")
        return
    table = neighbour_table(found, run, about_objects)
    formula_table(table, [one.formula for one in found], catalogue, "card/neighbours")
    table_download(table, "formula-neighbours")


def neighbour_table(found: list[Neighbour], run: RunSession, about_objects: bool) -> pd.DataFrame:
    """The neighbours as a table, in the chosen notation."""
    return pd.DataFrame(
        {
            "relation": [_RELATIONS[one.relation][not about_objects] for one in found],
            "formula": [formula_text(one.formula, run) for one in found],
            "size": [_clipped(one.formula.size) for one in found],
            f"{'objects' if about_objects else 'states'} that differ": [one.apart for one in found],
        }
    )


def _clipped(size: int) -> int:
    """A size that a table can hold."""
    return min(size, 10**15)


def training(run: RunSession) -> str:
    """The training split."""
    return "train" if "train" in run.splits else run.splits[0]


@st.cache_resource(max_entries=6, show_spinner="Comparing formulas")
def _neighbourhood(folder: str, stamp: int, about_objects: bool, _catalogue: Catalogue) -> Neighbourhood:
    run = RunSession(Path(folder), stamp)
    states = run.structures(training(run))
    formulas = [entry.formula for entry in _catalogue if (entry.kind == OBJECTS) == about_objects]
    return Neighbourhood(formulas, states[sample_evenly(states)])
