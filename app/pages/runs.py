"""runs."""

import streamlit as st

from app.opened import opened


def page() -> None:
    """Show the page."""
    st.title("runs")
    run = opened()
    st.write(run.name)
