"""Blocks: towers on a table, the hand, and the goal beside them."""

from collections.abc import Iterable, Sequence

from app.drawings.palette import HELD
from app.drawings.scene import Scene, Words
from app.drawings.shapes import (
    CLEAR,
    FAINT,
    INK,
    SOFT,
    Box,
    Label,
    Line,
    Picture,
    Shape,
    name_list,
    on,
    shortened,
    text_width,
)

ON = Words(("on",), 2)
TABLE = Words(("ontable", "on-table"), 1)
HOLDING = Words(("holding",), 1)
OPEN = Words(("clear",), 1)
NEEDS = (ON, TABLE, OPEN)

_SIZE, _GAP, _HAND = 40.0, 22.0, 92.0
_EDGE = 24.0


def draw(scene: Scene) -> Picture:
    """The towers of a state, the block in the hand, and the towers of the goal, which are dashed."""
    wide = max(_SIZE + 8, min(110.0, max((text_width(name, 12) for name in scene.names), default=0.0) + 16))
    carried = [block for (block,) in scene.rows(HOLDING)]
    stacked = [t for t in towers(scene.rows(ON), range(len(scene.names))) if not set(t) <= set(carried)]
    standing = {block for (block,) in scene.rows(TABLE)}
    wanted = _wanted(scene)
    highest = max(map(len, [*stacked, *wanted, [0]]))
    ground = _EDGE + _HAND + highest * _SIZE
    shapes: list[Shape] = []
    left = _EDGE
    for tower in stacked:
        for level, block in enumerate(tower):
            shapes += _block(scene, block, left + wide / 2, ground - (level + 0.5) * _SIZE, wide)
        if tower[0] not in standing:
            shapes.append(Label(left + wide / 2, ground + 12, "not on the table", 9, SOFT))
        left += wide + _GAP
    right = max(left, _EDGE + 3 * wide)
    shapes.append(Line((_EDGE - 12, ground), (right - _GAP + 12, ground), thick=2.5))
    shapes += _hand(scene, carried, (_EDGE + right - _GAP) / 2, wide)
    if wanted or scene.wanted(HOLDING):
        shapes += _goal(scene, wanted, right + _GAP, ground, wide)
        right += _GAP * 2 + max(len(wanted) * (wide + _GAP), 110.0)
    return Picture(right + _EDGE, ground + _EDGE + 6, tuple(shapes), _words(scene, stacked, carried))


def towers(pairs: Iterable[Sequence[int]], blocks: Iterable[int]) -> list[list[int]]:
    """Blocks as towers from the bottom upwards, in the order of their lowest blocks.

    Examples
    --------
    >>> towers([(0, 2), (3, 0)], range(4))
    [[1], [2, 0, 3]]
    >>> towers([(0, 1), (1, 0)], range(2))
    [[0, 1]]
    """
    below: dict[int, int] = {}
    above: dict[int, int] = {}
    for upper, lower in pairs:
        # Of several blocks on another, or below it, only the first belongs to the tower.
        if upper not in below and lower not in above:
            below[upper], above[lower] = lower, upper
    seen: set[int] = set()
    found = []
    everything = list(blocks)
    for start in sorted(everything, key=lambda block: (block in below, everything.index(block))):
        tower: list[int] = []
        block: int | None = start
        while block is not None and block not in seen:
            seen.add(block)
            tower.append(block)
            block = above.get(block)
        found += [tower] if tower else []
    return found


def _wanted(scene: Scene) -> list[list[int]]:
    """The towers of the goal: blocks that it mentions."""
    on_goal = scene.wanted(ON)
    named = {block for words in (ON, TABLE, OPEN) for row in scene.wanted(words) for block in row}
    return towers(on_goal, sorted(named))


def _block(scene: Scene, block: int, x: float, y: float, wide: float) -> list[Shape]:
    fill = HELD if block in scene.held else FAINT
    name = scene.names[block]
    return [
        Box(x, y, wide, _SIZE - 2, fill, corner=4, title=name),
        Label(x, y, shortened(name, wide - 6, 12), 12, on(fill), bold=True),
    ]


def _hand(scene: Scene, carried: list[int], x: float, wide: float) -> list[Shape]:
    top, grip = _EDGE - 12, _EDGE + 18
    shapes: list[Shape] = [
        Line((x, top), (x, grip - 8), thick=2.5),
        Line((x - wide / 2 - 6, grip - 8), (x + wide / 2 + 6, grip - 8), thick=2.5),
    ]
    for side in (-1, 1):
        jaw = x + side * (wide / 2 + 6)
        shapes.append(Line((jaw, grip - 8), (jaw, grip + 14), thick=2.5))
    if carried:
        shapes += [shape for block in carried for shape in _block(scene, block, x, grip + 14, wide)]
    else:
        shapes.append(Label(x, grip + 6, "empty", 10, SOFT))
    return shapes


def _goal(scene: Scene, wanted: list[list[int]], left: float, ground: float, wide: float) -> list[Shape]:
    """Dashed towers; a tick marks an atom of the goal that holds."""
    above = ground - max(map(len, [*wanted, []])) * _SIZE - 34
    shapes: list[Shape] = [
        Label(left, above, "goal", 12, INK, bold=True, left=True),
        Label(left, ground + 14, "✓ holds  ○ missing", 9, SOFT, left=True),
    ]
    atoms = [(ON, row) for row in scene.wanted(ON)]
    resting = {block for (block,) in scene.wanted(TABLE)}
    for tower in wanted:
        middle = left + wide / 2
        for level, block in enumerate(tower):
            y = ground - (level + 0.5) * _SIZE
            fill = HELD if block in scene.held else CLEAR
            title = scene.names[block]
            shapes.append(Box(middle, y, wide, _SIZE - 2, fill, dashed=True, corner=4, title=title))
            shapes.append(Label(middle, y, shortened(title, wide - 6, 12), 12, on(fill)))
            under = (block, tower[level - 1]) if level else None
            if under and (ON, under) in atoms:
                shapes += _mark(scene, ON, under, middle + wide / 2 + 8, y + _SIZE / 2)
        if tower[0] in resting:
            shapes.append(Line((left - 6, ground), (left + wide + 6, ground), thick=2.5, dashed=True))
            shapes += _mark(scene, TABLE, (tower[0],), middle + wide / 2 + 8, ground - 6)
        if (top := (tower[-1],)) in scene.wanted(OPEN):
            y = ground - len(tower) * _SIZE - 10
            shapes.append(Label(middle - 6, y, "clear", 10, INK))
            shapes += _mark(scene, OPEN, top, middle + 18, y)
        left += wide + _GAP
    for number, row in enumerate(scene.wanted(HOLDING)):
        y = above - 16 * (number + 1)
        shapes.append(Label(left - wide - _GAP, y, f"hold {scene.names[row[0]]}", 10, INK, left=True))
    return shapes


def _mark(scene: Scene, words: Words, row: tuple[int, ...], x: float, y: float) -> list[Shape]:
    return [Label(x, y, "✓" if row in scene.rows(words) else "○", 11, INK)]


def _words(scene: Scene, stacked: list[list[int]], carried: list[int]) -> str:
    towers = [" on ".join(scene.names[block] for block in reversed(tower)) for tower in stacked]
    hand = name_list([scene.names[block] for block in carried]) or "nothing"
    return f"Towers: {name_list(towers)}. The hand holds {hand}."
