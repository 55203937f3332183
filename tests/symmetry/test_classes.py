"""Isomorphism, 2-FWL, conflicts, reduction."""

import itertools
from pathlib import Path

import numpy as np
import pynauty
import pytest
from hypothesis import given, strategies as st

from distill.planning import (
    Domain,
    Instance,
    expand,
    keep_representatives,
    prepare_reduced,
    problem_class,
)
from distill.structures import DataSet, Options, Predicate, Structures, Vocabulary, join
from distill.symmetry import (
    COLOURINGS,
    VARIANTS,
    Colouring,
    Conflicts,
    EquivalenceClasses,
    Expressivity,
    PairRefinement,
    Refinement,
    canonical,
    canonical_forms,
    colour_classes,
    conflicts,
    examples,
    isomorphism_classes,
    object_graphs,
)
from distill.symmetry.conflicts import split_by_keys
from tests.support.strategies import batches, permutations


def isomorphic(batch: Structures, first: int, second: int) -> bool:
    """By trying all bijections; nullary atoms do not count."""
    atoms = []
    for state in (first, second):
        decoded = batch.decode(state)
        atoms.append({(name, arguments) for name, arguments in decoded if arguments})
    sizes = np.diff(batch.object_offsets)
    if sizes[first] != sizes[second]:
        return False
    return any(
        {(name, tuple(mapping[int(str(a))] for a in arguments)) for name, arguments in atoms[0]} == atoms[1]
        for mapping in itertools.permutations(range(int(sizes[first])))
    )


@given(st.data())
def test_canonical_forms_tell_exactly_what_is_isomorphic(data) -> None:
    batch = data.draw(batches(max_objects=4))
    both = np.arange(len(batch)).repeat(2)
    doubled = batch[both]
    moved = doubled.relabel(data.draw(permutations(doubled)))
    forms = canonical_forms(object_graphs(moved))
    classes = isomorphism_classes([moved[:3], moved[3:]])
    for a, b in itertools.combinations(range(len(moved)), 2):
        expected = isomorphic(moved, a, b)
        assert (forms[a] == forms[b]) == expected
        assert (classes[a] == classes[b]) == expected


