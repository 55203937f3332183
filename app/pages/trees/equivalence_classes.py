"""Equivalence classes of objects at each depth of colour refinement, and the class of the chosen object."""

from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from app.components.tables import table_download
from app.pages.trees.path import ObjectChoice
from app.pages.trees.tree_choice import state_sample
from app.session.run_session import RunSession
from app.session.selection import link
from distill.common import InputError
from distill.symmetry import KINDS, EquivalenceClasses, count_ambiguous_states, stable_depth

Integers = NDArray[np.int64]
_DEPTH = 6  # rounds of refinement without a network
_ALIKE = 8  # named objects


def show_classes(run: RunSession, split: str, picked: ObjectChoice | None) -> None:
    """Show the number of classes at each depth, and the class of the chosen object."""
    layers = _layers(run)
    depth = layers or _DEPTH
    numbers, states = state_sample(run, split)
    found = _colours(str(run.folder), run.stamp, split, depth)
    table = pd.DataFrame({"depth": range(depth + 1)})
    for kind, alike in found.items():
        table[f"{kind}: classes of objects"] = alike.classes()
    table["classes of states"] = found["multisets"].state_classes()
    v_star = run.states(split).v_star[numbers]
    table["states equivalent to one with another V*"] = count_ambiguous_states(found["multisets"], v_star)
    st.dataframe(table, hide_index=True, key="trees/colours")
    stable = stable_depth(found["multisets"].classes())
    end = f"The classes are stable from depth {stable} on." if stable is not None else ""
    network = f" The network has {layers} layers." if layers else ""
    st.caption(
        f"Colours of {states.n_objects:,} objects of {len(numbers):,} evenly spaced states. A network with d "
        "layers gives all objects of a class at depth d the same embedding. Multisets bound networks that "
        "sum messages, sets those that take the maximum, joint those with one message for all atoms of a "
        f"pair of objects. {end}{network}"
    )
    table_download(table, f"colours-{split}", "Classes as CSV")
    if picked is not None and picked.place is not None:
        _show_alike(picked, numbers, found["multisets"])


def _layers(run: RunSession) -> int:
    """The number of layers of the network; 0 if there is none or it is unknown."""
    try:
        outlook = run.run.embeddings
    except InputError:
        return 0
    return 0 if outlook is None else max(0, len(outlook.shares) - 1)


def _show_alike(picked: ObjectChoice, numbers: Integers, alike: EquivalenceClasses) -> None:
    """Show the objects of other states in the class of the chosen one."""
    place = np.flatnonzero(numbers == picked.number)
    if not len(place):
        together = np.union1d(numbers, [picked.number])
        marking = picked.run.value_function.goal_marking
        states = picked.data.structures(together, goal_marking=marking)
        alike = EquivalenceClasses.of(states, len(alike.colours) - 1)
        numbers, place = together, np.flatnonzero(together == picked.number)
    begin = alike.states.object_offsets
    rows = []
    for depth, same in enumerate(alike.equivalent_objects(int(begin[place[0]]) + (picked.place or 0))):
        owner = alike.states.state_of_object[same]
        v_star = picked.data.v_star[numbers[owner]]
        rows.append(
            {
                "depth": depth,
                "objects": len(same),
                "states": len(np.unique(owner)),
                "V* from": int(v_star.min()),
                "V* to": int(v_star.max()),
            }
        )
    st.text(f"The class of {picked.name} at each depth:")
    st.dataframe(pd.DataFrame(rows), hide_index=True, key="trees/alike")
    same = alike.equivalent_objects(int(begin[place[0]]) + (picked.place or 0))[-1]
    others = [one for one in same.tolist() if numbers[alike.states.state_of_object[one]] != picked.number]
    if others:
        named = _named(picked, numbers, alike, others[:_ALIKE])
        config = {"look": st.column_config.LinkColumn("state", display_text="open the state")}
        st.dataframe(named, hide_index=True, column_config=config, key="trees/alike list")


def _named(
    picked: ObjectChoice, numbers: Integers, alike: EquivalenceClasses, objects: list[int]
) -> pd.DataFrame:
    rows = []
    for one in objects:
        owner = int(alike.states.state_of_object[one])
        number = int(numbers[owner])
        names = picked.data.instances[int(picked.data.state_instance[number])]["objects"]
        rows.append(
            {
                "object": names[one - int(alike.states.object_offsets[owner])],
                "state": number,
                "V*": int(picked.data.v_star[number]),
                "look": link("state", run=picked.run.name, split=picked.split, state=number),
            }
        )
    return pd.DataFrame(rows)


@st.cache_resource(max_entries=8, show_spinner="Colouring objects")
def _colours(folder: str, stamp: int, split: str, depth: int) -> dict[str, EquivalenceClasses]:
    _, states = state_sample(RunSession(Path(folder), stamp), split)
    return {kind: EquivalenceClasses.of(states, depth, kind) for kind in KINDS}
