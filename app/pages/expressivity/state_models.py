"""The abstract state model of an instance: a graph of its classes of isomorphic states, and one class."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from app.components.state_picture import scene_of, show_picture
from app.components.state_view import v_star_text
from app.components.tables import linked_rows, table_download
from app.drawings import DRAWINGS, drawings_for
from app.drawings.state_model import MOST_NODES, draw_state_model
from app.session.run_session import RunSession
from app.session.selection import page_link, pick
from distill.planning import transitions
from distill.symmetry import StateModel

MOST_STATES = 5_000  # of an instance
_MEMBERS = 200  # in the table


def show_state_model(run: RunSession, split: str) -> None:
    """Ask for an instance and show its state model."""
    data = run.states(split)
    n_states = np.bincount(data.state_instance, minlength=len(data.instances)).tolist()
    whole = {
        one["name"]: number
        for number, one in enumerate(data.instances)
        if one["exhaustive"] and one["states"] == n_states[number] <= MOST_STATES
    }
    if not whole:
        st.info(
            f"The split has no instance with all its states and at most {MOST_STATES:,} of them. "
            "distill quotient --model shows the state model of any instance that can be expanded."
        )
        return
    st.caption(
        "Isomorphic states of an instance form a class. All states of a class have the same V*, and actions "
        f"lead from them to the same classes. {len(whole)} of {len(data.instances)} instances can be shown: "
        f"those of which the split has all states, at most {MOST_STATES:,}."
    )
    columns = st.columns([3, 2])
    with columns[0]:
        name = pick("Instance", list(whole), "model", resets=("class",))
    model = _model(str(run.folder), run.stamp, split, whole[name])
    sizes = model.sizes()

    def label(option: str) -> str:
        return f"{option}: V* {v_star_text(int(model.v_star[int(option)]))}, {sizes[int(option)]:,} states"

    with columns[1]:
        chosen = int(pick("Class", [str(node) for node in range(len(model))], "class", show=label))
    part = "" if len(model) <= MOST_NODES else " Only the chosen class and its neighbours are drawn."
    st.text(
        f"{len(model.state):,} states in {len(model):,} classes with {len(model.transitions):,} transitions. "
        f"Class 0 has the initial state.{part}"
    )
    show_picture(draw_state_model(model, chosen))
    left, right = st.columns(2, gap="medium")
    with left:
        _show_member(run, split, whole[name], model, chosen)
    with right:
        _show_transitions(model, chosen)
    _show_members(run, split, model, chosen)


@st.cache_resource(max_entries=32, show_spinner="Classifying states")
def _model(folder: str, stamp: int, split: str, instance: int) -> StateModel:
    """The state model, with the numbers of states in the split."""
    data = RunSession(Path(folder), stamp).states(split)
    own = np.flatnonzero(data.state_instance == instance)
    part = data.pick(own)
    return replace(StateModel.of(part, transitions(part), instance), state=own)


def _show_member(run: RunSession, split: str, instance: int, model: StateModel, chosen: int) -> None:
    state = int(model.members(chosen)[0])
    scene = scene_of(run, split, instance, run.states(split).structures([state]))
    show_picture(DRAWINGS[drawings_for(run.vocabulary)[0]].draw(scene))
    st.caption(f"State {state}, the first of class {chosen}.")
    page_link("state", "Open this state", run=run.name, split=split, state=state)


def _show_transitions(model: StateModel, chosen: int) -> None:
    after, before = model.after(chosen), model.before(chosen)
    numbers = np.concatenate([after, before])
    other = np.concatenate([model.transitions[after, 1], model.transitions[before, 0]])
    table = pd.DataFrame(
        {
            "": ["to"] * len(after) + ["from"] * len(before),
            "class": other,
            "by": [", ".join(model.schemas[number]) for number in numbers],
            "V*": [v_star_text(int(model.v_star[node])) for node in other],
            "states": model.sizes()[other],
        }
    )
    st.text(f"Transitions of class {chosen}:")
    st.dataframe(table, hide_index=True, key="expressivity/transitions")
    table_download(table, f"class-{chosen}-transitions", "Transitions as CSV")


def _show_members(run: RunSession, split: str, model: StateModel, chosen: int) -> None:
    data, members = run.states(split), model.members(chosen)
    rows = members[:_MEMBERS].tolist()
    table = pd.DataFrame(
        {
            "state": rows,
            "atoms": [" ".join(data.changing_atom_names(state)) for state in rows],
        }
    )
    more = f" (the first {_MEMBERS})" if len(members) > _MEMBERS else ""
    st.text(f"States of class {chosen}{more}; a ticked row opens its state:")
    targets = [{"run": run.name, "split": split, "state": state} for state in rows]
    linked_rows(table, "state", targets, "expressivity/members")
