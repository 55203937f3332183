"""Giving files to the workbench: networks and PDDL."""

from collections.abc import Callable, Sequence

import streamlit as st

from app.opened import store
from app.plain import plain
from app.selection import select
from distill.errors import InputError
from distill.jobs.uploads import (
    MEGABYTES,
    MOST_FILES,
    NETWORK,
    PROBLEM,
    SUFFIXES,
    Uploaded,
    keep_network,
    keep_problem,
)

_TOLD = "work/told"


def show_uploads() -> None:
    """Where to give files; what can be read is chosen in the form."""
    # The place stays when the message goes: what stands below would be made anew, and lose a file on its way.
    place = st.empty()
    if told := st.session_state.pop(_TOLD, None):
        place.success(plain(told))
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
        help="Our own format, or one of those listed in docs/networks.md. Nothing in it is executed.",
    )
    if file is None:
        st.caption("A trained network: .safetensors of ours, or .pt, .pth, .ckpt of others.")
    elif st.button("Take this network", key="work/keep-network"):
        _keep("network", lambda: keep_network(store().folder, (file.name, file.getvalue())))


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
        help="They are split by their number of objects: the smaller for training, the larger for tests.",
    )
    if domain is None or not files:
        st.caption("A domain, and instances of several sizes.")
    elif st.button("Take this problem", key="work/keep-problem"):
        given: Sequence[tuple[str, bytes]] = [(one.name, one.getvalue()) for one in files]
        _keep("on", lambda: keep_problem(store().folder, (domain.name, domain.getvalue()), given))


def _keep(key: str, keep: Callable[[], Uploaded]) -> None:
    """Keep what was given, and choose it; a file that cannot be read is told."""
    try:
        with st.spinner("Reading it in a process of its own"):
            kept = keep()
    except InputError as error:
        st.error(plain(error))
        return
    select(**{key: kept.key})
    st.session_state[_TOLD] = f"{kept.name}: {_described(kept)}; it is chosen above."
    st.rerun()


def _described(kept: Uploaded) -> str:
    about = kept.about
    if kept.kind == NETWORK:
        return (
            f"a network with {int(about.get('parameters', 0)):,} parameters, in {about.get('format')} format"
        )
    sizes = about.get("objects", [])
    range_ = f"{min(sizes)} to {max(sizes)} objects"
    return f"the domain {about.get('domain')} with {len(sizes)} instances of {range_}"
