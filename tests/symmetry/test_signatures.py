"""Signatures know what data tell, and neither names nor the order of anything."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from distill.structures import Predicate, Structures, Vocabulary, concatenate
from distill.symmetry import signatures
from tests.support.strategies import WORDS, batches, permutations

BASES = ("clear", "on", "between", "handempty")


def renamed(batch: Structures, names: dict[str, str], order: list[int] | None = None) -> Structures:
    """Other names for predicates and their goals, and the vocabulary in another order."""
    new = {p.name: names[p.base] + p.name[len(p.base) :] for p in batch.vocabulary}
    words = [Predicate(new[p.name], p.arity, p.role) for p in batch.vocabulary]
    vocabulary = Vocabulary(words[place] for place in order or range(len(words)))
    atoms = {new[name]: rows for name, rows in batch.relations.items()}
    return Structures(vocabulary, len(batch), batch.state_of_object, atoms)


@given(batches(), st.permutations(["a", "zz", "on", "p0001"]), st.permutations(range(len(WORDS))))
def test_names_and_declarations_make_no_difference(batch, others, order):
    names = dict(zip(BASES, others, strict=True))
    (before, states), (after, same) = signatures(batch), signatures(renamed(batch, names, order))
    assert {names[name]: code for name, code in before.items()} == after
    assert np.array_equal(states, same)


@given(batches(), st.data())
def test_the_order_of_objects_and_atoms_makes_no_difference(batch, data):
    other = batch.relabel(data.draw(permutations(batch)))
    turned = {name: rows[::-1] for name, rows in other[::-1].relations.items()}
    assert signatures(other)[0] == signatures(batch)[0]
    assert np.array_equal(signatures(other)[1], signatures(batch)[1])
    backwards = Structures(WORDS, len(batch), other[::-1].state_of_object, turned)
    assert signatures(backwards)[0] == signatures(batch)[0]
    assert np.array_equal(signatures(backwards)[1][::-1], signatures(batch)[1])


@given(batches(), st.data())
def test_states_in_another_order_keep_their_signatures(batch, data):
    order = data.draw(st.permutations(range(len(batch))))
    (before, states), (after, moved) = signatures(batch), signatures(batch[order])
    assert before == after
    assert np.array_equal(moved, states[order])


@given(batches())
def test_there_is_one_number_for_each_state_and_one_for_each_name(batch):
    names, states = signatures(batch)
    assert set(names) == set(BASES), "goals share the name of what they are about"
    assert all(0 <= code < 1 << 64 for code in names.values())
    assert states.shape == (len(batch),)
    assert states.dtype == np.uint64


# Differences

PAIRS = {
    "an atom more": ({"clear": [[0]]}, {"clear": [[0], [1]]}),
    "a tower and a tower the other way round": (
        {"on": [[0, 1], [1, 2]], "clear": [[0]]},
        {"on": [[0, 1], [1, 2]], "clear": [[2]]},
    ),
    "a chain and a fork": ({"on": [[0, 1], [1, 2]]}, {"on": [[0, 1], [0, 2]]}),
    "two heads and two ends": ({"on": [[0, 1], [0, 2]]}, {"on": [[1, 0], [2, 0]]}),
    "a goal and a fact": ({"on": [[0, 1]], "on_G": []}, {"on": [], "on_G": [[0, 1]]}),
    "an achieved goal and a missing one": (
        {"on": [[0, 1]], "on_G": [[0, 1]]},
        {"on": [[0, 1]], "on_G": [[1, 0]]},
    ),
    "the places of an atom": (
        {"between": [[0, 1, 2]], "clear": [[0]]},
        {"between": [[0, 1, 2]], "clear": [[1]]},
    ),
    "a round one way and the other": (
        {"between": [[0, 1, 2], [1, 2, 0], [2, 0, 1]], "clear": [[0]], "on": [[1, 1]]},
        {"between": [[0, 2, 1], [2, 1, 0], [1, 0, 2]], "clear": [[0]], "on": [[1, 1]]},
    ),
    "an atom without arguments": ({"handempty": [[0]]}, {}),
}


@pytest.mark.parametrize("case", PAIRS)
def test_states_that_look_different_have_different_signatures(case):
    both = [Structures(WORDS, 1, [0, 0, 0], atoms) for atoms in PAIRS[case]]
    first, second = signatures(concatenate(both))[1]
    assert first != second


def test_states_of_different_size_differ_and_equal_ones_do_not():
    batch = Structures(WORDS, 4, [0, 1, 1, 3], {})
    one, two, none, again = signatures(batch)[1].tolist()
    assert len({one, two, none}) == 3
    assert one == again


def test_predicates_are_told_apart_by_what_they_hold_of():
    words = Vocabulary(
        [Predicate("first", 1), Predicate("last", 1), Predicate("other", 1), Predicate("on", 2)]
    )
    atoms = {"on": [[0, 1], [1, 2]], "first": [[0]], "last": [[2]], "other": [[2]]}
    names, _ = signatures(Structures(words, 1, [0, 0, 0], atoms))
    assert names["last"] == names["other"]
    assert len(set(names.values())) == 3


def test_a_name_has_the_signature_of_its_base_and_its_goal_together():
    atoms = {"on": [[0, 1]], "on_G": [[1, 2]]}
    plain = signatures(Structures(WORDS, 1, [0, 0, 0], atoms))[0]
    changes = [{"on": [[0, 1], [0, 2]]}, {"on_G": [[0, 1]]}, {"on": [[1, 2]], "on_G": [[0, 1]]}]
    found = [signatures(Structures(WORDS, 1, [0, 0, 0], atoms | change))[0]["on"] for change in changes]
    assert len({plain["on"], *found}) == 4, "what changes in either changes the name's signature"
    absent = [Predicate("on", 2), Predicate("on_nG", 2, "goal")]
    [name] = signatures(Structures(Vocabulary(absent), 1, [0, 0, 0], {"on": [[0, 1]], "on_nG": [[1, 2]]}))[0]
    assert name == "on"


def test_halves_of_marked_goals_are_distinguished_by() -> None:
    words = Vocabulary([Predicate("on", 2), Predicate("on_G", 2, "goal")]).marked()
    states = [Structures(words, 1, [0, 0], {name: [[0, 1]]}) for name in ("on_G,T", "on_G,F", "on")]
    assert len(set(signatures(concatenate(states))[1].tolist())) == 3
