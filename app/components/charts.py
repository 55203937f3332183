"""Charts in one style."""

from typing import Any

import altair as alt
import streamlit as st

from app.drawings.palette import COLOURS

_MENU = {"embedOptions": {"actions": {"export": True, "source": False, "compiled": False, "editor": False}}}


def chart(figure: Any, **options: Any) -> None:
    """Show a chart in the theme of the page; its menu saves it as SVG or PNG.

    Parameters
    ----------
    figure : a chart of Altair, or its `to_dict`, which can be cached.
    """
    if isinstance(figure, dict):
        st.vega_lite_chart({**figure, "usermeta": _MENU}, width="stretch", **options)
        return
    st.altair_chart(figure.properties(usermeta=_MENU), width="stretch", **options)


def scale(domain: list[str]) -> alt.Scale:
    """The colours of the values of a column."""
    return alt.Scale(domain=domain, range=COLOURS[: len(domain)])
