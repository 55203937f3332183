"""What forests bear: short formulas for leaf sets, with the help of rows that trees do not see."""

import numpy as np

from distill.distillation.feature_set import Splits
from distill.distillation.forest import ForestLimits, grow_forest
from distill.logic import parse

FORMULAS = [parse(text) for text in ("a", "b", "c", "d")]


def splits_of(holds: list[list[int]], cost: list[int]) -> Splits:
    return Splits(np.array(holds, dtype=bool), np.array(cost), FORMULAS.__getitem__)


def test_rows_that_trees_do_not_see_decide_between_equally_short_formulas() -> None:
    """The tree asks for a and b; c and d both say a & b on what it sees, but only d elsewhere."""
    holds = [[1, 1, 1, 1], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [1, 1, 0, 1], [1, 0, 1, 0]]
    train = np.array([True] * 4 + [False] * 2)
    targets = np.array([[3.0], [2.0], [1.0], [0.0], [0.0], [0.0]])
    for order in ([0, 1, 2, 3], [0, 1, 3, 2]):
        table = np.array([[row[place] for place in order] for row in holds], dtype=bool)
        names = [FORMULAS[place] for place in order]
        splits = Splits(table, np.array([1, 1, 2, 2]), names.__getitem__)
        forest = grow_forest(splits, train, targets, [np.ones(6)], ForestLimits(4, 5, 5), 1)
        assert {int(split) for split in forest.trees[0].tree.used} == {0, 1}
        [found] = [
            formula
            for formula, where in zip(forest.features.formulas, forest.features.holds.T, strict=True)
            if where[:4].tolist() == [True, False, False, False]
        ]
        assert found is FORMULAS[3]


def test_splits_and_leaf_sets_are_born_with_their_origin() -> None:
    holds = [[1, 1, 0, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1]]
    targets = np.array([[0.0], [5.0], [1.0], [7.0]])
    train = np.ones(4, dtype=bool)
    forest = grow_forest(
        splits_of(holds, [1, 1, 2, 2]), train, targets, [np.ones(4), np.ones(4)], ForestLimits(3, 8, 8), 4
    )
    assert len(forest.trees) == 2
    splits = [origin for origin in forest.features.origins if not origin.leaves]
    sets = [origin for origin in forest.features.origins if origin.leaves]
    assert splits
    assert sets
    assert {origin.layer for origin in forest.features.origins} == {4}
    assert all(origin.formula is None for origin in splits)
    assert all(origin.formula is not None for origin in sets)
    assert len(forest.sets) >= len(forest.features.formulas)
