"""Tables: small ones in markdown, tables whose rows open a page, and tables as files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from app.components.escape import escape
from app.session.selection import OPEN_PAGES, link

Target = Mapping[str, object] | None


@dataclass(frozen=True)
class Column:
    """A column of a small table.

    Attributes
    ----------
    title : the heading.
    form : the format specification of its numbers.
    hint : its meaning.
    """

    title: str
    form: str = ""
    hint: str = ""


def small_table(rows: pd.DataFrame, columns: Mapping[str, Column]) -> None:
    """Show a small table in markdown, which a browser shows at once; only the given columns."""
    st.markdown(table_text(rows, columns))


def hints(rows: pd.DataFrame, columns: Mapping[str, Column]) -> str:
    """The meaning of the columns of a table, one line each."""
    explained = [one for name, one in columns.items() if name in rows and one.hint]
    return "\n".join(f"- {escape(one.title)}: {escape(one.hint)}" for one in explained)


def table_text(rows: pd.DataFrame, columns: Mapping[str, Column]) -> str:
    """A table in markdown, with all texts escaped.

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
        [escape(_written(value, columns[name].form)) for name, value in zip(shown, row, strict=True)]
        for row in rows[shown].itertuples(index=False)
    ]
    lines = [[escape(columns[name].title) for name in shown], sides, *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _written(value: object, form: str) -> str:
    return "–" if pd.isna(value) else format(value, form)


def linked_rows(table: pd.DataFrame, page: str, targets: Sequence[Target], key: str, **options: Any) -> None:
    """Show a table; a ticked row opens a page of the workbench.

    Parameters
    ----------
    page : the address of the page, not of the current one.
    targets : for each row the selection on that page; None if the row opens nothing.
    options : options of `st.dataframe`.
    """
    seen = st.dataframe(
        table, hide_index=True, key=key, on_select="rerun", selection_mode="single-row", **options
    )
    rows = seen["selection"]["rows"]
    target = targets[rows[0]] if rows and rows[0] < len(targets) else None
    if target is None:
        if rows:
            st.info("This row opens nothing.")
    elif page in OPEN_PAGES:
        st.switch_page(OPEN_PAGES[page], query_params=query_params(target))
    else:  # a page that runs outside the workbench, as in tests
        st.link_button("Open it", link(page, **target))


def query_params(target: Mapping[str, object]) -> dict[str, str]:
    """A selection as parameters of an address: texts, without empty values.

    Examples
    --------
    >>> query_params({"run": "a", "state": 0, "formula": "", "split": None})
    {'run': 'a', 'state': '0'}
    """
    return {name: str(value) for name, value in target.items() if value not in (None, "")}


def table_download(table: pd.DataFrame, name: str, label: str = "CSV") -> None:
    """Offer a table as a CSV file."""
    st.download_button(
        label, table.to_csv(index=False).encode(), f"{name}.csv", "text/csv", key=f"csv/{name}", icon=None
    )
