"""Enumerators give what their generators can make, and nothing else: all choices of a generator are tried."""

import contextlib
import random
from collections.abc import Iterator

import pytest

from distill.common import InputError
from distill.planning import InstanceFamilies, Layout, Layouts, all_layouts, problem_class
from distill.planning.enumeration import ENUMERATORS
from distill.planning.generators import GENERATORS
from distill.symmetry import canonical_forms, object_graphs

DOMAINS = {"blocks": "blocks-clear", "gripper": "gripper", "miconic": "miconic", "visitall": "visitall"}


class EveryChoice(random.Random):
    """Makes given choices, then the first ones, and remembers how many there were."""

    def __init__(self, given: list[int]) -> None:
        super().__init__(0)
        self.given, self.made = given, []

    def _pick(self, n: int) -> int:
        if n == 0:
            raise IndexError("nothing to choose from")
        number = self.given[len(self.made)] if len(self.made) < len(self.given) else 0
        self.made.append((number, n))
        return number

    def choice(self, seq):
        return seq[self._pick(len(seq))]

    def randint(self, a, b):
        return a + self._pick(b - a + 1)

    def sample(self, population, k):
        if k > len(population):
            raise ValueError("too few")
        rest = list(population)
        return [rest.pop(self._pick(len(rest))) for _ in range(k)]


def all_made(generator: str, objects: int, parameters: dict) -> Iterator[Layout]:
    """What a generator makes, whatever its random source says."""
    given: list[int] | None = []
    while given is not None:
        rng = EveryChoice(given)
        # Where there is no such instance, as with no ball to move, it fails.
        with contextlib.suppress(IndexError, ValueError):
            yield GENERATORS[generator](rng, objects, **parameters)
        made = rng.made
        while made and made[-1][0] + 1 == made[-1][1]:
            made.pop()
        given = [number for number, _ in made[:-1]] + [made[-1][0] + 1] if made else None


def drawn(generator: str, objects: int, parameters: dict) -> Iterator[Layout]:
    for seed in range(1500):
        yield GENERATORS[generator](random.Random(seed), objects, **parameters)


def forms(generator: str, layouts: Iterator[Layout]) -> set[bytes]:
    """What the instances are up to names."""
    families = InstanceFamilies(problem_class(DOMAINS[generator]).domain)
    distinct = {layout.to_pddl("", ""): layout for layout in layouts}.values()
    found = []
    for layout in distinct:
        static = [atom for atom in layout.init if families.number[atom[0]] not in families.fluent]
        start = [atom for atom in layout.init if atom not in static]
        found.append(families.of_layouts(Layouts(layout.objects, static, layout.goal, [start])))
    if not found:
        return set()
    data = families.data(found, [list(one.starts) for one in found])
    return set(canonical_forms(object_graphs(data.structures())))


@pytest.mark.parametrize(
    ("generator", "sizes", "parameters"),
    [
        ("blocks", range(1, 6), {"goal": "clear"}),
        ("blocks", range(1, 5), {"goal": "on"}),
        ("blocks", [4], {"goal": "on", "min_towers": 2}),
        ("blocks", [3], {"goal": "clear", "max_towers": 4}),
        ("blocks", range(1, 4), {"goal": "towers"}),
        ("gripper", range(3, 8), {"rooms": [2, 4]}),
        ("miconic", range(2, 7), {}),
    ],
)
def test_all_that_a_generator_can_make_and_no_more(generator, sizes, parameters):
    for objects in sizes:
        expected = forms(generator, all_made(generator, objects, parameters))
        listed = (one for found in ENUMERATORS[generator](objects, **parameters) for one in found.each())
        assert forms(generator, listed) == expected, objects


@pytest.mark.parametrize("objects", [2, 3, 4, 5, 6])
def test_all_grids_that_can_be_drawn_and_no_more(objects):
    # Its choices never end, as it may try in vain for long; many draws see all small grids.
    expected = forms("visitall", drawn("visitall", objects, {"missing": 0.15}))
    listed = (one for found in ENUMERATORS["visitall"](objects, missing=0.15) for one in found.each())
    assert forms("visitall", listed) == expected


def test_all_parameters_of_a_class_are_used():
    # Beyond its splits, Blocks has up to four towers, which three blocks can have only there.
    [usual, also, beyond] = list(all_layouts(problem_class("blocks-on"), 3))
    assert len(usual.starts) < len(beyond.starts)
    assert also.goal == usual.goal


def test_classes_that_cannot_be_listed_are_refused():
    with pytest.raises(InputError, match="logistics cannot be listed"):
        list(all_layouts(problem_class("logistics"), 10))
