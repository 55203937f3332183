"""Formulas in the chosen notation, and their downloads."""

import re

import streamlit as st

from app.components.escape import escape
from app.session.run_session import RunSession
from app.session.selection import NOTATIONS, notation
from distill.common import InputError
from distill.explanations import FORMS, express_term
from distill.logic import Node, Number, write

_LONGEST = 2_000  # symbols of a displayed formula
_LINE, _WIDTH = 24, 120  # approximate height in pixels and length in characters of a line


def formula_text(formula: Node, run: RunSession, form: str | None = None) -> str:
    """A formula in the chosen notation; as typed, with a note, where the notation cannot express it."""
    form = form or notation()
    if formula.size > _LONGEST:
        return f"{formula.size:,} symbols; export it to read it"
    if form == "ascii":
        return write(formula)
    try:
        if isinstance(formula, Number):
            return express_term(formula, form, run.vocabulary)
        from distill.logic import FORMATS

        return FORMATS[form].write(formula, run.vocabulary)
    except InputError:
        return f"{write(formula)}  (typed: {NOTATIONS[form]} cannot express this)"


def show_formula(formula: Node, run: RunSession) -> None:
    """Show a formula on its own line, in the chosen notation."""
    text = formula_text(formula, run)
    if notation() == "latex" and formula.size <= _LONGEST and "(typed:" not in text:
        st.latex(text.strip().strip("$"))
    elif notation() == "english":
        st.text(text)
    else:
        preformatted(text)


def preformatted(text: str, tallest: int | None = None) -> None:
    """Show a text verbatim in a fixed-width font, with long lines wrapped.

    A browser shows markdown at once, but needs a quarter of a second for `st.code`.

    Parameters
    ----------
    tallest : pixels; a longer text is scrolled.
    """
    lines = text.split("\n")
    shown = "  \n".join(map(verbatim, lines))
    if tallest is not None and max(len(lines), len(text) // _WIDTH) * _LINE > tallest:
        with st.container(height=tallest):
            st.markdown(shown)
    else:
        st.markdown(shown)


def verbatim(text: str) -> str:
    """A line of text as markdown that shows every character.

    Examples
    --------
    >>> verbatim("#<on>clear * 2"), verbatim("a `b`"), verbatim("")
    ('`#<on>clear * 2`', '`` a `b` ``', '')
    """
    if not text.strip():
        return ""
    inner = text.lstrip(" ")
    inner = "\u00a0" * (len(text) - len(inner)) + inner
    inner = inner.replace(":material/", ":\u2060material/")  # Streamlit looks for icons even here
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", inner)), default=0))
    return f"{fence}{inner}{fence}" if len(fence) == 1 else f"{fence} {inner} {fence}"


def formula_downloads(formula: Number, run: RunSession, name: str) -> None:
    """Offer a formula in every form, each as a file; forms that cannot express it are named."""
    with st.popover("Export"):
        st.caption(f"For copying ({NOTATIONS[notation()]}):")
        st.code(formula_text(formula, run), language=None, height=100)
        for form, kept in FORMS.items():
            try:
                text = express_term(formula, form, run.vocabulary)
            except InputError as error:
                st.caption(escape(f"{form}: {error}"))
                continue
            file = f"{name}{kept.file.removeprefix('value')}"
            st.download_button(form, text + "\n", file, "text/plain", key=f"{form}/{name}")
