"""What objects see of the features found so far is what sparse matrices of the plain objects say."""

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, strategies as st

from distill.distillation import leaf_set_formula, usable_relations
from distill.distillation.candidates import object_candidates, state_candidates
from distill.distillation.feature_pool import FeaturePool, PoolView
from distill.logic import BOTTOM, Atom, Compare, Count, Evaluator, Modal, Not, Role, Top, parse
from distill.structures import Options, Predicate, Structures, Vocabulary
from distill.symmetry import LabelledBatch, build_quotient
from distill.trees import fit_tree
from tests.support.strategies import WORDS, batches

LAYERS = 3
depths = st.one_of(st.none(), st.just(LAYERS))
some = batches(min_objects=1, max_objects=5)


def built_from(batch, depth=None, joint=False):
    labels = np.zeros(len(batch), dtype=int)
    return build_quotient([LabelledBatch(batch, {}, labels)], depth, Options(joint=joint))


def next_pool(pool, view, relations, depth):
    """The pool with more formulas: each formula so far as seen along each relation, and one negated."""
    formulas, columns = list(pool.formulas), [view.own]
    for relation, counts in zip(relations, view.counts, strict=True):
        for number, formula in enumerate(pool.formulas[:3]):
            formulas.append(Modal(relation, formula, number % 2))
            columns.append(counts[:, [number]] > number % 2)
    formulas.append(Not(formulas[-1]))
    columns.append(~columns[-1][:, -1:])
    return FeaturePool.of(formulas, np.concatenate(columns, axis=1), view.group, depth)


def pools(built):
    """Pools, views and relations layer by layer."""
    quotient = built.quotient
    relations = usable_relations(quotient.states)
    pool = FeaturePool.first(quotient)
    for depth in range(1, LAYERS + 1):
        view = PoolView.of(pool, quotient, depth, relations)
        yield pool, view, relations, depth
        pool = next_pool(pool, view, relations, depth)


def adjacency(batch, role):
    """How many atoms lead from one object to the other."""
    name, source, target = role.fields
    atoms = batch.relations[name]
    ends = (atoms[:, source], atoms[:, target])
    return sp.coo_array((np.ones(len(atoms), int), ends), shape=(batch.n_objects,) * 2).tocsr()


def truth_table(batch, formulas):
    """(n_objects, n_formulas)"""
    evaluator = Evaluator(batch)
    return np.stack([evaluator.holds(formula) for formula in formulas], axis=1)


# Views and pools


@given(some, depths, st.booleans())
def test_a_view_is_what_matrices_on_objects_say(batch, depth, joint):
    built = built_from(batch, depth, joint)
    for pool, view, relations, layer in pools(built):
        group = view.group[built.rows(batch, min(layer, built.quotient.depth))]
        assert len(np.unique(group)) == len(view.own)
        holds = truth_table(batch, pool.formulas)
        assert np.array_equal(view.own[group], holds)
        for role, counts in zip(relations, view.counts, strict=True):
            assert np.array_equal(counts[group], adjacency(batch, role) @ holds.astype(int))


def test_atoms_of_three_arguments_are_counted_not_objects():
    batch = Structures(WORDS, 1, [0] * 4, {"between": [[0, 1, 2], [0, 1, 3], [0, 3, 2]], "clear": [[1]]})
    built = built_from(batch)
    relations = usable_relations(batch)
    assert relations == [Role("between", *two) for two in permutations(range(3), 2)]
    pool = FeaturePool.first(built.quotient)
    view = PoolView.of(pool, built.quotient, 1, relations)
    first = view.group[built.rows(batch, 1)[0]]
    clear = pool.formulas.index(parse("clear"))
    assert view.counts[relations.index(Role("between", 0, 1))][first, clear] == 2
    assert view.counts[relations.index(Role("between", 0, 1))][first, pool.formulas.index(Top())] == 3


@given(some, depths)
def test_kinds_of_rows_differ_in_a_formula_and_formulas_differ_on_a_kind(batch, depth):
    built = built_from(batch, depth)
    for pool, _, _, layer in pools(built):
        rows = built.rows(batch, min(layer - 1, built.quotient.depth))
        kind, holds = pool.kind[rows], truth_table(batch, pool.formulas)
        assert np.array_equal(pool.holds[kind], holds)
        assert len(np.unique(holds, axis=0)) == len(np.unique(kind)) == len(pool.holds)
        assert len(np.unique(holds, axis=1).T) == len(pool.formulas)


@given(some)
def test_of_formulas_that_hold_of_the_same_rows_the_simplest_is_kept(batch):
    built = built_from(batch)
    first = FeaturePool.first(built.quotient)
    holds = first.holds[first.kind]
    longer = [Not(Not(formula)) for formula in first.formulas]
    for formulas in ([*longer, *first.formulas], [*first.formulas, *longer]):
        pool = FeaturePool.of(formulas, np.concatenate([holds, holds], axis=1), np.arange(len(holds)), 0)
        assert pool.formulas == first.formulas


@given(some)
def test_the_first_pool_knows_the_predicates_of_one_argument_and_none(batch):
    formulas = FeaturePool.first(built_from(batch).quotient).formulas
    assert set(formulas) <= {Top(), Atom("clear"), Atom("handempty")}
    table = truth_table(batch, [Top(), Atom("clear"), Atom("handempty")])
    assert len(formulas) == len(np.unique(table, axis=1).T)


def test_nullary_atoms_that_a_quotient_does_not_see_are_no_formulas():
    """In such a quotient they hold of no row, which is not so on the states."""
    batch = Structures(WORDS, 2, [0, 0, 1, 1], {"on": [[0, 1], [3, 2]], "handempty": [[1]], "clear": [[0]]})
    quotient = build_quotient([LabelledBatch(batch, {}, [0, 0])], 1, Options(nullary=False)).quotient
    assert parse("handempty") not in FeaturePool.first(quotient).formulas


