"""What a page shows, as markup of a file: texts, tables and figures; what can only be clicked is left out."""

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping
from html import escape
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote

import pandas as pd
from streamlit import dataframe_util

from app.snapshot_markdown import code_or_table, picture_in
from distill.errors import InputError
from distill.jobs.markup import Markup, element, inline_svg, table

Shown = Any
"""An element or a block, as it is sent to the browser."""
_ROWS = 1_000  # of a table
_DARK = "#0e1117"
_SIZE = {"continuousWidth": 640, "discreteWidth": 640, "continuousHeight": 300}  # of a chart
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()<>#+\-.!|~$:&])")
_WORDS = ("pre", "code", "p", "div", "span", "strong", "b", "em", "i", "small", "sub", "sup", "ul", "li")
_TEXTS = frozenset([*_WORDS, "table", "caption", "thead", "tbody", "tr", "th", "td"])
_NO_TEXT = frozenset(["style", "script", "title", "template", "noscript"])
_SPANS = ("colspan", "rowspan", "scope")
_EMPHASIS = re.compile(r"\*\*(.+?)\*\*")


def shown_markup(found: Mapping[tuple[int, ...], Shown], dark: bool = False) -> Iterator[Markup]:
    """All that was shown, from top to bottom.

    Parameters
    ----------
    found : elements and blocks, by their places.
    dark : whether pictures were drawn for a dark page.
    """
    hidden: list[tuple[int, ...]] = []
    titles: list[tuple[tuple[int, ...], Markup]] = []
    for number, (path, shown) in enumerate(sorted(found.items())):
        if any(path[: len(one)] == one for one in hidden):
            continue
        kind = shown.WhichOneof("type")
        if kind == "popover":  # closed, unless somebody looks
            hidden.append(path)
        elif kind in ("expandable", "tab"):
            titles.append((path, element("h3", unmarked(getattr(shown, kind).label))))
        # What folds out may be filled only then; without content its title says nothing.
        elif written_out := list(_written_out(kind, shown, number, dark)):
            yield from (title for place, title in titles if path[: len(place)] == place)
            titles.clear()
            yield from written_out


def _written_out(kind: str | None, shown: Shown, number: int, dark: bool) -> Iterator[Markup]:
    if kind == "imgs":
        yield from _images(shown.imgs, f"image{number}", dark)
    elif kind == "markdown" and (picture := picture_in(shown.markdown.body)):
        words, url = picture
        yield _figure(svg_of(url), f"image{number}", words, dark)
    elif kind == "markdown" and (formatted := code_or_table(shown.markdown.body)):
        yield formatted
    elif kind == "vega_lite_chart":
        yield from _chart(shown.vega_lite_chart, f"chart{number}")
    elif kind in _WRITERS:
        yield from _WRITERS[kind](getattr(shown, kind))


def unmarked(text: str) -> str:
    r"""Text as people read it: without the signs that make it markup.

    Examples
    --------
    >>> unmarked(r"**at\_robby** holds")
    'at_robby holds'
    """
    return _ESCAPED.sub(r"\1", _EMPHASIS.sub(r"\1", text))


def _heading(shown: Shown) -> Iterator[Markup]:
    yield element(shown.tag if shown.tag in ("h1", "h2", "h3") else "h3", unmarked(shown.body))


def _markdown(shown: Shown) -> Iterator[Markup]:
    kinds = type(shown)
    if shown.element_type == kinds.LATEX:
        yield element("pre", element("code", shown.body.strip().strip("$").strip()))
    elif shown.element_type == kinds.CAPTION:
        yield element("p", unmarked(shown.body), class_="note")
    elif shown.element_type != kinds.DIVIDER and shown.body.strip():
        yield element("p", unmarked(shown.body))


def _text(shown: Shown) -> Iterator[Markup]:
    for line in shown.body.splitlines():
        yield element("p", line)


def _code(shown: Shown) -> Iterator[Markup]:
    yield element("pre", element("code", shown.code_text))


def _alert(shown: Shown) -> Iterator[Markup]:
    kinds = type(shown)
    look = {kinds.SUCCESS: "verdict exact", kinds.INFO: "note"}.get(shown.format, "verdict")
    yield element("div", element("p", unmarked(shown.body)), class_=look)


def _metric(shown: Shown) -> Iterator[Markup]:
    more = f" ({shown.delta})" if shown.delta else ""
    yield element("p", f"{unmarked(shown.label)}: ", element("strong", shown.body), more)


def _progress(shown: Shown) -> Iterator[Markup]:
    yield element("p", f"{unmarked(shown.text)} ({shown.value} %)")


