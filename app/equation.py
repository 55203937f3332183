"""The value function as an equation, and its terms one by one, in the chosen notation."""

import streamlit as st

from app.opened import Opened
from app.parts import preformatted, written
from app.selection import NOTATIONS, notation
from distill.errors import InputError
from distill.jobs import express
from distill.jobs.forms import LARGEST
from distill.jobs.forms import written as file_text
from distill.logic import Number, Product

_TALL = 420  # pixels of an equation that is scrolled
_RENDERED = 6_000  # characters of LaTeX that a browser sets quickly


def show_equation(run: Opened) -> None:
    """The value function with shared parts named; typed, and told so, where the notation cannot say it."""
    size, form = run.distilled.value.size, notation()
    if size > LARGEST:
        st.info(f"This value function has {size:,} symbols, too many to read; export it as Python or JSON.")
        return
    _ = run.vocabulary  # what is damaged is no matter of the notation
    try:
        text = equation(run, form)
    except InputError as error:
        st.info(f"{NOTATIONS[form]} cannot say this value function, so it is shown typed.")
        st.text(str(error))
        form, text = "ascii", equation(run, "ascii")
    if ", not written: " in text:
        st.caption(f"{NOTATIONS[form]} cannot say every term; comments tell which and why.")
    if form == "latex" and len(text) <= _RENDERED:
        st.latex(text)
        with st.expander("LaTeX source", key="equation/source"):
            preformatted(text)
        return
    preformatted(text, _TALL)


def copyable(run: Opened) -> None:
    """The value function in the chosen notation with a button that copies it, if that can be said."""
    try:
        text = equation(run, notation()) if run.distilled.value.size <= LARGEST else ""
    except InputError:
        text = ""
    if text:
        st.caption(f"To be copied ({NOTATIONS[notation()]}):")
        st.code(text, language=None, height=120)


def equation(run: Opened, form: str) -> str:
    """The value function in a form; refused where nothing of it can be said."""
    return _express(str(run.folder), run.stamp, form, run)


def exported(run: Opened, form: str) -> str:
    """The text of the file that holds the value function in a form; comments tell what cannot be said."""
    return file_text(run.distilled, form, run.vocabulary) + "\n"


def term_text(feature: Number, run: Opened, form: str | None = None) -> str:
    """A term on one line, in the chosen notation; a product by its factors where the notation has none."""
    form = form or notation()
    if isinstance(feature, Product) and form in ("c2", "dlplan"):
        factors = [written(factor, run, form) for factor in feature.fields]
        if not any("(typed:" in factor for factor in factors):
            return " · ".join(factors)
    return " ".join(written(feature, run, form).split("\n"))


@st.cache_data(max_entries=64, show_spinner="Writing the value function")
def _express(folder: str, stamp: int, form: str, _run: Opened) -> str:
    return express(_run.distilled.value, form, _run.vocabulary)
