"""R-IDTs: the quotient changes nothing, and formulas mean on states what the learner says."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from distill.common import InputError
from distill.distillation import Distillation, fit_ridt
from distill.logic import Atom, Compare, Evaluator, Modal, Top
from distill.networks import RGNN, Architecture, replay
from distill.structures import V_STAR, Options
from distill.trees import DISTANCES, LINKAGES
from tests.support.learned_trees import (
    INSTANCES,
    SINGLE,
    SMALL,
    built_from,
    described,
    learned_from,
    plain_states,
    replayed,
    states_of,
    with_v_star,
)
from tests.support.strategies import batches

KINDS = ("boolean", "numerical", "combined")


def plain_objects(quotient, embeddings):
    """The same states and labels, but every object is a row of its own."""
    every = [np.arange(quotient.states.n_objects)] * 2
    spread = [x[quotient.layers[min(d, quotient.depth)].row] for d, x in enumerate(embeddings)]
    return replace(quotient, rows=every, stable=True), spread


def trees_of(learned):
    """The trees of each layer, without formulas."""
    return [[one.tree for one in layer] for layer in learned.tree_layers]


def same(one, other):
    assert described(one) == described(other)
    assert np.array_equal(one.values, other.values)


# The quotient is exact


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["quotient", "thesis"])
@pytest.mark.parametrize("name", INSTANCES)
def test_rows_of_objects_change_nothing_and_formulas_mean_what_they_say(name, mode):
    batch, _, built, found = replayed(name)
    options = SMALL.replace(mode=mode)
    plain, embeddings = plain_objects(built.quotient, found.embeddings)
    one = fit_ridt(built.quotient, found.embeddings, found.pooled, options)
    same(one, fit_ridt(plain, embeddings, found.pooled, options))
    check_meaning(one, batch, built.state_row)
    assert max(origin.layer for origin in one.objects.values()) > 1
    assert one.states


CASES = [(name, {}) for name in INSTANCES]
CASES += [(name, {"layers": 8, "depth": None}) for name in ("gripper", "blocks-on")]


@pytest.mark.parametrize(("name", "options"), [*CASES, ("gripper", {"depth": None, "shipped": True})])
def test_rows_of_states_change_nothing_though_a_network_be_deeper_than_a_stable_quotient(name, options):
    batch, v_star, built, found = replayed(name, **options)
    if options.get("layers"):
        assert built.quotient.stable
        assert built.quotient.depth < options["layers"]
    one = fit_ridt(built.quotient, found.embeddings, found.pooled, SINGLE)
    other = fit_ridt(*plain_states(batch, v_star, built, found), SINGLE)
    assert described(one) == described(other)
    assert np.array_equal(one.values[built.state_row], other.values)


@settings(max_examples=30)
@given(batches(min_objects=1, max_states=8), st.integers(0, 99), st.booleans(), st.sampled_from([2, None]))
def test_the_quotient_of_any_states_is_exact_and_formulas_mean_what_they_say(batch, seed, joint, depth):
    random = np.random.default_rng(seed)
    built = built_from(batch, random.integers(0, 3, len(batch)), depth, joint=joint)
    quotient = built.quotient
    sizes = [len(quotient.layers[min(d, quotient.depth)]) for d in range(3)]
    embeddings, pooled = (
        [random.normal(size=(n, 2)) for n in sizes],
        random.normal(size=(len(quotient.chosen), 2)),
    )
    one = fit_ridt(quotient, embeddings, pooled, SMALL)
    same(one, fit_ridt(*plain_objects(quotient, embeddings), pooled, SMALL))
    check_meaning(one, batch, built.state_row)


# Formulas mean what the learner says


def check_meaning(learned, batch, state_row):
    evaluator = Evaluator(batch)
    for feature, column in zip(learned.states, learned.values.T, strict=True):
        assert np.array_equal(evaluator.number(feature.number), column[state_row])
    if learned.distinct:
        assert len({column.tobytes() for column in learned.values.T}) == len(learned.states)
        assert all(len(np.unique(column)) > 1 for column in learned.values.T)
    holds = {evaluator.holds(formula).tobytes() for formula in learned.objects}
    assert len(holds) == len(learned.objects)
    for formula, origin in learned.objects.items():
        assert formula.depth <= origin.layer


def test_features_know_where_they_were_born():
    learned = learned_from("gripper")
    for formula, origin in learned.objects.items():
        if origin.layer == 0:
            assert isinstance(formula, Top | Atom)
        else:
            tree = trees_of(learned)[origin.layer - 1][origin.tree]
            assert 0 < len(origin.leaves) < len(tree.leaves)
    assert "combined" in {feature.kind for feature in learned.states}
    for feature in learned.states:
        if feature.kind == "combined":
            assert feature.provenance.layer == -1
            assert max(feature.provenance.leaves) < len(trees_of(learned)[-1][feature.provenance.tree].leaves)
        else:
            counted = [part for part in feature.number.walk() if part in learned.objects]
            assert feature.provenance in [learned.objects[part] for part in counted]


# Settings (thesis Table 4.1)


@pytest.mark.parametrize("features", [c for n in (1, 2, 3) for c in combinations(KINDS, n)])
def test_only_the_wanted_types_of_features_are_given(features):
    found = learned_from("blocks-clear", SMALL.replace(features=features)).states
    assert {feature.kind for feature in found} <= set(features)
    assert len(features) > 1 or found
    for feature in found:
        assert (feature.kind == "numerical") == (feature.number.kind == "count")


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("linkage", LINKAGES)
def test_leaves_are_clustered_by_every_distance_and_linkage(distance, linkage):
    options = SMALL.replace(distance=distance, linkage=linkage)
    if linkage == "ward" and distance != "euclidean":
        with pytest.raises(InputError, match="Ward"):
            learned_from("gripper", options)
        return
    check_meaning(learned_from("gripper", options), states_of("gripper")[0], replayed("gripper")[2].state_row)


@pytest.mark.parametrize("mode", ["quotient", "thesis"])
@pytest.mark.parametrize(("inner", "final"), [(1, 1), (2, 5), (5, 2)])
def test_widths_and_depths_bound_the_trees(mode, inner, final):
    options = Distillation(
        mode=mode,
        inner_depth=inner,
        final_depth=final,
        inner_width=final,
        final_width=inner,
        inner_sample=50,
        final_sample=60,
        thresholds=inner - 1,
    )
    learned = learned_from("gripper", options)
    assert [len(layer) for layer in trees_of(learned)] == [final, final, final, inner]
    for number, layer in enumerate(trees_of(learned)):
        longest = max(len(path) for tree in layer for path in tree.paths)
        assert longest == (inner if number < 3 else final)
    parts = [part for feature in learned.states for part in feature.number.walk()]
    if mode == "quotient":
        thresholds = [part.fields[-1] for part in parts if isinstance(part, Modal | Compare)]
        assert thresholds
        assert max(thresholds) < inner


def test_pooling_by_max_asks_only_whether_there_is_any():
    def thresholds(pooling):
        found = learned_from("gripper", SMALL.replace(pooling=pooling, features=("combined",))).states
        return {p.fields[1] for f in found for p in f.number.walk() if isinstance(p, Compare)}

    assert thresholds("max") == {0}
    assert max(thresholds("sum")) > 0


@pytest.mark.parametrize("mode", ["quotient", "thesis"])
def test_the_seed_decides_everything(mode):
    one, again, *others = (
        learned_from("gripper", SMALL.replace(mode=mode, seed=seed)) for seed in (0, 0, 1, 2, 3)
    )
    same(one, again)
    assert any(described(one) != described(other) for other in others)
    if mode == "quotient":
        firsts = [[layer[0].paths for layer in trees_of(learned)[:1]] for learned in (one, *others)]
        assert all(paths == firsts[0] for paths in firsts), "the first tree sees the states as they are"


# Bad input


def given_to_learn():
    *_, built, found = replayed("gripper")
    return built.quotient, list(found.embeddings), found.pooled


WARD = SMALL.replace(distance="cosine")
BAD = {
    "NaN in the last layer": (lambda q, x, p: (q, [*x[:3], x[3] * np.nan], p), "NaN or infinity"),
    "infinity in the pooled embedding": (lambda q, x, p: (q, x, p + np.inf), "NaN or infinity"),
    "no layers": (lambda q, x, p: (q, x[:1], p), "no layers"),
    "no embeddings at all": (lambda q, x, p: (q, [], p), "no layers"),
    "too few depths": (lambda q, x, p: (replace(q, rows=q.rows[:3]), x, p), "3 layers .* only 2"),
    "sets": (lambda q, x, p: (replace(q, options=Options(sets=True)), x, p), "forgets counts"),
    "only dead ends": (lambda q, x, p: (with_v_star(q, 0 * q.labels[V_STAR] - 1), x, p), "path to the goal"),
    "rows of another depth": (lambda q, x, p: (q, [*x[:3], x[2]], p), "rows"),
    "too few states": (lambda q, x, p: (q, x, p[1:]), "rows"),
    "nothing for Ward to cluster": (lambda q, x, p: (q, [0 * one for one in x], 0 * p, WARD), "Ward"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_learned_from_is_refused(case):
    change, message = BAD[case]
    with pytest.raises(InputError, match=message):
        fit_ridt(*(*change(*given_to_learn()), SMALL)[:4])


@pytest.mark.parametrize("name", ["inner_depth", "final_depth", "inner_sample", "final_sample"])
def test_depths_and_samples_of_zero_are_refused(name):
    with pytest.raises(InputError):
        learned_from("gripper", SMALL.replace(mode="thesis", **{name: 0}))


def test_dead_ends_have_no_say_but_get_values():
    quotient, embeddings, pooled = given_to_learn()
    v_star = quotient.labels[V_STAR]
    lost = v_star > 3
    ends = with_v_star(quotient, np.where(lost, -1, v_star))
    one, other = (fit_ridt(ends, embeddings, np.where(lost[:, None], x, pooled), SMALL) for x in (0, 1e6))
    same(one, other)
    assert len(one.values) == len(lost)


def test_one_state_has_objects_to_tell_apart_but_no_features():
    batch, v_star = states_of("gripper")
    quotient = built_from(batch[[0]], v_star[[0]]).quotient
    torch.manual_seed(0)
    found = replay(RGNN(batch.vocabulary, Architecture(layers=3, size=4)), quotient)
    learned = fit_ridt(quotient, found.embeddings, found.pooled, SMALL)
    assert learned.states == []
    assert learned.values.shape == (1, 0)
    assert len(learned.objects) > 1


def test_constant_embeddings_give_only_what_the_domain_gives():
    quotient, embeddings, pooled = given_to_learn()
    learned = fit_ridt(quotient, [np.full_like(x, 0.1) for x in embeddings], np.full_like(pooled, 0.1), SMALL)
    assert {origin.layer for origin in learned.objects.values()} == {0}
    assert {feature.kind for feature in learned.states} == {"boolean", "numerical"}
    assert all(len(tree.leaves) == 1 for layer in trees_of(learned) for tree in layer)
