"""Parts of a page whose errors leave the other parts alone."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from app.components.escape import escape
from distill.common import InputError

FAILURES = (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RuntimeError)


@contextmanager
def part() -> Iterator[None]:
    """Report an error of a part of the page in its place; the other parts are still shown."""
    try:
        yield
    except InputError as error:
        st.warning(escape(error))
    except FAILURES as error:
        st.error(f"This part cannot be shown ({type(error).__name__}: {escape(error)}).")
