"""Object graphs: objects with their properties, and arrows between them; goals are dashed."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from app.drawings.layout import Array, VertexLayout, apart, placed
from app.drawings.palette import COLOURS, HELD
from app.drawings.scene import Arguments, Scene, Words
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
    Point,
    Shape,
    name_list,
    on,
    shortened,
    text_width,
)
from distill.common import InputError

NEEDS: tuple[Words, ...] = ()
MOST_OBJECTS, MOST_ARROWS = 60, 260
_MOST_LABELS = 60  # arrows with labels; more than that need the legend
_EDGE, _LINE = 30.0, 13.0
_HALF = "90"  # makes a colour translucent


@dataclass(frozen=True)
class _Relation:
    """The atoms with two or more arguments of one predicate."""

    name: str
    rows: tuple[Arguments, ...]
    colour: str
    dashed: bool
    soft: bool
    plain: bool  # without arrow heads, for symmetric relations
    note: str = ""


@dataclass(frozen=True)
class _Node:
    """An object, or an atom with three or more arguments."""

    lines: tuple[tuple[str, str], ...]  # text and colour
    width: float
    height: float
    title: str


def draw(scene: Scene) -> Picture:
    """The state as a graph; an `InputError` if it would be unreadable."""
    if len(scene.names) > MOST_OBJECTS:
        raise InputError(
            f"The state has {len(scene.names)} objects; a graph of more than {MOST_OBJECTS} is unreadable. "
            "The atoms are listed below."
        )
    relations = _relations(scene)
    arrows = sum(len(relation.rows) for relation in relations)
    if arrows > MOST_ARROWS:
        raise InputError(
            f"The state has {arrows} atoms between objects; a graph of more than {MOST_ARROWS} cannot be "
            "read. The atoms are listed below."
        )
    nodes, links = _linked(scene, relations)
    if scene.layout is None:
        middles, width, height = _placed(nodes, relations, links)
    else:
        middles, width, height = _around(scene.layout, nodes, links)
    above = bool(_nullary(scene)) or (scene.layout is not None and scene.layout.above)
    top = _EDGE + (_LINE + 6 if above else 0)
    points = [(float(x) + _EDGE, float(y) + top) for x, y in middles]
    shapes = _arrows(scene, links, points, nodes)
    for number, (point, node) in enumerate(zip(points, nodes, strict=True)):
        shapes += _node(scene, number, node, point)
    shapes += [Label(_EDGE, _EDGE - 8, text, 11, INK, left=True) for text in _nullary(scene)]
    legend, right, bottom = _legend(relations, top + height + _EDGE, max(width, 300.0))
    return Picture(max(width, right) + 2 * _EDGE, bottom + 12, (*shapes, *legend), _words(scene, arrows))


def layout_of(scene: Scene, room: Scene) -> VertexLayout | None:
    """The places of objects in all states of an instance; None if a graph would be unreadable.

    Parameters
    ----------
    scene : a state that determines which objects belong together.
    room : the same with all that holds in any state, so that boxes have room for it.
    """
    relations = _relations(scene)
    if len(scene.names) > MOST_OBJECTS or sum(len(one.rows) for one in relations) > MOST_ARROWS:
        return None
    nodes, links = _linked(scene, relations)
    nodes[: len(scene.names)] = [_object(room, number) for number in range(len(scene.names))]
    middles, width, height = _placed(nodes, relations, links)
    return VertexLayout(middles[: len(scene.names)], width, height, bool(_nullary(room)))


_Links = list[tuple[_Relation, int, int]]


def _linked(scene: Scene, relations: list[_Relation]) -> tuple[list[_Node], _Links]:
    """Objects, then atoms with three or more arguments, and the links between them."""
    nodes = [_object(scene, number) for number in range(len(scene.names))]
    links: _Links = []
    for relation in relations:
        for row in relation.rows:
            if len(row) == 2:
                links.append((relation, row[0], row[1]))
                continue
            title = f"({relation.name} {' '.join(scene.names[one] for one in row)})"
            wide = text_width(relation.name, 10) + 12
            links += [(relation, len(nodes), one) for one in row]
            nodes.append(_Node(((relation.name, relation.colour),), wide, 18, title))
    return nodes, links


def _placed(nodes: list[_Node], relations: list[_Relation], links: _Links) -> tuple[Array, float, float]:
    steered = {relation.name for relation in relations if not relation.plain and not relation.soft}
    down = [(a, b) for relation, a, b in links if relation.name in steered]
    both = [(a, b) for relation, a, b in links if relation.name not in steered]
    return placed(_sizes(nodes), down, both)


def _around(layout: VertexLayout, nodes: list[_Node], links: _Links) -> tuple[Array, float, float]:
    """Objects at their places; atoms with many arguments between these, where there is room."""
    fixed = len(layout.middles)
    if len(nodes) == fixed:
        return layout.middles, layout.width, layout.height
    own: dict[int, list[int]] = {}
    for _, atom, one in links:
        if atom >= fixed:
            own.setdefault(atom, []).append(one)
    between = [layout.middles[own[atom]].mean(axis=0) for atom in range(fixed, len(nodes))]
    sizes = _sizes(nodes)
    points = np.maximum(apart(np.vstack([layout.middles, between]), sizes, fixed), sizes / 2)
    points[:fixed] = layout.middles
    far = (points + sizes / 2).max(axis=0)
    return points, max(layout.width, float(far[0])), max(layout.height, float(far[1]))


def _sizes(nodes: list[_Node]) -> Array:
    return np.array([(node.width, node.height) for node in nodes], dtype=np.float64).reshape(-1, 2)


def _relations(scene: Scene) -> list[_Relation]:
    """The links between objects; a predicate and its goal have the same colour."""
    names = sorted(
        {name for kind in (scene.atoms, scene.goals, scene.unwanted) for name, rows in kind.items() if rows}
    )
    linking = [name for name in names if any(len(row) > 1 for row in _all_rows(scene, name))]
    linking.sort(key=lambda name: name in scene.static)
    palette = COLOURS[:6]
    colours = {name: palette[place % len(palette)] for place, name in enumerate(linking)}
    if sum(name in scene.static for name in linking) == 1:
        colours[linking[-1]] = SOFT
    found = []
    for name in linking:
        colour = colours[name]
        for prefix, kind in (("", scene.atoms), ("goal: ", scene.goals), ("goal: not ", scene.unwanted)):
            rows = tuple(kind.get(name, ()))
            if not rows:
                continue
            dashed = kind is not scene.atoms
            soft = name in scene.static and not dashed
            if soft and colour != SOFT:
                colour += _HALF
            note = ""
            if (nearest := _covers(rows)) is not None:
                rows, note = nearest, " (nearest only)"
            plain = _both_ways(rows)
            rows = tuple(row for row in rows if row[0] <= row[1]) if plain else rows
            found.append(_Relation(prefix + name, rows, colour, dashed, soft, plain, note))
    return found


def _all_rows(scene: Scene, name: str) -> Iterable[Arguments]:
    for kind in (scene.atoms, scene.goals, scene.unwanted):
        yield from kind.get(name, ())


def _both_ways(rows: Sequence[Arguments]) -> bool:
    known = set(rows)
    return all(len(row) == 2 and (row[1], row[0]) in known for row in rows)


def _covers(rows: Sequence[Arguments]) -> tuple[Arguments, ...] | None:
    """The covering pairs of a strict order; None for other relations."""
    if len(rows) < 3 or any(len(row) != 2 or row[0] == row[1] for row in rows):
        return None
    known = set(rows)
    after: dict[int, set[int]] = {}
    for a, b in known:
        after.setdefault(a, set()).add(b)
    follows = {(a, c) for a, b in known for c in after.get(b, ())}
    if not follows or not follows <= known or any(a == b for a, b in follows):
        return None
    return tuple(row for row in rows if row not in follows)


def _object(scene: Scene, number: int) -> _Node:
    def own(kind: dict[str, Sequence[Arguments]]) -> list[str]:
        return sorted(name for name, rows in kind.items() if (number,) in rows)

    always = [name for name in own(dict(scene.atoms)) if name in scene.static]
    now = [name for name in own(dict(scene.atoms)) if name not in scene.static]
    goals = [_goal_line(scene, name, (number,)) for name in own(dict(scene.goals))]
    goals += [_goal_line(scene, name, (number,), wanted=False) for name in own(dict(scene.unwanted))]
    lines = [(", ".join(always), SOFT)] if always else []
    lines += [(name, INK) for name in now] + [(text, INK) for text in goals]
    name = scene.names[number]
    shown = tuple((shortened(text, 130, 10), colour) for text, colour in lines)
    width = max([text_width(shortened(name, 130, 12), 12.5), *(text_width(text, 10) for text, _ in shown)])
    title = "\n".join([name, *(text for text, _ in lines)])
    return _Node(((name, INK), *shown), max(width + 14, 40), 8 + _LINE * (1 + len(shown)), title)


def _goal_line(scene: Scene, name: str, row: Arguments, *, wanted: bool = True) -> str:
    achieved = scene.holds(name, row) == wanted
    return f"goal: {'' if wanted else 'not '}{name}{' ✓' if achieved else ''}"


def _node(scene: Scene, number: int, node: _Node, at: Point) -> list[Shape]:
    x, y = at
    if number >= len(scene.names):
        colour = node.lines[0][1]
        box = Box(x, y, node.width, node.height, CLEAR, colour, corner=9, title=node.title)
        return [box, Label(x, y, node.lines[0][0], 10, INK)]
    wanted = any(text.startswith("goal: ") for text, _ in node.lines[1:])
    fill = HELD if number in scene.held else FAINT
    shapes: list[Shape] = [Box(x, y, node.width, node.height, fill, INK, wanted, 6, 1.4, node.title)]
    line = y - node.height / 2 + 4 + _LINE / 2
    for place, (text, colour) in enumerate(node.lines):
        size = 12.0 if place == 0 else 10.0
        shown = on(fill) if fill == HELD else colour
        shapes.append(Label(x, line, shortened(text, 130, size), size, shown, bold=place == 0))
        line += _LINE
    return shapes


def _arrows(
    scene: Scene, links: list[tuple[_Relation, int, int]], points: list[Point], nodes: list[_Node]
) -> list[Shape]:
    """Arrows from edge to edge; several between the same objects are bent."""
    places = _argument_places(links)
    together = Counter(frozenset((a, b)) for _, a, b in links)
    seen: Counter[frozenset[int]] = Counter()
    named = len(links) <= _MOST_LABELS
    shapes: list[Shape] = []
    labels: list[Shape] = []
    for relation, a, b in links:
        pair = frozenset((a, b))
        place = seen[pair] - (together[pair] - 1) / 2
        seen[pair] += 1
        if a == b:
            shapes += _loop(relation, points[a], nodes[a], seen[pair])
            continue
        # Both directions of a pair are bent to the same side of the plane, so they do not overlap.
        forth = points[min(a, b)], points[max(a, b)]
        across, along = _normal(*forth)
        bend_by = 34 * place
        middle = ((forth[0][0] + forth[1][0]) / 2, (forth[0][1] + forth[1][1]) / 2)
        bend = (middle[0] + across * bend_by * 2, middle[1] + along * bend_by * 2) if bend_by else None
        start = _border(points[a], bend or points[b], nodes[a])
        end = _border(points[b], bend or points[a], nodes[b])
        many = a >= len(scene.names)
        shapes.append(
            Line(
                start,
                end,
                bend,
                relation.colour,
                relation.dashed,
                not relation.plain and not many,
                0.9 if relation.soft else 1.6,
                "" if many else f"({relation.name} {scene.names[a]} {scene.names[b]})",
            )
        )
        if many:
            # The number of the argument is near the object.
            near = (start[0] + 0.8 * (end[0] - start[0]), start[1] + 0.8 * (end[1] - start[1]))
            labels.append(Label(near[0] + 6, near[1] - 5, places[a, b], 9, SOFT))
        elif named and relation.colour != SOFT:
            # Beside the line, for any slope.
            away = bend_by + 7 + abs(across) * text_width(relation.name, 9) / 2
            at = (middle[0] + across * away, middle[1] + along * away)
            labels.append(Label(*at, relation.name, 9, SOFT if relation.soft else INK))
    return [*shapes, *labels]


def _argument_places(links: list[tuple[_Relation, int, int]]) -> dict[tuple[int, int], str]:
    """For atoms with many arguments: the positions of an object, from 1."""
    count: Counter[int] = Counter()
    found: dict[tuple[int, int], str] = {}
    for _, atom, one in links:
        count[atom] += 1
        known = found.get((atom, one))
        found[atom, one] = f"{known},{count[atom]}" if known else str(count[atom])
    return found


def _normal(a: Point, b: Point) -> Point:
    across, down = b[0] - a[0], b[1] - a[1]
    length = (across**2 + down**2) ** 0.5 or 1.0
    return -down / length, across / length


def _border(inside: Point, towards: Point, node: _Node) -> Point:
    """The point where the line from the centre of a box to a point leaves the box."""
    across, down = towards[0] - inside[0], towards[1] - inside[1]
    scale = max(abs(across) / (node.width / 2 + 2), abs(down) / (node.height / 2 + 2), 1e-6)
    return inside[0] + across / max(scale, 1), inside[1] + down / max(scale, 1)


def _loop(relation: _Relation, at: Point, node: _Node, number: int) -> list[Shape]:
    x, y = at[0] + node.width / 2, at[1] - node.height / 2
    radius = 6.0 + 4 * number
    colour = relation.colour
    return [
        Disc(x, y, radius, CLEAR, colour, relation.dashed, 1.4, relation.name),
        Label(x + radius + 3, y - radius, relation.name, 9, colour, left=True),
    ]


def _nullary(scene: Scene) -> list[str]:
    now = sorted(name for name, rows in scene.atoms.items() if () in rows)
    goals = [_goal_line(scene, name, ()) for name, rows in sorted(scene.goals.items()) if () in rows]
    goals += [
        _goal_line(scene, name, (), wanted=False)
        for name, rows in sorted(scene.unwanted.items())
        if () in rows
    ]
    return [", ".join([*now, *goals])] if now or goals else []


def _legend(relations: list[_Relation], top: float, width: float) -> tuple[list[Shape], float, float]:
    shapes: list[Shape] = []
    x, y, right = _EDGE, top, 0.0
    for relation in relations:
        text = relation.name + relation.note
        needed = 40 + text_width(text, 10) + 16
        if x > _EDGE and x + needed > width + _EDGE:
            x, y = _EDGE, y + 18
        colour = relation.colour
        thick = 0.9 if relation.soft else 1.6
        arrow = not relation.plain and len(relation.rows[0]) == 2
        shapes.append(Line((x, y), (x + 30, y), None, colour, relation.dashed, arrow, thick))
        shapes.append(Label(x + 38, y, text, 10, SOFT, left=True))
        x += needed
        right = max(right, x - _EDGE)
    return shapes, right, y


def _words(scene: Scene, arrows: int) -> str:
    held = name_list([scene.names[one] for one in sorted(scene.held)], 20)
    return f"An object graph of {len(scene.names)} objects and {arrows} links." + (
        f" Highlighted: {held}." if held else ""
    )
