"""Cross-validation of classifiers of graphs."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from distill.common import InputError
from distill.graphs import Classification, cross_validate, predict_classes, synthetic_graphs
from distill.graphs.classification import spread_folds
from distill.logic import Atom, Count, Evaluator

QUICK = Classification(folds=3, layers=2)


@given(st.lists(st.integers(0, 3), min_size=4, max_size=60), st.integers(2, 4), st.integers(0, 99))
def test_each_class_is_spread_over_the_folds(labels, folds, seed):
    label = np.array(labels)
    fold = spread_folds(label, folds, seed)
    counts = np.array([[((fold == f) & (label == c)).sum() for f in range(folds)] for c in range(4)])
    assert (counts.max(axis=1) - counts.min(axis=1) <= 1).all()
    assert np.ptp(counts.sum(axis=0)) <= 1


def test_a_formula_about_counts_is_found_without_a_network():
    data = synthetic_graphs("emlc0", 200, seed=0)
    found = cross_validate(data, QUICK, network=False)
    assert [fold.formulas for fold in found.folds] == [1.0] * 3
    assert found.mean("network") is None
    assert found.deviation("agreement") is None
    assert str(found.formulas["1"]) == "[#u > 6]"


def test_scores_are_those_of_the_formulas_on_held_out_graphs():
    data = synthetic_graphs("emlc1", 120, seed=2)
    found = cross_validate(data, QUICK, network=False, seed=5)
    fold = spread_folds(data.label, 3, 5)
    assert [one.graphs for one in found.folds] == np.bincount(fold).tolist()
    for number, one in enumerate(found.folds):
        train, test = data.label[fold != number], data.label[fold == number]
        assert one.constant == pytest.approx((test == np.bincount(train).argmax()).mean())
    assert found.mean("formulas") == pytest.approx(np.mean([one.formulas for one in found.folds]))


def test_several_classes_get_formulas_of_which_one_holds():
    graphs = synthetic_graphs("emlc0", 300, seed=3).graphs
    inside = Evaluator(graphs).number(Count(Atom("u")))
    label = np.digitize(inside, [5, 8])
    data = replace(synthetic_graphs("emlc0", 300, seed=3), label=label, classes=("-1", "4", "9"), truth=None)
    found = cross_validate(data, Classification(folds=3, layers=1), network=False)
    assert set(found.formulas) == {"-1", "4", "9"}
    holds = np.array([Evaluator(graphs).holds(formula) for formula in found.formulas.values()])
    assert (holds.sum(axis=0) == 1).all()
    assert found.mean("formulas") == 1.0
    numbered = dict(enumerate(found.formulas.values()))
    assert (predict_classes(numbered, graphs) == label).all()


def test_the_same_seed_gives_the_same_result():
    data = synthetic_graphs("emlc2", 80, seed=0)
    small = Classification(folds=2, layers=2, size=4, epochs=1)
    first, again = (cross_validate(data, small, seed=4) for _ in range(2))
    assert first.folds == again.folds
    assert first.formulas == again.formulas
    assert all(0 <= one.agreement <= 1 and 0 <= one.network <= 1 for one in first.folds)


@pytest.mark.slow
def test_the_formula_behind_the_classes_is_found_with_a_network():
    data = synthetic_graphs("emlc1", 600, seed=0)
    found = cross_validate(data, Classification(folds=2), seed=0)
    assert found.mean("formulas") > 0.98
    fresh = synthetic_graphs("emlc1", 1000, seed=99)
    held = Evaluator(fresh.graphs).holds(found.formulas["1"])
    assert (held == fresh.label).mean() > 0.98


def test_too_few_graphs_and_a_single_class_are_refused():
    data = synthetic_graphs("emlc0", 5, seed=0)
    with pytest.raises(InputError, match="emlc0 has 5 graphs, and 3 folds need 6"):
        cross_validate(data, QUICK)
    with pytest.raises(InputError, match="All graphs of emlc0 have one class"):
        cross_validate(replace(data, label=0 * data.label), Classification(folds=2))
