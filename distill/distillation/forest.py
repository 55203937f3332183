"""Trees that predict the same targets, and the short formulas of their splits and leaf sets."""

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distill.distillation.feature_set import FeatureSet, Splits
from distill.distillation.tree_with_formulas import TreeWithFormulas
from distill.explanations import Provenance
from distill.logic import (
    Expression,
    ExpressionSearch,
    Recipe,
    formula_of,
    pack,
    truth_of,
    variants_of,
)
from distill.trees import LINKAGES, Columns, Tree, leaf_sets

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]

_SLACKS = (1e-9, 0.02, 0.1)  # share of the gain that a cheaper split may lose
_SHALLOWER = 2  # difference in depth of every other tree
_DIGITS = 9  # of leaf values, relative to the largest
_VARIANTS = 64  # equally cheap formulas that are compared for a leaf set
_LEAST_VARIANCE = 1e-4  # share of the variance of targets that an axis needs


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees with their features.

    Attributes
    ----------
    trees : the trees, fitted to the principal axes of the targets.
    features : their splits and those leaf sets that have short formulas.
    sets : (n_rows,) the rows of each split and each leaf set, also of those without short formulas.
    """

    trees: list[TreeWithFormulas]
    features: FeatureSet
    sets: list[Booleans]


@dataclass(frozen=True)
class ForestLimits:
    """Limits on trees and formulas.

    Attributes
    ----------
    depth : of every other tree; the others are shallower.
    limit : cost of a combination of splits.
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
    bounds: ForestLimits,
    layer: int,
    without: Collection[str] = (),
) -> Forest:
    """Fit trees, and express their leaf sets by short formulas.

    Parameters
    ----------
    train : (n_rows,) the training rows; the other rows decide between formulas of equal cost.
    targets : (n_rows, k).
    weights : for each tree (n_rows,) the weights of rows.
    layer : of the network.
    without : see the setting of this name.
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
    layer_trees = [
        TreeWithFormulas(layer, tree, {one: splits[one] for one in tree.used.tolist()}) for tree in trees
    ]
    used: dict[int, int] = {}
    for number, tree in enumerate(trees):
        for split in tree.used.tolist():
            used.setdefault(split, number)
    sets = _all_leaf_sets(trees, splits, train, linkages)
    parts = [
        FeatureSet(
            [splits[one]], [int(splits.cost[one])], [Provenance(layer, number)], splits.holds[:, [one]]
        )
        for one, number in used.items()
        if "splits" not in without
    ]
    twins = _twins(columns, splits)
    for number, leaves, holds, expression in _expressed(sets, splits, columns, train, bounds):
        variants = itertools.chain.from_iterable(variants_of(recipe, twins) for recipe in expression.recipes)
        recipe, where = _agreeing(list(itertools.islice(variants, _VARIANTS)), splits.holds, holds)
        origin = Provenance(layer, number, leaves, layer_trees[number].leaf_set(leaves))
        parts.append(
            FeatureSet([formula_of(recipe, splits.make)], [expression.cost], [origin], where[:, None])
        )
    everything = [splits.holds[:, split] for split in used] + [holds for _, _, holds in sets]
    return Forest(layer_trees, FeatureSet.union(parts, len(train)), everything)


def _all_leaf_sets(
    trees: list[Tree], splits: Splits, train: Booleans, linkages: Sequence[str]
) -> list[tuple[int, tuple[int, ...], Booleans]]:
    """The distinct leaf sets under some linkages: tree, leaves, and rows (n_rows,)."""
    found: dict[bytes, tuple[int, tuple[int, ...], Booleans]] = {}
    for number, tree in enumerate(trees):
        if len(tree.leaves) < 2:
            continue
        leaf = tree.apply(splits.holds)
        # Rounding keeps equal distances equal, whatever the order of the sums.
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


def _expressed(
    sets: list[tuple[int, tuple[int, ...], Booleans]],
    splits: Splits,
    columns: Columns,
    train: Booleans,
    bounds: ForestLimits,
) -> Iterator[tuple[int, tuple[int, ...], Booleans, Expression]]:
    """The leaf sets that have short formulas, with their cheapest expressions."""
    if not sets:
        return
    first = np.empty(len(columns.merged), dtype=np.int64)
    first[columns.group[::-1]] = np.arange(len(columns.group))[::-1]
    everything = pack(np.ones((1, len(first)), dtype=bool))[0]
    search = ExpressionSearch(pack(columns.merged.T), splits.cost, everything, bounds.limit, bounds.longest)
    wanted = pack(np.array([holds[train][first] for _, _, holds in sets]))
    for expression, (number, leaves, holds) in zip(search.express(wanted), sets, strict=True):
        if expression is not None:
            yield number, leaves, holds, expression


def _twins(columns: Columns, splits: Splits) -> dict[int, list[int]]:
    """For each split the splits with equal cost and equal training rows, itself first."""
    groups: dict[tuple[bytes, int], list[int]] = {}
    keys = np.packbits(columns.merged.T, axis=1)
    for split, (key, cost) in enumerate(zip(keys, splits.cost.tolist(), strict=True)):
        groups.setdefault((key.tobytes(), cost), []).append(split)
    return {
        split: [split, *(one for one in group if one != split)]
        for group in groups.values()
        for split in group
    }


def _principal(targets: Floats) -> Floats:
    """The targets (n_rows, k) along their principal axes, without those of almost no variance.

    Apart from the dropped axes, squared errors and distances do not change.
    """
    centred = targets - targets.mean(axis=0)
    variance, axes = np.linalg.eigh(centred.T @ centred)
    kept = variance > _LEAST_VARIANCE * variance.sum()
    kept[-1] = True
    projected: Floats = centred @ axes[:, kept]
    return projected


def _agreeing(recipes: list[Recipe], splits: Booleans, holds: Booleans) -> tuple[Recipe, Booleans]:
    """The recipe that agrees with a leaf set on most of all rows (n_rows,), held-out ones included."""
    truths = [truth_of(recipe, splits) for recipe in recipes]
    best = max(range(len(recipes)), key=lambda number: (int((truths[number] == holds).sum()), -number))
    return recipes[best], truths[best]
