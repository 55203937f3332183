"""The choice of a tree: its layer, its number, and its leaf sets."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from app.components.formula_display import formula_text
from app.drawings.palette import COLOURS
from app.session.run_session import RunSession
from app.session.selection import notation, pick, select, selected
from distill.logic import Node
from distill.runs import STATES, StoredTree, cut, stored_trees
from distill.structures import DataSet, Structures
from distill.trees import Dendrogram

Integers = NDArray[np.int64]
MOST_SETS = len(COLOURS)  # leaf sets with a colour of their own
_SETS = 4  # leaf sets by default
_WRITTEN = 300  # symbols of displayed formulas
_SAMPLED = 1_000  # states in the sample
_OBJECTS = 20_000  # objects in the sample
_SETS_WIDGET = "trees/sets"


@dataclass(frozen=True, eq=False)
class TreeView:
    """A tree with its leaf sets.

    Attributes
    ----------
    tree : the tree.
    linkage : the linkage of the leaf sets.
    sets : the coloured leaf sets, ordered by their first leaves.
    """

    run: RunSession
    tree: StoredTree
    linkage: str
    sets: Sequence[tuple[int, ...]]

    @property
    def dendrogram(self) -> Dendrogram:
        """The dendrogram of the linkage."""
        return self.tree.dendrograms[self.linkage]

    @property
    def set_of_leaf(self) -> Integers:
        """(n_leaves,) the number of the leaf set of each leaf."""
        found = np.zeros(len(self.tree.tree.leaves), dtype=np.int64)
        for number, leaves in enumerate(self.sets):
            found[list(leaves)] = number
        return found

    @property
    def what(self) -> str:
        """The subject of the tree: objects or states."""
        return "states" if self.tree.about_states else "objects"

    @property
    def name(self) -> str:
        """The name for files."""
        layer = "states" if self.tree.about_states else f"layer{self.tree.layer}"
        return f"{layer}-tree{self.tree.number}"

    def write(self, formula: Node) -> str:
        """A formula for a drawing or a table, which cannot typeset LaTeX; of a long one only its size."""
        if formula.size > _WRITTEN:
            return f"a formula of {formula.size:,} symbols"
        return formula_text(formula, self.run, "emlc" if notation() == "latex" else None)


def trees_of(run: RunSession) -> tuple[StoredTree, ...]:
    """All trees of a run."""
    return _trees(str(run.folder), run.stamp)


@st.cache_resource(max_entries=4, show_spinner="Reading trees")
def _trees(folder: str, stamp: int) -> tuple[StoredTree, ...]:
    return stored_trees(RunSession(Path(folder), stamp).run)


def layer_name(layer: str) -> str:
    """The label of a layer."""
    return "states (after the last layer)" if layer == str(STATES) else f"layer {layer}"


def choose_tree(run: RunSession, trees: Sequence[StoredTree]) -> TreeView:
    """Ask for a tree and its leaf sets."""
    columns = st.columns([2, 3, 2, 3], vertical_alignment="bottom")
    layers = sorted({tree.layer for tree in trees}, key=lambda layer: (layer == STATES, layer))
    with columns[0]:
        layer = pick("Layer", [str(one) for one in layers], "tree_layer", show=layer_name, resets=("tree",))
    own = [tree for tree in trees if tree.layer == int(layer)]
    with columns[1]:
        number = pick("Tree", [str(tree.number) for tree in own], "tree", show=lambda one: _label(own, one))
    tree = own[int(number)]
    with columns[2]:
        linkage = pick(
            "Leaf sets by linkage",
            list(tree.dendrograms),
            "linkage",
            help="The distance between sets of leaves",
        )
    with columns[3]:
        sets = _ask_sets(len(tree.tree.leaves))
    return TreeView(run, tree, linkage, cut(tree.dendrograms[linkage], sets))


def _label(trees: Sequence[StoredTree], number: str) -> str:
    tree = trees[int(number)]
    return f"{number}: {len(tree.tree.leaves)} leaves, depth {tree.depth}"


def _ask_sets(n_leaves: int) -> int:
    most = min(MOST_SETS, n_leaves)
    wanted = selected("sets", str(_SETS))
    number = int(wanted) if wanted.isdecimal() and len(wanted) < 6 else _SETS
    number = max(1, min(most, number))
    if most < 2:
        st.caption("This tree has one leaf.")
        return 1
    st.session_state[_SETS_WIDGET] = number
    return int(
        st.slider(
            "Coloured leaf sets",
            1,
            most,
            key=_SETS_WIDGET,
            on_change=lambda: select(sets=st.session_state[_SETS_WIDGET]),
        )
    )


def sample_numbers(data: DataSet) -> Integers:
    """(n,) ascending numbers of evenly spaced states, few enough to count their objects quickly."""
    most = int(data.n_objects.max(initial=1))
    n = min(len(data), _SAMPLED, max(1, _OBJECTS // max(1, most)))
    return np.unique(np.linspace(0, max(0, len(data) - 1), n).astype(np.int64))[: len(data)]


def state_sample(run: RunSession, split: str) -> tuple[Integers, Structures]:
    """A sample of states of a split: their numbers and their structures."""
    return _state_sample(str(run.folder), run.stamp, split)


@st.cache_resource(max_entries=8, show_spinner=False)
def _state_sample(folder: str, stamp: int, split: str) -> tuple[Integers, Structures]:
    run = RunSession(Path(folder), stamp)
    data = run.states(split)
    chosen = sample_numbers(data)
    return chosen, data.structures(chosen, goal_marking=run.value_function.goal_marking)


def visits_of(shown: TreeView, split: str) -> Integers:
    """(n_nodes,) the number of objects of the sample at each node."""
    run, tree = shown.run, shown.tree
    return _visits(str(run.folder), run.stamp, split, tree.layer, tree.number)


@st.cache_resource(max_entries=200, show_spinner=False)
def _visits(folder: str, stamp: int, split: str, layer: int, number: int) -> Integers:
    tree = next(one for one in _trees(folder, stamp) if (one.layer, one.number) == (layer, number))
    _, states = _state_sample(folder, stamp, split)
    return tree.visits(tree.nodes_of(states))
