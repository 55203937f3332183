"""Colours see exactly what networks and formulas see."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from distill.structures import Options, Predicate, Structures, Vocabulary, concatenate
from distill.symmetry import Interner, Refinement, colour_classes, histograms, interning, object_graphs
from tests.support import oracles
from tests.support.strategies import batches, permutations

PATHS = Vocabulary([Predicate("on", 2), Predicate("on_G", 2, "goal")])


def structure(n_objects: int, **relations: list[list[int]]) -> Structures:
    return Structures(PATHS, 1, [0] * n_objects, relations)


def same(colours: np.ndarray, values: np.ndarray, tolerance: float = 0.0) -> bool:
    """Whether objects with the same colour have the same value."""
    first = np.unique(colours, return_index=True)[1][np.unique(colours, return_inverse=True)[1]]
    return bool(np.all(np.abs(values - values[first]) <= tolerance))


@given(st.data(), st.booleans(), st.booleans())
def test_colours_do_not_depend_on_the_order_of_objects(data, sets: bool, joint: bool) -> None:
    batch = data.draw(batches())
    permutation = data.draw(permutations(batch))
    refinement = Refinement(Options(sets=sets, joint=joint))
    for one, other in zip(
        refinement.layers(batch, 3), refinement.layers(batch.relabel(permutation), 3), strict=True
    ):
        assert np.array_equal(other[permutation], one)
    keys = [refinement.classes(b) for b in (batch, batch.relabel(permutation))]
    assert np.array_equal(*keys)


@given(batches(min_objects=1), st.booleans(), st.booleans())
def test_colours_do_not_depend_on_the_batch(batch: Structures, sets: bool, joint: bool) -> None:
    refinement = Refinement(Options(sets=sets, joint=joint))
    whole = list(refinement.layers(batch, 2))
    stable, rounds = refinement.stable(batch)
    for state in range(len(batch)):
        members = batch.state_of_object == state
        alone = list(refinement.layers(batch[[state]], 2))
        assert all(np.array_equal(one, both[members]) for one, both in zip(alone, whole, strict=True))
        own, taken = refinement.stable(batch[[state]])
        assert np.array_equal(own, stable[members])
        assert taken[0] == rounds[state]


@given(batches(max_objects=5), st.integers(0, 10))
def test_equal_colours_have_equal_embeddings(batch: Structures, seed: int) -> None:
    for aggregation, sets in (("sum", False), ("logsumexp", False), ("max", True)):
        embeddings = oracles.rgnn(batch, 3, seed, aggregation=aggregation)
        colours = Refinement(Options(sets=sets)).layers(batch, 3)
        for colour, embedding in zip(colours, embeddings, strict=True):
            assert same(colour, embedding, 1e-12)


@given(st.data(), st.integers(0, 2), st.booleans())
def test_equal_colours_satisfy_the_same_formulas(data, depth: int, sets: bool) -> None:
    batch = data.draw(batches(min_objects=1, max_objects=5))
    formula = data.draw(oracles.formulas(batch, depth, counting=not sets))
    *_, colours = Refinement(Options(sets=sets)).layers(batch, depth)
    assert same(colours, np.array(oracles.truth(batch, formula), dtype=float))


def test_counting_needs_multisets() -> None:
    batch = concatenate([structure(2, on=[[0, 1]]), structure(3, on=[[0, 1], [0, 2]])])
    formula = ("modal", "on", 0, 1, 1, ("top",))
    values = np.array(oracles.truth(batch, formula), dtype=float)
    for sets in (False, True):
        *_, colours = Refinement(Options(sets=sets)).layers(batch, 1)
        assert same(colours, values) is not sets


@given(st.data())
def test_stable_colours_serve_closures_and_distances(data) -> None:
    batch = data.draw(batches(min_objects=1, max_objects=5))
    inner = data.draw(oracles.formulas(batch, 1))
    refinement = Refinement()
    colours, rounds = refinement.stable(batch)
    keys = refinement.classes(batch)
    # Colours of states that took different numbers of rounds are not comparable as such.
    colours = colours * (rounds.max() + 1) + rounds[batch.state_of_object]
    closure = oracles.truth(batch, ("closure", "on", inner))
    assert same(colours, np.array(closure, dtype=float))
    assert same(keys, np.array(oracles.distances(batch, inner, "on", ("is", "clear")), dtype=float))


def test_shallow_colours_fail_for_closures() -> None:
    """In a path of six, whether its end is marked cannot be seen from its beginning at depth 2."""
    words = Vocabulary([Predicate("on", 2), Predicate("clear", 1)])
    path = [[i, i + 1] for i in range(5)]
    batch = concatenate(
        [Structures(words, 1, [0] * 6, {"on": path, "clear": marked}) for marked in ([[5]], np.zeros((0, 1)))]
    )
    values = np.array(oracles.truth(batch, ("closure", "on", ("is", "clear"))), dtype=float)
    refinement = Refinement()
    *_, shallow = refinement.layers(batch, 2)
    assert not same(shallow, values)
    *_, deep = refinement.layers(batch, 6)
    assert same(deep, values)


@given(st.data(), st.sampled_from(["and", "but"]), st.integers(0, 1))
def test_joint_colours_serve_derived_relations(data, op: str, threshold: int) -> None:
    batch = data.draw(batches(min_objects=1, max_objects=5))
    inner = data.draw(oracles.formulas(batch, 1))
    *_, colours = Refinement(Options(joint=True)).layers(batch, 2)
    derived = oracles.truth(batch, ("derived", op, "on", "on_G", threshold, inner))
    assert same(colours, np.array(derived, dtype=float))


def test_single_atom_colours_fail_for_derived_relations() -> None:
    """Two blocks on two others, as the goal has it, or crosswise: the conflict of Ferry."""
    goal = [[0, 2], [1, 3]]
    batch = concatenate([structure(4, on=goal, on_G=goal), structure(4, on=[[0, 3], [1, 2]], on_G=goal)])
    values = np.array(oracles.truth(batch, ("derived", "and", "on", "on_G", 0, ("top",))), dtype=float)
    for joint in (False, True):
        *_, colours = Refinement(Options(joint=joint)).layers(batch, 5)
        assert same(colours, values) is joint


@given(batches(min_objects=1, max_objects=5))
def test_sets_are_coarser_than_multisets_and_joint_is_finer(batch: Structures) -> None:
    layers = [
        list(Refinement(options).layers(batch, 3))
        for options in (Options(sets=True), Options(), Options(joint=True))
    ]
    for sets, multisets, joint in zip(*layers, strict=True):
        assert same(multisets, sets.astype(float))
        assert same(joint, multisets.astype(float))


@given(batches(min_objects=1))
def test_deeper_colours_are_finer(batch: Structures) -> None:
    for before, after in itertools.pairwise(Refinement().layers(batch, 4)):
        assert same(after, before.astype(float))


@given(batches(max_states=6), st.booleans())
def test_stable_histograms_are_those_of_many_rounds(batch: Structures, sets: bool) -> None:
    """Each state stops when its own partition is stable; the classes are those of running on for long."""
    refinement = Refinement(Options(sets=sets))
    early = refinement.classes(batch)
    *_, late_colours = refinement.layers(batch, 12)
    late = histograms(Interner(), batch.object_offsets, late_colours)
    pairs = itertools.combinations(range(len(batch)), 2)
    assert all((early[a] == early[b]) == (late[a] == late[b]) for a, b in pairs)


def test_nullary_atoms_may_be_seen_or_not() -> None:
    words = Vocabulary([Predicate("handempty", 0, "nullary")])
    batch = Structures(words, 2, [0, 1], {"handempty": [[0]]})
    for nullary, classes in ((True, 2), (False, 1)):
        assert len(set(colour_classes([batch], np.zeros(2), Options(nullary=nullary)))) == classes


@given(batches(max_states=6), st.booleans())
def test_keys_are_those_of_refining_object_graphs(batch: Structures, sets: bool) -> None:
    """Refining objects alone tells apart exactly the states that 1-WL on their object graphs does."""
    one = Refinement(Options(sets=sets, nullary=False)).keys(batch)
    two = Refinement(Options(sets=sets)).classes(object_graphs(batch))
    for a, b in itertools.combinations(range(len(batch)), 2):
        assert (one[a] == one[b]) == (two[a] == two[b])


@pytest.mark.parametrize("modulus", [1, 7])
def test_collisions_of_the_hash_are_found(monkeypatch: pytest.MonkeyPatch, modulus: int) -> None:
    """A hash that confuses rows, for the first few salts: nothing of it shows in the numbers."""
    rows = np.random.default_rng(0).integers(0, 3, (200, 4))
    plain = Interner()
    expected = [plain(rows[:50]), plain(rows), plain(rows[:, :2])]
    real = interning._hashed

    def weak(rows: np.ndarray, salt: int) -> np.ndarray:
        return real(rows, salt) % modulus if salt < 3 else real(rows, salt)

    monkeypatch.setattr(interning, "_hashed", weak)
    numbers = Interner()
    for found, wanted in zip(
        (numbers(rows[:50]), numbers(rows), numbers(rows[:, :2])), expected, strict=True
    ):
        assert np.array_equal(found, wanted)
    assert len(set(expected[1].tolist())) == len(np.unique(rows, axis=0)) > 1


@given(st.lists(st.lists(st.integers(-2, 2), min_size=2, max_size=2), min_size=1, max_size=20))
def test_numbers_are_equal_for_equal_rows_only(rows: list[list[int]]) -> None:
    numbers = Interner()
    found = numbers(np.array(rows))
    assert np.array_equal(numbers(np.array(rows)), found)
    for a, b in itertools.combinations(range(len(rows)), 2):
        assert (found[a] == found[b]) == (rows[a] == rows[b])
    assert sorted(set(found.tolist())) == list(range(len(numbers)))
