import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from distill.common import InputError
from distill.trees import DISTANCES, LINKAGES, fit_tree, leaf_sets

CHOICES = [
    (distance, linkage)
    for distance in DISTANCES
    for linkage in LINKAGES
    if linkage != "ward" or distance == "euclidean"
]


@pytest.mark.parametrize(("distance", "linkage"), CHOICES)
@pytest.mark.parametrize("seed", range(3))
def test_same_partitions_as_scikit_learn(distance, linkage, seed):
    cluster = pytest.importorskip("sklearn.cluster")
    values = np.random.default_rng(seed).normal(size=(14, 3))
    found = leaf_sets(values, distance=distance, linkage=linkage)
    for n_clusters in range(1, 15):
        oracle = cluster.AgglomerativeClustering(n_clusters=n_clusters, metric=distance, linkage=linkage)
        labels = oracle.fit(values).labels_
        expected = {tuple(np.flatnonzero(labels == label).tolist()) for label in range(n_clusters)}
        assert partition(found, n_clusters) == expected


def partition(dendrogram, n_clusters):
    """The sets that are left when so many merges were done that n_clusters remain."""
    n_leaves = len(dendrogram.merges) + 1
    done = dendrogram.merges[: n_leaves - n_clusters]
    made = range(n_leaves + len(done))
    return {dendrogram.sets[number] for number in made if number not in done}


@settings(deadline=None)
@given(st.integers(1, 9), st.integers(1, 3), st.sampled_from(CHOICES), st.integers(0, 1000))
def test_sets_are_a_hierarchy_from_single_leaves_to_all(n_leaves, k, choice, seed):
    values = np.random.default_rng(seed).integers(-1, 2, size=(n_leaves, k)).astype(float)
    distance, linkage = choice
    found = leaf_sets(values, distance=distance, linkage=linkage)
    assert len(found.sets) == len(set(found.sets)) == 2 * n_leaves - 1
    assert found.sets[:n_leaves] == [(leaf,) for leaf in range(n_leaves)]
    assert found.sets[-1] == tuple(range(n_leaves))
    assert len(found.heights) == len(found.merges) == n_leaves - 1
    for number, (left, right) in enumerate(found.merges, start=n_leaves):
        assert left < right < number
        assert found.sets[number] == tuple(sorted(found.sets[left] + found.sets[right]))
    assert (np.diff(found.heights) >= -1e-12).all()
    assert leaf_sets(values, distance=distance, linkage=linkage).sets == found.sets


def test_the_layer_of_figure_3_2_and_table_3_3():
    """Columns blue, A red ≥ 1, A ⊤ ≥ 2; leaves P1 to P4; C1 = {P1, P2}, C2 = C1 + P3, C3 = C2 + P4."""
    columns = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 0], [1, 1, 1]], dtype=bool)
    columns = np.repeat(columns, 2, axis=0)
    columns[1, 2], columns[3, 2], columns[5, 1], columns[7, 1] = True, False, True, False
    values = np.repeat([[0.0], [1.0], [4.0], [9.0]], 2, axis=0)
    tree = fit_tree(columns, values, np.ones(8), max_depth=2)
    assert tree.paths == [
        ((0, False), (1, False)),
        ((0, False), (1, True)),
        ((0, True), (2, False)),
        ((0, True), (2, True)),
    ]
    found = leaf_sets(tree.leaf_values, distance="euclidean", linkage="average")
    assert found.sets == [(0,), (1,), (2,), (3,), (0, 1), (0, 1, 2), (0, 1, 2, 3)]
    assert found.heights == pytest.approx([1, 3.5, (9 + 8 + 5) / 3])


def test_one_leaf_is_one_set():
    found = leaf_sets([[1.0, 2.0]], distance="cosine", linkage="single")
    assert found.sets == [(0,)]
    assert found.merges.shape == (0, 2)


def test_cosine_distances_of_zero_vectors():
    values = [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0], [-1.0, -1.0], [3.0, 3.0]]
    found = leaf_sets(values, distance="cosine", linkage="single")
    assert found.heights == pytest.approx([0, 0, 1, 1])
    assert set(found.sets[5:7]) == {(0, 2), (1, 4)}
    assert leaf_sets(values, distance="cosine", linkage="complete").heights[-1] == pytest.approx(2)


def test_cosine_distances_ignore_length_even_extreme_ones():
    values = np.random.default_rng(0).normal(size=(6, 3))
    plain = leaf_sets(values, distance="cosine", linkage="average")
    scaled = values * np.array([1e-300, 1, 1e300, 5, 1e-9, 1e100])[:, None]
    again = leaf_sets(scaled, distance="cosine", linkage="average")
    assert again.sets == plain.sets
    assert again.heights == pytest.approx(plain.heights)


def test_ward_heights():
    found = leaf_sets([[0.0], [2.0], [10.0]], distance="euclidean", linkage="ward")
    assert found.heights == pytest.approx([2, np.sqrt(2 * 2 * 1 / 3) * 9])


@pytest.mark.parametrize(
    ("values", "distance", "linkage", "message"),
    [
        ([[1.0]], "hamming", "single", "no distance 'hamming'; choose from euclidean, manhattan, cosine"),
        ([[1.0]], "cosine", "median", "no linkage 'median'; choose from ward, average, complete, single"),
        ([[1.0]], "manhattan", "ward", "Ward's linkage needs the distance euclidean, not manhattan"),
        ([[1.0]], "cosine", "ward", "Ward's linkage needs the distance euclidean, not cosine"),
        ([[np.nan]], "cosine", "single", "finite"),
        ([[1.0], [np.inf]], "euclidean", "single", "finite"),
        ([1.0, 2.0], "euclidean", "single", "table"),
        (np.zeros((0, 2)), "euclidean", "single", "at least one row"),
        (np.zeros((2, 0)), "euclidean", "single", "one column"),
    ],
)
def test_bad_input_is_refused(values, distance, linkage, message):
    with pytest.raises(InputError, match=message):
        leaf_sets(values, distance=distance, linkage=linkage)
