"""HTML of pages from jinja2 templates; all text is escaped."""

import re
from functools import cache
from html import escape
from typing import Any
from xml.etree import ElementTree

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.ext import Extension

from distill.common import InputError

_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}"
_SHAPES = (
    "svg g defs use symbol clipPath mask marker pattern linearGradient radialGradient stop path rect circle "
    "ellipse line polyline polygon text tspan title desc"
)
_TAGS = {_SVG + shape for shape in _SHAPES.split()}
_OWN = re.compile(r"""url\(\s*["']?#([^"')]*)["']?\s*\)""", re.IGNORECASE)
_FOREIGN = re.compile(r"url\(|\\", re.IGNORECASE)  # backslashes could hide an address


class Markup(str):
    """Text that is already escaped."""

    __slots__ = ()

    def __html__(self) -> str:
        """Tell jinja2 not to escape it."""
        return self


def element(tag: str, *content: object, **attributes: object) -> Markup:
    """An element with escaped text.

    Parameters
    ----------
    content : elements, or anything that is shown as text.
    attributes : `_` becomes `-`; a final `_` is dropped, as in `class_`.

    Examples
    --------
    >>> element("p", "a < b: ", element("b", "yes"), class_="note")
    '<p class="note">a &lt; b: <b>yes</b></p>'
    """
    named = ((name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items())
    begin = "".join([tag, *(f' {name}="{escape(str(value))}"' for name, value in named)])
    return Markup(f"<{begin}>{''.join(map(_escaped, content))}</{tag}>")


def render(template: str, **values: Any) -> str:
    """Fill a template of `distill/runs/templates`; values that are not markup are escaped.

    Examples
    --------
    >>> "<title>A &amp; B</title>" in render("page.html", title="A & B")
    True
    """
    return _templates().get_template(template).render(values)


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("distill.runs"),
        autoescape=True,
        # Escape as `html.escape` does, so that reports do not change between versions.
        finalize=lambda value: Markup(_escaped(value)),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        extensions=[_Lines],
    )


class _Lines(Extension):
    """Line breaks of a template: dropped beside a tag or a jinja statement, otherwise a space."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        if not (name or "").endswith(".html"):
            return source
        beside = re.sub(r"(?<=[>}])\s*\n\s*|\s*\n\s*(?=[<{])", "", source.strip())
        return re.sub(r"\s*\n\s*", " ", beside)


def _escaped(value: object) -> str:
    # Macros of jinja2 return its own type of markup.
    return str(value.__html__()) if hasattr(value, "__html__") else escape(str(value))


def inline_svg(text: str, name: str, label: str) -> Markup:
    """An SVG figure as an element of a page: only shapes and text, without external references.

    Parameters
    ----------
    name : the prefix of every id, so that several figures share none.
    label : the text for screen readers.

    Examples
    --------
    >>> made = '<svg xmlns="http://www.w3.org/2000/svg"><script>1</script><path id="a" onclick="2"/></svg>'
    >>> inline_svg(made, "first", "A line")
    '<svg role="img" aria-label="A line"><path id="first-a" /></svg>'
    """
    try:
        root = ElementTree.fromstring(text)  # noqa: S314  (expat bounds the expansion of entities)
    except ElementTree.ParseError as error:
        raise InputError(f"The figure {label!r} is no SVG ({error}); draw it again.") from error
    if root.tag != f"{_SVG}svg":
        raise InputError(f"The figure {label!r} is no SVG; draw it again.")
    for node in list(root.iter()):
        for child in list(node):
            if child.tag not in _TAGS:
                node.remove(child)
        node.tag = str(node.tag).removeprefix(_SVG)
        node.attrib = _safe_attributes(node.attrib, name)
    root.attrib = {**root.attrib, "role": "img", "aria-label": label}
    return Markup(ElementTree.tostring(root, encoding="unicode").strip())


def _safe_attributes(attributes: dict[str, str], name: str) -> dict[str, str]:
    """The attributes without external references, with prefixed ids."""
    found = {}
    for key, value in attributes.items():
        key = key.removeprefix(_LINK)
        if key == "href":
            if value.startswith("#"):
                found[key] = f"#{name}-{value[1:]}"
        elif key == "id":
            found[key] = f"{name}-{value}"
        elif not key.startswith(("on", "aria", "{")) and not _FOREIGN.search(_OWN.sub("", value)):
            found[key] = _OWN.sub(lambda own: f"url(#{name}-{own[1]})", value)
    return found
