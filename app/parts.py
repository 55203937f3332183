"""What pages share: formulas in the chosen notation, charts of one look, and what can be taken away."""

import re
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from app.opened import Opened
from app.plain import plain as plain
from app.selection import NOTATIONS, notation
from distill.errors import InputError
from distill.jobs import FORMS, express_term
from distill.logic import Node, Number, write

# Okabe and Ito's colours, which colour-blind people can tell apart; black is left out for the dark theme.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442"]
HELD = "#E69F00"  # objects of which a formula holds
_LONGEST = 2_000  # symbols that are shown
_LINE, _WIDTH = 24, 120  # pixels and characters of a line of a formula, about
_MENU = {"embedOptions": {"actions": {"export": True, "source": False, "compiled": False, "editor": False}}}


def written(formula: Node, opened: Opened, form: str | None = None) -> str:
    """A formula in the chosen notation; typed, with a note, where that cannot express it."""
    form = form or notation()
    if formula.size > _LONGEST:
        return f"{formula.size:,} symbols; export it to read it"
    if form == "ascii":
        return write(formula)
    try:
        if isinstance(formula, Number):
            return express_term(formula, form, opened.vocabulary)
        from distill.logic import FORMATS

        return FORMATS[form].write(formula, opened.vocabulary)
    except InputError:
        return f"{write(formula)}  (typed: {NOTATIONS[form]} cannot say this)"


def show_formula(formula: Node, opened: Opened) -> None:
    """A formula on a line of its own, in the chosen notation."""
    text = written(formula, opened)
    if notation() == "latex" and formula.size <= _LONGEST and "(typed:" not in text:
        st.latex(text.strip().strip("$"))
    elif notation() == "english":
        st.text(text)
    else:
        preformatted(text)


def preformatted(text: str, tallest: int | None = None) -> None:
    """A formula or other text as it is, in letters of one width, long lines wrapped.

    Streamlit's own `st.code` would do, but a browser needs a quarter of a second to get it ready; what is
    markdown is there at once.

    Parameters
    ----------
    tallest : pixels; what has more lines is scrolled.
    """
    lines = text.split("\n")
    shown = "  \n".join(map(verbatim, lines))
    if tallest is not None and max(len(lines), len(text) // _WIDTH) * _LINE > tallest:
        with st.container(height=tallest):
            st.markdown(shown)
    else:
        st.markdown(shown)


def verbatim(text: str) -> str:
    """A line of text as markdown that shows it letter by letter.

    Examples
    --------
    >>> verbatim("#<on>clear * 2"), verbatim("a `b`"), verbatim("")
    ('`#<on>clear * 2`', '`` a `b` ``', '')
    """
    if not text.strip():
        return ""
    inner = text.lstrip(" ")
    inner = "\u00a0" * (len(text) - len(inner)) + inner
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", inner)), default=0))
    return f"{fence}{inner}{fence}" if len(fence) == 1 else f"{fence} {inner} {fence}"


def chart(figure: Any, **options: Any) -> None:
    """A chart in the page's theme, as wide as its place; its menu saves it as SVG or PNG.

    Parameters
    ----------
    figure : a chart of Altair, or what its `to_dict` gives, which can be kept: making it takes long.
    """
    if isinstance(figure, dict):
        st.vega_lite_chart({**figure, "usermeta": _MENU}, width="stretch", **options)
        return
    st.altair_chart(figure.properties(usermeta=_MENU), width="stretch", **options)


def scale(domain: list[str]) -> alt.Scale:
    """The colours of a few kinds."""
    return alt.Scale(domain=domain, range=COLOURS[: len(domain)])


def table_download(table: pd.DataFrame, name: str, label: str = "CSV") -> None:
    """The numbers behind what is shown, as a file."""
    st.download_button(
        label, table.to_csv(index=False).encode(), f"{name}.csv", "text/csv", key=f"csv/{name}", icon=None
    )


def formula_downloads(formula: Number, opened: Opened, name: str) -> None:
    """A feature in every form, each a file; forms that cannot express it are not offered."""
    with st.popover("Export"):
        st.caption(f"To be copied ({NOTATIONS[notation()]}):")
        st.code(written(formula, opened), language=None, height=100)
        for form, kept in FORMS.items():
            try:
                text = express_term(formula, form, opened.vocabulary)
            except InputError as error:
                st.caption(plain(f"{form}: {error}"))
                continue
            file = f"{name}{kept.file.removeprefix('value')}"
            st.download_button(form, text + "\n", file, "text/plain", key=f"{form}/{name}")
