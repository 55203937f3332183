"""Concepts and modalities on rows mean on objects what their formulas say."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from distill.logic import And, Atom, Closure, Evaluator, Language, Not, Role, Top, parse
from distill.structures import Predicate, Structures, Vocabulary
from tests.support.small_states import joined
from tests.support.strategies import WISHES, wishes


def closed(language: Language) -> set:
    """The relations along which one may take any number of steps."""
    return {one.relation.fields[0] for one in language.modalities if isinstance(one.relation, Closure)}


def one_hot(rows: np.ndarray, width: int) -> np.ndarray:
    return np.eye(width, dtype=np.int64)[rows]


# Meaning


def check_meaning(batch: Structures) -> None:
    built = joined(batch)
    language, rows = Language.of(built.quotient), built.rows(batch, built.quotient.depth)
    evaluator = Evaluator(batch)
    for concept, column in zip(language.concepts, language.holds.T, strict=True):
        assert np.array_equal(column[rows], evaluator.holds(concept))
    for modality in language.modalities:
        found = modality.apply(language.holds)
        assert found.shape == language.holds.shape
        for concept, column in zip(language.concepts, found.T, strict=True):
            assert np.array_equal(column[rows], evaluator.holds(modality.of(concept)))


@given(wishes())
def test_concepts_and_modalities_hold_where_their_formulas_do(batch):
    check_meaning(batch)


@settings(max_examples=30)
@given(wishes(max_objects=5), st.integers(0, 999))
def test_modalities_of_any_set_of_rows_count_the_steps_of_objects(batch, seed):
    built = joined(batch)
    language, rows = Language.of(built.quotient), built.rows(batch, built.quotient.depth)
    sets = np.random.default_rng(seed).random((len(language.holds), 5)) < 0.4
    evaluator = Evaluator(batch)
    for modality in language.modalities:
        counted = evaluator.counts(modality.relation) @ sets[rows].astype(int)
        assert np.array_equal(modality.apply(sets)[rows], counted > modality.threshold)
    for way in language.relations:
        assert np.array_equal(way.steps_into(sets)[rows], evaluator.counts(way.relation) @ sets[rows] > 0)


def way_of(steps: list[list[int]], clear: list[int], n: int) -> Structures:
    return Structures(WISHES, 1, [0] * n, {"on": steps, "clear": [[x] for x in clear]})


CYCLES = {
    "a ring": (way_of([[0, 1], [1, 2], [2, 3], [3, 0]], [0], 4), [0, 1, 2, 3]),
    "a ring with a way in": (way_of([[4, 5], [5, 0], [0, 1], [1, 2], [2, 0]], [1], 6), [0, 1, 2, 4, 5]),
    "a ring with a way out": (way_of([[0, 1], [1, 2], [2, 0], [2, 3], [3, 4]], [4], 5), [0, 1, 2, 3]),
    "two rings, one after the other": (way_of([[0, 1], [1, 0], [1, 2], [2, 3], [3, 2]], [0], 4), [0, 1]),
    "an object on itself": (way_of([[0, 0], [1, 0], [2, 1]], [1], 3), [2]),
}


@pytest.mark.parametrize("case", CYCLES)
def test_steps_may_go_round(case):
    batch, come = CYCLES[case]
    check_meaning(batch)
    built = joined(batch)
    language, rows = Language.of(built.quotient), built.rows(batch, built.quotient.depth)
    [modality] = [one for one in language.modalities if one.relation is Closure(Role("on"), False)]
    found = modality.apply(language.holds[:, [language.concepts.index(Atom("clear"))]])
    assert np.flatnonzero(found[rows, 0]).tolist() == come


def test_marked_goals_are_ways_both_halves_and_together():
    words = Vocabulary([Predicate("on", 2), Predicate("on_G", 2, "goal"), Predicate("clear_G", 1, "goal")])
    atoms = {"on": [[0, 1]], "on_G,T": [[0, 1]], "on_G,F": [[1, 2], [1, 3]], "clear_G,F": [[0]]}
    batch = Structures(words.marked(), 1, [0] * 4, atoms)
    check_meaning(batch)
    language = Language.of(joined(batch).quotient)
    assert {Role("on_G"), Role("on_G,F")} <= {way.relation for way in language.relations}
    assert Role("on_G") in closed(language)
    assert Atom("clear_G") in language.concepts


# What there is


@given(wishes())
def test_there_are_the_properties_and_goals_achieved_and_missing(batch):
    language = Language.of(joined(batch).quotient)
    present = [Atom(name) for name in ("clear", "handempty", "clear_G") if len(batch.relations[name])]
    goal, now = Atom("clear_G"), Atom("clear")
    expected = [Top(), *present, And(goal, Not(now)), And(goal, now)]
    assert set(language.concepts) == set(expected)
    assert len(language.concepts) == len(expected)


@given(wishes())
def test_every_relation_is_a_way_or_leads_as_often_as_one(batch):
    built = joined(batch)
    language, rows = Language.of(built.quotient), built.rows(batch, built.quotient.depth)
    ends, evaluator = one_hot(rows, len(language.holds)), Evaluator(batch)
    ways = [evaluator.counts(way.relation) @ ends for way in language.relations]
    assert all(way.any() for way in ways)
    assert len({way.tobytes() for way in ways}) == len(ways)
    roles = [Role(p.name, *two) for p in WISHES for two in itertools.permutations(range(p.arity), 2)]
    goals = [parse(f"<{text}>top").fields[0] for text in ("on_G & on", "on_G \\ on")]
    for relation in [*roles, *goals, *(one.inverse() for one in goals)]:
        counts = evaluator.counts(relation) @ ends
        known = [ends, *ways] if counts.any() else [counts]
        assert any(np.array_equal(counts, way) for way in known)


@given(wishes())
def test_more_than_one_is_asked_for_only_where_there_may_be_more(batch):
    language, evaluator = Language.of(joined(batch).quotient), Evaluator(batch)
    for way in language.relations:
        own = [one for one in language.modalities if one.relation is way.relation]
        most = evaluator.counts(way.relation).sum(axis=1).max()
        assert [(one.threshold, one.cost) for one in own] == [(0, 1), (1, 2)][: min(2, most)]


@given(wishes())
def test_closures_are_asked_for_where_more_steps_lead_elsewhere(batch):
    built = joined(batch)
    language, rows = Language.of(built.quotient), built.rows(batch, built.quotient.depth)
    ends, evaluator = one_hot(rows, len(language.holds)), Evaluator(batch)
    for way in language.relations:
        names = {part.fields[0] for part in way.relation.walk() if isinstance(part, Role)}
        once = evaluator.counts(way.relation) @ ends > 0
        often = evaluator.counts(Closure(way.relation, False)) @ ends > 0
        further = not np.array_equal(once, often)
        assert (way.relation in closed(language)) == (further and "between" not in names)
        assert way.is_transitive == (not further)


def test_a_transitive_relation_has_no_closure_and_its_steps_do():
    pairs = [[i, j] for i in range(4) for j in range(i + 1, 4)]
    steps = [[i, i + 1] for i in range(3)]
    both = Structures(WISHES, 1, [0] * 4, {"on": pairs, "on_G": steps, "clear": [[0]]})
    found = closed(Language.of(joined(both).quotient))
    assert Role("on") not in found
    assert Role("on", 1, 0) not in found
    assert {Role("on_G"), Role("on_G", 1, 0)} <= found


def test_a_relation_of_three_arguments_has_no_closure():
    triples = Structures(WISHES, 1, [0] * 5, {"between": [[0, 1, 2], [1, 2, 3], [2, 3, 4]], "clear": [[0]]})
    language = Language.of(joined(triples).quotient)
    assert len(language.relations) == 6
    assert not any(way.is_transitive for way in language.relations)
    assert not closed(language)