class _Plain(HTMLParser):
    """Markup of which only texts and tables are left: nothing that is loaded, run or clicked."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._inside = 0  # what is no text, such as styles
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside += tag in _NO_TEXT
        if tag in _TEXTS:
            kept = [f' {name}="{escape(value)}"' for name, value in attrs if name in _SPANS and value]
            self.parts.append(f"<{tag}{''.join(kept)}>")

    def handle_endtag(self, tag: str) -> None:
        self._inside -= tag in _NO_TEXT and self._inside > 0
        if tag in _TEXTS:
            self.parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self.parts.append(escape(data))


def _html(shown: Shown) -> Iterator[Markup]:
    yield element("div", Markup("".join(_Plain(shown.body).parts)), class_="wide")


def _graph(shown: Shown) -> Iterator[Markup]:
    """A graph that the browser lays out: here as it is written down."""
    words = element("summary", "A diagram that only the workbench draws, in the language of Graphviz")
    yield element("details", words, element("pre", element("code", shown.spec)))


def _dataframe(shown: Shown) -> Iterator[Markup]:
    content = shown.arrow_data.data or shown.lazy_data.initial_chunk.data
    frame = dataframe_util.convert_arrow_bytes_to_pandas_df(content)
    config = json.loads(shown.columns or "{}")
    order = list(shown.column_order) or list(map(str, frame.columns))
    frame.columns = frame.columns.map(str)
    kept = [name for name in order if name in frame.columns and not _is_hidden(config.get(name))]
    yield from frame_markup(frame[kept], config)


def _is_hidden(told: Mapping[str, Any] | None) -> bool:
    """Whether a column is not shown, or only leads to other pages of the workbench."""
    kind = ((told or {}).get("type_config") or {}).get("type")
    return bool((told or {}).get("hidden")) or kind == "link"


def frame_markup(
    frame: pd.DataFrame, config: Mapping[str, Any] | None = None, caption: str = ""
) -> Iterator[Markup]:
    """A table, the first rows of it if it is long.

    Parameters
    ----------
    config : what Streamlit was told about columns: `label`, and `format` in `type_config`.

    Examples
    --------
    >>> "<td" in "".join(frame_markup(pd.DataFrame({"name": ["a"], "value": [0.5]})))
    True
    """
    if frame.empty:
        return
    known = {name: (config or {}).get(name) or {} for name in frame.columns}
    labels = [str(known[name].get("label") or name) for name in frame.columns]
    formats = [(known[name].get("type_config") or {}).get("format") for name in frame.columns]
    numeric = [
        place for place, name in enumerate(frame.columns) if pd.api.types.is_numeric_dtype(frame[name])
    ]
    rows = [
        [written(value, form) for value, form in zip(row, formats, strict=True)]
        for row in frame.head(_ROWS).itertuples(index=False)
    ]
    more = f"The first {_ROWS:,} of {len(frame):,} rows. " if len(frame) > _ROWS else ""
    yield table(f"{more}{caption}".strip(), labels, rows, numeric)


def written(value: Any, form: str | None = None) -> str:
    """A cell of a table.

    Examples
    --------
    >>> written(0.25, "percent"), written(0.25, "%.4f"), written(1234), written(None), written(True)
    ('25%', '0.2500', '1,234', '–', 'yes')
    """
    if value is None or (pd.api.types.is_scalar(value) and pd.isna(value)):
        return "–"
    if isinstance(value, bool) or str(value) in ("True", "False"):
        return "yes" if str(value) == "True" else "no"
    if pd.api.types.is_number(value):
        if form == "percent":
            return f"{float(value):.4g}" if abs(float(value)) > 100 else f"{100 * float(value):.4g}%"
        if form and "%" in form:
            try:
                return str(form % value)
            except (TypeError, ValueError):
                pass
        return f"{value:,}" if pd.api.types.is_integer(value) else f"{float(value) + 0.0:.6g}"
    if isinstance(value, pd.Timestamp):
        return f"{value:%Y-%m-%d %H:%M}"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _images(shown: Shown, name: str, dark: bool) -> Iterator[Markup]:
    for number, image in enumerate(shown.imgs):
        text = svg_of(image.url) or image.markup
        words = unmarked(getattr(image, "alt", "") or image.caption or "A picture")
        if not text:
            yield element("p", f"A picture that is not part of this file: {words}", class_="note")
            continue
        yield _figure(text, f"{name}-{number}", words, dark)


def _figure(text: str, name: str, words: str, dark: bool) -> Markup:
    if dark:
        text = text.replace("<svg ", f'<svg style="background:{_DARK}" ', 1)
    return element("figure", inline_svg(text, name, words))


def svg_of(url: str) -> str:
    """The text of a picture that stands in its own address; nothing if it does not.

    Examples
    --------
    >>> svg_of("data:image/svg+xml;base64,PHN2Zy8+")
    '<svg/>'
    """
    begin, _, content = url.partition(",")
    if not begin.startswith("data:image/svg+xml"):
        return ""
    return base64.b64decode(content).decode() if begin.endswith("base64") else unquote(content)


def _chart(shown: Shown, name: str) -> Iterator[Markup]:
    """A chart as a drawing; where that cannot be made, the numbers behind it."""
    spec = json.loads(shown.spec)
    frames = {
        one.name: dataframe_util.convert_arrow_bytes_to_pandas_df(one.data.data) for one in shown.datasets
    }
    if shown.data.data:
        frames["source"] = dataframe_util.convert_arrow_bytes_to_pandas_df(shown.data.data)
        spec["data"] = {"name": "source"}
    try:
        drawing = _drawn(spec, frames)
    except (ImportError, ValueError, InputError) as error:
        yield element("p", f"A chart that could not be drawn here ({error}); its numbers:", class_="note")
        for frame in frames.values():
            yield from frame_markup(frame)
        return
    yield element("figure", inline_svg(drawing, name, str(shown.alt or "A chart")))


def _drawn(spec: dict[str, Any], frames: Mapping[str, pd.DataFrame]) -> str:
    import vl_convert  # takes long, and most never need it

    spec = {key: value for key, value in spec.items() if key not in ("usermeta", "autosize")}
    sets = dict(spec.get("datasets") or {})
    sets |= {
        name: json.loads(frame.to_json(orient="records", date_format="iso")) for name, frame in frames.items()
    }
    config = {**(spec.get("config") or {}), "view": _SIZE}
    drawn: str = vl_convert.vegalite_to_svg(
        {**spec, "datasets": sets, "config": config, "background": "white"}, allowed_base_urls=[]
    )
    return drawn


_WRITERS: dict[str, Callable[[Shown], Iterator[Markup]]] = {
    "heading": _heading,
    "markdown": _markdown,
    "text": _text,
    "code": _code,
    "alert": _alert,
    "metric": _metric,
    "progress": _progress,
    "graphviz_chart": _graph,
    "html": _html,
    "dataframe": _dataframe,
}
