"""Thesis mode against Algorithm 2 written plainly, on hand-computed cases, and by its properties."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from distill.distillation import Distillation, Sample, fit_features, fit_ridt
from distill.logic import Atom, Closure, Compare, Constant, Evaluator, Modal, Not, Role, Top
from distill.regression import fit_linear
from distill.structures import Predicate, Structures, Vocabulary
from distill.trees import leaf_sets
from tests.support.learned_trees import built_from, described, learned_from, plain_states, replayed
from tests.support.naive_ridt import naive_ridt, naive_weights
from tests.support.strategies import batches

ALL = 10**6
TINY = Distillation(
    mode="thesis",
    inner_depth=3,
    final_depth=3,
    inner_width=2,
    final_width=2,
    inner_sample=ALL,
    final_sample=ALL,
    nonnegative=True,
)


def column(values):
    return tuple(int(value) for value in values)


# Against Algorithm 2


@pytest.mark.parametrize("engine", ["sklearn", "quotient"])
@pytest.mark.parametrize(
    ("name", "changes"),
    [
        (
            "gripper",
            {"distance": "cosine", "linkage": "complete", "pooling": "max", "features": ("combined",)},
        ),
        ("blocks-clear", {"features": ("numerical", "combined"), "intercept": False}),
        ("miconic", {"linkage": "average", "features": ("combined",)}),
    ],
)
def test_the_mode_is_algorithm_2(name, changes, engine):
    batch, v_star, built, found = replayed(name)
    options = TINY.replace(engine=engine, **changes)
    learned = fit_ridt(built.quotient, found.embeddings, found.pooled, options)
    _, embeddings, pooled = plain_states(batch, v_star, built, found)
    ties = np.random.default_rng(options.seed).spawn(2)[1]
    naive = naive_ridt(
        batch,
        v_star,
        embeddings[1:],
        pooled,
        iter(lambda: int(ties.integers(2**31)), None),
        inner=(options.inner_depth, options.inner_width),
        final=(options.final_depth, options.final_width),
        pooling=options.pooling,
        metric=options.distance,
        linkage=options.linkage,
    )
    evaluator = Evaluator(batch)
    trees = learned.tree_layers[:-1]
    for layer, expected in zip(trees, naive.concepts, strict=True):
        own = set()
        for tree in layer:
            sets = leaf_sets(tree.tree.leaf_values, distance=options.distance, linkage=options.linkage).sets
            own |= {column(evaluator.holds(tree.leaf_set(leaves))) for leaves in sets}
        assert own == set(expected)
    assert {column(evaluator.holds(one)) for one in learned.objects} == {c for x in naive.concepts for c in x}
    assert sorted(column(c) for c in learned.counts[built.state_row].T) == sorted(naive.counts)
    assert {column(c) for c in learned.holds[built.state_row].T} == set(naive.combined)
    assert sum(kind.kind == "combined" for kind in learned.states) == len(naive.combined)
    sample = Sample(built.quotient, np.arange(built.quotient.n_state_rows), found)
    result = fit_features(learned, sample, None, options, lambda *_: None).explanation
    columns = [column(evaluator.number(one.number)) for one in result.pool]
    weights = naive_weights(columns, v_star, intercept=options.intercept, positive=options.nonnegative)
    own = {one.number: weight for weight, one in result.terms()}
    merged: dict = {}
    for one, weight in zip(result.pool, weights, strict=False):
        merged[one.number] = merged.get(one.number, 0) + weight
    for number, weight in merged.items():
        assert own.get(number, 0.0) == pytest.approx(weight, abs=1e-7)
    assert result.constant == pytest.approx(weights[-1], abs=1e-7)


# By hand


def towers(*heights, below=0):
    """For each height one state: a tower whose top is clear, the goal block above `below` others."""
    ends = np.cumsum(heights)
    starts = ends - np.array(heights)
    on = [(x, x + 1) for start, end in zip(starts, ends, strict=True) for x in range(start, end - 1)]
    words = Vocabulary(
        [Predicate("on", 2), Predicate("clear", 1), Predicate("goal", 1), Predicate("rain", 0)]
    )
    atoms = {"on": on, "clear": starts[:, None], "goal": ends[:, None] - 1 - below, "rain": [[0]]}
    return Structures(words, len(heights), np.repeat(np.arange(len(heights)), heights), atoms)


def fitted(batch, v_star, embedding, pooled, **changes):
    built = built_from(batch, np.array(v_star), depth=len(embedding))
    rows = [np.zeros((len(built.quotient.layers[0]), 1))]
    for depth, column in enumerate(embedding, 1):
        table = np.zeros((len(built.quotient.layers[depth]), 1))
        table[built.rows(batch, depth), 0] = column
        rows.append(table)
    table = np.zeros((built.quotient.n_state_rows, 1))
    table[built.state_row, 0] = pooled
    options = TINY.replace(inner_width=1, final_width=1, inner_depth=1, final_depth=1).replace(**changes)
    return fit_ridt(built.quotient, rows, table, options)


def test_one_split_gives_three_leaf_sets_top_included():
    # Towers of 1, 2, 3 blocks. The embedding is 5 for the blocks under a clear one, which only
    # <on^-1>clear separates: leaf sets are that, its negation, and both.
    learned = fitted(towers(1, 2, 3), [0, 1, 2], [[0, 0, 5, 0, 5, 0]], [0, 7, 7])
    under = Modal(Role("on", 1, 0), Atom("clear"))
    assert set(learned.objects) == {under, Not(under), Top()}
    # State features come from these alone, not from predicates: 3 numerical, 3 Boolean, and combined ones.
    assert [feature.kind for feature in learned.states].count("numerical") == 3
    counts = dict(zip(learned.objects, learned.counts.T.tolist(), strict=True))
    assert sorted(counts[Top()]) == [1, 2, 3]
    # The final tree has one split, so there are 3 combined features, one of which is constant.
    assert len(learned.combined) == 3
    assert Compare(Constant(1), 0) in [formula for formula, _ in learned.combined]


def test_nullary_atoms_are_no_features():
    learned = fitted(towers(1, 2, 3), [0, 1, 2], [[3, 0, 0, 0, 0, 0]], [3, 0, 0], inner_depth=4)
    names = {part.fields[0] for one in learned.objects for part in one.walk() if isinstance(part, Atom)}
    assert "rain" not in names


def test_weights_of_objects_are_those_of_their_states_among_all():
    # Three towers: V* 0, 0, 1. 1/p gives each object of the first two states weight 1/2, of the last 1.
    learned = fitted(towers(1, 1, 2), [0, 0, 1], [[0, 0, 0, 4]], [0, 0, 1])
    tree = learned.tree_layers[0][0].tree
    assert tree.weights[0] == pytest.approx(0.5 + 0.5 + 1 + 1)
    assert tree.values[0, 0] == pytest.approx(4 / 3)


def test_closures_see_what_no_layer_sees():
    # The goal block has two blocks below it. Which blocks are above it takes a closure after one layer.
    batch, above = towers(3, 8, 6, below=2), Modal(Closure(Role("on")), Atom("goal"))
    quotient = built_from(batch, np.array([0, 2, 1]), depth=None).quotient.fixpoint()
    layer, evaluator = quotient.layers[-1], Evaluator(quotient.states)
    embedding = evaluator.holds(above)[layer.representative][:, None].astype(float)
    nothing = np.zeros((len(quotient.layers[0]), 1)), np.zeros((quotient.n_state_rows, 1))
    options = TINY.replace(inner_width=1, final_width=1, inner_depth=1, final_depth=1)
    found = {
        closures: fit_ridt(quotient, [nothing[0], embedding], nothing[1], options.replace(closures=closures))
        for closures in (False, True)
    }
    errors = [one.tree_layers[0][0].tree.objective for one in found.values()]
    assert errors[0] > 0.1
    assert errors[1] == pytest.approx(0, abs=1e-12)
    assert set(found[True].objects) == {above, Not(above), Top()}
    numbers = dict(zip(found[True].objects, found[True].counts.T.tolist(), strict=True))
    assert sorted(numbers[above]) == [0, 3, 5]


# Properties


@settings(max_examples=20, deadline=None)
@given(
    batches(min_objects=1, max_states=6),
    st.integers(0, 99),
    st.sampled_from(["uniform", "spread", "informed"]),
    st.booleans(),
    st.sampled_from(["quotient", "sklearn"]),
)
def test_formulas_have_the_values_of_the_trees_on_any_states(batch, seed, sampling, closures, engine):
    random = np.random.default_rng(seed)
    built = built_from(batch, random.integers(0, 3, len(batch)), None)
    quotient = built.quotient.fixpoint()
    sizes = [len(quotient.layers[min(d, quotient.depth)]) for d in range(3)]
    embeddings = [random.normal(size=(n, 2)) for n in sizes]
    options = TINY.replace(
        inner_sample=2, final_sample=2, sampling=sampling, closures=closures, engine=engine, seed=seed
    )
    learned = fit_ridt(quotient, embeddings, random.normal(size=(len(quotient.chosen), 2)), options)
    evaluator = Evaluator(batch)
    for feature, values in zip(learned.states, learned.values.T, strict=True):
        assert np.array_equal(evaluator.number(feature.number), values[built.state_row])
    for layer in learned.tree_layers[:-1]:
        assert len(layer) == 2
        assert all(len(one.tree.leaves) <= 2**options.inner_depth for one in layer)


def test_both_engines_draw_the_same_states():
    one, other = (
        learned_from("gripper", TINY.replace(engine=engine, inner_sample=30, final_sample=30))
        for engine in ("quotient", "sklearn")
    )
    for ours, theirs in zip(one.tree_layers[0], other.tree_layers[0], strict=True):
        assert ours.tree.weights[0] == pytest.approx(theirs.tree.weights[0])
        assert np.allclose(ours.tree.values[0], theirs.tree.values[0], atol=1e-9)
        assert ours.tree.gains[0] == pytest.approx(theirs.tree.gains[0], rel=1e-9)


@pytest.mark.parametrize("sampling", ["uniform", "spread", "informed"])
def test_the_seed_decides_the_sample(sampling):
    options = TINY.replace(inner_sample=20, final_sample=20, sampling=sampling)
    one, again, other = (learned_from("gripper", options.replace(seed=seed)) for seed in (3, 3, 4))
    assert described(one) == described(again)
    assert described(one) != described(other)


# The regression


@pytest.mark.parametrize("regression", ["auto", "squares", "absolute", "sgd"])
@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_no_setting_of_the_regression_is_overridden(regression, nonnegative, intercept):
    *_, built, found = replayed("gripper")
    options = TINY.replace(regression=regression, nonnegative=nonnegative, intercept=intercept)
    options = options.replace(features=("numerical",), inner_width=1)
    learned = learned_from("gripper", options)
    sample = Sample(built.quotient, np.arange(built.quotient.n_state_rows), found)
    result = fit_features(learned, sample, None, options, lambda *_: None).explanation
    weights = [weight for weight, _ in result.terms()]
    if nonnegative:
        assert all(weight >= 0 for weight in weights)
    elif regression != "absolute":  # the least absolute errors need no negative weight here
        assert any(weight < 0 for weight in weights)
    assert any(weights)
    assert intercept or result.constant == 0


def test_weights_are_those_of_columns_as_they_are():
    # 3 = 1·x + 2·y has many solutions; non-negative least squares starts with the longer column, y.
    features, target = np.array([[1.0, 2.0]]), [3.0]
    options = {"method": "squares", "intercept": False, "nonnegative": True}
    assert fit_linear(features, target, **options).weights.tolist() == [0.0, 1.5]
    assert fit_linear(features, target, scaled=True, **options).weights.tolist() != [0.0, 1.5]
