"""Grids: connected cells at their coordinates, the robot, visited cells and goals."""

import re
from collections import deque

from app.drawings.palette import COLOURS, HELD
from app.drawings.scene import Scene, Words
from app.drawings.shapes import (
    CLEAR,
    FAINT,
    INK,
    SOFT,
    Box,
    Disc,
    Label,
    Line,
    Picture,
    Shape,
    name_list,
    on,
    shortened,
)
from distill.common import InputError

NEXT = Words(("connected", "conn", "adjacent", "next"), 2)
ROBOT = Words(("at-robot", "at-robby", "robot-at", "at-agent"), 1)
VISITED = Words(("visited",), 1)
NEEDS = (NEXT, ROBOT)

Place = tuple[int, int]
_CELL, _EDGE = 46.0, 20.0
_VISITED = COLOURS[2]
_ROBOT = COLOURS[0]
_TRIES = 20_000  # steps of the search for coordinates
_COORDINATES = re.compile(r"(\d+)\D+(\d+)\D*$")


def draw(scene: Scene) -> Picture:
    """The cells of a state, with walls between neighbours that are not connected."""
    links = {frozenset(pair) for pair in scene.rows(NEXT) if pair[0] != pair[1]}
    cells = sorted({cell for link in links for cell in link} | {cell for (cell,) in scene.rows(ROBOT)})
    places = coordinates([scene.names[cell] for cell in cells], links, cells)
    width = max(x for x, _ in places.values()) + 1
    height = max(y for _, y in places.values()) + 1
    shapes: list[Shape] = []
    for cell, (x, y) in places.items():
        shapes += _cell(scene, cell, _EDGE + (x + 0.5) * _CELL, _EDGE + (y + 0.5) * _CELL)
    shapes += _walls(places, links)
    bottom = _EDGE + height * _CELL + 14
    shapes += _legend(bottom + 8)
    others = [scene.names[one] for one in range(len(scene.names)) if one not in places]
    if others:
        bottom += 22
        shapes.append(Label(_EDGE, bottom + 8, f"not on the grid: {name_list(others)}", 10, SOFT, left=True))
    return Picture(
        max(_EDGE * 2 + width * _CELL, 330.0), bottom + 28, tuple(shapes), _words(scene, len(cells))
    )


def coordinates(names: list[str], links: set[frozenset[int]], cells: list[int]) -> dict[int, Place]:
    """The column and row of each cell: two numbers of its name if they match the links, else by search.

    Examples
    --------
    >>> coordinates(["c4-2", "c4-3"], {frozenset([0, 1])}, [0, 1])
    {0: (0, 0), 1: (0, 1)}
    >>> coordinates(["a", "b", "c"], {frozenset([0, 1]), frozenset([1, 2])}, [0, 1, 2])
    {0: (0, 0), 1: (1, 0), 2: (2, 0)}
    """
    found = _named(names, links, cells) or _searched(links, cells)
    if not found:
        raise InputError("These cells do not form a grid; choose the object graph.")
    left, top = min(x for x, _ in found.values()), min(y for _, y in found.values())
    return {cell: (x - left, y - top) for cell, (x, y) in found.items()}


def _named(names: list[str], links: set[frozenset[int]], cells: list[int]) -> dict[int, Place] | None:
    matches = [_COORDINATES.search(name) for name in names]
    found = {
        cell: (int(match[1]), int(match[2])) for cell, match in zip(cells, matches, strict=True) if match
    }
    if len(found) < len(cells) or len(set(found.values())) < len(cells):
        return None
    steps = ([found[cell] for cell in link] for link in links)
    return found if all(abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1 for a, b in steps) else None


def _searched(links: set[frozenset[int]], cells: list[int]) -> dict[int, Place] | None:
    """Place the cells next to those they are linked to, with backtracking."""
    near: dict[int, set[int]] = {cell: set() for cell in cells}
    for a, b in map(tuple, links):
        near[a].add(b)
        near[b].add(a)
    order = _from_corner(near) if near else []
    if len(order) < len(cells) or not order:
        return None
    found: dict[int, Place] = {order[0]: (0, 0)}
    taken: dict[Place, int] = {(0, 0): order[0]}
    options = [iter([(0, 0)])]
    for _ in range(_TRIES):
        if len(found) == len(order):
            return found
        if len(options) == len(found):
            options.append(iter(_free(order[len(found)], near, found, taken)))
        place = next(options[-1], None)
        if place is not None:
            found[order[len(found)]] = place
            taken[place] = order[len(found) - 1]
            continue
        options.pop()
        if len(options) < 2:
            return None
        del taken[found.pop(order[len(found) - 1])]
    return None


