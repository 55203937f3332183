"""The tree that is looked at: which layer, which tree, and how its leaves are put together."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from app.opened import Opened
from app.parts import COLOURS, written
from app.selection import notation, pick, select, selected
from distill.jobs.stored_trees import STATES, StoredTree, cut, stored_trees
from distill.logic import Node
from distill.planning import DataSet
from distill.structures import Structures
from distill.trees import Dendrogram

Integers = NDArray[np.int64]
MOST_SETS = len(COLOURS)  # leaf sets that colours can tell apart
_SETS = 4  # leaf sets to begin with
_WRITTEN = 300  # symbols of formulas that are written out
_SAMPLED = 1_000  # states whose objects are counted
_OBJECTS = 20_000  # and objects
_SETS_WIDGET = "trees/sets"


@dataclass(frozen=True, eq=False)
class Shown:
    """A tree and how its leaves are put together.

    Attributes
    ----------
    tree : the tree.
    linkage : by which leaf sets grow.
    sets : the leaf sets that have a colour each, ordered by their first leaves.
    """

    run: Opened
    tree: StoredTree
    linkage: str
    sets: Sequence[tuple[int, ...]]

    @property
    def dendrogram(self) -> Dendrogram:
        """How its leaf sets grow."""
        return self.tree.dendrograms[self.linkage]

    @property
    def set_of_leaf(self) -> Integers:
        """(n_leaves,) the number of the set that each leaf is in."""
        found = np.zeros(len(self.tree.grown.tree.leaves), dtype=np.int64)
        for number, leaves in enumerate(self.sets):
            found[list(leaves)] = number
        return found

    @property
    def what(self) -> str:
        """What comes through the tree."""
        return "states" if self.tree.about_states else "objects"

    @property
    def name(self) -> str:
        """For files."""
        layer = "states" if self.tree.about_states else f"layer{self.tree.layer}"
        return f"{layer}-tree{self.tree.number}"

    def write(self, formula: Node) -> str:
        """A formula for a drawing or a table: LaTeX would be its source there, and some are very long."""
        if formula.size > _WRITTEN:
            return f"a formula of {formula.size:,} symbols"
        return written(formula, self.run, "emlc" if notation() == "latex" else None)


def trees_of(run: Opened) -> tuple[StoredTree, ...]:
    """All trees of a run."""
    return _trees(str(run.folder), run.stamp)


@st.cache_resource(max_entries=4, show_spinner="Reading trees")
def _trees(folder: str, stamp: int) -> tuple[StoredTree, ...]:
    return stored_trees(Opened(Path(folder), stamp).run)


def layer_name(layer: str) -> str:
    """A layer for people."""
    return "states (after the last layer)" if layer == str(STATES) else f"layer {layer}"


def choose_tree(run: Opened, trees: Sequence[StoredTree]) -> Shown:
    """Ask for a tree; what the address asks for is shown, if it is there."""
    columns = st.columns([2, 3, 2, 3], vertical_alignment="bottom")
    layers = sorted({tree.layer for tree in trees}, key=lambda layer: (layer == STATES, layer))
    with columns[0]:
        layer = pick("Layer", [str(one) for one in layers], "tree_layer", show=layer_name, resets=("tree",))
    own = [tree for tree in trees if tree.layer == int(layer)]
    with columns[1]:
        number = pick("Tree", [str(tree.number) for tree in own], "tree", show=lambda one: _told(own, one))
    tree = own[int(number)]
    with columns[2]:
        linkage = pick(
            "Leaf sets by linkage", list(tree.dendrograms), "linkage", help="How far sets of leaves are apart"
        )
    with columns[3]:
        sets = _ask_sets(len(tree.grown.tree.leaves))
    return Shown(run, tree, linkage, cut(tree.dendrograms[linkage], sets))


def _told(trees: Sequence[StoredTree], number: str) -> str:
    tree = trees[int(number)]
    return f"{number}: {len(tree.grown.tree.leaves)} leaves, depth {tree.depth}"


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
            "Leaf sets that have a colour",
            1,
            most,
            key=_SETS_WIDGET,
            on_change=lambda: select(sets=st.session_state[_SETS_WIDGET]),
        )
    )


def sample_of(data: DataSet) -> Integers:
    """(n,) ascending numbers of states at even distances, so that their objects are counted quickly."""
    most = int(data.n_objects.max(initial=1))
    n = min(len(data), _SAMPLED, max(1, _OBJECTS // max(1, most)))
    return np.unique(np.linspace(0, max(0, len(data) - 1), n).astype(np.int64))[: len(data)]


def sampled(run: Opened, split: str) -> tuple[Integers, Structures]:
    """Some states of a split: their numbers, and their structures."""
    return _sampled(str(run.folder), run.stamp, split)


@st.cache_resource(max_entries=8, show_spinner=False)
def _sampled(folder: str, stamp: int, split: str) -> tuple[Integers, Structures]:
    run = Opened(Path(folder), stamp)
    data = run.states(split)
    chosen = sample_of(data)
    return chosen, data.structures(chosen, goal_marking=run.distilled.goal_marking)


def visits_of(shown: Shown, split: str) -> Integers:
    """(n_nodes,) how many sampled objects of a split come through each node."""
    run, tree = shown.run, shown.tree
    return _visits(str(run.folder), run.stamp, split, tree.layer, tree.number)


@st.cache_resource(max_entries=200, show_spinner=False)
def _visits(folder: str, stamp: int, split: str, layer: int, number: int) -> Integers:
    tree = next(one for one in _trees(folder, stamp) if (one.layer, one.number) == (layer, number))
    _, states = _sampled(folder, stamp, split)
    return tree.visits(tree.nodes_of(states))
