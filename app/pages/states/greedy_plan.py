"""The greedy plan from a state, step by step."""

from dataclasses import replace

import streamlit as st

from app.components.escape import escape
from app.components.state_view import StateView
from app.components.tables import table_download
from app.pages.states.tables import plan_table, plan_verdict
from app.session.selection import select
from distill.evaluation import Rollout

_GREEDY = "greedy"


def plan_view(view: StateView) -> StateView:
    """Show the greedy plan if it is selected; returns the view of the state at the selected step."""
    # A plan is part of the address only: a link to another state must not keep it.
    if st.query_params.get("plan") != _GREEDY:
        st.button("Play the greedy plan", on_click=lambda: _step(0), key="state/play")
        return view
    plan = _greedy_plan(str(view.run.folder), view.run.stamp, view.choice.split, view.choice.number, view)
    states = view.inspection.along(view.state, plan.actions)
    step = _asked_step(len(plan.actions))
    _plan_bar(plan, step, view.state.v_star)
    with st.expander("The whole plan"):
        table = plan_table(view.inspection, plan.actions, states)
        if view.choice.network is None:
            table = table.drop(columns="network")
        st.dataframe(table, hide_index=True, placeholder="–", key="state/plan table")
        name = f"{view.choice.split}-state{view.choice.number}"
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
def _greedy_plan(folder: str, stamp: int, split: str, state: int, _view: StateView) -> Rollout:
    return _view.inspection.plan(_view.state)


def _asked_step(last: int) -> int:
    wanted = st.query_params.get("step", "0")
    if wanted.isdecimal() and int(wanted) <= last:
        return int(wanted)
    st.info(f"The plan has no step “{escape(wanted)}”; the first state is shown.")
    return 0


def _step(number: int | None) -> None:
    select(plan=None if number is None else _GREEDY, step=number or None)


def _plan_bar(plan: Rollout, step: int, v_star: int | None) -> None:
    last = len(plan.actions)
    verdict = plan_verdict(plan.solved, last, plan.note, v_star)
    (st.success if plan.solved else st.warning)(escape(verdict))
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
        arrived = f", after {plan.actions[step - 1]}" if step else ", the first state"
        st.text(f"Step {step} of {last}{arrived}")
