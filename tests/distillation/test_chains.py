"""Distances on rows are distances of objects, and runs of balls and levels are found as they were planted."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from distill.distillation.chains import distances, find_chain, key_of
from distill.explanations import Chain
from distill.logic import Atom, Distance, Evaluator, Language, Role, Top, parse
from distill.structures import Structures
from tests.support.small_states import joined
from tests.support.strategies import WISHES, wishes

# Distances


@pytest.mark.slow
@given(wishes(max_objects=5))
def test_distances_between_all_concepts_are_those_of_objects(batch):
    built = joined(batch)
    language = Language.of(built.quotient)
    evaluator, histogram = Evaluator(batch), built.quotient.layers[-1].histogram
    for way in language.relations:
        found = distances(way, language.holds, language.holds, histogram)[built.state_row]
        for one, first in enumerate(language.concepts):
            for other, last in enumerate(language.concepts):
                expected = evaluator.number(Distance(first, way.relation, last))
                assert np.array_equal(found[:, one, other], expected)


def test_distances_by_hand():
    """A tower of four, a lonely block that is wanted clear, and a ring."""
    atoms = {
        "on": [[0, 1], [1, 2], [2, 3], [5, 6], [6, 7], [7, 5]],
        "clear": [[0], [4], [5]],
        "clear_G": [[3], [4], [7]],
    }
    batch = Structures(WISHES, 3, [0, 0, 0, 0, 1, 2, 2, 2], atoms)
    built = joined(batch)
    language = Language.of(built.quotient)
    ways = {way.relation: way for way in language.relations}
    place = [language.concepts.index(Atom(name)) for name in ("clear", "clear_G")]
    histogram = built.quotient.layers[-1].histogram
    ends = language.holds[:, place]
    forwards = distances(ways[Role("on")], ends[:, :1], ends, histogram)[built.state_row]
    assert forwards.shape == (3, 1, 2)
    assert forwards[:, 0].tolist() == [[0, 3], [0, 0], [0, 2]]
    backwards = distances(ways[Role("on", 1, 0)], ends[:, :1], ends[:, 1:], histogram)[built.state_row]
    assert backwards[:, 0, 0].tolist() == [0, 0, 1]


# Chains

N = 12
TOWER = Structures(WISHES, 1, [0] * N, {"on": [[i, i + 1] for i in range(N - 1)], "clear": [[0]]})
BUILT = joined(TOWER)
ROWS = BUILT.rows(TOWER, BUILT.quotient.depth)
LANGUAGE = Language.of(BUILT.quotient)
DOWN, UP = (
    next(way for way in LANGUAGE.relations if way.relation is Role("on", *two)) for two in ((0, 1), (1, 0))
)
EVERY = np.ones(N, dtype=bool)
CLEAR, TABLE = Atom("clear"), parse("~<on>top")


def on_rows(objects):
    """(n_rows,) where a set of blocks is; each block is a row of its own."""
    holds = np.zeros(N, dtype=bool)
    holds[ROWS[list(objects)]] = True
    return holds


def ball(steps):
    """The blocks with at most so many above them."""
    return on_rows(range(min(N, steps + 1)))


def level(steps):
    """The blocks with so many above them."""
    return on_rows([steps])


def chain_of(sets, least, concepts=(CLEAR,), train=EVERY):
    """What is found upwards, if trees bear these sets in layers 1, 2, …"""
    born = {}
    for layer, holds in enumerate(sets, 1):
        born.setdefault(key_of(holds[train]), layer)
    holds = np.stack([Evaluator(TOWER).holds(concept)[np.argsort(ROWS)] for concept in concepts], axis=1)
    return find_chain(UP, concepts, holds, train, born, least)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("first", "last"), [(1, 3), (2, 6), (5, 9), (4, 4)])
@pytest.mark.parametrize("kind", ["balls", "levels", "by turns"])
def test_a_planted_run_is_found_and_is_not_longer_than_it_is(kind, first, last, turned):
    both = {"balls": (ball, ball), "levels": (level, level), "by turns": (ball, level)}[kind]
    sets = [both[step % 2](step) ^ turned for step in range(first, last + 1)]
    length = last - first + 1
    expected = Chain(UP.relation, CLEAR, (first, last), tuple(range(1, length + 1)))
    assert chain_of(sets, length) == expected
    assert chain_of(sets, length + 1) is None


def test_a_gap_ends_a_run():
    sets = [ball(step) for step in (1, 2, 4, 5, 6)]
    assert chain_of(sets, 1).steps == (4, 6)
    assert chain_of(sets, 1).layers == (3, 4, 5)
    assert chain_of(sets, 4) is None


def test_the_concept_itself_is_no_step():
    assert chain_of([ball(0), ball(1), ball(2)], 1).steps == (1, 2)
    assert chain_of([ball(0)], 1) is None


def test_a_step_was_born_where_its_ball_or_its_level_was_first():
    assert chain_of([ball(2), level(2), level(3), ball(3)], 2).layers == (1, 3)


def test_other_sets_and_other_ways_bear_nothing():
    born = {key_of(ball(step)): 1 for step in range(1, 8)}
    holds = ball(0)[:, None]
    assert find_chain(UP, [CLEAR], holds, EVERY, born, 4).steps == (1, 7)
    assert find_chain(DOWN, [CLEAR], holds, EVERY, born, 1) is None
    apart = [on_rows([step, step + 3]) for step in range(1, 6)]
    assert chain_of(apart, 1) is None


@pytest.mark.parametrize("concepts", [(Top(), CLEAR, TABLE), (TABLE, CLEAR, Top())])
def test_of_several_concepts_the_one_with_the_longest_run_is_taken(concepts):
    second = parse("<on^-1>clear")
    sets = [on_rows([0, 1, 2]), on_rows([0, 1, 2, 3]), on_rows([2]), on_rows([5])]
    assert chain_of(sets, 2, concepts).concept is CLEAR
    assert chain_of(sets, 2, concepts).steps == (2, 3)
    assert (
        chain_of([on_rows(range(1, 2 + step)) for step in (1, 2, 3)], 3, (*concepts, second)).concept
        is second
    )


def test_of_equally_long_runs_the_first_concept_is_taken():
    same = parse("~<on^-1>top")
    sets = [ball(1), ball(2)]
    assert chain_of(sets, 2, (CLEAR, same)).concept is CLEAR
    assert chain_of(sets, 2, (same, CLEAR)).concept is same


def test_what_grows_no_more_takes_no_further_step():
    """Nothing stands below the lowest block, however far it is from the highest one."""
    assert chain_of([on_rows([N - 1])], 3, (TABLE, CLEAR)) is None


def test_only_what_trees_saw_counts():
    train = on_rows(range(8))
    balls = [ball(step) for step in range(4, 10)]
    assert chain_of(balls, 1).steps == (4, 9)
    assert chain_of(balls, 1, train=train).steps == (4, 7)
    wrong = [holds | ~train for holds in balls]
    assert chain_of(wrong, 3) is None
    assert chain_of(wrong, 3, train=train).steps == (4, 7)


def test_steps_that_go_round_come_to_an_end():
    ring = Structures(WISHES, 1, [0] * 6, {"on": [[i, (i + 1) % 6] for i in range(6)], "clear": [[0]]})
    built = joined(ring)
    rows = built.rows(ring, built.quotient.depth)
    way = next(way for way in Language.of(built.quotient).relations if way.relation is Role("on"))

    def around(objects):
        return np.isin(np.arange(6), rows[objects])

    sets = [[0, 5], [0, 5, 4], [3]]  # two balls and a level
    born = {key_of(around(objects)): layer for layer, objects in enumerate(sets, 1)}
    assert find_chain(way, [CLEAR], around([0])[:, None], EVERY[:6], born, 3) == Chain(
        way.relation, CLEAR, (1, 3), (1, 2, 3)
    )


@given(st.lists(st.booleans(), min_size=1, max_size=70), st.lists(st.booleans(), min_size=1, max_size=70))
def test_keys_are_equal_for_a_set_and_its_complement_and_for_no_other(one, other):
    first = np.array(one)
    second = np.resize(np.array(other), len(one))
    assert key_of(first) == key_of(~first)
    alike = np.array_equal(first, second) or np.array_equal(first, ~second)
    assert (key_of(first) == key_of(second)) == alike
