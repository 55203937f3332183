"""The chosen object, and its path through a tree."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from app.components.escape import escape
from app.components.formula_display import show_formula
from app.components.formula_selection import catalogue_of
from app.components.state_view import v_star_text
from app.components.tables import table_download
from app.pages.trees.tree_choice import TreeView
from app.session.run_session import RunSession
from app.session.selection import link, page_link, pick, select, selected
from distill.common import InputError
from distill.logic import Node, Truth
from distill.runs import sets_with_leaf
from distill.structures import DataSet, Structures

_NUMBER = "trees/state"
_LEAVES = 12  # named leaves


@dataclass(frozen=True, eq=False)
class ObjectChoice:
    """A state, and an object of it.

    Attributes
    ----------
    data : all states of the split.
    number : the state's number in it.
    place : the number of the object in the state; None for the whole state.
    structure : the state, with goals marked if the value function needs that.
    """

    run: RunSession
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
        """The object and its state as text."""
        whole = f"state {self.number} of {self.split}"
        return whole if self.place is None else f"{self.objects[self.place]} in {whole}"


def choose_object(run: RunSession, split: str, about_states: bool) -> ObjectChoice | None:
    """Ask for a state, and for an object unless the tree is about states; None without a choice."""
    data = run.states(split)
    if not len(data):
        raise InputError(f"The split {split} has no states; choose another one.")
    wanted = selected("state")
    number = int(wanted) if wanted.isdecimal() and len(wanted) < 10 else None
    if wanted and (number is None or number >= len(data)):
        st.warning(
            f"There is no state “{escape(wanted)}” in the split {escape(split)}, which has 0 to "
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
        st.info("Type the number of a state, or click a point below, to see a path through the tree.")
        return None
    names = data.instances[int(data.state_instance[number])]["objects"]
    place = None
    if not about_states:
        with right:
            place = names.index(pick("Object", names, "object"))
    marking = run.value_function.goal_marking
    found = ObjectChoice(run, split, data, number, place, data.structures([number], goal_marking=marking))
    with rest:
        page_link("state", "Open this state", run=run.name, split=split, state=number)
    return found


def node_of(shown: TreeView, picked: ObjectChoice) -> int:
    """The leaf node of the chosen object or state."""
    return int(shown.tree.nodes_of(picked.structure)[picked.place or 0])


def path_table(shown: TreeView, node: int) -> pd.DataFrame:
    """The formulas on the path to a node, and whether each holds."""
    steps = shown.tree.steps(node)
    return pd.DataFrame(
        {
            "step": range(1, len(steps) + 1),
            "formula": [shown.write(step.formula) for step in steps],
            "holds": ["yes" if step.holds else "no" for step in steps],
            "node": [step.node for step in steps],
        }
    )


def sets_table(shown: TreeView, leaf: int) -> pd.DataFrame:
    """All leaf sets with a leaf, small ones first, with the features from each."""
    dendrogram, pool = shown.dendrogram, shown.run.value_function.pool
    rows = []
    for number in sets_with_leaf(dendrogram, leaf):
        leaves = dendrogram.sets[number]
        features = shown.tree.features_from(leaves, pool)
        first = min((feature.number for feature in features), key=lambda one: one.order, default=None)
        merged = number - len(dendrogram.merges) - 1
        rows.append(
            {
                "leaves": leaves_text(leaves),
                "apart": 0.0 if merged < 0 else float(dendrogram.heights[merged]),
                "features": len(features),
                "shortest feature": "" if first is None else shown.write(first),
                "open": None if first is None else _address(shown.run, first),
            }
        )
    return pd.DataFrame(rows)


def leaves_text(leaves: Sequence[int]) -> str:
    """The first leaves of a set as text.

    Examples
    --------
    >>> leaves_text([0, 3, 4])
    '0, 3, 4'
    """
    more = f" and {len(leaves) - _LEAVES} more" if len(leaves) > _LEAVES else ""
    return ", ".join(map(str, leaves[:_LEAVES])) + more


def _address(run: RunSession, formula: Node) -> str | None:
    address = catalogue_of(run).address(formula)
    return None if address is None else link("formulas", run=run.name, formula=address)


def show_path(shown: TreeView, picked: ObjectChoice, node: int) -> None:
    """Show the path of the object, its leaf, and the leaf sets of that leaf."""
    v_star = v_star_text(int(picked.data.v_star[picked.number]))
    leaf = shown.tree.tree.leaves.tolist().index(node)
    own = int(shown.set_of_leaf[leaf])
    st.text(f"{picked.name} (V* {v_star}) ends in leaf {leaf}, which is in leaf set {own}.")
    table = path_table(shown, node)
    left, right = st.columns([3, 2])
    wide = st.column_config.TextColumn(width="large")
    with left:
        if len(table):
            st.dataframe(table, hide_index=True, key="trees/way", column_config={"formula": wide})
            table_download(table, f"{shown.name}-path", "Path as CSV")
        else:
            st.info("This tree is a single leaf.")
    with right:
        sets = sets_table(shown, leaf)
        link_column = st.column_config.LinkColumn(display_text="open", width="small")
        apart = st.column_config.NumberColumn(format="%.3g", help="Distance between its two halves")
        config = {"open": link_column, "apart": apart}
        st.dataframe(sets, hide_index=True, placeholder="", key="trees/sets of leaf", column_config=config)
        st.caption("All leaf sets with this leaf for this linkage, and the features from them.")


def show_split(shown: TreeView) -> None:
    """Show the full formula of a node or a leaf set."""
    splits = shown.tree.tree.splits
    options = [f"n{node}" for node in range(len(splits)) if splits[node] >= 0]
    options += [f"s{number}" for number in range(len(shown.sets))]

    def label(option: str) -> str:
        number = int(option[1:])
        if option[0] == "s":
            return f"leaf set {number}: leaves {leaves_text(shown.sets[number])}"
        return f"node {number}: {shown.write(split_formula(shown, number))}"

    chosen = pick("Full formula", options, "said", show=label)
    number = int(chosen[1:])
    formula: Node = (
        split_formula(shown, number) if chosen[0] == "n" else shown.tree.formula(shown.sets[number])
    )
    show_formula(formula, shown.run)
    address = catalogue_of(shown.run).address(formula)
    if address is not None:
        page_link("formulas", "Open it on the page Formulas", run=shown.run.name, formula=address)


def split_formula(shown: TreeView, node: int) -> Truth:
    """The formula of a split node."""
    return shown.tree.formulas[int(shown.tree.tree.splits[node])]
