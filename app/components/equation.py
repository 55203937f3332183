"""The value function as an equation, and its single terms, in the chosen notation."""

import streamlit as st

from app.components.formula_display import formula_text, preformatted
from app.session.run_session import RunSession
from app.session.selection import NOTATIONS, notation
from distill.common import InputError
from distill.explanations import LARGEST, express
from distill.logic import Number, Product

_HEIGHT = 420  # pixels of an equation; a longer one is scrolled
_RENDERED = 6_000  # characters of LaTeX that a browser typesets quickly


def show_equation(run: RunSession) -> None:
    """Show the value function with names for shared parts; as typed if the notation cannot express it."""
    size, form = run.value_function.value.size, notation()
    if size > LARGEST:
        st.info(
            f"This value function has {size:,} symbols, too many to display; export it as Python or JSON."
        )
        return
    _ = run.vocabulary  # a damaged run is no failure of the notation
    try:
        text = equation(run, form)
    except InputError as error:
        st.info(f"{NOTATIONS[form]} cannot express this value function, so it is shown as typed.")
        st.text(str(error))
        form, text = "ascii", equation(run, "ascii")
    if ", not written: " in text:
        st.caption(f"{NOTATIONS[form]} cannot express every term; comments name these terms and the reason.")
    if form == "latex" and len(text) <= _RENDERED:
        st.latex(text)
        with st.expander("LaTeX source", key="equation/source"):
            preformatted(text)
        return
    preformatted(text, _HEIGHT)


def show_copyable(run: RunSession) -> None:
    """Show the value function with a button that copies it, if the notation can express it."""
    try:
        text = equation(run, notation()) if run.value_function.value.size <= LARGEST else ""
    except InputError:
        text = ""
    if text:
        st.caption(f"For copying ({NOTATIONS[notation()]}):")
        st.code(text, language=None, height=120)


def equation(run: RunSession, form: str) -> str:
    """The value function in a form; an `InputError` if the form cannot express any term."""
    return _express(str(run.folder), run.stamp, form, run)


def equation_file(run: RunSession, form: str) -> str:
    """The file with the value function in a form; comments name the terms that it cannot express."""
    return run.value_function.export(form, run.vocabulary, run.run.bounds_in(form)) + "\n"


def term_text(feature: Number, run: RunSession, form: str | None = None) -> str:
    """A term on one line, in the chosen notation; as factors where the notation has no products."""
    form = form or notation()
    if isinstance(feature, Product) and form in ("c2", "dlplan"):
        factors = [formula_text(factor, run, form) for factor in feature.fields]
        if not any("(typed:" in factor for factor in factors):
            return " · ".join(factors)
    return " ".join(formula_text(feature, run, form).split("\n"))


@st.cache_data(max_entries=64, show_spinner="Writing the value function")
def _express(folder: str, stamp: int, form: str, _run: RunSession) -> str:
    return express(_run.value_function.value, form, _run.vocabulary, _run.run.bounds_in(form))
