"""The shapes of a picture; colours are roles, so that a picture suits light and dark pages."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.drawings.palette import HELD

Point = tuple[float, float]

INK = "ink"  # lines and text
SOFT = "soft"  # less important parts
FAINT = "faint"  # areas
CLEAR = "clear"  # transparent
DARK = "#1b1f24"  # text on bright areas in both themes
_WIDTH = 0.58  # of a character, in heights


@dataclass(frozen=True)
class Box:
    """A rectangle, given by its centre."""

    x: float
    y: float
    width: float
    height: float
    fill: str = FAINT
    line: str = INK
    dashed: bool = False
    corner: float = 0.0
    thick: float = 1.2
    title: str = ""


@dataclass(frozen=True)
class Disc:
    """A circle."""

    x: float
    y: float
    radius: float
    fill: str = FAINT
    line: str = INK
    dashed: bool = False
    thick: float = 1.2
    title: str = ""


@dataclass(frozen=True)
class Line:
    """A line between two points, optionally bent towards a third, optionally with an arrow head."""

    start: Point
    end: Point
    bend: Point | None = None
    colour: str = INK
    dashed: bool = False
    arrow: bool = False
    thick: float = 1.4
    title: str = ""

    def head(self, size: float = 8.0) -> tuple[Point, Point, Point]:
        """The corners of the arrow head."""
        before = self.bend or self.start
        across, down = self.end[0] - before[0], self.end[1] - before[1]
        length = (across**2 + down**2) ** 0.5 or 1.0
        across, down = across / length * size, down / length * size
        back = (self.end[0] - across, self.end[1] - down)
        return (
            self.end,
            (back[0] - down * 0.45, back[1] + across * 0.45),
            (back[0] + down * 0.45, back[1] - across * 0.45),
        )


@dataclass(frozen=True)
class Label:
    """A line of text, centred or left-aligned."""

    x: float
    y: float
    text: str
    size: float = 11.0
    colour: str = INK
    bold: bool = False
    left: bool = False
    title: str = ""


Shape = Box | Disc | Line | Label


@dataclass(frozen=True)
class Picture:
    """Shapes on an area, and a description in words."""

    width: float
    height: float
    shapes: tuple[Shape, ...]
    words: str


def text_width(text: str, size: float) -> float:
    """The approximate width of a text."""
    return len(text) * size * _WIDTH


def shortened(text: str, width: float, size: float) -> str:
    """A text, shortened to a width.

    Examples
    --------
    >>> shortened("passenger-number-nine", 60, 11), shortened("b1", 60, 11)
    ('passenge…', 'b1')
    """
    most = max(2, int(width / (size * _WIDTH)))
    return text if len(text) <= most else f"{text[: most - 1]}…"


def on(fill: str) -> str:
    """The colour of text on an area."""
    return DARK if fill == HELD else INK


def name_list(parts: Sequence[str], most: int = 40) -> str:
    """The first of several names as text.

    Examples
    --------
    >>> name_list(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    if len(parts) <= most:
        return ", ".join(parts)
    return f"{', '.join(parts[:most])} and {len(parts) - most} more"
