"""Playing the greedy plan from a state, step by step."""

from dataclasses import replace

import streamlit as st

from app.parts import plain, table_download
from app.selection import select
from app.state_tables import plan_table, plan_verdict
from app.state_view import View
from distill.jobs.inspection import GreedyPlan

_GREEDY = "greedy"


def played(view: View) -> View:
    """The greedy plan from the state, if it is played; the view is then of the state at its step."""
    # A plan belongs to the address alone: a link to another state must not bring it along.
    if st.query_params.get("plan") != _GREEDY:
        st.button("Play the greedy plan", on_click=lambda: _step(0), key="state/play")
        return view
    plan = _greedy_plan(str(view.run.folder), view.run.stamp, view.chosen.split, view.chosen.number, view)
    states = view.inspection.along(view.state, plan.actions)
    step = _asked_step(len(plan.actions))
    _plan_bar(plan, step, view.state.v_star)
    with st.expander("The whole plan"):
        table = plan_table(view.inspection, plan.actions, states)
        if view.chosen.network is None:
            table = table.drop(columns="network")
        st.dataframe(table, hide_index=True, placeholder="–", key="state/plan table")
        name = f"{view.chosen.split}-state{view.chosen.number}"
        with st.container(horizontal=True):
            st.download_button(
                "Plan as text",
                "".join(f"{one}\n" for one in plan.actions),
                f"{name}.plan",
                key="state/plan file",
            )
            table_download(table, f"{name}-plan", "Values as CSV")
    return replace(view, state=states[step], step=step)


@st.cache_data(max_entries=200, show_spinner="Following the greedy policy")
def _greedy_plan(folder: str, stamp: int, split: str, state: int, _view: View) -> GreedyPlan:
    return _view.inspection.plan(_view.state)


def _asked_step(last: int) -> int:
    wanted = st.query_params.get("step", "0")
    if wanted.isdecimal() and int(wanted) <= last:
        return int(wanted)
    st.info(f"The plan has no step “{plain(wanted)}”; its beginning is shown.")
    return 0


def _step(number: int | None) -> None:
    select(plan=None if number is None else _GREEDY, step=number or None)


def _plan_bar(plan: GreedyPlan, step: int, v_star: int | None) -> None:
    last = len(plan.actions)
    verdict = plan_verdict(plan.solved, last, plan.note, v_star)
    (st.success if plan.solved else st.warning)(plain(verdict))
    buttons = (
        ("First", 0, step > 0),
        ("Back", step - 1, step > 0),
        ("Forward", step + 1, step < last),
        ("Last", last, step < last),
        ("Stop", None, True),
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, target, there in buttons:
            st.button(label, on_click=_step, args=(target,), disabled=not there, key=f"state/{label}")
        arrived = f", after {plan.actions[step - 1]}" if step else ", where it begins"
        st.text(f"Step {step} of {last}{arrived}")
