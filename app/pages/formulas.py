"""formulas."""

import streamlit as st

from app.opened import opened


def page() -> None:
    """Show the page."""
    st.title("formulas")
    run = opened()
    st.write(run.name)