# Relations


@given(batches())
def test_relations_that_tell_nothing_are_left_out(batch):
    expected = []
    for predicate in WORDS:
        atoms = {tuple(atom) for atom in batch.relations[predicate.name].tolist()}
        if predicate.arity < 2 or not atoms:
            continue
        mirrored = predicate.arity == 2 and all(atom[::-1] in atoms for atom in atoms)
        for source, target in permutations(range(predicate.arity), 2):
            if not (mirrored and source > target):
                expected.append(Role(predicate.name, source, target))
    assert usable_relations(batch) == expected


def test_a_relation_must_be_symmetric_in_all_states():
    words = Vocabulary([Predicate("near", 2)])
    both = Structures(words, 2, [0, 0, 1, 1], {"near": [[0, 1], [1, 0], [2, 3]]})
    assert usable_relations(both[[0]]) == [Role("near")]
    assert usable_relations(both) == [Role("near"), Role("near", 1, 0)]


# Candidates


def distinct_smallest(columns):
    """Of (formula, column) the smallest size of each column that is not constant."""
    found = {}
    for formula, column in columns:
        if column.any() and not column.all():
            key = column.tobytes()
            found[key] = min(found.get(key, formula.size), formula.size)
    return found


def check_candidates(candidates, expected, table):
    """Compare to all columns there could be; `table` evaluates formulas on the groups."""
    columns = [np.ascontiguousarray(column) for column in candidates.holds.T]
    assert len({column.tobytes() for column in columns}) == len(columns)
    smallest = distinct_smallest(expected)
    assert {column.tobytes() for column in columns} == set(smallest)
    for number, column in enumerate(columns):
        formula = candidates.formula(number)
        assert formula.size == candidates.size[number] == smallest[column.tobytes()]
        assert np.array_equal(table(formula), column)
    assert sorted(candidates.order) == list(range(len(columns)))
    assert (np.diff(candidates.size[np.argsort(candidates.order)]) >= 0).all()


@given(some, st.integers(0, 3))
def test_candidates_about_objects_are_all_there_are_each_once_and_as_small_as_can_be(batch, thresholds):
    built = built_from(batch)
    quotient, evaluator = built.quotient, Evaluator(built.quotient.states)
    for pool, view, relations, layer in pools(built):
        row = quotient.layers[min(layer, quotient.depth)].row
        group = view.group[row]
        _, first = np.unique(group, return_index=True)
        assert len(first) == len(view.own)

        def table(formula, first=first):
            return evaluator.holds(formula)[first]

        everything = list(pool.formulas) + [
            Modal(relation, formula, threshold)
            for relation in relations
            for formula in pool.formulas
            for threshold in range(thresholds + 1)
        ]
        candidates = object_candidates(view.own, view.counts, pool.formulas, relations, thresholds)
        check_candidates(candidates, [(formula, table(formula)) for formula in everything], table)


@given(some, st.integers(0, 3))
def test_candidates_about_states_are_all_there_are_each_once_and_as_small_as_can_be(batch, thresholds):
    assume(len(batch) > 1)
    pool = [*pools(built_from(batch))][-1][0]
    evaluator = Evaluator(batch)
    counts = np.stack([evaluator.number(Count(formula)) for formula in pool.formulas], axis=1)
    everything = [Compare(Count(f), threshold) for f in pool.formulas for threshold in range(thresholds + 1)]
    candidates = state_candidates(counts, pool.formulas, thresholds)
    check_candidates(candidates, [(f, evaluator.holds(f)) for f in everything], evaluator.holds)


def test_no_object_has_a_feature_so_there_are_no_candidates():
    candidates = state_candidates(np.zeros((3, 2), dtype=int), [parse("clear"), parse("top")], 5)
    assert candidates.holds.shape == (3, 0)
    assert len(candidates.order) == 0
    with pytest.raises(IndexError):
        candidates.formula(0)


def test_among_candidates_of_one_size_the_first_of_the_pool_is_preferred():
    own = np.array([[1, 0], [0, 1]], dtype=bool)
    formulas = [parse("holding"), parse("clear")]
    candidates = object_candidates(own, [], formulas, [], 0)
    assert candidates.order.tolist() == [0, 1]
    assert [candidates.formula(column) for column in (0, 1)] == formulas


# Formulas of leaf sets


@given(st.integers(1, 25), st.integers(1, 5), st.integers(1, 4), st.integers(0, 999), st.data())
def test_the_formula_of_a_leaf_set_holds_where_the_tree_ends_in_it(n_rows, n_columns, depth, seed, data):
    random = np.random.default_rng(seed)
    columns = random.random((n_rows, n_columns)) < 0.5
    tree = fit_tree(columns, random.normal(size=(n_rows, 2)), np.ones(n_rows), max_depth=depth)
    leaves = data.draw(st.frozensets(st.integers(0, len(tree.leaves) - 1)))
    formulas = {column: Atom(f"p{column}") for column in range(n_columns)}
    formula = leaf_set_formula(tree.paths, leaves, formulas)
    words = Vocabulary(Predicate(f"p{column}", 1) for column in range(n_columns))
    atoms = {f"p{column}": np.flatnonzero(columns[:, column])[:, None] for column in range(n_columns)}
    objects = Structures(words, 1, [0] * n_rows, atoms)
    assert np.array_equal(Evaluator(objects).holds(formula), np.isin(tree.apply(columns), list(leaves)))
    assert (formula is BOTTOM) == (not leaves)
    assert (formula is Top()) == (len(leaves) == len(tree.leaves))
