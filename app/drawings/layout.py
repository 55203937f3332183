"""Layouts of linked boxes: deterministic and without overlaps."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Pair = tuple[int, int]
_STEP = 105.0  # between linked boxes
_MARGIN = 26.0  # between boxes
_WIDEST, _HIGHEST = 1000.0, 700.0
_ROUNDS = 80


@dataclass(frozen=True, eq=False)
class VertexLayout:
    """The places of the objects of an instance in all its states.

    Attributes
    ----------
    middles : (n, 2) of their boxes.
    width, height : of the area that they need.
    above : whether there has to be room above for what is true of the whole state.
    """

    middles: Array
    width: float
    height: float
    above: bool = False


def placed(sizes: Array, down: Sequence[Pair], both: Sequence[Pair] = ()) -> tuple[Array, float, float]:
    """Place boxes on a plane: linked ones together, components side by side.

    Parameters
    ----------
    sizes : (n, 2) width and height of each box.
    down : links that should point downwards.
    both : links without a direction.

    Returns
    -------
    (n, 2) the middles of the boxes, and the width and height of all.

    Examples
    --------
    >>> middles, *_ = placed(np.full((2, 2), 20.0), [(1, 0)])
    >>> bool(middles[1, 1] < middles[0, 1])
    True
    """
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(len(sizes)))
    graph.add_edges_from((a, b) for a, b in [*down, *both] if a != b)
    groups = [sorted(group) for group in nx.connected_components(graph)]
    parts = []
    for group in groups:
        own = {number: place for place, number in enumerate(group)}
        points = _drawn(graph.subgraph(group), group)
        arrows = [(own[a], own[b]) for a, b in down if a in own and a != b]
        points = apart(_turned(points, arrows), sizes[group])
        low = (points - sizes[group] / 2).min(axis=0)
        high = (points + sizes[group] / 2).max(axis=0)
        parts.append((group, points - low, high - low))
    return _packed(parts, len(sizes))


def _drawn(graph: object, group: list[int]) -> Array:
    """The layout of Kamada and Kawai, from a start that depends only on the order of the boxes."""
    import networkx as nx

    if len(group) == 1:
        return np.zeros((1, 2))
    if len(group) == 2:
        return np.array([[0.0, 0.0], [0.0, _STEP]])
    ordered = nx.Graph()
    ordered.add_nodes_from(group)
    ordered.add_edges_from(sorted(tuple(sorted(edge)) for edge in graph.edges))  # type: ignore[attr-defined]
    places = nx.kamada_kawai_layout(ordered)
    points = np.array([places[number] for number in group])
    index = {number: place for place, number in enumerate(group)}
    ends = np.array([(index[a], index[b]) for a, b in ordered.edges])
    lengths = np.linalg.norm(points[ends[:, 0]] - points[ends[:, 1]], axis=1)
    found: Array = points * _STEP / max(float(np.median(lengths)), 1e-6)
    return found


def _turned(points: Array, arrows: list[Pair]) -> Array:
    """The points, rotated so that arrows point downwards; without arrows the long side is horizontal."""
    if arrows:
        starts, ends = np.array(arrows).T
        mean = (points[ends] - points[starts]).sum(axis=0)
        if np.linalg.norm(mean) > 0.2 * _STEP * len(arrows) ** 0.5:
            angle = -float(np.arctan2(mean[1], mean[0]))
            upright = _rotated(points, np.pi / 2 + angle)
            # A chain that is higher than a screen is drawn horizontally.
            return upright if np.ptp(upright[:, 1]) <= _HIGHEST else _rotated(points, angle)
    if len(points) < 3:
        return points
    _, vectors = np.linalg.eigh(np.cov(points.T))
    along = vectors[:, -1] * (1 if vectors[0, -1] >= 0 else -1)
    return _rotated(points, -float(np.arctan2(along[1], along[0])))


def _rotated(points: Array, angle: float) -> Array:
    cos, sin = np.cos(angle), np.sin(angle)
    return points @ np.array([[cos, sin], [-sin, cos]])  # type: ignore[no-any-return]


def apart(points: Array, sizes: Array, fixed: int = 0) -> Array:
    """The points, moved until the boxes around them hardly overlap.

    Parameters
    ----------
    points, sizes : (n, 2) middles, widths and heights.
    fixed : so many of the first ones stay where they are.

    Examples
    --------
    >>> apart(np.zeros((2, 2)), np.full((2, 2), 20.0)).round(1).tolist()
    [[-23.0, 0.0], [23.0, 0.0]]
    """
    moved = points.astype(np.float64)
    needed = (sizes[:, None, :] + sizes[None, :, :]) / 2 + _MARGIN
    later = np.triu(np.ones((len(points), len(points)), dtype=bool), 1)
    later[:fixed, :fixed] = False
    for _ in range(_ROUNDS):
        between = moved[None, :, :] - moved[:, None, :]
        overlap = needed - np.abs(between)
        clash = (overlap > 0.5).all(axis=2) & later
        if not clash.any():
            break
        first, second = np.nonzero(clash)
        for a, b in zip(first.tolist(), second.tolist(), strict=True):
            gap = needed[a, b] - np.abs(moved[b] - moved[a])
            if (gap <= 0).any():
                continue
            axis = int(gap[1] < gap[0])
            sign = 1.0 if moved[b, axis] >= moved[a, axis] else -1.0
            share = 0.0 if a < fixed else 0.5
            moved[a, axis] -= sign * gap[axis] * share
            moved[b, axis] += sign * gap[axis] * (1 - share)
    return moved


def _packed(parts: list[tuple[list[int], Array, Array]], n: int) -> tuple[Array, float, float]:
    """Groups in rows, tall ones first."""
    found = np.zeros((n, 2))
    left = top = row = width = 0.0
    for group, points, size in sorted(parts, key=lambda part: (-part[2][1], part[0][0])):
        if left and left + size[0] > _WIDEST:
            left, top, row = 0.0, top + row + _MARGIN, 0.0
        found[group] = points + np.array([left, top])
        left += size[0] + _MARGIN
        row, width = max(row, size[1]), max(width, left - _MARGIN)
    return found, width, top + row
