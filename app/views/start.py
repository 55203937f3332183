"""Start work: a network is distilled on a problem, and goes on when the page is closed."""

import os

import streamlit as st

from app.opened import store
from app.plain import plain
from app.start_form import as_yaml, choose
from app.start_jobs import COMMAND, show_jobs
from app.start_uploads import show_uploads
from distill.errors import InputError
from distill.jobs.launch import launch
from distill.jobs.uploads import keep_config
from distill.watch import AT_ONCE

_WRONG = "work/wrong"


def page() -> None:
    """Show the page."""
    st.title("Start work")
    st.caption("What shall become logic: a network, on which states, with which settings?")
    content, name = choose()
    with st.expander("Files of your own", key="work/files"):
        show_uploads()
    try:
        text = as_yaml(content)
    except InputError as error:
        st.error(plain(error))
    else:
        _offer(text, name)
    show_jobs()


def _offer(text: str, name: str) -> None:
    """The config, and a button that starts it."""
    st.code(text, language="yaml")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Start", key="work/start", type="primary", on_click=_start, args=(text, name))
        st.download_button(
            "Config as YAML", text, "run.yaml", "text/yaml", key="work/yaml", on_click="ignore"
        )
        st.caption("The same in a shell: distill run run.yaml")


def _start(text: str, name: str) -> None:
    folder = store().folder
    workers = max(1, (os.cpu_count() or 1) // AT_ONCE)
    try:
        file = keep_config(folder, text)
        arguments = [COMMAND, str(file), "--out", str(folder.resolve()), "--workers", str(workers), "--json"]
        launch(*arguments, store=folder, name=name)
    except InputError as error:
        st.session_state[_WRONG] = str(error)
