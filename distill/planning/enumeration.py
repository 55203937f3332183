"""All instances of a problem class with a given number of objects; a generator draws a single one.

An enumerator is a function `(objects, **parameters) -> Iterable[Layouts]`. It has the name and the parameters
of its generator. Up to object names, it yields exactly the layouts that the generator can draw with that
number of objects. Some of them may be isomorphic.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, combinations_with_replacement, permutations, product
from typing import Any

from distill.common import InputError
from distill.planning.generators import Atom, Layout, connected_cells, grid_for, neighbours, stacked
from distill.planning.problems import BEYOND, ProblemClass

Cell = tuple[int, int]


@dataclass(frozen=True)
class Layouts:
    """Instances that differ only in their initial states.

    Attributes
    ----------
    objects : names by type; the type `""` for a domain without types.
    facts : atoms that hold in every state.
    goal : atoms of the goal.
    starts : for each instance the other atoms of its initial state.
    """

    objects: Mapping[str, Sequence[str]]
    facts: Sequence[Atom]
    goal: Sequence[Atom]
    starts: Sequence[Sequence[Atom]]

    def each(self) -> Iterator[Layout]:
        """The instances one by one."""
        objects = {kind: list(names) for kind, names in self.objects.items()}
        for start in self.starts:
            yield Layout(objects, [*self.facts, *start], list(self.goal))


Enumerator = Callable[..., Iterable[Layouts]]
ENUMERATORS: dict[str, Enumerator] = {}


def enumerator(function: Enumerator) -> Enumerator:
    """Register an enumerator under its function name, which is that of its generator."""
    ENUMERATORS[function.__name__] = function
    return function


def parameters_of(problem: ProblemClass) -> list[dict[str, Any]]:
    """The distinct parameters of the generator in all splits of a class and beyond them.

    Examples
    --------
    >>> from distill.planning import problem_class
    >>> parameters_of(problem_class("gripper"))
    [{'rooms': [2, 4]}]
    """
    distinct: list[dict[str, Any]] = []
    for split in [*problem.splits, *([BEYOND] if problem.beyond else [])]:
        parameters = dict(problem.declared(split)["parameters"])
        if parameters not in distinct:
            distinct.append(parameters)
    return distinct


def all_layouts(problem: ProblemClass, objects: int) -> Iterator[Layouts]:
    """All layouts of a problem class with a number of objects, for all its parameters.

    Examples
    --------
    >>> from distill.planning import problem_class
    >>> [len(one.starts) for one in all_layouts(problem_class("miconic"), 4)]
    [3, 3, 3, 3, 3, 3]
    """
    if problem.generator not in ENUMERATORS:
        raise InputError(
            f"The instances of {problem.name} cannot be listed: the generator {problem.generator} has no "
            f"enumerator; choose a class with one of {', '.join(sorted(ENUMERATORS))}, or give instances."
        )
    for parameters in parameters_of(problem):
        yield from ENUMERATORS[problem.generator](objects, **parameters)


@enumerator
def blocks(objects: int, goal: str, min_towers: int = 1, max_towers: int | None = None) -> Iterator[Layouts]:
    """All towers; `goal` is `clear` (one covered block), `on` (one pair) or `towers` (a full layout)."""
    names = [f"b{i}" for i in range(1, objects + 1)]
    most = max(min_towers, max_towers or objects // 2)
    if goal == "clear":
        starts = [towers for towers in _towers(names, 1, most) if _may_be_cleared(names[0], towers)]
        yield Layouts({"": names}, [], [("clear", names[0])], [stacked(towers) for towers in starts])
    elif goal == "on" and objects > 1:
        wanted: Atom = ("on", *names[:2])
        starts = [towers for towers in _towers(names, 2, most) if wanted not in stacked(towers)]
        yield Layouts({"": names}, [], [wanted], [stacked(towers) for towers in starts])
    elif goal == "towers" and objects > 1:
        begins = [stacked(towers) for towers in _towers(names, objects, most)]
        for towers in _towers(names, 0, objects // 2):
            pairs = [atom for atom in stacked(towers) if atom[0] == "on"]
            yield Layouts({"": names}, [], pairs, begins)
    elif goal not in ("clear", "on", "towers"):
        raise InputError(f"blocks: there is no goal {goal!r}; choose clear, on or towers.")


@enumerator
def gripper(objects: int, rooms: list[int]) -> Iterator[Layouts]:
    """Balls in some of the rooms (`rooms[0]` to `rooms[1]` many); the goal moves one ball elsewhere."""
    for n_rooms in range(max(2, rooms[0]), rooms[1] + 1):
        places = [f"room{i}" for i in range(1, n_rooms + 1)]
        balls = [f"ball{i}" for i in range(1, objects - n_rooms - 1)]
        if not balls:
            continue
        hands = ["left", "right"]
        facts: list[Atom] = [("room", r) for r in places]
        facts += [("ball", b) for b in balls] + [("gripper", h) for h in hands]
        # The other balls are interchangeable, and so are the rooms without the goal.
        starts = [
            [
                ("at-robby", robot),
                *(("free", hand) for hand in hands),
                ("at", balls[0], places[1]),
                *(("at", ball, room) for ball, room in zip(balls[1:], others, strict=True)),
            ]
            for robot in places
            for others in combinations_with_replacement(places, len(balls) - 1)
        ]
        yield Layouts({"": [*places, *balls, *hands]}, facts, [("at", balls[0], places[0])], starts)


@enumerator
def miconic(objects: int) -> Iterator[Layouts]:
    """One passenger in three objects, the rest floors; the goal serves one passenger."""
    passengers = [f"p{i}" for i in range(1, max(1, objects // 3) + 1)]
    floors = [f"f{i}" for i in range(1, objects - len(passengers) + 1)]
    above: list[Atom] = [("above", low, high) for low, high in combinations(floors, 2)]
    trips = list(permutations(floors, 2))
    for first in trips:
        for others in combinations_with_replacement(trips, len(passengers) - 1):
            facts = list(above)
            for passenger, (origin, destination) in zip(passengers, (first, *others), strict=True):
                facts += [("origin", passenger, origin), ("destin", passenger, destination)]
            yield Layouts(
                {"passenger": passengers, "floor": floors},
                facts,
                [("served", passengers[0])],
                [[("lift-at", floor)] for floor in floors],
            )


@enumerator
def visitall(objects: int, missing: float) -> Iterator[Layouts]:
    """A connected, nearly square grid of `objects` cells, at least that share missing; visit one cell."""
    width, height = grid_for(objects, missing)
    grid = set(product(range(width), range(height)))
    seen = set()
    # Every connected set of cells can remain, since a grid shrinks to it cell by cell.
    for removed in combinations(sorted(grid), len(grid) - objects) if objects > 1 else ():
        cells = grid.difference(removed)
        if not connected_cells(cells):
            continue
        shape = _turned(cells)
        if shape in seen:
            continue
        seen.add(shape)
        names = {cell: f"c{cell[0]}-{cell[1]}" for cell in shape}
        facts = [("connected", names[a], names[b]) for a in names for b in neighbours(a) if b in names]
        for target in names.values():
            starts: list[list[Atom]] = [
                [("at-robot", robot), ("visited", robot)] for robot in names.values() if robot != target
            ]
            yield Layouts({"cell": list(names.values())}, facts, [("visited", target)], starts)


def _towers(names: Sequence[str], marked: int, most: int) -> list[list[list[str]]]:
    """All layouts of at most `most` towers; blocks after the first `marked` ones are interchangeable."""
    patterns: dict[Any, None] = {}
    for heights in _heights(len(names), most):
        places = [(tower, level) for tower, height in enumerate(heights) for level in range(height)]
        for chosen in permutations(places, marked):
            mark = {place: number + 1 for number, place in enumerate(chosen)}
            towers = [tuple(mark.get((t, level), 0) for level in range(h)) for t, h in enumerate(heights)]
            patterns.setdefault(tuple(sorted(towers, reverse=True)))
    layouts = []
    for towers in patterns:
        rest = iter(names[marked:])
        layouts.append([[names[n - 1] if n else next(rest) for n in tower] for tower in towers])
    return layouts


def _heights(blocks: int, most: int, highest: int | None = None) -> Iterator[tuple[int, ...]]:
    """All partitions of `blocks` into at most `most` parts, the largest part first."""
    if blocks == 0:
        yield ()
    elif most:
        for first in range(min(blocks, highest or blocks), 0, -1):
            for rest in _heights(blocks - first, most - 1, first):
                yield first, *rest


def _may_be_cleared(block: str, towers: list[list[str]]) -> bool:
    """Whether the block is covered, or no block is: then the goal may name any block."""
    covered = set(chain.from_iterable(tower[:-1] for tower in towers))
    return block in covered or not covered


def _turned(cells: set[Cell]) -> tuple[Cell, ...]:
    """One shape for all rotations, reflections and translations of it."""
    copies = []
    for across, down, swap in product((1, -1), (1, -1), (False, True)):
        turned = [(across * x, down * y) for x, y in cells]
        turned = [(y, x) for x, y in turned] if swap else turned
        left, top = min(x for x, _ in turned), min(y for _, y in turned)
        copies.append(tuple(sorted((x - left, y - top) for x, y in turned)))
    return min(copies)
