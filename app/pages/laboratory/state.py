"""A state of the laboratory, with the objects of which the formula holds, or which it counts."""

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from app.components.escape import escape
from app.components.state_formula import show_held
from app.components.state_view import StateChoice, StateView, v_star_text
from app.drawings import DRAWINGS, drawings_for
from app.drawings.scene import Scene
from app.drawings.svg import DARK, LIGHT, to_svg
from app.session.run_session import RunSession
from app.session.selection import page_link, select, selected
from distill.evaluation import Inspection
from distill.logic import Evaluator, Node, Number
from distill.structures import Structures

_NUMBER = "lab/state"


def show_state(
    run: RunSession,
    split: str,
    formula: Node | None,
    values: NDArray[np.int64] | None,
    wrong: NDArray[np.int64],
    value: Number,
) -> None:
    """Choose a state and draw it.

    Parameters
    ----------
    values : (n_states,) the values of the formula.
    wrong : the numbers of the states in which the edited function is wrong.
    value : the edited function.
    """
    data = run.states(split)
    if not len(data):
        st.info("This split has no states.")
        return
    number = _ask_number(len(data), split)
    _show_buttons(len(data), values, wrong)
    chosen = StateChoice(split, number, data, run.table())
    inspection = Inspection(data, chosen.instance, run.value_function)
    state = inspection.stored(number)
    view = StateView(run, chosen, inspection, state)
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
        "Open this state",
        run=run.name,
        split=split,
        state=number,
        formula=selected("formula"),
    )


def _ask_number(states: int, split: str) -> int:
    wanted = selected("state")
    if wanted and not (wanted.isdecimal() and int(wanted) < states):
        st.warning(
            f"There is no state “{escape(wanted)}” in the split {escape(split)}, which has 0 to "
            f"{states - 1}; another one is shown."
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
    """Show buttons that open other states."""

    def go(numbers: NDArray[np.int64]) -> None:
        select(state=int(np.random.default_rng().choice(numbers)))

    firing = np.zeros(0, dtype=np.int64) if values is None else np.flatnonzero(values)
    everywhere = np.arange(states)
    with st.container(horizontal=True):
        for label, numbers, hint in (
            ("Random state", everywhere, "Any state of the split"),
            ("Where it is not 0", firing, "A state in which the formula is not 0"),
            ("Where V is wrong", wrong, "A state in which the edited function is wrong"),
        ):
            st.button(
                label,
                key=f"lab/{label}",
                on_click=go,
                args=(numbers,),
                disabled=not len(numbers),
                help=hint,
            )
