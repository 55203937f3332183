import json

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from distill.common import InputError
from distill.trees import Columns, Tree, fit_tree, merge_rows, one_hot, splitter


def squared_error(targets, weights):
    """Around the weighted mean, straight from the definition."""
    if not weights.any():
        return 0.0
    return float((weights[:, None] * (targets - np.average(targets, axis=0, weights=weights)) ** 2).sum())


def brute_gains(columns, targets, weights, min_weight=0.0):
    """The gain of each column; minus infinity where it does not separate the rows well enough."""
    gains = np.full(columns.shape[1], -np.inf)
    for number, column in enumerate(columns.T):
        light = min(weights[column].sum(), weights[~column].sum())
        if light > 0 and light >= min_weight * (1 - 1e-9):
            parts = [squared_error(targets[side], weights[side]) for side in (column, ~column)]
            gains[number] = squared_error(targets, weights) - sum(parts)
    return gains


def rows_of_nodes(tree, columns):
    """For each node the rows that pass through it, as a mask."""
    masks = [np.ones(len(columns), dtype=bool)] * len(tree.splits)
    for node, column in enumerate(tree.splits):
        if column >= 0:
            no, yes = tree.children[node]
            masks[no] = masks[node] & ~columns[:, column]
            masks[yes] = masks[node] & columns[:, column]
    return masks


def random_problem(seed, n_rows=400, n_columns=12, k=3):
    random = np.random.default_rng(seed)
    columns = random.random((n_rows, n_columns)) < random.uniform(0.2, 0.8, n_columns)
    targets = columns @ random.normal(size=(n_columns, k)) + random.normal(size=(n_rows, k))
    return columns, targets, random.exponential(size=n_rows)


@st.composite
def problems(draw):
    """Small problems full of equal rows, tied columns and weights of 0."""
    n_rows, n_columns, k = draw(st.integers(1, 12)), draw(st.integers(0, 5)), draw(st.integers(1, 2))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    columns = random.random((n_rows, n_columns)) < 0.5
    targets = random.integers(-3, 4, size=(n_rows, k)) * draw(st.sampled_from([1.0, 0.1, 1e6]))
    weights = random.integers(0, 4, size=n_rows)
    weights[random.integers(n_rows)] = 1
    return columns, targets, weights.astype(float)


def same_tree(one, other):
    assert np.array_equal(one.splits, other.splits)
    assert np.array_equal(one.children, other.children)
    for name in ("values", "weights", "gains", "errors"):
        scale = 1 + np.abs(getattr(one, name)).max()
        assert np.allclose(getattr(one, name), getattr(other, name), atol=1e-9 * scale, rtol=1e-9), name


# Against scikit-learn


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("depth", "share"), [(1, 0.0), (3, 0.0), (4, 0.0), (5, 0.03)])
def test_same_objective_as_scikit_learn(seed, depth, share):
    sklearn_tree = pytest.importorskip("sklearn.tree")
    columns, targets, weights = random_problem(seed, n_rows=1500)
    oracle = sklearn_tree.DecisionTreeRegressor(max_depth=depth, min_weight_fraction_leaf=share)
    oracle.fit(columns, targets, sample_weight=weights)
    tree = fit_tree(columns, targets, weights, max_depth=depth, min_weight=share * weights.sum())
    expected = (weights[:, None] * (oracle.predict(columns) - targets) ** 2).sum()
    assert tree.objective == pytest.approx(expected, rel=1e-10)
    assert np.allclose(tree.predict(columns), oracle.predict(columns))
    assert np.array_equal(tree.splits[tree.splits >= 0], oracle.tree_.feature[oracle.tree_.feature >= 0])


@pytest.mark.parametrize("seed", range(4))
def test_one_hot_targets_minimise_the_gini_impurity_as_scikit_learn_does(seed):
    sklearn_tree = pytest.importorskip("sklearn.tree")
    columns, targets, weights = random_problem(seed, n_rows=1500)
    labels = targets.argmax(axis=1)
    oracle = sklearn_tree.DecisionTreeClassifier(max_depth=4).fit(columns, labels, sample_weight=weights)
    tree = fit_tree(columns, one_hot(labels), weights, max_depth=4)
    leaf = oracle.tree_.children_left < 0
    gini = (oracle.tree_.impurity * oracle.tree_.weighted_n_node_samples)[leaf].sum()
    assert tree.objective == pytest.approx(gini, rel=1e-10)
    assert np.allclose(tree.predict(columns), oracle.predict_proba(columns))
    assert np.array_equal(tree.predict(columns).argmax(axis=1), oracle.predict(columns))


