"""A state of the laboratory, drawn, with the objects that the formula holds of, or counts."""

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from app.drawings import DARK, DRAWINGS, LIGHT, Scene, drawings_for, to_svg
from app.opened import Opened
from app.plain import plain
from app.selection import page_link, select, selected
from app.state_choice import Chosen, v_star_text
from app.state_formula import show_held
from app.state_view import View
from distill.jobs.inspection import Inspection
from distill.logic import Evaluator, Node, Number
from distill.structures import Structures

_NUMBER = "lab/state"


def show_state(
    run: Opened,
    split: str,
    formula: Node | None,
    values: NDArray[np.int64] | None,
    wrong: NDArray[np.int64],
    value: Number,
) -> None:
    """Choose a state and draw it.

    Parameters
    ----------
    values : (n_states,) of the formula.
    wrong : numbers of the states in which the edited function is wrong.
    value : the edited function.
    """
    data = run.states(split)
    if not len(data):
        st.info("This split has no states.")
        return
    number = _ask_number(len(data), split)
    _show_buttons(len(data), values, wrong)
    chosen = Chosen(split, number, data, run.table())
    inspection = Inspection(data, chosen.instance, run.distilled)
    state = inspection.stored(number)
    view = View(run, chosen, inspection, state)
    held = np.zeros(0, dtype=np.int64)
    if formula is not None:
        held = show_held(view, formula)
    structure: Structures = state.structure
    scene = Scene.of(structure, inspection.objects, inspection.static, held)
    picture = DRAWINGS[drawings_for(run.vocabulary)[0]].draw(scene)
    ink = DARK if st.context.theme.type == "dark" else LIGHT
    st.image(to_svg(picture, ink, None), alt=picture.words)
    now, own = float(Evaluator(structure).number(value)[0]), inspection.value(state)
    st.text(
        f"State {number} of {split}, instance {inspection.instance.name}: V* {v_star_text(state.v_star)}, "
        f"the run's V {own:.6g}, the edited V {now:.6g}"
    )
    page_link(
        "state",
        "All about this state",
        run=run.name,
        split=split,
        state=number,
        formula=selected("formula"),
    )


def _ask_number(states: int, split: str) -> int:
    wanted = selected("state")
    if wanted and not (wanted.isdecimal() and int(wanted) < states):
        st.warning(
            f"There is no state “{plain(wanted)}” in the split {plain(split)}, which has 0 to {states - 1}; "
            "another one is shown."
        )
        wanted = ""
    number = int(wanted or 0)
    select(state=number)
    st.session_state[_NUMBER] = number
    st.number_input(
        "State",
        0,
        states - 1,
        key=_NUMBER,
        width=180,
        on_change=lambda: select(state=st.session_state[_NUMBER]),
    )
    return number


def _show_buttons(states: int, values: NDArray[np.int64] | None, wrong: NDArray[np.int64]) -> None:
    """Ways to other states."""

    def go(numbers: NDArray[np.int64]) -> None:
        select(state=int(np.random.default_rng().choice(numbers)))

    firing = np.zeros(0, dtype=np.int64) if values is None else np.flatnonzero(values)
    everywhere = np.arange(states)
    with st.container(horizontal=True):
        for label, numbers, hint in (
            ("Random state", everywhere, "Any state of the split"),
            ("Where it holds", firing, "A state in which the formula is not 0"),
            ("Where V is wrong", wrong, "A state that the edited function does not meet"),
        ):
            st.button(
                label,
                key=f"lab/{label}",
                on_click=go,
                args=(numbers,),
                disabled=not len(numbers),
                help=hint,
            )
