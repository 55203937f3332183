"""The picture of a state; objects keep their places in all states of an instance."""

import base64
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import streamlit as st

from app.components.escape import escape
from app.drawings.graph import layout_of
from app.drawings.layout import VertexLayout
from app.drawings.scene import Arguments, Scene
from app.drawings.shapes import Picture
from app.drawings.svg import DARK, LIGHT, to_svg
from app.session.run_session import RunSession
from distill.planning import Domain
from distill.structures import Structures


def scene_of(
    run: RunSession, split: str, instance: int, structure: Structures, held: Iterable[int] = ()
) -> Scene:
    """The scene that a drawing needs for a state of an instance.

    Parameters
    ----------
    structure : one state; its objects are those of the instance.
    held : the highlighted objects.
    """
    data = run.states(split)
    layout = _layout(str(run.folder), run.stamp, split, instance)
    return Scene.of(
        structure, data.instances[instance]["objects"], static_predicates(data.domain), held, layout
    )


def show_picture(picture: Picture) -> None:
    """Show a picture in the theme of the page; a browser shows markdown sooner than `st.image`."""
    ink = DARK if st.context.theme.type == "dark" else LIGHT
    content = base64.b64encode(to_svg(picture, ink, None).encode()).decode()
    st.markdown(f"![{escape(picture.words)}](data:image/svg+xml;base64,{content})")


@st.cache_data(max_entries=100, show_spinner=False)
def static_predicates(domain: str) -> frozenset[str]:
    """The predicates that no action of a domain changes.

    Examples
    --------
    >>> from distill.planning import problem_class
    >>> {"ball", "gripper", "room"} <= static_predicates(problem_class("gripper").domain.text)
    True
    """
    known = Domain(domain)  # pymimir needs it as long as its predicates are read
    return frozenset(p.get_name() for p in known.pymimir.get_static_predicates())


@st.cache_resource(max_entries=500, show_spinner=False)
def _layout(folder: str, stamp: int, split: str, instance: int) -> VertexLayout | None:
    """A layout from the first state of an instance and its goal, with room for the atoms of all states."""
    run = RunSession(Path(folder), stamp)
    data = run.states(split)
    first = int(np.flatnonzero(data.state_instance == instance)[0])
    names = data.instances[instance]["objects"]
    scene = Scene.of(run.structures(split)[[first]], names, static_predicates(data.domain))
    return layout_of(scene, replace(scene, atoms=_ever(run, split, instance)))


def _ever(run: RunSession, split: str, instance: int) -> dict[str, tuple[Arguments, ...]]:
    """All atoms that hold in some state of an instance, without goals."""
    data = run.states(split)
    begin, end = data.atom_offsets[instance : instance + 2].tolist()
    found: dict[str, list[Arguments]] = {}
    words = list(data.vocabulary)
    for kind, row in zip(
        data.atom_predicate[begin:end].tolist(), data.atom_arguments[begin:end].tolist(), strict=True
    ):
        if words[kind].role != "goal":
            found.setdefault(words[kind].name, []).append(tuple(one for one in row if one >= 0))
    return {name: tuple(rows) for name, rows in found.items()}
