"""Trees on counts: merged rows with weights against scikit-learn on single rows."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from distill.common import InputError
from distill.trees import (
    DISTANCES,
    LINKAGES,
    CountColumns,
    fit_reference,
    leaf_sets,
    leaf_sets_of,
    reference_merges,
)


@st.composite
def problems(draw):
    """Groups of rows with equal counts and different targets, and how often each was drawn."""
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_groups, n_columns, k = draw(st.integers(2, 12)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    counts = random.integers(0, draw(st.sampled_from([2, 4, 30])), size=(n_groups, n_columns))
    group = np.append(np.arange(n_groups), random.integers(n_groups, size=10))
    targets = random.normal(size=(len(group), k))
    return counts, group, targets, random.integers(1, 4, len(group)), random.exponential(size=len(group))


def means(group, targets, weights):
    total = np.bincount(group, weights)
    sums = np.array([np.bincount(group, weights * column) for column in targets.T]).T
    return sums / total[:, None], total


@settings(max_examples=100, deadline=None)
@given(problems(), st.integers(1, 4))
def test_merged_and_single_rows_give_the_same_tree(problem, depth):
    counts, group, targets, times, weight = problem
    mean, total = means(group, targets, times * weight)
    merged = CountColumns.of(counts).fit(mean, total, max_depth=depth)
    copies = np.repeat(np.arange(len(group)), times)
    single = fit_reference(counts[group[copies]], targets[copies], weight[copies], max_depth=depth, seed=0)
    one, other = merged.tree, single.tree
    leaves, others = merged.apply(counts), single.apply(counts)
    if len(one.leaves) == len(other.leaves) and partition(leaves) == partition(others):
        order = [int(others[np.flatnonzero(leaves == leaf)[0]]) for leaf in range(len(one.leaves))]
        assert np.allclose(one.leaf_values, other.leaf_values[order], atol=1e-9, rtol=1e-9)
    assert one.objective + within(group, mean, targets, times * weight) == pytest.approx(
        other.objective, abs=1e-9 * (1 + total.sum())
    ) or has_ties(counts)
    assert one.gains[0] == pytest.approx(other.gains[0], rel=1e-9, abs=1e-9)


def partition(leaf):
    return {tuple(np.flatnonzero(leaf == own).tolist()) for own in np.unique(leaf)}


def within(group, mean, targets, weights):
    """The squared error of rows around the means of their groups, which no tree can lower."""
    return float((weights[:, None] * (targets - mean[group]) ** 2).sum())


def has_ties(counts):
    """Whether two splits separate all groups in the same way, so that engines may differ further below."""
    keys = [tuple(column > t) for column in counts.T for t in np.unique(column)[:-1]]
    keys += [tuple(~np.array(key)) for key in keys]
    return len(set(keys)) < len(keys)


@pytest.mark.parametrize("seed", range(8))
def test_without_ties_the_columns_and_thresholds_are_the_same(seed):
    random = np.random.default_rng(seed)
    counts = random.integers(0, 9, size=(400, 6))
    targets, weights = (
        counts @ random.normal(size=(6, 3)) + random.normal(size=(400, 3)),
        random.exponential(size=400),
    )
    one = CountColumns.of(counts).fit(targets, weights, max_depth=4, random=random)
    other = fit_reference(counts, targets, weights, max_depth=4, seed=seed)
    assert np.array_equal(one.splits, other.splits)
    for name in ("children", "values", "weights", "gains", "errors"):
        assert np.allclose(getattr(one.tree, name), getattr(other.tree, name), rtol=1e-9, atol=1e-9), name


def test_thresholds_lie_midway_between_the_counts_of_a_node():
    # By hand: the root separates 1 from 9 at 5; a row of weight 0 between them has no influence.
    counts = np.array([[1], [9], [3]])
    tree = CountColumns.of(counts).fit([[0.0], [4.0], [4.0]], np.array([1.0, 1.0, 0.0]), max_depth=1)
    assert tree.splits.tolist() == [[0, 5]]
    assert tree.apply(counts).tolist() == [0, 1, 0]
    assert tree.tree.gains[0] == pytest.approx(8)


def test_the_threshold_has_no_bound():
    counts = np.arange(300)[:, None]
    tree = CountColumns.of(counts).fit((counts > 250).astype(float), np.ones(300), max_depth=1)
    assert tree.splits.tolist() == [[0, 250]]


def test_a_seed_draws_among_all_equal_columns():
    counts = np.array([[0, 3, 0, 1], [1, 0, 2, 1]])  # the first three separate the rows; the second inversely
    found = [
        CountColumns.of(counts).fit([[0.0], [1.0]], np.ones(2), max_depth=1, random=generator).splits[0, 0]
        for generator in map(np.random.default_rng, range(300))
    ]
    numbers = np.bincount(found, minlength=4)
    assert numbers[3] == 0
    assert all(number == pytest.approx(100, abs=30) for number in numbers[:3])


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("linkage", LINKAGES)
def test_the_clusters_are_those_of_scikit_learn(distance, linkage):
    values = np.random.default_rng(0).normal(size=(12, 4))
    if linkage == "ward" and distance != "euclidean":
        with pytest.raises(InputError, match="Ward"):
            reference_merges(values, distance=distance, linkage=linkage)
        return
    expected = leaf_sets_of(reference_merges(values, distance=distance, linkage=linkage))
    found = leaf_sets(values, distance=distance, linkage=linkage).sets
    assert set(found) == set(expected)
    assert len(found) == 23


def test_one_leaf_has_one_set():
    assert leaf_sets_of(reference_merges(np.ones((1, 2)), distance="cosine", linkage="single")) == [(0,)]


def test_scikit_learn_has_no_cosine_distance_to_zero():
    with pytest.raises(InputError, match="set engine to quotient"):
        reference_merges(np.array([[0.0, 0.0], [1.0, 0.0]]), distance="cosine", linkage="single")


@pytest.mark.parametrize(
    "counts", [np.array([[-1]]), np.array([[0.5]]), np.array([1, 2])], ids=["negative", "real", "list"]
)
def test_bad_counts_are_refused(counts):
    with pytest.raises(InputError, match="whole numbers"):
        CountColumns.of(counts)
    with pytest.raises(InputError, match="positive weight"):
        CountColumns.of(np.array([[1]])).fit([[1.0]], np.zeros(1), max_depth=1)
