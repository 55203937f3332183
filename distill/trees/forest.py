"""Trees that predict the same targets, and the short formulas that they bear."""

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distill.logic import Truth
from distill.logic.denotations import packed
from distill.trees.clustering import LINKAGES, leaf_sets
from distill.trees.found import Found, Splits
from distill.trees.grown import Grown
from distill.trees.learning import set_formula
from distill.trees.origin import Origin
from distill.trees.shortest import Recipe, Said, Shortest, formula_of, truth_of, variants_of
from distill.trees.tree import Columns, Tree

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]

_SLACKS = (1e-9, 0.02, 0.1)  # how much gain a cheaper split may cost
_SHALLOWER = 2  # every other tree is so much less deep
_DIGITS = 9  # of leaf values, relative to the largest
_VARIANTS = 64  # equally cheap formulas that are compared for a leaf set
_UNSEEN = 1e-4  # share of the variance of targets that an axis needs


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees and what they bear.

    Attributes
    ----------
    trees : the trees, fitted to principal axes of the targets, and what they ask for.
    found : their splits and leaf sets as far as they can be said shortly.
    born : all their splits and leaf sets: (n_rows,) where each holds.
    """

    trees: list[Grown]
    found: Found
    born: list[Booleans]


@dataclass(frozen=True)
class Bounds:
    """How large trees and formulas may be.

    Attributes
    ----------
    depth : of every other tree; the rest are a little less deep.
    limit : cost of a formula that joins splits.
    longest : cost of a single split.
    """

    depth: int
    limit: int
    longest: int


def grow_forest(
    splits: Splits,
    train: Booleans,
    targets: Floats,
    weights: Iterable[Floats],
    bounds: Bounds,
    layer: int,
    without: Collection[str] = (),
) -> Forest:
    """Fit trees and say shortly what they say.

    Parameters
    ----------
    train : (n_rows,) the rows that trees see; among formulas of one cost, the others decide.
    targets : (n_rows, k).
    weights : for each tree (n_rows,) how much rows count.
    layer : where formulas are born.
    without : what is left out; see the setting of this name.
    """
    slacks = _SLACKS[:1] if "cheapness" in without else _SLACKS
    linkages = ("ward",) if "linkages" in without else LINKAGES
    columns = Columns.of(splits.holds[train])
    axes = _principal(targets[train])
    depths = (max(1, bounds.depth - _SHALLOWER), bounds.depth)
    trees = [
        columns.fit(
            axes,
            weight[train],
            max_depth=depths[number % 2],
            preference=splits.cost,
            slack=slacks[number // 2 % len(slacks)],
        )
        for number, weight in enumerate(weights)
    ]
    used: dict[int, int] = {}
    for number, tree in enumerate(trees):
        for split in tree.used.tolist():
            used.setdefault(split, number)
    leaf_sets_found = _all_leaf_sets(trees, splits, train, linkages)
    parts = [
        Found([splits[one]], [int(splits.cost[one])], [Origin(layer, number)], splits.holds[:, [one]])
        for one, number in used.items()
        if "splits" not in without
    ]
    twins = _twins(columns, splits)
    for number, leaves, holds, said in _said(leaf_sets_found, splits, columns, train, bounds):
        variants = itertools.chain.from_iterable(variants_of(recipe, twins) for recipe in said.recipes)
        recipe, where = _agreeing(list(itertools.islice(variants, _VARIANTS)), splits.holds, holds)
        origin = Origin(layer, number, leaves, _original(trees[number], leaves, splits))
        parts.append(Found([formula_of(recipe, splits.make)], [said.cost], [origin], where[:, None]))
    born = [splits.holds[:, split] for split in used] + [holds for _, _, holds in leaf_sets_found]
    grown = [Grown(layer, tree, {one: splits[one] for one in tree.used.tolist()}) for tree in trees]
    return Forest(grown, Found.joined(parts, len(train)), born)


def _all_leaf_sets(
    trees: list[Tree], splits: Splits, train: Booleans, linkages: Sequence[str]
) -> list[tuple[int, tuple[int, ...], Booleans]]:
    """Tree, leaves and where they hold (n_rows,), under some linkages; of equal ones the first."""
    found: dict[bytes, tuple[int, tuple[int, ...], Booleans]] = {}
    for number, tree in enumerate(trees):
        if len(tree.leaves) < 2:
            continue
        leaf = tree.apply(splits.holds)
        # Equal distances are to stay equal, whatever the order in which rows were added up.
        values = np.round(tree.leaf_values / (np.abs(tree.leaf_values).max() or 1.0), _DIGITS)
        sets = {
            leaves: None
            for linkage in linkages
            for leaves in leaf_sets(values, linkage=linkage).sets
            if len(leaves) < len(tree.leaves)
        }
        for leaves in sets:
            inside = np.zeros(len(tree.leaves), dtype=bool)
            inside[list(leaves)] = True
            holds = inside[leaf]
            found.setdefault(np.packbits(holds[train]).tobytes(), (number, leaves, holds))
    return list(found.values())


def _said(
    sets: list[tuple[int, tuple[int, ...], Booleans]],
    splits: Splits,
    columns: Columns,
    train: Booleans,
    bounds: Bounds,
) -> Iterator[tuple[int, tuple[int, ...], Booleans, Said]]:
    """Those leaf sets that can be said shortly, and how."""
    if not sets:
        return
    first = np.empty(len(columns.merged), dtype=np.int64)
    first[columns.group[::-1]] = np.arange(len(columns.group))[::-1]
    everything = packed(np.ones((1, len(first)), dtype=bool))[0]
    shortest = Shortest(packed(columns.merged.T), splits.cost, everything, bounds.limit, bounds.longest)
    wanted = packed(np.array([holds[train][first] for _, _, holds in sets]))
    for said, (number, leaves, holds) in zip(shortest.say(wanted), sets, strict=True):
        if said is not None:
            yield number, leaves, holds, said


def _twins(columns: Columns, splits: Splits) -> dict[int, list[int]]:
    """For each split those of its cost that hold of the same rows that trees see, itself first."""
    groups: dict[tuple[bytes, int], list[int]] = {}
    keys = np.packbits(columns.merged.T, axis=1)
    for split, (key, cost) in enumerate(zip(keys, splits.cost.tolist(), strict=True)):
        groups.setdefault((key.tobytes(), cost), []).append(split)
    return {
        split: [split, *(one for one in group if one != split)]
        for group in groups.values()
        for split in group
    }


def _original(tree: Tree, leaves: tuple[int, ...], splits: Splits) -> Truth:
    """What the tree itself says of a leaf set."""
    named = {column: splits[column] for path in tree.paths for column, _ in path}
    return set_formula(tree.paths, frozenset(leaves), named)


def _principal(targets: Floats) -> Floats:
    """The targets (n_rows, k) along the axes in which they vary most, without those in which they hardly do.

    Squared errors and distances stay the same, but for that.
    """
    centred = targets - targets.mean(axis=0)
    variance, axes = np.linalg.eigh(centred.T @ centred)
    kept = variance > _UNSEEN * variance.sum()
    kept[-1] = True
    found: Floats = centred @ axes[:, kept]
    return found


def _agreeing(recipes: list[Recipe], splits: Booleans, holds: Booleans) -> tuple[Recipe, Booleans]:
    """The recipe that agrees with a leaf set (n_rows,) on most rows, also those that trees did not see."""
    truths = [truth_of(recipe, splits) for recipe in recipes]
    best = max(range(len(recipes)), key=lambda number: (int((truths[number] == holds).sum()), -number))
    return recipes[best], truths[best]
