"""The stored trees of a run: the path of an object in each tree, and the dendrograms of leaf sets."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.common import content_of, parse_json, read_text, shown
from distill.distillation import leaf_set_formula, trees_from_json
from distill.explanations import StateFeature
from distill.logic import Evaluator, Truth
from distill.runs.records import ADVICE
from distill.runs.run import Run
from distill.structures import Structures
from distill.trees import Dendrogram, Tree

Integers = NDArray[np.int64]
STATES = -1  # the layer of trees about states


@dataclass(frozen=True)
class PathStep:
    """The formula of a node on a path, and whether it holds there."""

    node: int
    formula: Truth
    holds: bool


@dataclass(frozen=True, eq=False)
class StoredTree:
    """A tree of a run.

    Attributes
    ----------
    number : the position among the trees of its layer.
    layer, tree, formulas : see `TreeWithFormulas`.
    dendrograms : for each linkage, the hierarchy of leaf sets.
    """

    number: int
    layer: int
    tree: Tree
    formulas: Mapping[int, Truth]
    dendrograms: Mapping[str, Dendrogram]

    @property
    def about_states(self) -> bool:
        """Whether it is about states, not about objects."""
        return self.layer == STATES

    @property
    def depth(self) -> int:
        """The length of the longest path."""
        return max(len(path) for path in self.tree.paths)

    def formula(self, leaves: Sequence[int]) -> Truth:
        """The formula of a set of leaves."""
        return leaf_set_formula(self.tree.paths, frozenset(leaves), dict(self.formulas))

    def nodes_of(self, states: Structures) -> Integers:
        """(n_objects,) the leaf node of each object; (n_states,) for a tree about states.

        Examples
        --------
        >>> from distill.logic import parse
        >>> from distill.structures import Predicate, Vocabulary
        >>> from distill.trees import fit_tree
        >>> tree = fit_tree(np.array([[False], [True]]), [[0.0], [1.0]], np.ones(2), max_depth=1)
        >>> stored = StoredTree(0, 1, tree, {0: parse("clear")}, {})
        >>> words = Vocabulary([Predicate("clear", 1)])
        >>> stored.nodes_of(Structures(words, 1, [0, 0, 0], {"clear": [[1]]}))
        array([1, 2, 1])
        """
        tree, evaluator = self.tree, Evaluator(states)
        node = np.zeros(len(states) if self.about_states else states.n_objects, dtype=np.int64)
        # A node has a smaller number than its children, so one pass is enough.
        for number in np.flatnonzero(tree.splits >= 0).tolist():
            here = np.flatnonzero(node == number)
            if len(here):
                holds = evaluator.holds(self.formulas[int(tree.splits[number])])[here]
                node[here] = tree.children[number][holds.astype(np.int64)]
        return node

    def leaves_of(self, states: Structures) -> Integers:
        """The same with leaves numbered from left (False) to right (True)."""
        return np.searchsorted(self.tree.leaves, self.nodes_of(states))

    def visits(self, nodes: Integers) -> Integers:
        """(n_nodes,) the number of objects whose path has each node, given the leaf node (n,) of each."""
        found = np.bincount(nodes, minlength=len(self.tree.splits))
        for number in np.flatnonzero(self.tree.splits >= 0)[::-1]:
            found[number] = found[self.tree.children[number]].sum()
        return found

    def path(self, node: int) -> list[int]:
        """The nodes from the root to a node, both included."""
        parent = {
            int(child): number
            for number in np.flatnonzero(self.tree.splits >= 0).tolist()
            for child in self.tree.children[number]
        }
        found = [node]
        while found[-1] in parent:
            found.append(parent[found[-1]])
        return found[::-1]

    def steps(self, node: int) -> list[PathStep]:
        """The formulas on the path to a node, and whether each holds."""
        tree = self.tree
        return [
            PathStep(here, self.formulas[int(tree.splits[here])], bool(tree.children[here][1] == there))
            for here, there in pairwise(self.path(node))
        ]

    def features_from(self, leaves: Sequence[int], pool: Sequence[StateFeature]) -> list[StateFeature]:
        """The features whose provenance is a set of leaves of this tree."""
        own = [
            feature
            for feature in pool
            if feature.provenance.layer == self.layer and feature.provenance.leaves == tuple(leaves)
        ]
        formula = self.formula(leaves) if own else None
        # Every round numbers its trees from 0, but the formula of a leaf set belongs to one tree.
        return [
            feature
            for feature in own
            if (
                origin.formula == formula
                if (origin := feature.provenance).formula
                else origin.tree == self.number
            )
        ]


def cut(dendrogram: Dendrogram, sets: int) -> list[tuple[int, ...]]:
    """Cut a dendrogram into a number of leaf sets, ordered by their first leaves.

    Examples
    --------
    >>> from distill.trees import leaf_sets
    >>> found = leaf_sets([[0.0], [1.0], [5.0], [5.5]], linkage="single")
    >>> cut(found, 2), cut(found, 3), len(cut(found, 99))
    ([(0, 1), (2, 3)], [(0,), (1,), (2, 3)], 4)
    """
    n_leaves = len(dendrogram.merges) + 1
    merged = n_leaves - max(1, min(sets, n_leaves))
    gone = {int(one) for pair in dendrogram.merges[:merged] for one in pair}
    return sorted(dendrogram.sets[number] for number in range(n_leaves + merged) if number not in gone)


def sets_with_leaf(dendrogram: Dendrogram, leaf: int) -> list[int]:
    """The numbers of all leaf sets that contain a leaf, small sets first.

    Examples
    --------
    >>> from distill.trees import leaf_sets
    >>> found = leaf_sets([[0.0], [1.0], [5.0]], linkage="single")
    >>> [found.sets[number] for number in sets_with_leaf(found, 1)]
    [(1,), (0, 1), (0, 1, 2)]
    """
    return [number for number, leaves in enumerate(dendrogram.sets) if leaf in leaves]


def stored_trees(run: Run) -> tuple[StoredTree, ...]:
    """All trees of a run, in the order of its file; none for a run without a network."""
    file = run.folder / "trees.json"
    whole = parse_json(read_text(file), shown(file))
    with content_of(file, ADVICE):
        return tuple(_read(whole))


def _read(whole: Mapping[str, Any]) -> Iterator[StoredTree]:
    counts: Counter[int] = Counter()
    for one, row in zip(trees_from_json(whole), whole["trees"], strict=True):
        if not set(one.tree.used.tolist()) <= set(one.formulas):
            raise ValueError("a formula of a tree is missing")
        if not row["dendrograms"]:
            raise ValueError("the dendrograms of a tree are missing")
        n_leaves = len(one.tree.leaves)
        dendrograms = {linkage: _dendrogram(part, n_leaves) for linkage, part in row["dendrograms"].items()}
        yield StoredTree(counts[one.layer], one.layer, one.tree, one.formulas, dendrograms)
        counts[one.layer] += 1


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