# Against the definition


@settings(max_examples=150, deadline=None)
@given(problems(), st.integers(1, 4), st.sampled_from([0.0, 1.5, 3.0]), st.booleans())
def test_every_node_takes_the_preferred_one_of_the_best_splits(problem, depth, min_weight, backwards):
    columns, targets, weights = problem
    preference = np.arange(columns.shape[1])[:: -1 if backwards else 1]
    tree = fit_tree(columns, targets, weights, max_depth=depth, min_weight=min_weight, preference=preference)
    rounding = 1e-9 * squared_error(targets, weights) + 1e-20
    depths = np.zeros(len(tree.splits), dtype=int)
    for node, mask in enumerate(rows_of_nodes(tree, columns)):
        gains = brute_gains(columns[mask], targets[mask], weights[mask], min_weight)
        assert tree.weights[node] == pytest.approx(weights[mask].sum())
        error = squared_error(targets[mask], weights[mask])
        assert tree.errors[node] == pytest.approx(error, abs=rounding)
        assert np.allclose(tree.values[node], np.average(targets[mask], axis=0, weights=weights[mask]))
        best = gains.max(initial=0.0)
        if tree.splits[node] < 0:
            assert depths[node] == depth or best <= rounding
            continue
        depths[tree.children[node]] = depths[node] + 1
        assert tree.gains[node] == pytest.approx(best)
        tied = np.flatnonzero(gains >= best * (1 - 1e-8))
        assert tree.splits[node] == tied[np.argmin(preference[tied])]
        assert (tree.weights[tree.children[node]] >= min_weight - 1e-9).all()
    assert depths.max() <= depth


@given(problems(), st.integers(1, 4))
def test_apply_predict_and_paths_agree(problem, depth):
    columns, targets, weights = problem
    tree = fit_tree(columns, targets, weights, max_depth=depth)
    leaf = tree.apply(columns)
    for number, path in enumerate(tree.paths):
        on_path = [all(row[column] == outcome for column, outcome in path) for row in columns]
        assert np.array_equal(leaf == number, on_path)
    assert np.array_equal(tree.predict(columns), tree.leaf_values[leaf])
    assert tree.used.tolist() == sorted({column for path in tree.paths for column, _ in path})
    error = (weights[:, None] * (tree.predict(columns) - targets) ** 2).sum()
    assert tree.objective == pytest.approx(error, rel=1e-9, abs=1e-9)


# What must not change a tree


@given(problems(), st.integers(1, 4))
def test_integer_weights_are_repeated_rows(problem, depth):
    columns, targets, weights = problem
    repeated = np.repeat(np.arange(len(columns)), weights.astype(int))
    again = fit_tree(columns[repeated], targets[repeated], np.ones(len(repeated)), max_depth=depth)
    same_tree(fit_tree(columns, targets, weights, max_depth=depth), again)


@given(problems(), st.integers(1, 4))
def test_merging_rows_changes_nothing(problem, depth):
    columns, targets, weights = problem
    merged = Columns.of(columns)
    apart = Columns(columns, np.arange(len(columns)))
    same_tree(merged.fit(targets, weights, max_depth=depth), apart.fit(targets, weights, max_depth=depth))