def _from_corner(near: dict[int, set[int]]) -> list[int]:
    """The cells breadth first, from one with fewest neighbours, such as a corner."""
    start = min(near, key=lambda cell: (len(near[cell]), cell))
    order, queue = [start], deque([start])
    seen = {start}
    while queue:
        for cell in sorted(near[queue.popleft()] - seen):
            seen.add(cell)
            order.append(cell)
            queue.append(cell)
    return order


def _free(
    cell: int, near: dict[int, set[int]], found: dict[int, Place], taken: dict[Place, int]
) -> list[Place]:
    """Free places next to all placed neighbours and next to no other cell."""
    beside = [set(_around(found[other])) for other in near[cell] if other in found]
    places = sorted(set.intersection(*beside) - set(taken), key=lambda place: (place[1], place[0]))
    good = [p for p in places if all(taken[q] in near[cell] for q in _around(p) if q in taken)]
    # The first step goes to the right, which fixes the orientation.
    return [(1, 0)] if len(found) == 1 else sorted(good, key=lambda place: (place[1] < 0, place[0] < 0))


def _around(place: Place) -> list[Place]:
    x, y = place
    return [(x + 1, y), (x, y + 1), (x - 1, y), (x, y - 1)]


def _cell(scene: Scene, cell: int, x: float, y: float) -> list[Shape]:
    visited = (cell,) in scene.rows(VISITED)
    fill = HELD if cell in scene.held else FAINT
    name = scene.names[cell]
    shapes: list[Shape] = [Box(x, y, _CELL - 2, _CELL - 2, fill, SOFT, thick=0.8, title=name)]
    if visited:
        shapes.append(Box(x, y, _CELL - 8, _CELL - 8, CLEAR, _VISITED, corner=4, thick=2.5))
    wanted = [row for words in (VISITED, ROBOT) for row in scene.wanted(words)]
    if (cell,) in wanted:
        shapes.append(
            Box(x, y - 4, _CELL - 20, _CELL - 20, CLEAR, on(fill), dashed=True, corner=3, thick=1.8)
        )
    if (cell,) in scene.rows(ROBOT):
        shapes.append(Disc(x, y - 4, 10, _ROBOT, CLEAR, title="the robot"))
        shapes.append(Label(x, y - 4, "R", 11, "#ffffff", bold=True))
    riders = [scene.names[a] for row in _riders(scene, cell) for a in row]
    for number, rider in enumerate(riders[:2]):
        shapes.append(Label(x, y - 8 + 10 * number, shortened(rider, _CELL - 8, 9), 9, on(fill), bold=True))
    shapes.append(Label(x, y + 12, shortened(name, _CELL - 10, 8), 8, on(fill) if fill == HELD else SOFT))
    return shapes


def _riders(scene: Scene, cell: int) -> list[tuple[int, ...]]:
    """The objects at a cell according to fluent atoms with two arguments."""
    return [
        row[:1]
        for name, rows in scene.atoms.items()
        if name not in scene.static
        for row in rows
        if len(row) == 2 and row[1] == cell and row[0] != cell
    ]


def _walls(places: dict[int, Place], links: set[frozenset[int]]) -> list[Shape]:
    at = {place: cell for cell, place in places.items()}
    shapes: list[Shape] = []
    for (x, y), cell in at.items():
        for right, down in ((1, 0), (0, 1)):
            other = at.get((x + right, y + down))
            if other is not None and frozenset((cell, other)) not in links:
                corner = (_EDGE + (x + right) * _CELL, _EDGE + (y + down) * _CELL)
                end = (corner[0] + down * _CELL, corner[1] + right * _CELL)
                shapes.append(Line(corner, end, thick=4))
    return shapes


def _legend(y: float) -> list[Shape]:
    x = _EDGE
    return [
        Disc(x + 8, y, 8, _ROBOT, CLEAR),
        Label(x + 22, y, "robot", 10, SOFT, left=True),
        Box(x + 78, y, 14, 14, CLEAR, _VISITED, corner=3, thick=2.5),
        Label(x + 90, y, "visited", 10, SOFT, left=True),
        Box(x + 152, y, 14, 14, CLEAR, INK, dashed=True, corner=3, thick=1.8),
        Label(x + 164, y, "goal", 10, SOFT, left=True),
    ]


def _words(scene: Scene, cells: int) -> str:
    robot = name_list([scene.names[cell] for (cell,) in scene.rows(ROBOT)]) or "nowhere"
    goals = [scene.names[cell] for (cell,) in scene.wanted(VISITED)]
    visited = len(scene.rows(VISITED))
    goal = f" Goal: visit {name_list(goals, 12)}." if goals else ""
    return f"A grid of {cells} cells. The robot is at {robot}; {visited} cells are visited.{goal}"
