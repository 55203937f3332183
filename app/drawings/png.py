"""Pictures as PNG files."""

import io
from typing import Any

from app.drawings.shapes import CLEAR, FAINT, INK, SOFT, Box, Disc, Label, Line, Picture

_INK = "#1b1f24"
_SHADES = {INK: (_INK, 1.0), SOFT: (_INK, 0.55), FAINT: (_INK, 0.08), CLEAR: (_INK, 0.0)}
_DOTS = 100.0  # points of a picture per inch
_SHARP = 2  # pixels per point


def to_png(picture: Picture) -> bytes:
    """A picture on a white background."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(picture.width / _DOTS, picture.height / _DOTS), dpi=_DOTS * _SHARP)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, picture.width), ylim=(picture.height, 0))
    axes.set_axis_off()
    for order, shape in enumerate(picture.shapes, start=1):
        if isinstance(shape, Label):
            _write(axes, shape, order)
        else:
            for patch in _patches(shape):
                patch.set_zorder(order)
                axes.add_patch(patch)
    made = io.BytesIO()
    figure.savefig(made, format="png", metadata={"Software": None, "Description": picture.words})
    return made.getvalue()


def _patches(shape: Box | Disc | Line) -> list[Any]:
    from matplotlib import patches
    from matplotlib.path import Path

    if isinstance(shape, Line):
        middle = [shape.bend] if shape.bend else []
        codes = [Path.MOVETO, *([Path.CURVE3] * 2 if shape.bend else [Path.LINETO])]
        path = Path([shape.start, *middle, shape.end], codes)
        found: list[Any] = [patches.PathPatch(path, fill=False, **_outline(shape.colour, shape))]
        if shape.arrow:
            found.append(patches.Polygon(shape.head(), facecolor=_painted(shape.colour), linewidth=0))
        return found
    look = {"facecolor": _painted(shape.fill), **_outline(shape.line, shape)}
    if isinstance(shape, Disc):
        return [patches.Circle((shape.x, shape.y), shape.radius, **look)]
    corner = (shape.x - shape.width / 2, shape.y - shape.height / 2)
    style = f"round,pad=0,rounding_size={shape.corner}" if shape.corner else "square,pad=0"
    return [patches.FancyBboxPatch(corner, shape.width, shape.height, boxstyle=style, **look)]


def _outline(colour: str, shape: Box | Disc | Line) -> dict[str, Any]:
    return {
        "edgecolor": _painted(colour),
        "linewidth": shape.thick * 72 / _DOTS,
        "linestyle": (0, (4, 2.5)) if shape.dashed else "solid",
    }


def _write(axes: Any, label: Label, order: int) -> None:
    axes.text(
        label.x,
        label.y,
        # Names must not be typeset as formulas.
        label.text.replace("$", r"\$"),
        fontsize=label.size * 72 / _DOTS,
        ha="left" if label.left else "center",
        va="center_baseline",
        color=_painted(label.colour),
        fontweight="bold" if label.bold else "normal",
        zorder=order,
    )


def _painted(colour: str) -> tuple[str, float]:
    return _SHADES.get(colour, (colour, 1.0))
