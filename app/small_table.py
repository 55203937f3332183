"""A small table that is there at once: a grid, which can be sorted, takes a browser longer than all else."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from app.plain import plain


@dataclass(frozen=True)
class Column:
    """A column of a small table.

    Attributes
    ----------
    title : for people.
    form : how Python's `format` writes its numbers.
    hint : what it means.
    """

    title: str
    form: str = ""
    hint: str = ""


def small_table(rows: pd.DataFrame, columns: Mapping[str, Column]) -> None:
    """Show a small table; columns that are not told about are left out."""
    st.markdown(table_text(rows, columns))


def hints(rows: pd.DataFrame, columns: Mapping[str, Column]) -> str:
    """What the columns of a table mean, a line each."""
    told = [one for name, one in columns.items() if name in rows and one.hint]
    return "\n".join(f"- {plain(one.title)}: {plain(one.hint)}" for one in told)


def table_text(rows: pd.DataFrame, columns: Mapping[str, Column]) -> str:
    """A table in markdown, with all names in it escaped.

    Examples
    --------
    >>> rows = pd.DataFrame({"name": ["a|b"], "share": [0.25], "more": [1]})
    >>> print(table_text(rows, {"name": Column("name"), "share": Column("share", ".0%")}))
    | name | share |
    | :-- | --: |
    | a\\|b | 25% |
    """
    shown = [name for name in columns if name in rows]
    sides = ["--:" if pd.api.types.is_numeric_dtype(rows[name]) else ":--" for name in shown]
    body = [
        [plain(_written(value, columns[name].form)) for name, value in zip(shown, row, strict=True)]
        for row in rows[shown].itertuples(index=False)
    ]
    lines = [[plain(columns[name].title) for name in shown], sides, *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _written(value: object, form: str) -> str:
    return "–" if pd.isna(value) else format(value, form)
