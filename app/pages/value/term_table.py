"""The terms of a value function, one row each: weight, formula, frequency and contribution."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from app.components.equation import term_text
from app.components.escape import escape
from app.components.formula_display import preformatted
from app.components.tables import Target, linked_rows, table_download
from app.pages.value.contributions import Effects, ValueTerm, terms_of
from app.session.run_session import RunSession
from app.session.selection import notation, page_link, pick, remember, select, selected
from distill.logic import write

_ROWS = 8  # terms on a page
_LONGEST = 400  # characters of a formula in a table
_LINKED = 2_000  # symbols of a formula that fits into an address
ORDERS = {
    "weight": "weight",
    "contribution": "mean contribution",
    "fires": "share of states where it is not 0",
    "size": "size of the formula",
}


def show_terms(run: RunSession, terms: Sequence[ValueTerm], found: Mapping[str, Effects], split: str) -> None:
    """Show the terms in pages, in the chosen order, and all of them as a table."""
    remember("terms_by", "terms_find", "terms_page")
    if not any(term.place for term in terms):
        st.info("This value function has no features; it is constant.")
    table = terms_table(run, terms, found, term_texts(run, notation()))
    order, wanted = _controls(len(terms))
    rows = sort_terms(table, order, split, wanted)
    if rows.empty:
        st.info("No formula of a term contains this text; try a shorter one.")
    for number in _on_page(rows.index.tolist()):
        _show_row(run, terms[number], table.loc[number], found, split)
    counted = f"{len(rows):,} term{'s' if len(rows) != 1 else ''}"
    with st.expander(f"{counted} as a table", key="terms/all", on_change="rerun") as whole:
        if whole.open:
            st.caption("Tick a row to open its formula.")
            _show_table(rows, [_target(run, terms[number]) for number in rows.index], split)
    table_download(table.drop(columns="shown"), "terms", "Terms as CSV")


def terms_table(
    run: RunSession, terms: Sequence[ValueTerm], found: Mapping[str, Effects], texts: Sequence[str]
) -> pd.DataFrame:
    """For each term its weight, formula, size and provenance, and its effects on each split.

    Parameters
    ----------
    texts : the displayed formulas.
    """
    constant = np.array([term.place == 0 for term in terms])
    weight = np.array([term.weight for term in terms], dtype=np.float64)
    origins = [term.feature.provenance if term.feature else None for term in terms]
    table = pd.DataFrame(
        {
            "term": [term.place or None for term in terms],
            "weight": [term.number.fields[0] if term.place == 0 else term.weight for term in terms],
            "shown": list(texts),
            "formula": [write(term.number) if term.number.size <= _LINKED else "" for term in terms],
            "size": [term.number.size for term in terms],
            "kind": [term.kind for term in terms],
        }
    )
    for split, one in found.items():
        table[f"fires_{split}"] = np.where(constant, np.nan, one.fires)
        table[f"mean_value_{split}"] = np.where(constant, np.nan, one.mean)
        table[f"mean_contribution_{split}"] = weight * one.mean
    table["origin"] = [one.words if one else "" for one in origins]
    table["layer"] = pd.array([origin and origin.layer for origin in origins], dtype="Int64")
    table["tree"] = pd.array([origin and origin.tree for origin in origins], dtype="Int64")
    table["leaves"] = [" ".join(map(str, origin.leaves)) if origin else "" for origin in origins]
    return table


def sort_terms(table: pd.DataFrame, order: str, split: str, wanted: str) -> pd.DataFrame:
    """The rows whose formula contains a text, sorted by decreasing values, the constant last."""
    if wanted:
        named = (table["formula"] + "\n" + table["shown"]).str.lower()
        table = table[named.str.contains(wanted.lower(), regex=False)]
    if order == "weight":
        return table
    key = {"contribution": f"mean_contribution_{split}", "fires": f"fires_{split}"}.get(order, order)
    if key not in table:
        return table
    size = table[key].abs().where(table["term"].notna(), -np.inf)
    return table.loc[size.sort_values(ascending=False, kind="stable").index]


def term_texts(run: RunSession, form: str) -> list[str]:
    """The formulas of all terms in a notation."""
    return _texts(str(run.folder), run.stamp, form, run)


@st.cache_data(max_entries=32, show_spinner="Writing the formulas")
def _texts(folder: str, stamp: int, form: str, _run: RunSession) -> list[str]:
    return [term_text(term.number, _run, form) if term.place else "constant" for term in terms_of(_run)]


def _controls(count: int) -> tuple[str, str]:
    """Ask for the order of the terms and for a text in their formulas; not for a few terms."""
    if count <= _ROWS:
        return "weight", ""
    first, second = st.columns(2)
    with first:
        order = pick("Order by", list(ORDERS), "terms_by", show=ORDERS.__getitem__)
    with second:
        st.session_state["widget/terms_find"] = selected("terms_find")
        wanted = st.text_input(
            "Formulas that contain", key="widget/terms_find", placeholder="at-robby", on_change=_look_for
        )
    return order, wanted.strip()


def _look_for() -> None:
    select(terms_find=st.session_state["widget/terms_find"], terms_page=None)


def _on_page(numbers: Sequence[int]) -> Sequence[int]:
    """The terms on the chosen page of the list."""
    pages = -(-len(numbers) // _ROWS)
    if pages < 2:
        return numbers
    asked = selected("terms_page", "1")
    page = min(max(int(asked), 1), pages) if asked.isdecimal() else 1
    key = f"terms/page/{pages}/{page}"

    def turned() -> None:
        select(terms_page=st.session_state[key])

    st.pagination(pages, default=page, key=key, on_change=turned)
    st.caption(f"{len(numbers):,} terms, {_ROWS} on a page.")
    return numbers[(page - 1) * _ROWS : page * _ROWS]


def _show_row(
    run: RunSession, term: ValueTerm, row: "pd.Series[Any]", found: Mapping[str, Effects], split: str
) -> None:
    left, middle, right = st.columns([1, 7, 4], gap="small")
    left.text(f"{row['weight']:+.6g}")
    with middle:
        _show_text(str(row["shown"]), term)
    with right:
        st.caption(escape("; ".join(term_facts(term, row, list(found), split))))
        if term.place and term.number.size <= _LINKED:
            page_link("formulas", "Open in Formulas", run=run.name, formula=write(term.number))


def term_facts(term: ValueTerm, row: "pd.Series[Any]", evaluated: Sequence[str], split: str) -> list[str]:
    """A term in words: its kind, its provenance, its frequency and its contribution."""
    found = []
    if term.place:
        found.append(", ".join(filter(None, [f"term {term.place}", term.kind, row["origin"]])))
        shares = ", ".join(f"{row[f'fires_{name}']:.1%} of {name}" for name in evaluated)
        found += [f"not 0 in {shares}"] if shares else []
    if split in evaluated:
        if term.place:
            found.append(f"mean value {row[f'mean_value_{split}']:.4g}")
        found.append(f"contributes {row[f'mean_contribution_{split}']:+.4g} to V on average")
    return found


def _show_text(text: str, term: ValueTerm) -> None:
    if not term.place:
        st.text("the constant")
    elif notation() == "latex" and "(typed:" not in text and "symbols; export" not in text:
        st.latex(text.strip().strip("$"))
    elif notation() == "english":
        st.text(text)
    else:
        preformatted(text)


def _show_table(table: pd.DataFrame, targets: Sequence[Target], split: str) -> None:
    fires = [name for name in table if name.startswith("fires_")]
    means = [name for name in (f"mean_value_{split}", f"mean_contribution_{split}") if name in table]
    shown = table.assign(shown=table["shown"].str.slice(0, _LONGEST))
    columns = {
        "term": st.column_config.NumberColumn(width=50),
        "weight": st.column_config.NumberColumn(format="%.6g"),
        "shown": st.column_config.TextColumn("formula", width="large"),
        **{
            name: st.column_config.NumberColumn(f"not 0, {name.removeprefix('fires_')}", format="percent")
            for name in fires
        },
        **{
            name: st.column_config.NumberColumn(
                name.removesuffix(f"_{split}").replace("_", " "), format="%.4g"
            )
            for name in means
        },
    }
    order = ["term", "weight", "shown", "kind", "size", *fires, *means, "origin"]
    linked_rows(shown, "formulas", targets, "terms/table", column_config=columns, column_order=order)


def _target(run: RunSession, term: ValueTerm) -> Target:
    if term.place == 0 or term.number.size > _LINKED:
        return None
    return {"run": run.name, "formula": write(term.number)}
