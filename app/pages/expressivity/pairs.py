"""Two states that a colouring cannot distinguish, side by side, and formulas that distinguish them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from app.components.failures import part
from app.components.formula_display import formula_text
from app.components.formula_selection import catalogue_of
from app.components.state_view import v_star_text
from app.components.tables import table_download
from app.drawings import DRAWINGS, drawings_for
from app.drawings.scene import Scene
from app.drawings.svg import DARK, LIGHT, to_svg
from app.pages.expressivity.conflict_table import conflicting_colourings
from app.session.run_session import RunSession
from app.session.selection import link, notation, page_link, pick
from distill.evaluation import (
    Distinction,
    Inspection,
    compare_up_to_names,
    find_distinctions,
    find_short_distinctions,
)
from distill.explanations import counted_concept
from distill.logic import Evaluator
from distill.structures import DataSet, Structures
from distill.symmetry import Expressivity

Integers = NDArray[np.int64]
_PAIRS = 100  # pairs in the list
_FORMULAS = 200  # evaluated features of the run
_LARGEST = 300  # symbols of such a feature
_KINDS = {"V": "different V*", "E": "equal V*, but not isomorphic"}


def show_pairs(run: RunSession, split: str, analysis: Expressivity, numbers: Integers) -> None:
    """Ask for a pair and show it.

    Parameters
    ----------
    numbers : (n_states,) the numbers of the analysed states in the split.
    """
    names = conflicting_colourings(analysis.conflicts_by_colouring)
    if not names:
        st.info("Every counted colouring distinguishes all of these states, so there is no pair to show.")
        return
    columns = st.columns([2, 2, 3])
    with columns[0]:
        name = pick("Not distinguished by", names, "colouring", resets=("conflict", "pair"))
    found = analysis.conflicts_by_colouring[name]
    kinds = [kind for kind in _KINDS if found.pairs(kind, 1)]
    with columns[1]:
        kind = pick("Conflict", kinds, "conflict", show=_KINDS.__getitem__, resets=("pair",))
    pairs = found.pairs(kind, _PAIRS)

    def label(option: str) -> str:
        first, second = (v_star_text(int(analysis.v_star[one])) for one in pairs[int(option)])
        return f"{option}: V* {first} and {second}"

    with columns[2]:
        more = f" (the first {_PAIRS})" if len(pairs) == _PAIRS else ""
        chosen = pick(f"Pair{more}", [str(n) for n in range(len(pairs))], "pair", show=label)
    pair = pairs[int(chosen)]
    first, second = (int(numbers[state]) for state in analysis.members(pair))
    _show_pair(run, split, (first, second), *analysis.distinguished_by(pair))


def _show_pair(
    run: RunSession, split: str, states: tuple[int, int], apart: Sequence[str], unknown: Sequence[str]
) -> None:
    data = run.states(split)
    two = data.structures(states)
    found: list[Distinction] = []
    own: list[Distinction] = []
    with part():
        found, own = _formulas(str(run.folder), run.stamp, split, states)
    with part():
        _show_drawings(run, split, data, states, two, found)
    with part():
        _show_atoms(run, split, states)
        sentence = f"Distinguished by {', '.join(apart)}." if apart else "No colouring distinguishes them."
        st.text(sentence + (f" Not counted: {', '.join(unknown)}." if unknown else ""))
    with part():
        _show_formulas(run, found, own)


@st.cache_resource(max_entries=100, show_spinner="Searching for formulas")
def _formulas(
    folder: str, stamp: int, split: str, states: tuple[int, int]
) -> tuple[list[Distinction], list[Distinction]]:
    """Short formulas, and features of the run, with different values in two states."""
    run = RunSession(Path(folder), stamp)
    data, marking = run.states(split), run.value_function.goal_marking
    features = [one.number for one in run.value_function.pool if one.number.size <= _LARGEST]
    seen = data.structures(states, goal_marking=marking)
    return find_short_distinctions(data.structures(states)), find_distinctions(seen, features[:_FORMULAS])


@st.cache_resource(max_entries=100, show_spinner=False)
def _atoms(
    folder: str, stamp: int, split: str, states: tuple[int, int]
) -> tuple[dict[str, str], list[str], list[str]]:
    data = RunSession(Path(folder), stamp).states(split)
    names = data.instances[int(data.state_instance[states[0]])]["objects"]
    return compare_up_to_names(data.structures(states), names)


def _show_drawings(
    run: RunSession,
    split: str,
    data: DataSet,
    states: tuple[int, int],
    two: Structures,
    found: Sequence[Distinction],
) -> None:
    key = drawings_for(run.vocabulary)[0]
    inner = counted_concept(found[0].formula) if found else None
    held = np.zeros(two.n_objects, dtype=bool) if inner is None else Evaluator(two).holds(inner)
    instance = int(data.state_instance[states[0]])
    analysis = Inspection(data, instance, run.value_function)
    ink = DARK if st.context.theme.type == "dark" else LIGHT
    for place, column in enumerate(st.columns(2, gap="medium")):
        with column:
            v_star = v_star_text(int(data.v_star[states[place]]))
            st.text(f"State {states[place]}, V* {v_star}, instance {analysis.instance.name}")
            own = held[slice(*two.object_offsets[[place, place + 1]])]
            scene = Scene.of(two[[place]], analysis.objects, analysis.static, np.flatnonzero(own))
            picture = DRAWINGS[key].draw(scene)
            st.image(to_svg(picture, ink, None), alt=picture.words)
            page_link("state", "Open this state", run=run.name, split=split, state=states[place])
    if inner is not None:
        st.caption("The objects that the first formula below counts are highlighted.")


def _show_atoms(run: RunSession, split: str, states: tuple[int, int]) -> None:
    new, first, second = _atoms(str(run.folder), run.stamp, split, states)
    height = max(len(first), len(second))
    table = pd.DataFrame(
        {
            f"only in state {states[0]}": first + [""] * (height - len(first)),
            f"only in state {states[1]}": second + [""] * (height - len(second)),
        }
    )
    called = "; ".join(f"{old} is renamed to {to}" for old, to in new.items())
    st.text(
        f"They differ in these atoms{f', where in the second state {called}' if called else ''}."
        if height
        else "Their atoms are equal up to renaming."
    )
    st.dataframe(table, hide_index=True, key="expressivity/atoms")
    table_download(table, f"pair-{states[0]}-{states[1]}", "Atoms as CSV")


def _show_formulas(run: RunSession, found: Sequence[Distinction], own: Sequence[Distinction]) -> None:
    used = {feature.number for _, feature in run.value_function.terms()}
    rows = [(one, "short formulas of the language") for one in found]
    rows += [(one, "value function" if one.formula in used else "features of this run") for one in own[:8]]
    if not rows:
        st.info(
            "No short formula, with marked goals, and no feature of this run has different values in the two "
            "states."
        )
        return
    form = "emlc" if notation() == "latex" else None
    addresses = [catalogue_of(run).address(one.formula) for one, _ in rows]
    table = pd.DataFrame(
        {
            "formula": [formula_text(one.formula, run, form) for one, _ in rows],
            "first": [one.first for one, _ in rows],
            "second": [one.second for one, _ in rows],
            "source": [where for _, where in rows],
            "open": [
                None if one is None else link("formulas", run=run.name, formula=one) for one in addresses
            ],
        }
    )
    st.text("Formulas with different values in the two states:")
    config = {
        "formula": st.column_config.TextColumn(width="large"),
        "open": st.column_config.LinkColumn(display_text="open", width="small"),
    }
    st.dataframe(table, hide_index=True, placeholder="", column_config=config, key="expressivity/formulas")
