"""Drawings of decision trees and dendrograms; a title holds text that is too long for its box."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.drawings.palette import COLOURS, HELD
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
    shortened,
    text_width,
)
from distill.trees import Dendrogram, Tree

_ROW, _HIGH = 28.0, 22.0  # of a node, and of its box
_WIDTH = 920.0
_INDENT = 46.0  # of each level
_MARGIN = 10.0
_TEXT, _COUNT = 12.0, 10.5  # sizes of letters
_DENDROGRAM = 330.0  # width of the merges


@dataclass(frozen=True, eq=False)
class Labels:
    """The texts and numbers of a drawing.

    Attributes
    ----------
    asked : the formula of each column.
    visits : (n_nodes,) the number of objects or states at each node.
    what : `objects` or `states`.
    set_of_leaf : (n_leaves,) the number of the leaf set of each leaf; each set has a colour.
    """

    asked: Mapping[int, str]
    visits: NDArray[np.int64]
    what: str
    set_of_leaf: NDArray[np.int64]

    def colour(self, leaf: int) -> str:
        """The colour of the leaf set of a leaf."""
        return COLOURS[int(self.set_of_leaf[leaf]) % len(COLOURS)]


def draw_tree(tree: Tree, labels: Labels, path: Sequence[int] = (), *, only_path: bool = False) -> Picture:
    """Draw a tree with one row for each node; the branch "no" comes before "yes".

    Parameters
    ----------
    path : highlighted nodes, from the root on.
    only_path : whether other nodes are drawn only if their parent is on the path.

    Examples
    --------
    >>> from distill.trees import fit_tree
    >>> tree = fit_tree(np.array([[False], [True]]), [[0.0], [1.0]], np.ones(2), max_depth=1)
    >>> labels = Labels({0: "clear"}, np.array([3, 1, 2]), "objects", np.array([0, 1]))
    >>> [shape.text for shape in draw_tree(tree, labels).shapes if isinstance(shape, Label)]
    ['0  clear', '3', 'no', 'leaf 0 (leaf set 0)', '1', 'yes', 'leaf 1 (leaf set 1)', '2']
    """
    level, parent = _levels(tree)
    taken = set(path)
    rows = [
        node for node in range(len(tree.splits)) if not only_path or node in taken or parent[node] in taken
    ]
    shapes: list[Shape] = []
    lines: list[Shape] = []
    middle = {node: _MARGIN + _ROW * (row + 0.5) for row, node in enumerate(rows)}
    for node in rows:
        left, y, held = _MARGIN + _INDENT * int(level[node]), middle[node], node in taken
        above = int(parent[node])
        if above >= 0:
            style = {"colour": HELD, "thick": 2.6} if held else {"colour": SOFT, "thick": 1.0}
            corner = _MARGIN + _INDENT * int(level[above]) + 12
            lines.append(Line((corner, middle[above] + _HIGH / 2), (corner, y), **style))  # type: ignore[arg-type]
            lines.append(Line((corner, y), (left, y), **style))  # type: ignore[arg-type]
            shapes.append(
                Label(corner + 13, y - 7, "yes" if tree.children[above][1] == node else "no", 9, SOFT)
            )
        closed = only_path and not held and tree.splits[node] >= 0
        shapes += _node(tree, node, left, y, labels, held, closed)
    # Highlighted lines lie above others.
    lines.sort(key=lambda line: getattr(line, "colour", "") == HELD)
    height = 2 * _MARGIN + _ROW * len(rows)
    return Picture(_WIDTH, height, (*lines, *shapes), _words(tree, labels))


def draw_dendrogram(
    dendrogram: Dendrogram,
    set_of_leaf: NDArray[np.int64],
    visits: NDArray[np.int64],
    highlighted: Collection[int] = (),
) -> Picture:
    """Draw a dendrogram: leaves at the left, and merges at their distance to the right.

    Parameters
    ----------
    set_of_leaf : (n_leaves,) the number of the leaf set of each leaf; each set has a colour.
    visits : (n_leaves,) the number of objects or states in each leaf.
    highlighted : numbers of merged sets.
    """
    n_leaves = len(dendrogram.merges) + 1
    order = leaf_order(dendrogram)
    left = _MARGIN + 110.0
    scale = _DENDROGRAM / (float(dendrogram.heights.max(initial=0.0)) or 1.0)
    place = {leaf: (left, _MARGIN + 22 * (row + 0.5)) for row, leaf in enumerate(order)}
    shapes: list[Shape] = []
    for leaf in order:
        y = place[leaf][1]
        fill = COLOURS[int(set_of_leaf[leaf]) % len(COLOURS)]
        shapes.append(Disc(_MARGIN + 6, y, 5, fill, CLEAR))
        shapes.append(Label(_MARGIN + 18, y, f"leaf {leaf}: {int(visits[leaf]):,}", _TEXT, left=True))
    for number, pair in enumerate(dendrogram.merges.tolist(), start=n_leaves):
        height = float(dendrogram.heights[number - n_leaves])
        x, ends = left + scale * height, [place[one] for one in pair]
        leaves = dendrogram.sets[number]
        held = {int(set_of_leaf[leaf]) for leaf in leaves}
        colour = COLOURS[held.pop() % len(COLOURS)] if len(held) == 1 else SOFT
        title = f"leaves {', '.join(map(str, leaves))}: distance {height:.4g}"
        thick = 3.4 if number in highlighted else 1.2
        down = ((x, ends[0][1]), (x, ends[1][1]))
        for start, end in (*((end, (x, end[1])) for end in ends), down):
            shapes.append(Line(start, end, colour=colour, thick=thick, title=title))
        place[number] = (x, (ends[0][1] + ends[1][1]) / 2)
    words = f"A dendrogram of {n_leaves} leaves, from single leaves at the left to all at the right"
    return Picture(left + _DENDROGRAM + _MARGIN, 2 * _MARGIN + 22 * n_leaves, tuple(shapes), words)


def leaf_order(dendrogram: Dendrogram) -> list[int]:
    """The leaves in an order without crossing lines in the dendrogram.

    Examples
    --------
    >>> from distill.trees import leaf_sets
    >>> leaf_order(leaf_sets([[0.0], [5.0], [1.0]], linkage="single"))
    [1, 0, 2]
    """
    n_leaves = len(dendrogram.merges) + 1
    todo, found = [2 * n_leaves - 2], []
    while todo:
        number = todo.pop()
        if number < n_leaves:
            found.append(number)
        else:
            todo += reversed(dendrogram.merges[number - n_leaves].tolist())
    return found


def _levels(tree: Tree) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(n_nodes,) the depth of each node, and its parent; -1 for the root."""
    level, parent = np.zeros(len(tree.splits), dtype=np.int64), np.full(len(tree.splits), -1)
    for node in np.flatnonzero(tree.splits >= 0):
        level[tree.children[node]] = level[node] + 1
        parent[tree.children[node]] = node
    return level, parent


