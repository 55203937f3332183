"""The shortest recipes are what trying all combinations of up to three literals gives."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from distill.logic import And, Atom, Evaluator, ExpressionSearch, Not, Or, formula_of, pack, parse, truth_of
from distill.structures import Predicate, Structures, Vocabulary


def express(splits, cost, targets, limit, longest):
    """Recipes for targets (m, n_rows) of splits (n_splits, n_rows)."""
    everything = pack(np.ones((1, splits.shape[1]), dtype=bool))[0]
    return ExpressionSearch(pack(splits), np.array(cost), everything, limit, longest).express(pack(targets))


def cheapest(splits, cost, limit, longest):
    """For each set of rows that can be found the least cost, by trying everything."""
    found = {}

    def offer(holds, price, most):
        key = holds.tobytes()
        if price <= most:
            found[key] = min(price, found.get(key, price))

    literals = [(holds, price) for holds, price in zip(splits, cost, strict=True)]
    literals += [(~holds, price + 1) for holds, price in literals]
    for literal in literals:
        offer(*literal, longest)
    pairs = [
        (join(one, other), first + second + 1)
        for (one, first), (other, second) in itertools.combinations_with_replacement(literals, 2)
        for join in (np.logical_and, np.logical_or)
    ]
    for pair in pairs:
        offer(*pair, limit)
    for (one, first), (other, second) in itertools.product(pairs, literals):
        for join in (np.logical_and, np.logical_or):
            offer(join(one, other), first + second + 1, limit)
    return found


def price(recipe, cost):
    make, *parts = recipe
    if make is None:
        return cost[parts[0]]
    return 1 + sum(price(part, cost) for part in parts)


@st.composite
def questions(draw):
    """Splits, their costs, different targets, and limits; rows repeat, so that some fill several words."""
    random = np.random.default_rng(draw(st.integers(0, 9999)))
    n_splits, n_kinds = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    kinds = np.concatenate([np.arange(n_kinds), random.integers(0, n_kinds, draw(st.sampled_from([0, 150])))])
    splits = (random.random((n_splits, n_kinds)) < 0.5)[:, kinds]
    every = np.array(list(itertools.product([False, True], repeat=n_kinds)))
    targets = random.permutation(every)[:40][:, kinds]
    cost = random.integers(1, 5, n_splits).tolist()
    return splits, cost, targets, draw(st.integers(2, 12)), draw(st.integers(1, 12))


@settings(max_examples=200)
@given(questions())
def test_costs_are_the_least_and_every_recipe_says_the_target(question):
    splits, cost, targets, limit, longest = question
    expected = cheapest(splits, cost, limit, longest)
    answers = express(splits, cost, targets, limit, longest)
    assert len(answers) == len(targets)
    for found, target in zip(answers, targets, strict=True):
        assert (found.cost if found else None) == expected.get(target.tobytes())
        for recipe in found.recipes if found else []:
            assert price(recipe, cost) == found.cost
            assert np.array_equal(truth_of(recipe, splits.T), target)
        assert found is None or found.recipes


@given(questions())
def test_formulas_of_recipes_hold_where_recipes_do(question):
    splits, cost, targets, limit, longest = question
    words = Vocabulary(Predicate(f"p{number}", 1) for number in range(len(splits)))
    atoms = {f"p{number}": np.flatnonzero(holds)[:, None] for number, holds in enumerate(splits)}
    evaluator = Evaluator(Structures(words, 1, [0] * splits.shape[1], atoms))
    for found in filter(None, express(splits, cost, targets, limit, longest)):
        for recipe in found.recipes:
            formula = formula_of(recipe, lambda number: Atom(f"p{number}"))
            assert np.array_equal(evaluator.holds(formula), truth_of(recipe, splits.T))


def test_splits_of_other_rows_say_other_things_by_the_same_recipe():
    """Rows that trees did not see are asked as well."""
    unseen = np.array([[True, False], [False, False], [True, True]])
    recipe = (Or, (And, (None, 0), (Not, (None, 1))), (None, 1))
    assert truth_of(recipe, unseen).tolist() == [True, False, True]
    assert formula_of(recipe, [parse("clear"), parse("holding")].__getitem__) is parse(
        "clear & ~holding | holding"
    )


FOUR = np.array([[1, 1, 0, 0], [1, 0, 1, 0]], dtype=bool)
CASES = {
    "a split": ([1, 1, 0, 0], 1),
    "its negation": ([0, 0, 1, 1], 2),
    "both": ([1, 0, 0, 0], 1 + 2 + 1),
    "the one without the other": ([0, 1, 0, 0], 1 + 3 + 1),
    "neither": ([0, 0, 0, 1], 2 + 3 + 1),
    "nothing": ([0, 0, 0, 0], 1 + 2 + 1),
    "everything": ([1, 1, 1, 1], 1 + 2 + 1),
    "either, but not both": ([0, 1, 1, 0], None),
}


@pytest.mark.parametrize("case", CASES)
def test_by_hand(case):
    target, expected = CASES[case]
    [found] = express(FOUR, [1, 2], np.array([target], dtype=bool), 20, 20)
    assert (found.cost if found else None) == expected


def test_a_third_split_says_what_two_cannot():
    splits = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 1]], dtype=bool)
    target = np.array([[False, True, True, False]])
    [found] = express(splits, [1, 1, 1], target, 5, 5)
    assert found.cost == 5
    assert formula_of(found.recipes[0], [Atom(name) for name in "abc"].__getitem__) is parse("(a | b) & c")
    assert express(splits, [1, 1, 1], target, 4, 9) == [None]


def test_single_splits_may_cost_more_than_combinations():
    target = np.array([FOUR[1], ~FOUR[1], FOUR[0] & FOUR[1]])
    answers = express(FOUR, [1, 9], target, 8, 10)
    assert [found.cost if found else None for found in answers] == [9, 10, None]
    assert [found.cost if found else None for found in express(FOUR, [1, 9], target, 8, 9)] == [9, None, None]


def test_what_costs_the_same_is_kept_to_choose_from():
    splits = np.array([[1, 1, 0, 0, 1], [1, 0, 1, 0, 1], [1, 0, 0, 1, 1]], dtype=bool)
    [found] = express(splits, [1, 1, 1], np.array([[1, 0, 0, 0, 1]], dtype=bool), 8, 8)
    names = [Atom(name) for name in "abc"].__getitem__
    assert {formula_of(recipe, names) for recipe in found.recipes} == set(
        map(parse, ("a & b", "a & c", "b & c"))
    )


def test_a_split_is_kept_beside_combinations_that_cost_the_same():
    splits = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 0]], dtype=bool)
    names = [Atom(name) for name in "abc"].__getitem__
    for cost, expected in ((2, {"c"}), (3, {"c", "a & b"}), (4, {"a & b"})):
        [found] = express(splits, [1, 1, cost], splits[2:], 8, 8)
        assert {formula_of(recipe, names) for recipe in found.recipes} == set(map(parse, expected))


def test_no_targets_need_no_recipes():
    assert express(FOUR, [1, 1], np.zeros((0, 4), dtype=bool), 8, 8) == []
