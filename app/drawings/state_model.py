"""Drawings of abstract state models: a disc for each class of isomorphic states, arrows by action schema."""

import numpy as np

from app.drawings.palette import COLOURS, HELD
from app.drawings.shapes import (
    CLEAR,
    FAINT,
    INK,
    SOFT,
    Disc,
    Label,
    Line,
    Picture,
    Point,
    Shape,
    on,
    text_width,
)
from distill.structures import UNSOLVABLE
from distill.symmetry import StateModel

MOST_NODES = 120  # of a drawing; of a larger model the neighbourhood of one class is drawn
_ACROSS, _DOWN = 78.0, 44.0  # between the middles of neighbours
_RADIUS, _MARGIN, _LEGEND = 13.0, 34.0, 26.0
_TEXT = 10.5
_BEND = 0.16  # of the length of an arrow; more for each further schema


def draw_state_model(model: StateModel, chosen: int) -> Picture:
    """Draw the classes of a model by V*, with the goal at the right.

    The initial class has a bold line and goal classes a second one. A transition from a class to itself is
    written in the title of the class, without an arrow.

    Parameters
    ----------
    chosen : the highlighted class. If the model is large, only this class and its neighbours are drawn.
    """
    nodes = shown_nodes(model, chosen)
    middles = _middles(model, nodes)
    names = model.schema_names()
    colour = {name: COLOURS[number % len(COLOURS)] for number, name in enumerate(names)}
    shapes: list[Shape] = []
    left = _MARGIN - _RADIUS
    for name in names:
        shapes.append(Line((left, 12), (left + 22, 12), colour=colour[name], thick=2.2))
        shapes.append(Label(left + 28, 12, name, _TEXT, left=True))
        left += 46 + text_width(name, _TEXT)
    for (source, target), schemas in zip(model.transitions.tolist(), model.schemas, strict=True):
        if source != target and source in middles and target in middles:
            shapes += [
                _arrow(
                    middles[source],
                    middles[target],
                    number,
                    colour[name],
                    f"{name}: class {source} to {target}",
                )
                for number, name in enumerate(schemas)
            ]
    for node in nodes:
        shapes += _node(model, node, middles[node], node == chosen)
    bottom = max(y for _, y in middles.values()) + _MARGIN
    for x, v_star in sorted({(middles[node][0], int(model.v_star[node])) for node in nodes}):
        text = "dead end" if v_star == UNSOLVABLE else f"V* {v_star}"
        shapes.append(Label(x, bottom, text, _TEXT - 1, SOFT))
    width = max(left, max(x for x, _ in middles.values()) + _MARGIN)
    part = "" if len(nodes) == len(model) else f", of which {len(nodes)} around class {chosen} are drawn"
    words = (
        f"The state model of {model.instance}: {len(model)} classes and {len(model.transitions)} "
        f"transitions{part}"
    )
    return Picture(width, bottom + 14, tuple(shapes), words)


def shown_nodes(model: StateModel, chosen: int) -> list[int]:
    """The classes in the drawing: all of a small model, else the chosen one and its neighbours.

    Examples
    --------
    >>> from distill.planning import expand, problem_class, transitions
    >>> data = expand(problem_class("gripper").make("train")[0], 10_000)
    >>> model = StateModel.of(data, transitions(data))
    >>> len(shown_nodes(model, 0)) == len(model)
    True
    """
    if len(model) <= MOST_NODES:
        return list(range(len(model)))
    after, before = model.transitions[model.after(chosen), 1], model.transitions[model.before(chosen), 0]
    return sorted({chosen, *after[:MOST_NODES].tolist(), *before[:MOST_NODES].tolist()})


def _middles(model: StateModel, nodes: list[int]) -> dict[int, Point]:
    """The middle of each node; columns and rows without nodes are left out."""
    places = model.layout()[nodes]
    columns, column = np.unique(places[:, 0], return_inverse=True)
    rows = np.empty(len(nodes))
    for number in range(len(columns)):
        mine = np.flatnonzero(column == number)
        order = mine[np.argsort(places[mine, 1], kind="stable")]
        rows[order] = np.arange(len(mine)) - (len(mine) - 1) / 2
    rows -= rows.min()
    return {
        node: (_MARGIN + _ACROSS * float(x), _LEGEND + _MARGIN + _DOWN * float(y))
        for node, x, y in zip(nodes, column, rows, strict=True)
    }


def _arrow(start: Point, end: Point, number: int, colour: str, title: str) -> Line:
    """A bent arrow between the borders of two discs; arrows of several schemas bend differently."""
    begin, goal = np.array(start), np.array(end)
    across = goal - begin
    bend = (begin + goal) / 2 + np.array([across[1], -across[0]]) * (_BEND + 0.12 * number)

    def border(middle: np.ndarray, gap: float) -> Point:
        way = bend - middle
        x, y = middle + way / np.linalg.norm(way) * (_RADIUS + gap)
        return float(x), float(y)

    middle = (float(bend[0]), float(bend[1]))
    return Line(border(begin, 1), border(goal, 3), middle, colour, arrow=True, thick=1.2, title=title)


def _node(model: StateModel, node: int, middle: Point, chosen: bool) -> list[Shape]:
    x, y = middle
    v_star = int(model.v_star[node])
    loops = [model.schemas[number] for number in model.after(node) if model.transitions[number, 1] == node]
    value = "no path to the goal" if v_star == UNSOLVABLE else f"V* {v_star}"
    title = f"class {node}: {value}, {int(model.sizes()[node]):,} states"
    if loops:
        title += f", to itself by {', '.join(loops[0])}"
    fill = HELD if chosen else FAINT
    shapes: list[Shape] = [Disc(x, y, _RADIUS, fill, INK, thick=2.6 if node == 0 else 1.0, title=title)]
    if v_star == 0:
        shapes.append(Disc(x, y, _RADIUS - 3, CLEAR, INK, thick=0.8, title=title))
    return [*shapes, Label(x, y, str(node), _TEXT, on(fill), title=title)]
