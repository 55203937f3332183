"""Gripper: rooms with balls, a robot with grippers, and the goals of balls."""

from math import ceil, sqrt

from app.drawings.palette import HELD
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
    text_width,
)

ROOM = Words(("room",), 1)
BALL = Words(("ball",), 1)
GRIPPER = Words(("gripper",), 1)
ROBOT = Words(("at-robby", "at-robot"), 1)
AT = Words(("at",), 2)
CARRY = Words(("carry",), 2)
NEEDS = (ROOM, GRIPPER, ROBOT, AT, CARRY)

_RADIUS, _ROW, _EDGE, _GAP, _HEAD = 19.0, 66.0, 20.0, 26.0, 30.0
_ROBOT = 92.0  # the height of the robot
_WIDEST = 1200.0


def draw(scene: Scene) -> Picture:
    """Rooms side by side, and below them all objects that are in no room."""
    rooms = [room for (room,) in scene.rows(ROOM)]
    grippers = [gripper for (gripper,) in scene.rows(GRIPPER)]
    there: dict[int, list[int]] = {room: [] for room in rooms}
    for thing, room in scene.rows(AT):
        there.setdefault(room, []).append(thing)
    carried: dict[int, list[int]] = {gripper: [] for gripper in grippers}
    for thing, gripper in scene.rows(CARRY):
        carried.setdefault(gripper, []).append(thing)
    robot = {room for (room,) in scene.rows(ROBOT)}
    cell = _cell(scene)
    columns = max(2, ceil(sqrt(max(map(len, there.values()), default=1) * 1.2)))
    robot_wide = max(120.0, len(carried) * (cell + 14) + 20)
    wide = max(columns * cell + _GAP, robot_wide + _GAP, 200.0)
    high = _HEAD + max(1, ceil(max(map(len, there.values()), default=1) / columns)) * _ROW + _ROBOT + 24
    per_row = max(1, int((_WIDEST - _EDGE) / (wide + _GAP)))
    shapes: list[Shape] = []
    for number, (room, things) in enumerate(sorted(there.items())):
        left = _EDGE + number % per_row * (wide + _GAP)
        top = _EDGE + number // per_row * (high + _GAP)
        shapes += _room(scene, room, left, top, wide, high)
        for place, thing in enumerate(sorted(things)):
            x = left + _GAP / 2 + cell * (place % columns + 0.5)
            y = top + _HEAD + _ROW * (place // columns) + _RADIUS + 4
            shapes += _ball(scene, thing, x, y, cell)
        if room in robot:
            shapes += _robot(scene, carried, left + wide / 2, top + high - _ROBOT / 2 - 12, robot_wide, cell)
    bottom = _EDGE + ceil(len(there) / per_row) * (high + _GAP)
    if not robot and carried:
        shapes += _robot(scene, carried, _EDGE + robot_wide / 2, bottom + _ROBOT / 2, robot_wide, cell)
        bottom += _ROBOT + _GAP
    placed = {*there, *carried, *(b for inside in (there, carried) for one in inside.values() for b in one)}
    others = [one for one in range(len(scene.names)) if one not in placed]
    for place, thing in enumerate(others):
        shapes += _ball(scene, thing, _EDGE + cell * (place + 0.5), bottom + _RADIUS, cell)
    bottom += _ROW if others else 0
    width = _EDGE + min(per_row, max(len(there), 1)) * (wide + _GAP)
    width = max(width, _EDGE * 2 + cell * len(others))
    return Picture(width, bottom, tuple(shapes), _words(scene, there, carried, robot))


def _cell(scene: Scene) -> float:
    """The width of a ball with its name and its goal."""
    names = [text_width(scene.names[room], 10) + 26 for _, room in scene.wanted(AT)]
    return max(2 * _RADIUS + 12, min(110.0, max(names, default=0.0)))


def _room(scene: Scene, room: int, left: float, top: float, wide: float, high: float) -> list[Shape]:
    name = scene.names[room]
    x, y = left + wide / 2, top + high / 2
    held = room in scene.held
    shapes: list[Shape] = [
        Box(x, y, wide, high, FAINT, HELD if held else INK, corner=8, thick=4 if held else 1.2, title=name)
    ]
    goals = [scene.names[ball] for ball, where in scene.wanted(AT) if where == room]
    robot_wanted = (room,) in scene.wanted(ROBOT)
    if goals or robot_wanted:
        shapes.append(Box(x, y, wide - 10, high - 10, CLEAR, INK, dashed=True, corner=6))
    if held:
        shapes.append(Box(x, top + 18, wide - 40, 20, HELD, CLEAR, corner=6))
    note = f"goal of {name_list([*goals, *(['the robot'] if robot_wanted else [])], 3)}"
    title = f"{name}, {note}" if goals or robot_wanted else name
    text = shortened(title, wide - 40, 12)
    shapes.append(Label(x, top + 18, text, 12, on(HELD) if held else INK, bold=True, title=title))
    return shapes


def _ball(scene: Scene, ball: int, x: float, y: float, cell: float) -> list[Shape]:
    fill = HELD if ball in scene.held else FAINT
    name = scene.names[ball]
    shapes: list[Shape] = [
        Disc(x, y, _RADIUS, fill, title=name),
        Label(x, y, shortened(name, 2 * _RADIUS, 10), 10, on(fill)),
    ]
    for number, room in enumerate(room for thing, room in scene.wanted(AT) if thing == ball):
        there = scene.holds("at", (ball, room))
        below = y + _RADIUS + 10 + 15 * number
        text = f"{'✓' if there else '→'} {scene.names[room]}"
        shapes.append(Box(x, below, cell - 6, 14, CLEAR, SOFT if there else INK, dashed=True, corner=7))
        shapes.append(Label(x, below, shortened(text, cell - 8, 10), 10, SOFT if there else INK, title=text))
    return shapes


def _robot(
    scene: Scene, carried: dict[int, list[int]], x: float, y: float, wide: float, cell: float
) -> list[Shape]:
    shapes: list[Shape] = [
        Box(x, y, wide, _ROBOT, CLEAR, INK, corner=14, thick=2, title="the robot"),
        Line((x, y - _ROBOT / 2), (x, y - _ROBOT / 2 - 8), thick=2),
        Disc(x, y - _ROBOT / 2 - 11, 3, INK),
    ]
    slot = wide / max(len(carried), 1)
    for number, (gripper, things) in enumerate(sorted(carried.items())):
        middle = x - wide / 2 + slot * (number + 0.5)
        fill = HELD if gripper in scene.held else CLEAR
        name = scene.names[gripper]
        shapes.append(Box(middle, y - _ROBOT / 2 + 13, slot - 14, 16, fill, SOFT, corner=5, title=name))
        shapes.append(Label(middle, y - _ROBOT / 2 + 13, shortened(name, slot - 18, 10), 10, on(fill)))
        for thing in things:
            shapes += _ball(scene, thing, middle, y - 2, min(cell, slot - 4))
        if not things:
            shapes.append(Label(middle, y + 4, "free", 10, SOFT))
    return shapes


def _words(scene: Scene, there: dict[int, list[int]], carried: dict[int, list[int]], robot: set[int]) -> str:
    def inside(places: dict[int, list[int]]) -> str:
        found = [
            f"{scene.names[place]} with {name_list([scene.names[one] for one in things], 12) or 'nothing'}"
            for place, things in places.items()
        ]
        return name_list(found)

    where = name_list([scene.names[room] for room in sorted(robot)]) or "no room"
    return f"Rooms: {inside(there)}. The robot is in {where}. Grippers: {inside(carried)}."
