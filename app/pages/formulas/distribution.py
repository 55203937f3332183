"""The values of a formula on the states of a split: a histogram, and the states with the largest values."""

from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from app.components.charts import chart
from app.components.histogram import bars, histogram
from app.components.tables import linked_rows, table_download
from app.session.run_session import RunSession
from app.session.selection import page_link, pick
from distill.evaluation import sample_evenly
from distill.explanations import Catalogue, as_number, counted_concept
from distill.logic import Evaluator, Node, Truth

_LARGEST = 12  # states in the list
WORK = 2 * 10**8  # parts times objects that are evaluated in about a second


def show_data(formula: Node, run: RunSession, catalogue: Catalogue) -> None:
    """Show a histogram of the values, and the states with the largest ones."""
    split = pick("States of", run.splits, "split", width=240)
    chosen, values = _values(formula, run, split)
    if not len(values):
        st.info("This split has no states.")
        return
    about_objects = isinstance(formula, Truth) and not formula.of_state
    label = "objects of which it holds" if about_objects else "value"
    table = histogram(values)
    left, right = st.columns([3, 2])
    with left:
        chart(bars(table, label), key="card/histogram")
        table_download(table, "formula-values")
    with right:
        some = int((values != 0).sum())
        all_states = len(run.structures(split))
        if len(values) < all_states:
            st.text(f"The formula is large, so it was evaluated on some of the {all_states:,} states only.")
        st.text(f"{len(values):,} states; not 0 in {some:,} ({some / len(values):.1%}).")
        st.text(f"Least {values.min():g}, mean {values.mean():.4g}, most {values.max():g}.")
    st.markdown("**States where it is largest**")
    _show_largest(formula, run, split, chosen, values, catalogue)


def _values(formula: Node, run: RunSession, split: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers of the evaluated states, and the values there."""
    states = run.structures(split)
    parts = sum(1 for _ in formula.walk())
    chosen = sample_evenly(states, len(states), max(1, WORK // parts))
    if len(chosen) == len(states):
        return chosen, run.values(as_number(formula), split)
    return chosen, _some_values(str(run.folder), run.stamp, split, formula.order[2], formula, chosen)


@st.cache_resource(max_entries=50, show_spinner="Evaluating")
def _some_values(
    folder: str, stamp: int, split: str, key: bytes, _formula: Node, _chosen: NDArray[np.int64]
) -> NDArray[np.int64]:
    states = RunSession(Path(folder), stamp).structures(split)
    return Evaluator(states[_chosen]).number(as_number(_formula))


def _show_largest(
    formula: Node,
    run: RunSession,
    split: str,
    chosen: NDArray[np.int64],
    values: NDArray[np.int64],
    catalogue: Catalogue,
) -> None:
    if not (values != 0).any():
        st.info("It is 0 in all evaluated states.")
        return
    places = largest(values, _LARGEST)
    data, inner = run.states(split), counted_concept(formula)
    structures = run.structures(split)[chosen[places]]
    held = None if inner is None else Evaluator(structures).holds(inner)
    address = catalogue.address(formula)
    rows = []
    for place, state in enumerate(chosen[places].tolist()):
        instance = data.instances[int(data.state_instance[state])]
        row = {
            "state": state,
            "instance": instance["name"],
            "value": float(values[places[place]]),
            "V*": int(data.v_star[state]),
        }
        if held is not None:
            own = held[slice(*structures.object_offsets[[place, place + 1]])]
            row["objects"] = ", ".join(np.array(instance["objects"])[own][:30])
        rows.append(row)
    st.caption("Tick a row to open its state.")
    linked_rows(
        pd.DataFrame(rows),
        "state",
        [
            {"run": run.name, "split": split, "state": state, "formula": address}
            for state in chosen[places].tolist()
        ],
        "card/firing",
        column_config={
            "state": st.column_config.NumberColumn(width="small"),
            "value": st.column_config.NumberColumn(width="small"),
            "V*": st.column_config.NumberColumn(width="small"),
        },
        height=37 + 35 * len(rows),
    )
    first = int(chosen[places[0]])
    page_link("state", "Open the first state", run=run.name, split=split, state=first, formula=address)


def largest(values: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """(n,) the states with the largest values, largest first; of equal ones some spread over the split.

    Examples
    --------
    >>> largest(np.array([1, 3, 1, 2, 1]), 3)
    array([1, 3, 0])
    """
    order = np.argsort(-values, kind="stable")[: min(n, len(values))]
    least = values[order[-1]]
    sure = order[values[order] > least]
    equal = np.flatnonzero(values == least)
    places = np.linspace(0, len(equal) - 1, n - len(sure)).astype(np.int64)
    return np.concatenate([sure, equal[np.unique(places)]])