@given(batches(max_objects=4))
def test_trusted_graphs_are_what_pynauty_would_make_of_them(batch: Structures) -> None:
    made = []

    class Checked(canonical._TrustedGraph):
        def __init__(self, size, adjacency, cells) -> None:
            super().__init__(size, adjacency, cells)
            made.append((self, pynauty.Graph(size, False, adjacency, cells)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(canonical, "_TrustedGraph", Checked)
        canonical_forms(object_graphs(batch))
    assert bool(made) == (len(batch) > 0)
    for ours, theirs in made:
        assert pynauty.certificate(ours) == pynauty.certificate(theirs)
        assert ours.vertex_coloring == theirs.vertex_coloring


def test_colours_of_cells_belong_to_the_form() -> None:
    """nauty ignores which colour a cell has."""
    words = Vocabulary([Predicate("red", 1), Predicate("blue", 1)])
    batch = Structures(words, 2, [0, 1], {"red": [[0]], "blue": [[1]]})
    first, second = canonical_forms(object_graphs(batch))
    assert first != second


def test_constants_are_distinguished() -> None:
    words = Vocabulary([Predicate("at", 1), Predicate("is_home", 1, "constant")])
    batch = Structures(words, 2, [0, 0, 1, 1], {"at": [[0], [3]], "is_home": [[0], [2]]})
    assert len(set(isomorphism_classes([batch]))) == 2


@given(batches(max_objects=3, max_states=6), st.booleans())
def test_two_fwl_refines_one_wl_and_isomorphism_refines_two_fwl(batch: Structures, sets: bool) -> None:
    one = Refinement(Options(sets=sets, nullary=False)).keys(batch)
    two = list(PairRefinement(sets=sets).keys(batch))
    iso = isomorphism_classes([batch])
    for a, b in itertools.combinations(range(len(batch)), 2):
        assert two[a] != two[b] or one[a] == one[b]
        assert iso[a] != iso[b] or two[a] == two[b]


@given(batches(max_objects=4, max_states=6))
def test_multisets_refine_sets(batch: Structures) -> None:
    """So only states with the same colours in the set variant are compared in the other one."""
    multisets, sets = (COLOURINGS[name].keys()(batch) for name in ("1-WL", "1-WL set"))
    for a, b in itertools.combinations(range(len(batch)), 2):
        assert multisets[a] != multisets[b] or sets[a] == sets[b]


def test_two_fwl_tells_a_hexagon_from_two_triangles() -> None:
    """The textbook pair that 1-WL cannot tell apart."""
    words = Vocabulary([Predicate("on", 2)])
    hexagon = [[i, (i + 1) % 6] for i in range(6)]
    triangles = [[6 + i, 6 + (i + 1) % 3] for i in range(3)] + [[9 + i, 9 + (i + 1) % 3] for i in range(3)]
    batch = Structures(words, 2, [0] * 6 + [1] * 6, {"on": hexagon + triangles})
    for sets in (False, True):
        one = Refinement(Options(sets=sets)).keys(batch)
        two = list(PairRefinement(sets=sets).keys(batch))
        assert one[0] == one[1]
        assert two[0] != two[1]
    for name in VARIANTS:
        assert COLOURINGS[name].distinguishes(batch) == name.startswith("2-FWL")

    def groups(classes: list[list[int]]) -> list[list[int]]:
        return split_by_keys(classes, COLOURINGS["1-WL"].keys(), lambda numbers: batch[numbers])

    found = Conflicts(groups([[0, 1]]), np.array([3, 4]))
    assert (found.e, found.v, found.example("V")) == (1, 1, (0, 1))
    same = Conflicts(groups([[0], [1], [0, 1]]), np.array([3, 3]))
    assert (same.e, same.v, same.example("E"), same.example("V")) == (1, 0, (0, 1), None)


@given(batches(max_objects=4, max_states=8), st.sampled_from(list(COLOURINGS)), st.integers(1, 6))
def test_groups_are_split_by_colours_however_many_fit_into_memory(
    batch: Structures, name: str, at_once: int
) -> None:
    """In parts, and with one round before the others, or all at once."""
    numbers = list(range(len(batch)))
    instances = [numbers, numbers[1:], numbers[::2]]
    colouring = COLOURINGS[name]
    keys = list(colouring.keys()(batch))
    expected = [
        sorted({one for one in instance if keys[one] == key})
        for instance in instances
        for key in {keys[one] for one in instance}
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conflicts, "_AT_ONCE", at_once)
        found = colouring.split(instances, lambda chosen: batch[chosen])
    assert sorted(map(sorted, found)) == sorted(group for group in expected if len(group) > 1)


@given(batches(max_objects=4, max_states=6), st.integers(0, 3))
def test_some_rounds_distinguish_no_more_than_all_of_them(batch: Structures, rounds: int) -> None:
    few = Colouring("few", Options(nullary=False), pairs=False, marked=False, rounds=rounds)
    groups = [list(range(len(batch)))]
    by_few = few.split(groups, lambda chosen: batch[chosen])
    by_all = COLOURINGS["1-WL"].split(groups, lambda chosen: batch[chosen])
    assert all(any(set(one) <= set(other) for other in by_few) for one in by_all)
    layers = EquivalenceClasses.of(batch, rounds).state_keys()[rounds]
    if all(not len(batch.relations[p.name]) for p in batch.vocabulary if p.arity == 0):
        assert sorted(map(sorted, by_few)) == sorted(
            group for key in set(layers.tolist()) if len(group := np.flatnonzero(layers == key).tolist()) > 1
        )


def test_training_counts_leave_out_what_table_2_does() -> None:
    """Instances without a solution, and those of which all states are goals."""
    domain = Domain(
        """(define (domain walk) (:requirements :strips) (:predicates (at ?x) (next ?x ?y) (seen ?x))
        (:action go :parameters (?x ?y) :precondition (and (at ?x) (next ?x ?y))
          :effect (and (at ?y) (not (at ?x)) (seen ?y))))"""
    )
    text = """(define (problem {name}) (:domain walk) (:objects a b c)
        (:init (at a) (seen a) (next a b)) (:goal ({goal})))"""
    goals = {"trivial": "seen a", "solvable": "seen b", "unsolvable": "seen c"}
    sets = [expand(Instance(domain, text.format(name=n, goal=g), n), 100) for n, g in goals.items()]
    summary = Expressivity.of(join(sets)).summary()
    counts = ("states", "states_of_solvable_instances", "training_states", "training_classes")
    assert [summary[name] for name in counts] == [6, 4, 2, 2]


@pytest.mark.slow
def test_reductions_keep_what_they_should(tmp_path: Path) -> None:
    split = problem_class("blocks-on").split("train")
    exact, iso, wl = (prepare_reduced(split, reduce=how, cache=tmp_path)[0] for how in ("exact", "iso", "wl"))
    assert len(exact) > len(iso) >= len(wl)
    for reduced in (iso, wl):
        assert reduced.multiplicity.sum() == exact.multiplicity.sum()
        assert reduced.summary()["states"] == exact.summary()["states"]
        counts = [np.bincount(d.v_star, weights=d.multiplicity) for d in (exact, reduced)]
        assert np.array_equal(*counts)
    assert len(set(isomorphism_classes([iso.structures()]))) == len(iso)
    assert len(set(colour_classes([wl.structures()], wl.v_star))) == len(wl)
    again, file = prepare_reduced(split, reduce="wl", cache=tmp_path)
    assert again.same_as(wl)
    assert again.provenance["reduce"] == "wl"
    file.write_bytes(b"damaged")
    assert prepare_reduced(split, reduce="wl", cache=tmp_path)[0].same_as(wl)


def test_keeping_one_of_each_class() -> None:
    data = expand(problem_class("blocks-on").make("train")[1], 1000)
    assert data is not None
    kept = keep_representatives(data, np.arange(len(data)) % 5)
    assert len(kept) == 5
    assert kept.structures() == data.structures(slice(0, 5))
    assert kept.multiplicity.sum() == len(data)


def ferry() -> DataSet:
    """Two cars, the goal swaps nothing or everything: the conflict of Ferry in two instances."""
    domain = Domain(
        """(define (domain swap) (:requirements :strips) (:predicates (at ?c ?l) (car ?c) (place ?l) (free))
        (:action go :parameters (?c ?a ?b) :precondition (and (car ?c) (place ?a) (place ?b) (at ?c ?a))
          :effect (and (at ?c ?b) (not (at ?c ?a)))))"""
    )
    text = """(define (problem p) (:domain swap) (:objects c1 c2 l1 l2)
        (:init (car c1) (car c2) (place l1) (place l2) (free) (at c1 l1) (at c2 l1))
        (:goal (and (at c1 l1) (at c2 l2))))"""
    found = expand(Instance(domain, text, "swap"), 100)
    assert found is not None
    return found


def test_examples_say_what_tells_states_apart() -> None:
    """Both cars at their goal, or each at the other's: 1-WL cannot see it, goal marking can."""
    analysis = Expressivity.of(join([ferry(), ferry()]))
    assert analysis.summary()["conflicts_E_V"]["1-WL"] == [2, 2]
    assert analysis.summary()["conflicts_E_V"]["1-WL+G"] == [0, 0]
    assert analysis.summary()["classes_summed_over_instances"] == 6
    [example] = examples(analysis)
    assert (example.kind, example.variant, sorted(example.v_star)) == ("V", "1-WL", [0, 2])
    assert "1-WL+G" in example.separated_by
    assert "1-WL set" not in example.separated_by
    assert example.pairs[0][0] == "at and at_G"
    assert sorted(example.pairs[0][1:]) == [0, 2]
    assert len(example.atoms[0]) == len(example.atoms[1]) == 2
