"""A job that a page started: its progress, and buttons to cancel or discard it."""

import streamlit as st

from app.components.escape import escape
from distill.jobs import DONE, DetachedJob

INTERVAL = 1.5  # seconds between two updates of a page with a job


def show_job(job: DetachedJob) -> None:
    """Show the progress or the failure of a job; nothing if it is done."""
    state = job.state()
    if state.state == DONE:
        return
    text, button = st.columns([5, 1], vertical_alignment="center")
    with text:
        doing = f", {state.stage}" if state.stage else ""
        st.text(f"{job.name}: {state.state}{doing}, {state.seconds:.0f} s")
        if state.error:
            st.warning(escape(state.error))
    with button:
        if state.is_over:
            st.button("Discard", key=f"job/forget/{job.key}", on_click=job.forget)
        else:
            st.button("Cancel", key=f"job/cancel/{job.key}", on_click=job.cancel)
