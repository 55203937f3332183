"""Thesis mode against Algorithm 2 written plainly, on hand-computed cases, and by its properties."""

import numpy as np
import pytest

from distill.distillation import Distillation, Sample, fit_features, fit_ridt
from distill.logic import Evaluator
from distill.trees import leaf_sets
from tests.support.learned_trees import plain_states, replayed
from tests.support.naive_ridt import naive_ridt, naive_weights

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
