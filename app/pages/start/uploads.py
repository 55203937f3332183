"""Uploads: networks and PDDL files."""

from collections.abc import Callable, Sequence

import streamlit as st

from app.components.escape import escape
from app.session.run_index import store
from app.session.selection import select
from app.session.uploaded_files import (
    MEGABYTES,
    MOST_FILES,
    NETWORK,
    PROBLEM,
    SUFFIXES,
    Upload,
    save_network,
    save_problem,
)
from distill.common import InputError

_MESSAGE = "work/message"


def show_uploads() -> None:
    """Show the uploads; a valid file is selected in the form."""
    # The place stays when the message goes: else Streamlit recreates the widgets below and loses a file.
    place = st.empty()
    if message := st.session_state.pop(_MESSAGE, None):
        place.success(escape(message))
    left, right = st.columns(2)
    with left:
        _ask_network()
    with right:
        _ask_problem()


def _ask_network() -> None:
    file = st.file_uploader(
        f"A checkpoint (at most {MEGABYTES[NETWORK]} MB)",
        SUFFIXES[NETWORK],
        key="work/network-file",
        max_upload_size=MEGABYTES[NETWORK],
        help="A format listed in docs/networks.md. Nothing in the file is executed.",
    )
    if file is None:
        st.caption("A trained network: .safetensors of this project, or .pt, .pth, .ckpt of others.")
    elif st.button("Use this network", key="work/keep-network"):
        _keep("network", lambda: save_network(store().folder, (file.name, file.getvalue())))


def _ask_problem() -> None:
    domain = st.file_uploader(
        f"A PDDL domain (at most {MEGABYTES[PROBLEM]} MB)",
        SUFFIXES[PROBLEM],
        key="work/domain-file",
        max_upload_size=MEGABYTES[PROBLEM],
    )
    files = st.file_uploader(
        f"Its instances (at most {MOST_FILES} files of {MEGABYTES[PROBLEM]} MB)",
        SUFFIXES[PROBLEM],
        accept_multiple_files=True,
        key="work/instance-files",
        max_upload_size=MEGABYTES[PROBLEM],
        help="They are split by their number of objects: small ones for training, large ones for testing.",
    )
    if domain is None or not files:
        st.caption("A domain, and instances of several sizes.")
    elif st.button("Use this problem", key="work/keep-problem"):
        given: Sequence[tuple[str, bytes]] = [(one.name, one.getvalue()) for one in files]
        _keep("on", lambda: save_problem(store().folder, (domain.name, domain.getvalue()), given))


def _keep(key: str, keep: Callable[[], Upload]) -> None:
    """Store an upload and select it; a message reports a file that cannot be read."""
    try:
        with st.spinner("Reading the files in a separate process"):
            kept = keep()
    except InputError as error:
        st.error(escape(error))
        return
    select(**{key: kept.key})
    st.session_state[_MESSAGE] = f"{kept.name}: {_described(kept)}; it is selected above."
    st.rerun()


def _described(kept: Upload) -> str:
    about = kept.about
    if kept.kind == NETWORK:
        return (
            f"a network with {int(about.get('parameters', 0)):,} parameters, in {about.get('format')} format"
        )
    sizes = about.get("objects", [])
    range_ = f"{min(sizes)} to {max(sizes)} objects"
    return f"the domain {about.get('domain')} with {len(sizes)} instances of {range_}"
