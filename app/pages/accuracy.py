"""accuracy."""

import streamlit as st

from app.opened import opened


def page() -> None:
    """Show the page."""
    st.title("accuracy")
    run = opened()
    st.write(run.name)
