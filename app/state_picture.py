"""The picture of a state: the same objects at the same places, whatever the state of the instance."""

import base64
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import streamlit as st

from app.drawings import DARK, LIGHT, Picture, Scene, to_svg
from app.drawings.graph import layout_of
from app.drawings.layout import Layout
from app.drawings.scene import Arguments
from app.opened import Opened
from app.plain import plain
from distill.planning import Domain
from distill.structures import Structures


def scene_of(
    run: Opened, split: str, instance: int, structure: Structures, held: Iterable[int] = ()
) -> Scene:
    """A state of an instance as a drawing sees it.

    Parameters
    ----------
    structure : the one state; its objects are those of the instance.
    held : the objects that stand out.
    """
    data = run.states(split)
    layout = _layout(str(run.folder), run.stamp, split, instance)
    return Scene.of(
        structure, data.instances[instance]["objects"], static_predicates(data.domain), held, layout
    )


def show_picture(picture: Picture) -> None:
    """A picture in the colours of the page; as markdown, it is there before `st.image` would be."""
    ink = DARK if st.context.theme.type == "dark" else LIGHT
    content = base64.b64encode(to_svg(picture, ink, None).encode()).decode()
    st.markdown(f"![{plain(picture.words)}](data:image/svg+xml;base64,{content})")


@st.cache_data(max_entries=100, show_spinner=False)
def static_predicates(domain: str) -> frozenset[str]:
    """The predicates that no action of a domain changes.

    Examples
    --------
    >>> from distill.planning import problem_class
    >>> {"ball", "gripper", "room"} <= static_predicates(problem_class("gripper").domain.text)
    True
    """
    known = Domain(domain)  # has to live as long as its predicates are looked at
    return frozenset(p.get_name() for p in known.pymimir.get_static_predicates())


@st.cache_resource(max_entries=500, show_spinner=False)
def _layout(folder: str, stamp: int, split: str, instance: int) -> Layout | None:
    """By the first state of the instance and its goal; with room for all that holds in any of its states."""
    run = Opened(Path(folder), stamp)
    data = run.states(split)
    first = int(np.flatnonzero(data.state_instance == instance)[0])
    names = data.instances[instance]["objects"]
    scene = Scene.of(run.structures(split)[[first]], names, static_predicates(data.domain))
    return layout_of(scene, replace(scene, atoms=_ever(run, split, instance)))


def _ever(run: Opened, split: str, instance: int) -> dict[str, tuple[Arguments, ...]]:
    """All that holds in some state of an instance, goals left out."""
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
