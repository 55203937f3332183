"""What a picture consists of; colours are roles, so that a picture suits light and dark pages."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.parts import HELD

Point = tuple[float, float]

INK = "ink"  # lines and text
SOFT = "soft"  # what matters less
FAINT = "faint"  # areas
CLEAR = "clear"  # nothing
DARK = "#1b1f24"  # text on bright areas, whatever the page's theme
_WIDTH = 0.58  # of a character, in heights


@dataclass(frozen=True)
class Box:
    """A rectangle, given by its middle."""

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
    """A line from one point to another, perhaps bent towards a third, perhaps with an arrow head."""

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
    """A line of text around its middle, or from its left end."""

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
    """Shapes on an area, and what they show in words."""

    width: float
    height: float
    shapes: tuple[Shape, ...]
    words: str


def text_width(text: str, size: float) -> float:
    """About how wide a text is."""
    return len(text) * size * _WIDTH


def shortened(text: str, width: float, size: float) -> str:
    """A text that is not wider than it may be.

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


def told(parts: Sequence[str], most: int = 40) -> str:
    """Several things in words, not too many of them.

    Examples
    --------
    >>> told(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    if len(parts) <= most:
        return ", ".join(parts)
    return f"{', '.join(parts[:most])} and {len(parts) - most} more"
