"""The page Start work: starts distillations in processes of their own."""

import os

import streamlit as st

from app.components.escape import escape
from app.pages.start.form import as_yaml, choose
from app.pages.start.jobs import COMMAND, show_jobs
from app.pages.start.uploads import show_uploads
from app.session.run_index import store
from app.session.uploaded_files import save_config
from distill.common import MAX_COMMANDS, InputError
from distill.jobs import launch

_WRONG = "work/wrong"


def show() -> None:
    """Show the page."""
    st.title("Start work")
    st.caption("Choose a network, a problem and settings, and start a distillation.")
    content, name = choose()
    with st.expander("Files of your own", key="work/files"):
        show_uploads()
    try:
        text = as_yaml(content)
    except InputError as error:
        st.error(escape(error))
    else:
        _offer(text, name)
    show_jobs()


def _offer(text: str, name: str) -> None:
    """Show the config, and a button that starts it."""
    st.code(text, language="yaml")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Start", key="work/start", type="primary", on_click=_start, args=(text, name))
        st.download_button(
            "Config as YAML", text, "run.yaml", "text/yaml", key="work/yaml", on_click="ignore"
        )
        st.caption("The same on the command line: distill run run.yaml")


def _start(text: str, name: str) -> None:
    folder = store().folder
    workers = max(1, (os.cpu_count() or 1) // MAX_COMMANDS)
    try:
        file = save_config(folder, text)
        arguments = [COMMAND, str(file), "--out", str(folder.resolve()), "--workers", str(workers), "--json"]
        launch(*arguments, store=folder, name=name)
    except InputError as error:
        st.session_state[_WRONG] = str(error)
