"""Untrained networks against 1-WL, and 1-WL against a plain implementation."""

from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from distill.networks import Architecture, build_network, compare_random_networks, values
from distill.networks.random_networks import TOLERANCE
from distill.planning import expand, problem_class
from distill.structures import Structures, join
from distill.symmetry import Expressivity
from tests.support.strategies import WORDS, batches, permutations


def analysis_of(name: str, numbers: tuple[int, ...]) -> Expressivity:
    instances = problem_class(name).make("train")
    return Expressivity.of(join([expand(instances[number], 5_000) for number in numbers]))


def plain_colours(state: Structures, rounds: int) -> Counter:
    """The multiset of colours of one state, as nested tuples, from equal colours on."""
    nullary = tuple(sorted(p.name for p in state.vocabulary if p.arity == 0 and len(state.relations[p.name])))
    colour: list[object] = [0] * state.n_objects
    for _ in range(rounds):
        messages: list[list[object]] = [[] for _ in colour]
        for predicate in state.vocabulary:
            if predicate.arity:
                for atom in state.relations[predicate.name].tolist():
                    around = tuple(colour[one] for one in atom)
                    for position, one in enumerate(atom):
                        messages[one].append((predicate.name, position, around))
        colour = [
            (own, nullary, tuple(sorted(got, key=repr))) for own, got in zip(colour, messages, strict=True)
        ]
    return Counter(map(repr, colour))


@pytest.mark.parametrize(
    ("name", "numbers"),
    [("blocks-clear", (1, 2)), ("gripper", (0,)), ("miconic", (0, 1)), ("logistics", (0,))],
)
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_untrained_networks_confuse_what_1_wl_does(name: str, numbers: tuple[int, ...], layers: int) -> None:
    analysis = analysis_of(name, numbers)
    found = compare_random_networks(analysis, 3, layers)
    assert found.agree
    assert found.summary()["networks_E_V"] == found.summary()["1-WL_E_V"]
    if layers == 1:
        return
    # 1-WL to the end distinguishes no less.
    assert analysis.conflicts("1-WL").e <= found.by_colours.e


def test_the_colours_are_those_of_a_plain_implementation() -> None:
    analysis = analysis_of("blocks-clear", (1, 2))
    classes = range(len(analysis.representative))
    states = [analysis.states_of([number]) for number in classes]
    for layers in (1, 2):
        keys = [plain_colours(state, layers) for state in states]
        expected = {
            (first, second)
            for instance in analysis.classes
            for first, second in combinations(instance, 2)
            if keys[first] == keys[second]
        }
        found = compare_random_networks(analysis, 2, layers).by_colours
        assert {*found.pairs("E"), *found.pairs("V")} == expected
        assert layers > 1 or expected


@settings(max_examples=20)
@given(st.data(), batches(min_objects=1), st.integers(1, 6))
def test_names_and_order_of_objects_change_values_by_less_than_the_tolerance(data, batch, layers) -> None:
    network = build_network(WORDS, Architecture(layers=layers), layers).double()
    before = values(network, batch)
    after = values(network, batch.relabel(data.draw(permutations(batch))))
    assert np.abs(before - after).max() <= TOLERANCE * np.abs(before).max()


def test_a_disagreement_is_seen() -> None:
    analysis = analysis_of("blocks-clear", (1, 2))
    shallow, deep = (compare_random_networks(analysis, 1, layers) for layers in (1, 3))
    assert shallow.by_networks.e > deep.by_colours.e
    assert not replace(shallow, by_colours=deep.by_colours).agree


def test_the_seed_decides_the_networks() -> None:
    analysis = analysis_of("blocks-clear", (1, 2))
    reports: list[tuple[int, int]] = []
    first = compare_random_networks(analysis, 2, 1, seed=4, progress=lambda *done: reports.append(done))
    assert first.summary() == compare_random_networks(analysis, 2, 1, seed=4).summary()
    assert reports == [(100, 200), (200, 200)]
