"""The object that is looked at, and its way through a tree."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from app.chosen_formula import catalogue_of
from app.opened import Opened
from app.parts import show_formula, table_download
from app.plain import plain
from app.selection import link, page_link, pick, select, selected
from app.state_choice import v_star_text
from app.tree_choice import Shown
from distill.errors import InputError
from distill.jobs.stored_trees import containing
from distill.logic import Node, Truth
from distill.planning import DataSet
from distill.structures import Structures

_NUMBER = "trees/state"
_LEAVES = 12  # that are named one by one


@dataclass(frozen=True, eq=False)
class Picked:
    """A state, and an object of it.

    Attributes
    ----------
    data : all states of the split.
    number : the state's number in it.
    place : of the object among those of the state; None if the whole state is meant.
    structure : the one state, with goals as the value function sees them.
    """

    run: Opened
    split: str
    data: DataSet
    number: int
    place: int | None
    structure: Structures

    @property
    def objects(self) -> Sequence[str]:
        """The names of the state's objects."""
        found: Sequence[str] = self.data.instances[int(self.data.state_instance[self.number])]["objects"]
        return found

    @property
    def name(self) -> str:
        """The object and its state for people."""
        whole = f"state {self.number} of {self.split}"
        return whole if self.place is None else f"{self.objects[self.place]} in {whole}"


def choose_object(run: Opened, split: str, about_states: bool) -> Picked | None:
    """Ask for a state, and for an object of it unless trees are about states; None if none is chosen."""
    data = run.states(split)
    if not len(data):
        raise InputError(f"The split {split} has no states; choose another one.")
    wanted = selected("state")
    number = int(wanted) if wanted.isdecimal() and len(wanted) < 10 else None
    if wanted and (number is None or number >= len(data)):
        st.warning(
            f"There is no state “{plain(wanted)}” in the split {plain(split)}, which has 0 to "
            f"{len(data) - 1}; choose another one."
        )
        select(state=None, object=None)
        number = None
    st.session_state[_NUMBER] = number
    left, right, rest = st.columns([1, 2, 3], vertical_alignment="bottom")
    with left:
        st.number_input(
            "State",
            0,
            len(data) - 1,
            value=None,
            key=_NUMBER,
            placeholder="its number",
            on_change=lambda: select(state=st.session_state[_NUMBER], object=None),
        )
    if number is None:
        st.info("Type the number of a state, or click a point below, to see one way through the tree.")
        return None
    names = data.instances[int(data.state_instance[number])]["objects"]
    place = None
    if not about_states:
        with right:
            place = names.index(pick("Object", names, "object"))
    marking = run.distilled.goal_marking
    found = Picked(run, split, data, number, place, data.structures([number], goal_marking=marking))
    with rest:
        page_link("state", "Look at this state", run=run.name, split=split, state=number)
    return found


def node_of(shown: Shown, picked: Picked) -> int:
    """The leaf node in which the chosen object, or state, ends."""
    return int(shown.tree.nodes_of(picked.structure)[picked.place or 0])


def way_table(shown: Shown, node: int) -> pd.DataFrame:
    """What is asked on the way to a node, and what the answer is."""
    turns = shown.tree.turns(node)
    return pd.DataFrame(
        {
            "step": range(1, len(turns) + 1),
            "asked": [shown.write(turn.formula) for turn in turns],
            "answer": ["yes" if turn.holds else "no" for turn in turns],
            "node": [turn.node for turn in turns],
        }
    )


def sets_table(shown: Shown, leaf: int) -> pd.DataFrame:
    """All leaf sets that a leaf is in, small ones first, with the features that were born there."""
    dendrogram, pool = shown.dendrogram, shown.run.distilled.pool
    rows = []
    for number in containing(dendrogram, leaf):
        leaves = dendrogram.sets[number]
        born = shown.tree.born(leaves, pool)
        first = min((feature.number for feature in born), key=lambda one: one.order, default=None)
        merged = number - len(dendrogram.merges) - 1
        rows.append(
            {
                "leaves": leaves_text(leaves),
                "apart": 0.0 if merged < 0 else float(dendrogram.heights[merged]),
                "features": len(born),
                "shortest of them": "" if first is None else shown.write(first),
                "open": None if first is None else _address(shown.run, first),
            }
        )
    return pd.DataFrame(rows)


def leaves_text(leaves: Sequence[int]) -> str:
    """The leaves of a set, not too many of them.

    Examples
    --------
    >>> leaves_text([0, 3, 4])
    '0, 3, 4'
    """
    more = f" and {len(leaves) - _LEAVES} more" if len(leaves) > _LEAVES else ""
    return ", ".join(map(str, leaves[:_LEAVES])) + more


def _address(run: Opened, formula: Node) -> str | None:
    address = catalogue_of(run).address(formula)
    return None if address is None else link("formulas", run=run.name, formula=address)


def show_way(shown: Shown, picked: Picked, node: int) -> None:
    """What is asked of the object on its way, the leaf where it ends, and the leaf sets that it is in."""
    v_star = v_star_text(int(picked.data.v_star[picked.number]))
    leaf = shown.tree.grown.tree.leaves.tolist().index(node)
    own = int(shown.set_of_leaf[leaf])
    st.text(f"{picked.name} (V* {v_star}) ends in leaf {leaf}, which is in leaf set {own}.")
    table = way_table(shown, node)
    left, right = st.columns([3, 2])
    wide = st.column_config.TextColumn(width="large")
    with left:
        if len(table):
            st.dataframe(table, hide_index=True, key="trees/way", column_config={"asked": wide})
            table_download(table, f"{shown.name}-way", "Way as CSV")
        else:
            st.info("This tree asks for nothing: it is a single leaf.")
    with right:
        sets = sets_table(shown, leaf)
        link_column = st.column_config.LinkColumn(display_text="open", width="small")
        apart = st.column_config.NumberColumn(format="%.3g", help="How far its two halves are apart")
        config = {"open": link_column, "apart": apart}
        st.dataframe(sets, hide_index=True, placeholder="", key="trees/sets of leaf", column_config=config)
        st.caption("All leaf sets with this leaf under this linkage, and the features born there.")


def show_asked(shown: Shown) -> None:
    """What one node, or one leaf set, says in full."""
    splits = shown.tree.grown.tree.splits
    options = [f"n{node}" for node in range(len(splits)) if splits[node] >= 0]
    options += [f"s{number}" for number in range(len(shown.sets))]

    def told(option: str) -> str:
        number = int(option[1:])
        if option[0] == "s":
            return f"leaf set {number}: leaves {leaves_text(shown.sets[number])}"
        return f"node {number}: {shown.write(asked_by(shown, number))}"

    chosen = pick("Read in full", options, "said", show=told)
    number = int(chosen[1:])
    formula: Node = asked_by(shown, number) if chosen[0] == "n" else shown.tree.formula(shown.sets[number])
    show_formula(formula, shown.run)
    address = catalogue_of(shown.run).address(formula)
    if address is not None:
        page_link("formulas", "Open it on the page Formulas", run=shown.run.name, formula=address)


def asked_by(shown: Shown, node: int) -> Truth:
    """What a node asks for."""
    return shown.tree.grown.asked[int(shown.tree.grown.tree.splits[node])]
