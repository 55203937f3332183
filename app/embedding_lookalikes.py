"""What looks the same to a network: classes of objects at each depth, and what looks like the chosen one."""

from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from app.opened import Opened
from app.parts import table_download
from app.selection import link
from app.tree_choice import sampled
from app.tree_path import Picked
from distill.errors import InputError
from distill.jobs.lookalikes import KINDS, Lookalikes, ambiguous, depths_to_stable

Integers = NDArray[np.int64]
_DEPTH = 6  # rounds of colours where no network tells how many
_ALIKE = 8  # objects that are named


def show_lookalikes(run: Opened, split: str, picked: Picked | None) -> None:
    """How many classes of objects there are at each depth, and which objects look like the chosen one."""
    layers = _layers(run)
    depth = layers or _DEPTH
    numbers, states = sampled(run, split)
    found = _colours(str(run.folder), run.stamp, split, depth)
    table = pd.DataFrame({"depth": range(depth + 1)})
    for kind, alike in found.items():
        table[f"{kind}: classes of objects"] = alike.classes()
    table["kinds of states"] = found["multisets"].state_classes()
    v_star = run.states(split).v_star[numbers]
    table["states that look like one of another V*"] = ambiguous(found["multisets"], v_star)
    st.dataframe(table, hide_index=True, key="trees/colours")
    stable = depths_to_stable(found["multisets"].classes())
    end = f"From depth {stable} on nothing more is told apart." if stable is not None else ""
    network = f" The network has {layers} layers." if layers else ""
    st.caption(
        f"Colours of {states.n_objects:,} objects of {len(numbers):,} states at even distances. A network of "
        "d layers gives objects of one class at depth d the same embedding: multisets bound networks that "
        "add messages up, sets those that take the maximum; joint is what a network could see if all atoms "
        f"of a pair of objects came as one message. {end}{network}"
    )
    table_download(table, f"colours-{split}", "Classes as CSV")
    if picked is not None and picked.place is not None:
        _show_alike(picked, numbers, found["multisets"])


def _layers(run: Opened) -> int:
    """Of the network; 0 if there is none, or it is not known."""
    try:
        outlook = run.run.embeddings
    except InputError:
        return 0
    return 0 if outlook is None else max(0, len(outlook.shares) - 1)


def _show_alike(picked: Picked, numbers: Integers, alike: Lookalikes) -> None:
    """Objects of other states that look like the chosen one."""
    place = np.flatnonzero(numbers == picked.number)
    if not len(place):
        together = np.union1d(numbers, [picked.number])
        marking = picked.run.distilled.goal_marking
        states = picked.data.structures(together, goal_marking=marking)
        alike = Lookalikes.of(states, len(alike.colours) - 1)
        numbers, place = together, np.flatnonzero(together == picked.number)
    begin = alike.states.object_offsets
    rows = []
    for depth, same in enumerate(alike.same_as(int(begin[place[0]]) + (picked.place or 0))):
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
    st.text(f"What looks like {picked.name}, at each depth:")
    st.dataframe(pd.DataFrame(rows), hide_index=True, key="trees/alike")
    same = alike.same_as(int(begin[place[0]]) + (picked.place or 0))[-1]
    others = [one for one in same.tolist() if numbers[alike.states.state_of_object[one]] != picked.number]
    if others:
        named = _named(picked, numbers, alike, others[:_ALIKE])
        config = {"look": st.column_config.LinkColumn("look at it", display_text="open the state")}
        st.dataframe(named, hide_index=True, column_config=config, key="trees/alike list")


def _named(picked: Picked, numbers: Integers, alike: Lookalikes, objects: list[int]) -> pd.DataFrame:
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
def _colours(folder: str, stamp: int, split: str, depth: int) -> dict[str, Lookalikes]:
    _, states = sampled(Opened(Path(folder), stamp), split)
    return {kind: Lookalikes.of(states, depth, kind) for kind in KINDS}
