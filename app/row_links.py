"""Tables whose rows lead somewhere: a row that is ticked opens its page, in the same tab."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from app.selection import OPEN_PAGES, link

Target = Mapping[str, object] | None


def linked_rows(table: pd.DataFrame, page: str, targets: Sequence[Target], key: str, **options: Any) -> None:
    """Show a table; the row that is ticked opens a page of the workbench.

    Parameters
    ----------
    page : the address of the page, another one than the page that is shown.
    targets : for each row what is to be selected there; none if it leads nowhere.
    options : of `st.dataframe`.
    """
    seen = st.dataframe(
        table, hide_index=True, key=key, on_select="rerun", selection_mode="single-row", **options
    )
    rows = seen["selection"]["rows"]
    target = targets[rows[0]] if rows and rows[0] < len(targets) else None
    if target is None:
        if rows:
            st.info("There is nothing to open for this row.")
    elif page in OPEN_PAGES:
        st.switch_page(OPEN_PAGES[page], query_params=given(target))
    else:  # a page that is shown by itself
        st.link_button("Open it", link(page, **target))


def given(target: Mapping[str, object]) -> dict[str, str]:
    """A selection as an address has it: texts, and nothing that is empty.

    Examples
    --------
    >>> given({"run": "a", "state": 0, "formula": "", "split": None})
    {'run': 'a', 'state': '0'}
    """
    return {name: str(value) for name, value in target.items() if value not in (None, "")}
