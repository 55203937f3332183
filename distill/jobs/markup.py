"""Markup of pages: what is no markup yet is escaped, so that no name can become some."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from xml.etree import ElementTree

from distill.errors import InputError

_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}"
_SHAPES = [
    "svg",
    "g",
    "defs",
    "use",
    "symbol",
    "clipPath",
    "mask",
    "marker",
    "pattern",
    "linearGradient",
    "radialGradient",
    "stop",
    "path",
    "rect",
    "circle",
    "ellipse",
    "line",
    "polyline",
    "polygon",
    "text",
    "tspan",
    "title",
    "desc",
]
_OWN = re.compile(r"""url\(\s*["']?#([^"')]*)["']?\s*\)""", re.IGNORECASE)

_FOREIGN = re.compile(r"url\(|\\", re.IGNORECASE)  # backslashes could hide an address
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"  # no scripts and no requests, whatever is shown


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def element(tag: str, *content: object, **attributes: object) -> Markup:
    """An element of a page, with all its text escaped.

    Parameters
    ----------
    content : elements, or anything that is shown as text.
    attributes : `_` stands for `-`, and is left out at the end, as in `class_`.

    Examples
    --------
    >>> element("p", "a < b: ", element("b", "yes"), class_="told")
    '<p class="told">a &lt; b: <b>yes</b></p>'
    """
    named = ((name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items())
    begin = "".join([tag, *(f' {name}="{escape(str(value))}"' for name, value in named)])
    return Markup(f"<{begin}>{joined(*content)}</{tag}>")


def joined(*content: object) -> Markup:
    """Elements and texts one after the other.

    Examples
    --------
    >>> joined(element("i", "x"), " & y")
    '<i>x</i> &amp; y'
    """
    return Markup("".join(one if isinstance(one, Markup) else escape(str(one)) for one in content))


def page(title: str, *content: object) -> str:
    """A whole page in HTML, which loads nothing and runs nothing.

    Examples
    --------
    >>> page("A & B", element("h1", "C")).splitlines()[-1]
    '</style></head><body><main><h1>C</h1></main></body></html>'
    """
    head = [
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),
        element("title", title),
        element("style", Markup(_STYLE)),
    ]
    body = element("body", element("main", *content))
    return f"<!doctype html>\n{element('html', element('head', *head), body, lang='en')}\n"


def table(
    caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]], numeric: Iterable[int] = ()
) -> Markup:
    """A table whose first column names its rows.

    Parameters
    ----------
    numeric : the columns of numbers, which stand to the right.

    Examples
    --------
    >>> '<tr><th scope="row">a</th><td>1</td></tr>' in table("Some", ["name", "value"], [["a", 1]])
    True
    """
    right = [{"class_": "number"} if place in set(numeric) else {} for place in range(len(columns))]
    head = [element("th", name, scope="col", **own) for name, own in zip(columns, right, strict=True)]
    body = []
    for row in rows:
        first, *others = zip(row, right, strict=True)
        cells = [element("th", first[0], scope="row", **first[1])]
        cells += [element("td", cell, **own) for cell, own in others]
        body.append(element("tr", *cells))
    whole = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *head)),
        element("tbody", *body),
    )
    # What is wider than the screen can be scrolled, with keys too.
    return element("div", whole, class_="wide", tabindex=0, role="region", aria_label=caption)


def inline_svg(text: str, name: str, label: str) -> Markup:
    """An SVG figure as an element of a page: shapes and texts only, which ask for nothing outside.

    Parameters
    ----------
    name : comes before every id, so that several figures do not share any.
    label : what those hear who do not see it.

    Examples
    --------
    >>> made = '<svg xmlns="http://www.w3.org/2000/svg"><script>1</script><path id="a" onclick="2"/></svg>'
    >>> inline_svg(made, "first", "A line")
    '<svg role="img" aria-label="A line"><path id="first-a" /></svg>'
    """
    try:
        root = ElementTree.fromstring(text)  # noqa: S314  (expat itself bounds what entities may become)
    except ElementTree.ParseError as error:
        raise InputError(f"The figure {label!r} is no SVG ({error}); draw it again.") from error
    if root.tag != f"{_SVG}svg":
        raise InputError(f"The figure {label!r} is no SVG; draw it again.")
    for node in list(root.iter()):
        for child in list(node):
            if child.tag not in _TAGS:
                node.remove(child)
        node.tag = str(node.tag).removeprefix(_SVG)
        node.attrib = _kept(node.attrib, name)
    root.attrib = {**root.attrib, "role": "img", "aria-label": label}
    return Markup(ElementTree.tostring(root, encoding="unicode").strip())


_TAGS = {_SVG + shape for shape in _SHAPES}


def _kept(attributes: dict[str, str], name: str) -> dict[str, str]:
    """The attributes that only look at the figure itself, with its own ids."""
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


_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --soft: #57606a; --line: #d0d7de;
  --shade: #f6f8fa; --good: #116329; --bad: #a40e26 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --soft: #9da7b1;
  --line: #3d444d; --shade: #161b22; --good: #56d364; --bad: #ff7b72 } }
body { margin: 0; color: var(--ink); background: var(--paper); font: 1rem/1.5 system-ui, sans-serif }
main { max-width: 76rem; margin: 0 auto; padding: 1.5rem }
h1 { margin: 0 0 1rem; font-size: 1.7rem; overflow-wrap: anywhere }
h2 { margin: 2.5rem 0 .75rem; padding-bottom: .25rem; border-bottom: 1px solid var(--line);
  font-size: 1.25rem }
h3 { margin: 1.5rem 0 .5rem; font-size: 1rem }
code, pre { font: .875rem/1.5 ui-monospace, "DejaVu Sans Mono", Consolas, monospace }
pre { margin: .5rem 0; padding: .75rem 1rem; background: var(--shade); border: 1px solid var(--line);
  border-radius: 6px; white-space: pre-wrap; overflow-wrap: anywhere }
pre.function code { font-size: 1rem }
.verdict { margin: 1rem 0; padding: .5rem 1rem; border-left: 4px solid var(--bad); background: var(--shade) }
.verdict.exact { border-color: var(--good) }
.verdict p { margin: .25rem 0 }
.verdict .state { margin-left: 1.5rem; font-family: ui-monospace, monospace; font-size: .85rem }
.note { color: var(--soft); font-size: .85rem }
.wide { overflow-x: auto; margin: .75rem 0 }
table { border-collapse: collapse; font-size: .9rem }
caption { padding: .25rem 0; text-align: left; color: var(--soft); font-size: .85rem }
th, td { padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; font-weight: normal }
thead th { border-bottom-width: 2px; font-weight: 600; white-space: nowrap }
td:not(.number) { min-width: 7rem; overflow-wrap: anywhere }
.note code { font-size: .8rem }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
summary { cursor: pointer; margin: .5rem 0 }
figure { margin: 1rem 0 }
figure svg { max-width: 100%; height: auto; background: #fff; border-radius: 6px }
figure svg * { stroke-linejoin: round; stroke-linecap: butt }
figcaption { color: var(--soft); font-size: .85rem }
@media print { main { max-width: none; padding: 0 } .wide { overflow: visible }
  h2, h3, caption { break-after: avoid } tr, figure { break-inside: avoid } details { display: none } }
"""
