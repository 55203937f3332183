"""Pictures as SVG files. All text is escaped; they contain no scripts and load nothing."""

from app.drawings.shapes import CLEAR, FAINT, INK, SOFT, Box, Disc, Label, Line, Picture, Shape
from distill.runs import Markup, element

_OPACITY = {SOFT: 0.55, FAINT: 0.08}
LIGHT, DARK, PAPER = "#1b1f24", "#e6edf3", "#ffffff"  # ink on light and on dark pages, and a white background


def to_svg(picture: Picture, ink: str = LIGHT, paper: str | None = PAPER) -> str:
    """A picture as an SVG file.

    Parameters
    ----------
    ink : the colour of lines and text.
    paper : the ground; the page's own if it is None.

    Examples
    --------
    >>> to_svg(Picture(10, 10, (Label(5, 5, "a<b"),), "One label")).count("a&lt;b")
    1
    """
    ground = [element("rect", width="100%", height="100%", fill=paper)] if paper else []
    return element(
        "svg",
        element("title", picture.words),
        *ground,
        *(_drawn(shape) for shape in picture.shapes),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {picture.width:.0f} {picture.height:.0f}",
        width=f"{picture.width:.0f}",
        height=f"{picture.height:.0f}",
        role="img",
        aria_label=picture.words,
        color=ink,
        font_family="sans-serif",
    )


def _drawn(shape: Shape) -> Markup:
    title = [element("title", shape.title)] if shape.title else []
    if isinstance(shape, Label):
        return _label(shape, title)
    if isinstance(shape, Line):
        return _line(shape, title)
    outline = {**_painted("fill", shape.fill), **_painted("stroke", shape.line), "stroke_width": shape.thick}
    if shape.dashed:
        outline["stroke_dasharray"] = "5 3"
    if isinstance(shape, Disc):
        where = {"cx": _number(shape.x), "cy": _number(shape.y), "r": _number(shape.radius)}
        return element("circle", *title, **where, **outline)
    return element("rect", *title, **_corners(shape), **outline)


def _corners(box: Box) -> dict[str, object]:
    found: dict[str, object] = {
        "x": _number(box.x - box.width / 2),
        "y": _number(box.y - box.height / 2),
        "width": _number(box.width),
        "height": _number(box.height),
    }
    return {**found, "rx": _number(box.corner)} if box.corner else found


def _line(line: Line, title: list[Markup]) -> Markup:
    (x, y), (to_x, to_y) = line.start, line.end
    bend = "L" if line.bend is None else f"Q{_number(line.bend[0])},{_number(line.bend[1])} "
    path = f"M{_number(x)},{_number(y)} {bend}{_number(to_x)},{_number(to_y)}"
    style = {**_painted("stroke", line.colour), "stroke_width": line.thick}
    if line.dashed:
        style["stroke_dasharray"] = "5 3"
    found = [element("path", d=path, fill="none", **style)]
    if line.arrow:
        points = " ".join(f"{_number(px)},{_number(py)}" for px, py in line.head())
        found.append(element("polygon", points=points, **_painted("fill", line.colour)))
    return element("g", *title, *found)


def _label(label: Label, title: list[Markup]) -> Markup:
    where = {"x": _number(label.x), "y": _number(label.y), "font_size": _number(label.size)}
    look = {"text_anchor": "start" if label.left else "middle", "dominant_baseline": "central"}
    weight = {"font_weight": "600"} if label.bold else {}
    return element("text", *title, label.text, **where, **look, **weight, **_painted("fill", label.colour))


def _painted(what: str, colour: str) -> dict[str, object]:
    if colour == CLEAR:
        return {what: "none"}
    if colour in (INK, SOFT, FAINT):
        opacity = {f"{what}_opacity": _OPACITY[colour]} if colour in _OPACITY else {}
        return {what: "currentColor", **opacity}
    return {what: colour}


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