@given(problems(), st.integers(1, 4), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_columns_changes_nothing(problem, depth, random):
    columns, targets, weights = problem
    rows, order = list(range(len(columns))), list(range(columns.shape[1]))
    tree = fit_tree(columns, targets, weights, max_depth=depth)
    random.shuffle(rows)
    random.shuffle(order)
    moved = fit_tree(columns[rows][:, order], targets[rows], weights[rows], max_depth=depth, preference=order)
    names = np.array([*order, -1])
    same_tree(tree, Tree(names[moved.splits], *(getattr(moved, name) for name in list(moved.to_json())[1:])))


def test_wide_nodes_are_multiplied_in_parts(monkeypatch):
    columns, targets, weights = random_problem(0)
    whole = fit_tree(columns, targets, weights, max_depth=5)
    monkeypatch.setattr(splitter, "_PART", 7 * columns.shape[1])
    same_tree(whole, fit_tree(columns, targets, weights, max_depth=5))


@settings(deadline=None)
@given(st.integers(1, 40), st.sampled_from([0, 1, 7, 8, 9, 30, 70]), st.integers(0, 100))
def test_merged_rows_are_the_distinct_ones_in_order_of_appearance(n_rows, n_columns, seed):
    random = np.random.default_rng(seed)
    columns = (random.random((5, n_columns)) < 0.5)[random.integers(5, size=n_rows)]
    merged, group = merge_rows(columns)
    assert np.array_equal(merged[group], columns)
    assert len(merged) == len({row.tobytes() for row in columns})
    assert list(dict.fromkeys(group.tolist())) == list(range(len(merged)))
    assert np.array_equal(merge_rows(np.asfortranarray(columns))[1], group)


# Ties


def test_ties_hold_far_below_the_root():
    """Deep in a tree, a column and its complement tie although their sums are small differences."""
    random = np.random.default_rng(3)
    half = random.random((5000, 8)) < 0.4
    targets = half[:, :1] * np.array([[3.0, -2.0]]) + 1e-5 * half[:, 1:] @ random.normal(size=(7, 2))
    columns = np.concatenate([half, ~half], axis=1)
    weights = random.exponential(size=5000)
    for preference in (np.arange(16), np.arange(16)[::-1]):
        tree = fit_tree(columns, targets, weights, max_depth=4, preference=preference)
        assert len(tree.leaves) > 8
        assert ((tree.used >= 8) == (preference[0] > 0)).all()


def test_slack_lets_the_preferred_column_win_over_a_slightly_better_one():
    columns = np.array([[1, 1], [1, 1], [1, 0], [0, 0], [0, 0], [0, 0]], dtype=bool)
    targets = np.array([[1.0], [1.0], [0.7], [0.0], [0.0], [0.0]])
    for slack, chosen in ((0.0, 0), (0.1, 0), (0.5, 1)):
        tree = fit_tree(columns, targets, np.ones(6), max_depth=1, slack=slack, preference=[1, 0])
        assert tree.splits[0] == chosen
    refused = fit_tree(columns, targets, np.ones(6), max_depth=1, slack=0.5, preference=[1, 0], min_gain=1.0)
    assert refused.splits[0] == 0, "the preferred column does not gain enough"


def test_a_seed_draws_among_all_tied_columns():
    columns = np.array([[0, 1, 0, 1], [1, 0, 1, 1]], dtype=bool)
    draws = [
        fit_tree(
            columns, [[0.0], [1.0]], np.ones(2), max_depth=1, preference=[0, 1, 2, 3], tie=generator.choice
        ).splits[0]
        for generator in (np.random.default_rng(seed) for seed in (*range(30), *range(30)))
    ]
    assert set(draws) == {0, 1, 2}
    assert draws[:30] == draws[30:]


# Limits


def test_gains_must_exceed_min_gain():
    columns, targets, weights = random_problem(1)
    loose = fit_tree(columns, targets, weights, max_depth=4)
    bound = np.median(loose.gains[loose.splits >= 0])
    strict = fit_tree(columns, targets, weights, max_depth=4, min_gain=bound)
    assert 1 < len(strict.leaves) < len(loose.leaves)
    assert (strict.gains[strict.splits >= 0] > bound).all()


@pytest.mark.parametrize("offset", [0.0, 0.1, 1e9 / 3])
def test_constant_targets_are_one_leaf(offset):
    columns, _, weights = random_problem(2)
    tree = fit_tree(columns, np.full((len(columns), 3), offset), weights, max_depth=4)
    assert len(tree.leaves) == 1
    assert tree.paths == [()]


def test_a_large_offset_changes_no_split():
    columns, targets, weights = random_problem(4)
    plain = fit_tree(columns, targets, weights, max_depth=5)
    assert np.array_equal(fit_tree(columns, targets + 1e6, weights, max_depth=5).splits, plain.splits)


def test_no_columns_are_one_leaf():
    tree = fit_tree(np.zeros((3, 0), dtype=bool), [[1.0], [2.0], [6.0]], np.ones(3), max_depth=2)
    assert tree.leaf_values.tolist() == [[3.0]]
    assert tree.objective == pytest.approx(14.0)
    assert tree.apply(np.zeros((5, 0), dtype=bool)).tolist() == [0] * 5


def test_rows_of_weight_zero_have_no_say_but_get_a_leaf():
    columns = np.array([[0, 0], [1, 0], [0, 1]], dtype=bool)
    tree = fit_tree(columns, [[0.0], [1.0], [50.0]], [1, 1, 0], max_depth=5)
    assert tree.used.tolist() == [0]
    assert tree.apply(columns).tolist() == [0, 1, 0]


def test_depth_may_exceed_the_recursion_limit():
    columns = np.eye(1100, dtype=bool)
    tree = fit_tree(columns, np.arange(1100.0)[:, None], np.ones(1100), max_depth=10**6)
    assert max(map(len, tree.paths)) == 1099
    assert tree.objective < 1e-9


# Storage and bad input


@given(problems(), st.integers(1, 4))
def test_json_gives_the_same_tree(problem, depth):
    columns, targets, weights = problem
    tree = fit_tree(columns, targets, weights, max_depth=depth)
    again = Tree.from_json(json.loads(json.dumps(tree.to_json())))
    for name, stored in tree.to_json().items():
        assert getattr(again, name).tolist() == stored
        assert getattr(again, name).dtype == getattr(tree, name).dtype
    assert np.array_equal(again.predict(columns), tree.predict(columns))


@pytest.mark.parametrize(
    "change",
    [
        {"splits": None},
        {"splits": []},
        {"splits": [[0, -1, -1]]},
        {"gains": [0.0]},
        {"values": [0.0, 1.0, 2.0]},
        {"children": [[0, 0], [-1, -1], [-1, -1]]},
        {"children": [[1, 1], [-1, -1], [-1, -1]]},
    ],
)
def test_broken_stored_trees_are_refused(change):
    stored = fit_tree(np.eye(2, dtype=bool), [[0.0], [1.0]], np.ones(2), max_depth=1).to_json()
    with pytest.raises(InputError, match="not a stored tree"):
        Tree.from_json({**stored, **change})
    with pytest.raises(InputError, match="not a stored tree"):
        Tree.from_json({name: array for name, array in stored.items() if name not in change})


TABLE = np.eye(3, 2, dtype=bool)
TARGETS = np.arange(3.0)[:, None]


@pytest.mark.parametrize(
    ("columns", "targets", "weights", "options", "message"),
    [
        (TABLE, TARGETS * np.nan, np.ones(3), {}, "Targets must be finite"),
        (TABLE, TARGETS + np.inf, np.ones(3), {}, "Targets must be finite"),
        (TABLE, TARGETS * 1e200, np.ones(3), {}, "too large"),
        (TABLE, TARGETS, np.full(3, 1e308), {}, "too large"),
        (TABLE, TARGETS, [1, np.nan, 1], {}, "Weights must be"),
        (TABLE, TARGETS, [1, np.inf, 1], {}, "Weights must be"),
        (TABLE, TARGETS, [1, -1, 1], {}, "Weights must be"),
        (TABLE, TARGETS, np.zeros(3), {}, "not all 0"),
        (TABLE, TARGETS[:2], np.ones(3), {}, "3 rows do not go with 2 targets"),
        (TABLE, TARGETS, np.ones(4), {}, "3 rows do not go with 3 targets and 4 weights"),
        (TABLE, TARGETS[:, 0], np.ones(3), {}, "must be a table"),
        (TABLE, TARGETS[:, :0], np.ones(3), {}, "at least one column"),
        (TABLE[:0], TARGETS[:0], np.ones(0), {}, "at least one row"),
        (TABLE.astype(int), TARGETS, np.ones(3), {}, "table of Booleans"),
        (TABLE[0], TARGETS, np.ones(3), {}, "table of Booleans"),
        (TABLE, TARGETS, np.ones(3), {"max_depth": 0}, "depth of at least 1"),
        (TABLE, TARGETS, np.ones(3), {"min_weight": -1.0}, "at least 0"),
        (TABLE, TARGETS, np.ones(3), {"min_gain": np.nan}, "at least 0"),
        (TABLE, TARGETS, np.ones(3), {"slack": 1.0}, "slack"),
        (TABLE, TARGETS, np.ones(3), {"preference": [1]}, "each of 2 columns"),
    ],
)
def test_bad_input_is_refused(columns, targets, weights, options, message):
    with pytest.raises(InputError, match=message):
        fit_tree(columns, targets, weights, **{"max_depth": 2, **options})


@pytest.mark.parametrize("labels", [[-1, 0, 1], [0.5, 1, 1], [[0, 1, 1]], []])
def test_bad_labels_are_refused(labels):
    with pytest.raises(InputError, match="Labels must be"):
        one_hot(labels)


def test_too_few_columns_to_apply_a_tree_are_refused():
    tree = fit_tree(TABLE[:2], [[0.0], [1.0]], np.ones(2), max_depth=1, preference=[1, 0])
    with pytest.raises(InputError, match="splits on column 1 of only 1"):
        tree.apply(TABLE[:, :1])
