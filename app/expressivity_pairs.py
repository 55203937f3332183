"""Two states that a colouring confuses, side by side, and what tells them apart."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from app.chosen_formula import catalogue_of
from app.drawings import DARK, DRAWINGS, LIGHT, Scene, drawings_for, to_svg
from app.expressivity_table import with_conflicts
from app.opened import Opened
from app.parts import table_download, written
from app.selection import link, notation, page_link, pick
from app.state_choice import v_star_text
from app.state_view import part
from distill.jobs.catalogue import counted
from distill.jobs.distinction import Distinction, differing, renamed_difference, shortest_differing
from distill.jobs.expressivity import Expressivity
from distill.jobs.inspection import Inspection
from distill.logic import Evaluator
from distill.planning import DataSet
from distill.structures import Structures

Integers = NDArray[np.int64]
_PAIRS = 100  # that can be chosen from
_FORMULAS = 200  # features of the run that are tried
_LARGEST = 300  # symbols of these
_KINDS = {"V": "different V*", "E": "equal V*, but not isomorphic"}


def show_pairs(run: Opened, split: str, looked: Expressivity, numbers: Integers) -> None:
    """Ask for a pair and show it.

    Parameters
    ----------
    numbers : (n_states,) the numbers in the split of the states that were looked at.
    """
    names = with_conflicts(looked.found)
    if not names:
        st.info("No colouring that was counted confuses two of these states, so there is no pair to show.")
        return
    columns = st.columns([2, 2, 3])
    with columns[0]:
        name = pick("Confused by", names, "colouring", resets=("conflict", "pair"))
    found = looked.found[name]
    kinds = [kind for kind in _KINDS if found.pairs(kind, 1)]
    with columns[1]:
        kind = pick("Conflict", kinds, "conflict", show=_KINDS.__getitem__, resets=("pair",))
    pairs = found.pairs(kind, _PAIRS)

    def told(option: str) -> str:
        first, second = (v_star_text(int(looked.v_star[one])) for one in pairs[int(option)])
        return f"{option}: V* {first} and {second}"

    with columns[2]:
        more = f" (the first {_PAIRS})" if len(pairs) == _PAIRS else ""
        chosen = pick(f"Pair{more}", [str(n) for n in range(len(pairs))], "pair", show=told)
    pair = pairs[int(chosen)]
    first, second = (int(numbers[state]) for state in looked.members(pair))
    _show_pair(run, split, (first, second), *looked.told_apart(pair))


def _show_pair(
    run: Opened, split: str, states: tuple[int, int], apart: Sequence[str], unknown: Sequence[str]
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
        sentence = f"Told apart by {', '.join(apart)}." if apart else "No colouring tells them apart."
        st.text(sentence + (f" Not asked: {', '.join(unknown)}." if unknown else ""))
    with part():
        _show_formulas(run, found, own)


@st.cache_resource(max_entries=100, show_spinner="Looking for formulas")
def _formulas(
    folder: str, stamp: int, split: str, states: tuple[int, int]
) -> tuple[list[Distinction], list[Distinction]]:
    """Short formulas, and features of the run, that say different things of two states."""
    run = Opened(Path(folder), stamp)
    data, marking = run.states(split), run.distilled.goal_marking
    features = [one.number for one in run.distilled.pool if one.number.size <= _LARGEST]
    seen = data.structures(states, goal_marking=marking)
    return shortest_differing(data.structures(states)), differing(seen, features[:_FORMULAS])


@st.cache_resource(max_entries=100, show_spinner=False)
def _atoms(
    folder: str, stamp: int, split: str, states: tuple[int, int]
) -> tuple[dict[str, str], list[str], list[str]]:
    data = Opened(Path(folder), stamp).states(split)
    names = data.instances[int(data.state_instance[states[0]])]["objects"]
    return renamed_difference(data.structures(states), names)


def _show_drawings(
    run: Opened,
    split: str,
    data: DataSet,
    states: tuple[int, int],
    two: Structures,
    found: Sequence[Distinction],
) -> None:
    key = drawings_for(run.vocabulary)[0]
    inner = counted(found[0].formula) if found else None
    held = np.zeros(two.n_objects, dtype=bool) if inner is None else Evaluator(two).holds(inner)
    instance = int(data.state_instance[states[0]])
    looked = Inspection(data, instance, run.distilled)
    ink = DARK if st.context.theme.type == "dark" else LIGHT
    for place, column in enumerate(st.columns(2, gap="medium")):
        with column:
            v_star = v_star_text(int(data.v_star[states[place]]))
            st.text(f"State {states[place]}, V* {v_star}, instance {looked.instance.name}")
            own = held[slice(*two.object_offsets[[place, place + 1]])]
            scene = Scene.of(two[[place]], looked.objects, looked.static, np.flatnonzero(own))
            picture = DRAWINGS[key].draw(scene)
            st.image(to_svg(picture, ink, None), alt=picture.words)
            page_link("state", "Look at this state", run=run.name, split=split, state=states[place])
    if inner is not None:
        st.caption("Marked are the objects that the first formula below counts.")


def _show_atoms(run: Opened, split: str, states: tuple[int, int]) -> None:
    new, first, second = _atoms(str(run.folder), run.stamp, split, states)
    height = max(len(first), len(second))
    table = pd.DataFrame(
        {
            f"only in state {states[0]}": first + [""] * (height - len(first)),
            f"only in state {states[1]}": second + [""] * (height - len(second)),
        }
    )
    called = "; ".join(f"{old} is called {to}" for old, to in new.items())
    st.text(
        f"They differ in these atoms{f', where in the second state {called}' if called else ''}."
        if height
        else "Their atoms are the same up to names."
    )
    st.dataframe(table, hide_index=True, key="expressivity/atoms")
    table_download(table, f"pair-{states[0]}-{states[1]}", "Atoms as CSV")


def _show_formulas(run: Opened, found: Sequence[Distinction], own: Sequence[Distinction]) -> None:
    used = {feature.number for _, feature in run.distilled.terms()}
    rows = [(one, "short formulas of the language") for one in found]
    rows += [(one, "value function" if one.formula in used else "features of this run") for one in own[:8]]
    if not rows:
        st.info(
            "No short formula with what is achieved and missing of goals, and no feature of this run, tells "
            "them apart."
        )
        return
    form = "emlc" if notation() == "latex" else None
    addresses = [catalogue_of(run).address(one.formula) for one, _ in rows]
    table = pd.DataFrame(
        {
            "formula": [written(one.formula, run, form) for one, _ in rows],
            "first": [one.first for one, _ in rows],
            "second": [one.second for one, _ in rows],
            "found among": [where for _, where in rows],
            "open": [
                None if one is None else link("formulas", run=run.name, formula=one) for one in addresses
            ],
        }
    )
    st.text("Formulas that say different things of the two:")
    config = {
        "formula": st.column_config.TextColumn(width="large"),
        "open": st.column_config.LinkColumn(display_text="open", width="small"),
    }
    st.dataframe(table, hide_index=True, placeholder="", column_config=config, key="expressivity/formulas")
