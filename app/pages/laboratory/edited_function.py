"""The edited value function: weights and errors before and after, the equation, and downloads."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from app.components.equation import term_text
from app.components.escape import escape
from app.components.tables import table_download
from app.pages.laboratory.edits import Edits, drop, put_back, take_back
from app.session.run_session import RunSession
from app.session.selection import NOTATIONS, notation, select
from distill.common import InputError
from distill.explanations import (
    FORMS,
    LARGEST,
    METHODS,
    Candidate,
    Refit,
    SplitErrors,
    candidates,
    express,
    file_text,
)
from distill.logic import Number, write

_ROWS = 12  # terms with a button of their own
_HEIGHT = 300  # pixels of a scrolled equation
_LINES = 12  # lines of an equation without scrolling
_TEXT = 300  # characters of a formula in a row
_LATEX = 3_000  # characters that a browser typesets quickly


def show_weights(
    run: RunSession, edits: Edits, fitted: Refit, without: Mapping[Number, float] | None
) -> None:
    """Show a row for each term, old, new or removed, with both weights and a button."""
    now = dict(zip(fitted.features, fitted.weights.tolist(), strict=True))
    table = weights_table(run.value_function.value, edits, fitted, without)
    head = st.columns(_WIDTHS)
    for place, label in zip(head, ("in the run", "now", "MAE without it", "formula", ""), strict=True):
        place.caption(label)
    terms = candidates(run.value_function.value)[0]
    added = {number: text for text, number in edits.added.items()}
    shown: list[Candidate] = [*terms, *(Candidate(n) for n in added if n not in {t.number for t in terms})]
    for one in shown[:_ROWS]:
        _show_row(run, one, now, added, without)
    if len(shown) > _ROWS:
        st.caption(f"The {_ROWS} heaviest of {len(shown)} terms are shown; the file has all.")
        _show_drop(run, terms, edits)
    _show_constant(candidates(run.value_function.value)[1], fitted.constant)
    table_download(table, "laboratory-weights", "Weights as CSV")


_WIDTHS = [1, 1, 1.2, 6, 1.4]


def weights_table(
    value: Number, edits: Edits, fitted: Refit, without: Mapping[Number, float] | None
) -> pd.DataFrame:
    """For each term, old, new or removed: its weight in the run and now, and the error without it."""
    now = dict(zip(fitted.features, fitted.weights.tolist(), strict=True))
    terms, constant = candidates(value)
    known = {one.number for one in terms}
    rows: list[dict[str, Any]] = [
        {
            "term": one.place,
            "formula": write_short(one.number),
            "weight_in_run": one.weight if one.place else None,
            "weight_now": now.get(one.number),
            "mae_without": (without or {}).get(one.number),
        }
        for one in [*terms, *(Candidate(n) for n in edits.added.values() if n not in known)]
    ]
    last = {"term": None, "formula": "constant", "weight_in_run": constant, "weight_now": fitted.constant}
    return pd.DataFrame([*rows, {**last, "mae_without": None}]).astype({"term": "Int64"})


def write_short(number: Number) -> str:
    """A formula as typed; of a large one only its size."""
    return write(number) if number.size <= LARGEST else f"{number.size:,} symbols"


def _show_row(
    run: RunSession,
    one: Candidate,
    now: Mapping[Number, float],
    added: Mapping[Number, str],
    without: Mapping[Number, float] | None,
) -> None:
    old, new, worth, formula, button = st.columns(_WIDTHS, gap="small", vertical_alignment="center")
    old.text(f"{one.weight:+.6g}" if one.place else "–")
    new.text(f"{now[one.number]:+.6g}" if one.number in now else "removed")
    worth.text(f"{without[one.number]:.4f}" if without and one.number in without else "–")
    with formula:
        _show_text(term_text(one.number, run))
    with button:
        if one.number in added:
            address = added[one.number]
            key = f"lab/back/{list(added).index(one.number)}"
            st.button("Discard", key=key, on_click=take_back, args=(address,), width="stretch")
        elif one.number in now:
            st.button(
                "Remove", key=f"lab/drop/{one.place}", on_click=drop, args=(one.place,), width="stretch"
            )
        else:
            st.button(
                "Restore", key=f"lab/put/{one.place}", on_click=put_back, args=(one.place,), width="stretch"
            )


def _show_text(text: str) -> None:
    if notation() == "latex" and len(text) <= _LATEX and "(typed:" not in text:
        st.latex(text.strip().strip("$"))
    else:
        st.code(text if len(text) <= _TEXT else f"{text[:_TEXT]}…", language=None, wrap_lines=True)


def _show_drop(run: RunSession, terms: list[Candidate], edits: Edits) -> None:
    """Show a list for removing and restoring terms if there are too many for buttons."""
    places = [one.place for one in terms if one.place]
    st.session_state["lab/dropped"] = list(edits.dropped)
    texts = {one.place: term_text(one.number, run, "ascii")[:_TEXT] for one in terms}
    st.multiselect(
        "Removed terms",
        places,
        key="lab/dropped",
        format_func=lambda place: f"{place}: {texts[place]}",
        on_change=lambda: select(drop=" ".join(map(str, sorted(st.session_state["lab/dropped"])))),
    )


def _show_constant(old: float, new: float) -> None:
    places = st.columns(_WIDTHS, gap="small")
    places[0].text(f"{old:+.6g}")
    places[1].text(f"{new:+.6g}")
    places[3].text("the constant")


def errors_table(functions: Mapping[str, Mapping[str, SplitErrors]]) -> pd.DataFrame:
    """One row for each split: mean error, wrong states and largest error of each function.

    Parameters
    ----------
    functions : for each function its errors on each split.
    """
    splits = list(next(iter(functions.values())))
    rows: list[dict[str, Any]] = []
    for split in splits:
        row: dict[str, Any] = {"split": split, "states": next(iter(functions.values()))[split].states}
        for measure in ("mae", "wrong", "max_error"):
            row |= {f"{measure}, {name}": getattr(found[split], measure) for name, found in functions.items()}
        rows.append(row)
    return pd.DataFrame(rows)


_MEASURES = {"mae": ("MAE", "%.4f"), "wrong": ("wrong", "%d"), "max_error": ("largest", "%.4g")}


def show_errors(functions: Mapping[str, Mapping[str, SplitErrors]]) -> None:
    """Show the errors of several functions on all splits."""
    table = errors_table(functions)
    columns: dict[str, Any] = {"states": st.column_config.NumberColumn(format="localized")}
    for name in table.columns[2:]:
        measure, _, function = name.partition(", ")
        label, form = _MEASURES[measure]
        columns[name] = st.column_config.NumberColumn(f"{label}, {function}", format=form)
    st.dataframe(table, hide_index=True, column_config=columns, key="lab/errors")
    st.caption("MAE: mean absolute error. Wrong: number of states with an error. Largest: largest error.")
    table_download(table, "laboratory-errors", "Errors as CSV")


def fit_summary(fitted: Refit, before: Mapping[str, SplitErrors], edits: Edits) -> str:
    """The result of the fit in a sentence."""
    first = next(iter(before))
    old, new = before[first], fitted.errors[first]
    if not edits.some:
        return f"The run's function: mean error {old.mae:.4f} on {first}, {old.wrong:,} states wrong."
    if fitted.as_before and np.any(fitted.weights == 0):
        return (
            f"No weights are better than the run's: new terms get weight 0, and the mean error on "
            f"{first} stays {old.mae:.4f}."
        )
    if fitted.as_before:
        return f"No weights are better than the run's: the mean error on {first} stays {old.mae:.4f}."
    whole = ", with whole weights" if fitted.whole else ""
    if not new.wrong:
        before_it = f"{old.wrong:,} were wrong before" if old.wrong else "the run's function is exact, too"
        return f"Exact on all {new.states:,} states of {first}{whole}; {before_it}."
    return (
        f"The mean error on {first} goes from {old.mae:.4f} to {new.mae:.4f}, and {new.wrong:,} states are "
        f"wrong instead of {old.wrong:,}{whole}."
    )


def show_equation(run: RunSession, value: Number) -> None:
    """Show the edited function in the chosen notation; as typed if the notation cannot express it."""
    if value.size > LARGEST:
        st.info(
            f"This function has {value.size:,} symbols, too many to display; export it as Python or JSON."
        )
        return
    form = notation()
    try:
        text = express(value, form, run.vocabulary)
    except InputError as error:
        st.caption(escape(f"{NOTATIONS[form]} cannot express this, so it is shown as typed: {error}"))
        form, text = "ascii", express(value, "ascii", run.vocabulary)
    if form == "latex" and len(text) <= 2 * _LATEX:
        st.latex(text)
        return
    st.code(text, language=None, wrap_lines=True, height="content" if text.count("\n") < _LINES else _HEIGHT)


def show_downloads(run: RunSession, edits: Edits, fitted: Refit, before: Mapping[str, SplitErrors]) -> None:
    """Offer the edited function in every form, and the experiment as JSON."""
    with st.popover("Export this function", key="lab/export"):
        experiment = json.dumps(experiment_of(run, edits, fitted, before), indent=1, ensure_ascii=False)
        st.download_button(
            "The experiment (JSON)",
            f"{experiment}\n".encode(),
            f"{run.name}-experiment.json",
            "application/json",
            key="lab/export/experiment",
            on_click="ignore",
        )
        texts = _forms(str(run.folder), run.stamp, fitted.value.order[2], fitted.value, run)
        for form, text in texts.items():
            file = f"{run.name}-{FORMS[form].file}"
            st.download_button(
                form, text.encode(), file, "text/plain", key=f"lab/export/{form}", on_click="ignore"
            )


@st.cache_data(max_entries=50, show_spinner=False)
def _forms(folder: str, stamp: int, key: bytes, _value: Number, _run: RunSession) -> dict[str, str]:
    return {form: file_text(_value, form, _run.vocabulary) + "\n" for form in FORMS}


def experiment_of(
    run: RunSession, edits: Edits, fitted: Refit, before: Mapping[str, SplitErrors]
) -> dict[str, Any]:
    """An experiment as plain data."""
    return {
        "run": run.name,
        "added": [write_short(number) for number in edits.added.values()],
        "dropped": list(edits.dropped),
        "fitted_again": edits.some,
        "fit": METHODS[fitted.method],
        "as_before": fitted.as_before,
        "whole_weights": fitted.whole,
        "value": write_short(fitted.value),
        "terms": [
            [weight, write_short(number)]
            for number, weight in zip(fitted.features, fitted.weights.tolist(), strict=True)
        ],
        "constant": fitted.constant,
        "errors": {
            "before": {split: vars(one) for split, one in before.items()},
            "after": {split: vars(one) for split, one in fitted.errors.items()},
        },
    }


def show_reset(edits: Edits) -> None:
    """Show a button that removes all edits."""
    st.button(
        "Discard all edits",
        key="lab/reset",
        disabled=not edits.some,
        on_click=lambda: select(add=None, drop=None, again=None),
    )
