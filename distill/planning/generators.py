"""Instance generators: from a seeded random source and a number of objects to a PDDL instance.

A generator is a function `(rng, objects, **parameters) -> Layout`, registered under its name; problem
classes (`distill/planning/classes/*.yaml`) refer to it by that name.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from distill.common import InputError
from distill.planning.pddl import literal_text

Atom = tuple[str, ...]


@dataclass(frozen=True)
class Layout:
    """The objects, initial state and goal of an instance.

    Attributes
    ----------
    objects : names by type; the type `""` for a domain without types.
    init, goal : atoms as tuples: predicate, then object names.
    """

    objects: dict[str, list[str]]
    init: Sequence[Atom]
    goal: Sequence[Atom]

    def to_pddl(self, name: str, domain: str) -> str:
        """The instance as PDDL.

        Examples
        --------
        >>> print(Layout({"": ["a"]}, [("clear", "a")], [("holding", "a")]).to_pddl("p", "blocks"))
        (define (problem p)
          (:domain blocks)
          (:objects a)
          (:init (clear a))
          (:goal (and (holding a))))
        <BLANKLINE>
        """
        init, goal = ([literal_text(atom[0], atom[1:]) for atom in part] for part in (self.init, self.goal))
        return problem_text(name, domain, self.objects, init, goal)


Generator = Callable[..., Layout]
GENERATORS: dict[str, Generator] = {}


def generator(function: Generator) -> Generator:
    """Register a generator under its function name."""
    GENERATORS[function.__name__] = function
    return function


@generator
def blocks(
    rng: random.Random, objects: int, goal: str, min_towers: int = 1, max_towers: int | None = None
) -> Layout:
    """Random towers; `goal` is `clear` (one covered block), `on` (one pair) or `towers` (a full layout)."""
    names = [f"b{i}" for i in range(1, objects + 1)]
    init = _towers(rng, names, min_towers, max_towers)
    covered = sorted(atom[2] for atom in init if atom[0] == "on")
    wanted: list[Atom]
    if goal == "clear":
        # A single block is never covered: the goal then holds initially.
        wanted = [("clear", rng.choice(covered or names))]
    elif goal == "on":
        pairs = [("on", x, y) for x in names for y in names if x != y and ("on", x, y) not in init]
        wanted = [rng.choice(pairs)]
    elif goal == "towers":
        # A layout with all blocks on the table has no `on` atom.
        wanted = [atom for atom in _towers(rng, names) if atom[0] == "on"] or [("on", *rng.sample(names, 2))]
    else:
        raise InputError(f"blocks: there is no goal {goal!r}; choose clear, on or towers.")
    return Layout({"": names}, init, wanted)


@generator
def gripper(rng: random.Random, objects: int, rooms: list[int]) -> Layout:
    """Balls in some of the rooms (`rooms[0]` to `rooms[1]` many); the goal moves one ball elsewhere."""
    places = [f"room{i}" for i in range(1, rng.randint(*rooms) + 1)]
    balls = [f"ball{i}" for i in range(1, objects - len(places) - 1)]
    hands = ["left", "right"]
    start = {ball: rng.choice(places) for ball in balls}
    kinds = [("room", r) for r in places] + [("ball", b) for b in balls] + [("gripper", h) for h in hands]
    init: list[Atom] = [*kinds, ("at-robby", rng.choice(places)), *(("free", hand) for hand in hands)]
    init += [("at", ball, room) for ball, room in start.items()]
    ball = rng.choice(balls)
    target = rng.choice([room for room in places if room != start[ball]])
    return Layout({"": [*places, *balls, *hands]}, init, [("at", ball, target)])


@generator
def miconic(rng: random.Random, objects: int) -> Layout:
    """One passenger in three objects, the rest floors; the goal serves one passenger."""
    passengers = [f"p{i}" for i in range(1, max(1, objects // 3) + 1)]
    floors = [f"f{i}" for i in range(1, objects - len(passengers) + 1)]
    init: list[Atom] = [("above", low, high) for i, low in enumerate(floors) for high in floors[i + 1 :]]
    for passenger in passengers:
        origin, destination = rng.sample(floors, 2)
        init += [("origin", passenger, origin), ("destin", passenger, destination)]
    init.append(("lift-at", rng.choice(floors)))
    return Layout({"passenger": passengers, "floor": floors}, init, [("served", rng.choice(passengers))])


@generator
def visitall(rng: random.Random, objects: int, missing: float) -> Layout:
    """A connected, nearly square grid of `objects` cells, at least that share missing; visit one cell."""
    width, height = grid_for(objects, missing)
    cells = {(x, y) for x in range(width) for y in range(height)}
    while len(cells) > objects:
        candidate = rng.choice(sorted(cells))
        if connected_cells(cells - {candidate}):
            cells.remove(candidate)
    names = {cell: f"c{cell[0]}-{cell[1]}" for cell in sorted(cells)}
    init: list[Atom] = [("connected", names[a], names[b]) for a in names for b in neighbours(a) if b in names]
    robot, target = rng.sample(sorted(cells), 2)
    init += [("at-robot", names[robot]), ("visited", names[robot])]
    return Layout({"cell": list(names.values())}, init, [("visited", names[target])])


@generator
def logistics(rng: random.Random, objects: int, cities: int, places: int) -> Layout:
    """Cities of `places` places each (one an airport), a truck in each, one plane, the rest packages."""
    packages = [f"p{i}" for i in range(1, objects - cities * (places + 2))]
    if not packages:
        raise InputError(f"logistics: {objects} objects leave no package; give more objects or fewer cities.")
    towns = [f"city{i}" for i in range(1, cities + 1)]
    airports = [f"airport{i}" for i in range(1, cities + 1)]
    local = {t: [f"place{i}-{j}" for j in range(1, places)] for i, t in enumerate(towns, start=1)}
    trucks = [f"truck{i}" for i in range(1, cities + 1)]
    here = {town: [airport, *local[town]] for town, airport in zip(towns, airports, strict=True)}
    everywhere = [place for town in towns for place in here[town]]
    init = [("in-city", place, town) for town in towns for place in here[town]]
    init += [("at", truck, rng.choice(here[town])) for truck, town in zip(trucks, towns, strict=True)]
    init.append(("at", "plane", rng.choice(airports)))
    goal = []
    for package in packages:
        start, target = rng.sample(everywhere, 2)
        init.append(("at", package, start))
        goal.append(("at", package, target))
    others = [place for town in towns for place in local[town]]
    kinds = {"city": towns, "airport": airports, "place": others, "truck": trucks}
    return Layout({**kinds, "airplane": ["plane"], "package": packages}, init, goal)


def problem_text(
    name: str, domain: str, objects: Mapping[str, Sequence[str]], init: Iterable[str], goal: Iterable[str]
) -> str:
    """An instance in PDDL, from the names of objects by type and from literals in PDDL."""
    declared = [" ".join(names) + (f" - {kind}" if kind else "") for kind, names in objects.items() if names]
    return (
        f"(define (problem {name})\n  (:domain {domain})\n  (:objects {' '.join(declared)})\n"
        f"  (:init {' '.join(init)})\n  (:goal (and {' '.join(goal)})))\n"
    )


def _towers(rng: random.Random, names: list[str], least: int = 1, most: int | None = None) -> list[Atom]:
    """Blocks in random order on a random number of towers (by default at most half the blocks)."""
    order = rng.sample(names, len(names))
    n_towers = rng.randint(least, max(least, most or len(names) // 2))
    towers: list[list[str]] = [[] for _ in range(n_towers)]
    for block in order:
        rng.choice(towers).append(block)
    return stacked(filter(None, towers))


def stacked(towers: Iterable[Sequence[str]]) -> list[Atom]:
    """The atoms of towers, each from the table upwards, and of an empty hand.

    Examples
    --------
    >>> stacked([["a", "b"]])
    [('handempty',), ('ontable', 'a'), ('on', 'b', 'a'), ('clear', 'b')]
    """
    atoms: list[Atom] = [("handempty",)]
    for tower in towers:
        atoms.append(("ontable", tower[0]))
        atoms += [("on", upper, lower) for lower, upper in pairwise(tower)]
        atoms.append(("clear", tower[-1]))
    return atoms


def grid_for(objects: int, missing: float) -> tuple[int, int]:
    """Width and height of the nearly square grid that keeps `objects` cells without the share `missing`.

    Examples
    --------
    >>> grid_for(13, 0.15), grid_for(14, 0.15)
    ((4, 4), (4, 5))
    """
    width = height = 1
    while width * height * (1 - missing) < objects:
        width, height = height, width + 1
    return width, height


def neighbours(cell: tuple[int, int]) -> list[tuple[int, int]]:
    """The four cells beside a cell."""
    x, y = cell
    return [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]


def connected_cells(cells: set[tuple[int, int]]) -> bool:
    """Whether the cells form a connected graph."""
    reached = [min(cells)]
    unseen = cells - {reached[0]}
    for cell in reached:
        for neighbour in neighbours(cell):
            if neighbour in unseen:
                unseen.remove(neighbour)
                reached.append(neighbour)
    return not unseen