def _node(
    tree: Tree, node: int, left: float, y: float, labels: Labels, held: bool, closed: bool
) -> list[Shape]:
    number = f"{int(labels.visits[node]):,}"
    width = _WIDTH - _MARGIN - left
    room = text_width(number, _COUNT) + 10
    line, thick = (HELD, 2.2) if held else (SOFT, 0.8)
    start, title = left + 8, f"node {node}: {number} {labels.what}"
    mark: list[Shape] = []
    if tree.splits[node] < 0:
        leaf = int(np.searchsorted(tree.leaves, node))
        whole = f"leaf {leaf} (leaf set {int(labels.set_of_leaf[leaf])})"
        mark = [Disc(left + 13, y, 6, labels.colour(leaf), CLEAR, title=title)]
        start += 18
    else:
        whole = f"{node}  {labels.asked[int(tree.splits[node])]}"
        title = f"{whole}\n{title}"
    dashed, fill = closed, CLEAR if tree.splits[node] < 0 or closed else FAINT
    return [
        Box(left + width / 2, y, width, _HIGH, fill, line, dashed, corner=4, thick=thick, title=title),
        *mark,
        Label(start, y, shortened(whole, width - room - 30, _TEXT), _TEXT, INK, left=True, title=title),
        Label(left + width - room / 2, y, number, _COUNT, SOFT, title=title),
    ]


def _words(tree: Tree, labels: Labels) -> str:
    return f"A tree of {len(tree.leaves)} leaves with {int(labels.visits[0]):,} {labels.what}"
