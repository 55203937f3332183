"""The trees that a run keeps: the way of an object through them, and how sets of their leaves grow."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.errors import InputError
from distill.jobs.run import Run
from distill.logic import Evaluator, Truth
from distill.structures import Structures
from distill.trees import Dendrogram, Grown, StateFeature, set_formula, trees_from_json

Integers = NDArray[np.int64]
STATES = -1  # the layer of trees about states


@dataclass(frozen=True)
class Turn:
    """What a tree asks on the way of an object, and whether it holds of it."""

    node: int
    formula: Truth
    holds: bool


@dataclass(frozen=True, eq=False)
class StoredTree:
    """A tree of a run.

    Attributes
    ----------
    number : its place among the trees of its layer.
    grown : the tree with what it asks for.
    dendrograms : for each linkage how sets of its leaves grow.
    """

    number: int
    grown: Grown
    dendrograms: Mapping[str, Dendrogram]

    @property
    def layer(self) -> int:
        """Of the network, from 1; -1 for trees about states."""
        return self.grown.layer

    @property
    def about_states(self) -> bool:
        """Whether it is about states, not about objects."""
        return self.layer == STATES

    @property
    def depth(self) -> int:
        """The longest way."""
        return max(len(path) for path in self.grown.tree.paths)

    def formula(self, leaves: Sequence[int]) -> Truth:
        """What the tree says of a set of leaves."""
        tree = self.grown.tree
        return set_formula(tree.paths, frozenset(leaves), dict(self.grown.asked))

    def nodes_of(self, states: Structures) -> Integers:
        """(n_objects,) the leaf node that each object ends in; (n_states,) for a tree about states.

        Examples
        --------
        >>> from distill.logic import parse
        >>> from distill.structures import Predicate, Vocabulary
        >>> from distill.trees import fit_tree
        >>> tree = fit_tree(np.array([[False], [True]]), [[0.0], [1.0]], np.ones(2), max_depth=1)
        >>> stored = StoredTree(0, Grown(1, tree, {0: parse("clear")}), {})
        >>> words = Vocabulary([Predicate("clear", 1)])
        >>> stored.nodes_of(Structures(words, 1, [0, 0, 0], {"clear": [[1]]}))
        array([1, 2, 1])
        """
        tree, evaluator = self.grown.tree, Evaluator(states)
        node = np.zeros(len(states) if self.about_states else states.n_objects, dtype=np.int64)
        # A node comes before its children, so one pass leads everything down.
        for number in np.flatnonzero(tree.splits >= 0).tolist():
            here = np.flatnonzero(node == number)
            if len(here):
                holds = evaluator.holds(self.grown.asked[int(tree.splits[number])])[here]
                node[here] = tree.children[number][holds.astype(np.int64)]
        return node

    def leaves_of(self, states: Structures) -> Integers:
        """The same, but leaves are numbered from left (False) to right (True)."""
        return np.searchsorted(self.grown.tree.leaves, self.nodes_of(states))

    def visits(self, nodes: Integers) -> Integers:
        """(n_nodes,) how many objects come through each node, given the leaf node (n,) of each."""
        found = np.bincount(nodes, minlength=len(self.grown.tree.splits))
        for number in np.flatnonzero(self.grown.tree.splits >= 0)[::-1]:
            found[number] = found[self.grown.tree.children[number]].sum()
        return found

    def way(self, node: int) -> list[int]:
        """The nodes from the root to a node, both included."""
        parent = {
            int(child): number
            for number in np.flatnonzero(self.grown.tree.splits >= 0).tolist()
            for child in self.grown.tree.children[number]
        }
        found = [node]
        while found[-1] in parent:
            found.append(parent[found[-1]])
        return found[::-1]

    def turns(self, node: int) -> list[Turn]:
        """What is asked on the way to a node, and what has to be answered."""
        tree, way = self.grown.tree, self.way(node)
        return [
            Turn(here, self.grown.asked[int(tree.splits[here])], bool(tree.children[here][1] == there))
            for here, there in pairwise(way)
        ]

    def born(self, leaves: Sequence[int], pool: Sequence[StateFeature]) -> list[StateFeature]:
        """The features of a run that were born in a set of leaves."""
        own = [
            feature
            for feature in pool
            if feature.origin.layer == self.layer and feature.origin.leaves == tuple(leaves)
        ]
        if not own:
            return []
        said = self.formula(leaves)
        # A later round numbers its trees anew, but what a tree says of its leaves is its own.
        return [
            feature
            for feature in own
            if (feature.origin.formula == said if feature.origin.formula else _numbered(feature, self.number))
        ]


def _numbered(feature: StateFeature, number: int) -> bool:
    return feature.origin.tree == number


def cut(dendrogram: Dendrogram, sets: int) -> list[tuple[int, ...]]:
    """The leaf sets that are left when only so many are; ordered by their first leaves.

    Examples
    --------
    >>> from distill.trees import leaf_sets
    >>> grown = leaf_sets([[0.0], [1.0], [5.0], [5.5]], linkage="single")
    >>> cut(grown, 2), cut(grown, 3), len(cut(grown, 99))
    ([(0, 1), (2, 3)], [(0,), (1,), (2, 3)], 4)
    """
    n_leaves = len(dendrogram.merges) + 1
    merged = n_leaves - max(1, min(sets, n_leaves))
    gone = {int(one) for pair in dendrogram.merges[:merged] for one in pair}
    return sorted(dendrogram.sets[number] for number in range(n_leaves + merged) if number not in gone)


def containing(dendrogram: Dendrogram, leaf: int) -> list[int]:
    """The numbers of all leaf sets that a leaf is in, small ones first.

    Examples
    --------
    >>> from distill.trees import leaf_sets
    >>> grown = leaf_sets([[0.0], [1.0], [5.0]], linkage="single")
    >>> [grown.sets[number] for number in containing(grown, 1)]
    [(1,), (0, 1), (0, 1, 2)]
    """
    return [number for number, leaves in enumerate(dendrogram.sets) if leaf in leaves]


def stored_trees(run: Run) -> tuple[StoredTree, ...]:
    """All trees of a run, in the order of its file; none where it was made without a network."""
    file = run.folder / "trees.json"
    try:
        whole = json.loads(file.read_text())
        return tuple(_read(whole))
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise InputError(f"The trees of {run.name} cannot be read ({error}); make the run again.") from error


def _read(whole: Mapping[str, Any]) -> Iterator[StoredTree]:
    counts: dict[int, int] = {}
    for grown, row in zip(trees_from_json(whole), whole["trees"], strict=True):
        asked = set(grown.tree.used.tolist())
        if not asked <= set(grown.asked):
            raise ValueError("a tree does not say what it asks for")
        if not row["dendrograms"]:
            raise ValueError("a tree does not say how its leaf sets grow")
        number = counts.get(grown.layer, 0)
        counts[grown.layer] = number + 1
        n_leaves = len(grown.tree.leaves)
        yield StoredTree(
            number,
            grown,
            {linkage: _dendrogram(part, n_leaves) for linkage, part in row["dendrograms"].items()},
        )


def _dendrogram(part: Mapping[str, Any], n_leaves: int) -> Dendrogram:
    merges = np.array(part["merges"], dtype=np.int64).reshape(-1, 2)
    heights = np.array(part["heights"], dtype=np.float64)
    if len(merges) != n_leaves - 1 or heights.shape != (n_leaves - 1,):
        raise ValueError("a dendrogram does not fit the leaves of its tree")
    if not np.array_equal(np.sort(merges, axis=None), np.arange(2 * len(merges))):
        raise ValueError("a dendrogram does not join each set once")
    sets: list[tuple[int, ...]] = [(leaf,) for leaf in range(n_leaves)]
    for left, right in merges.tolist():
        sets.append(tuple(sorted(sets[left] + sets[right])))
    return Dendrogram(sets, merges, heights)
