"""Runs side by side: value functions, what they share, how good they are, and which settings differ."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from app.compare_basket import ask_basket
from app.compare_terms import common_terms, terms_table
from app.equation import equation
from app.opened import Opened, store
from app.parts import table_download, written
from app.plain import plain
from app.selection import link, notation, page_link, remember
from app.state_view import part
from app.sweeps import sweeps_in
from distill.errors import InputError
from distill.jobs.comparing import flat, main_metrics
from distill.jobs.forms import LARGEST
from distill.jobs.summary import MEASURES, effects
from distill.logic import write

_BESIDE = 3  # value functions in a row
_TALL = 260  # pixels of each
_SHOWN = 200  # terms that are listed
_LINKED = 600  # symbols of a formula that fits into an address
_FEW = 4  # runs from which on settings can be told to matter
_LATEX = 3_000  # characters that a browser sets quickly


def page() -> None:
    """Show the page."""
    st.title("Compare")
    st.caption(
        "What do the value functions of several runs have in common, how good is each, and which settings "
        "set them apart? The basket is in the address: send it, and others see the same."
    )
    remember("run", "notation", "runs")
    runs = _opened(ask_basket())
    if len(runs) < 2:
        st.info("Choose two or more runs above to see them side by side.")
        page_link("runs", "All runs")
        return
    names = [run.name for run in runs]
    with part():
        _show_functions(runs)
    with part():
        _show_metrics(runs, names)
    with part():
        _show_terms(runs, names)
    with part():
        _show_settings(runs, names)
    with part():
        _show_effects(runs, names)


def _opened(names: Sequence[str]) -> list[Opened]:
    """The runs that can be read; others are told."""
    found = []
    for name in names:
        try:
            run = Opened.of(name)
            _ = run.distilled, run.vocabulary, run.run.config
            found.append(run)
        except InputError as error:
            st.warning(plain(f"{name} is left out: {error}"))
    return found


def _show_functions(runs: Sequence[Opened]) -> None:
    st.header("Value functions", divider="gray")
    for begin in range(0, len(runs), _BESIDE):
        places = st.columns(_BESIDE if len(runs) > 2 else len(runs), gap="medium")
        for place, run in zip(places, runs[begin : begin + _BESIDE], strict=False):
            with place, st.container(border=True), part():
                _show_function(run)


def _show_function(run: Opened) -> None:
    st.text(run.name)
    metrics = run.run.metrics
    errors = ", ".join(f"{split} {score['mae']:.4f}" for split, score in metrics["splits"].items())
    st.caption(plain(f"{metrics['features']} terms, {metrics['formula_size']:,} symbols; MAE: {errors}"))
    if run.distilled.value.size > LARGEST:
        st.info("Too large to read; export it on the page Value function.")
    else:
        _show_equation(run)
    with st.container(horizontal=True):
        page_link("value", "Value function", run=run.name)
        page_link("laboratory", "Laboratory", run=run.name)


def _show_equation(run: Opened) -> None:
    form = notation()
    try:
        text = equation(run, form)
    except InputError as error:
        st.caption(plain(f"Shown typed: {error}"))
        form, text = "ascii", equation(run, "ascii")
    if form == "latex" and len(text) <= _LATEX:
        st.latex(text)
    else:
        st.code(text, language=None, wrap_lines=True, height=_TALL if len(text) > 250 else "content")


def _show_metrics(runs: Sequence[Opened], names: Sequence[str]) -> None:
    st.header("Metrics", divider="gray")
    table = side_by_side([main_metrics(run.run) for run in runs], names, "metric")
    st.dataframe(table.astype(str), hide_index=True, key="compare/metrics", height=37 + 35 * len(table))
    table_download(table, "compare-metrics", "Metrics as CSV")


def side_by_side(rows: Sequence[Mapping[str, Any]], names: Sequence[str], label: str) -> pd.DataFrame:
    """One row for each key, one column for each run; a dash where a run has no such key.

    Examples
    --------
    >>> side_by_side([{"a": 1}, {"a": 2, "b": True}], ["x", "y"], "key").to_numpy().tolist()
    [['a', '1', '2'], ['b', '–', 'yes']]
    """
    keys = dict.fromkeys(key for row in rows for key in row)
    columns = {name: [shown(row.get(key)) for key in keys] for name, row in zip(names, rows, strict=True)}
    return pd.DataFrame({label: list(keys), **columns})


def shown(value: Any) -> str:
    """A setting or metric for people.

    Examples
    --------
    >>> [shown(one) for one in (None, True, 0.25, [1, 2], "a")]
    ['–', 'yes', '0.25', '1, 2', 'a']
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    return ", ".join(map(shown, value)) if isinstance(value, list | tuple) else str(value)


def _show_terms(runs: Sequence[Opened], names: Sequence[str]) -> None:
    st.header("Terms that mean the same", divider="gray")
    common = common_terms(runs)
    if common.apart:
        st.warning(
            f"Other predicates than {plain(names[0])}: {plain(', '.join(common.apart))}. Their formulas are "
            "held against each other as they are written, not by what they say on states."
        )
    st.caption(
        f"Equal numbers on {common.states:,} training states of the first run are one row, with the shortest "
        "of the formulas; columns have the weight in each run."
    )
    listed = common.terms[:_SHOWN]
    form = "emlc" if notation() == "latex" else None
    texts = [" ".join(written(one.formula, runs[0], form).split("\n")) for one in listed]
    table = terms_table(type(common)(listed, common.states, common.apart), names, texts)
    everywhere = sum(one.runs == len(runs) for one in common.terms)
    st.text(f"{len(common.terms):,} different terms; {everywhere:,} of them in all {len(runs)} runs.")
    owners = [runs[next(i for i, w in enumerate(one.weights) if w is not None)] for one in listed]
    links = [
        link("formulas", run=owner.name, formula=write(one.formula)) if one.formula.size <= _LINKED else None
        for one, owner in zip(listed, owners, strict=True)
    ]
    config: dict[str, Any] = {
        "runs": st.column_config.NumberColumn("in runs", width=60),
        "formula": st.column_config.TextColumn(width="large"),
        "size": st.column_config.NumberColumn(width=60),
        "open": st.column_config.LinkColumn(display_text="open", width=60),
        **{name: st.column_config.NumberColumn(format="%.6g") for name in names},
    }
    st.dataframe(
        table.assign(open=links), hide_index=True, key="compare/terms", column_config=config, placeholder="–"
    )
    typed = [write(one.formula) if one.formula.size <= LARGEST else "" for one in common.terms]
    table_download(terms_table(common, names, typed), "compare-terms", "Terms as CSV")


def _show_settings(runs: Sequence[Opened], names: Sequence[str]) -> None:
    st.header("Settings that differ", divider="gray")
    table = differing([flat(run.run.config) for run in runs], names)
    if table.empty:
        st.info("All settings are the same.")
        return
    st.dataframe(table, hide_index=True, key="compare/settings")
    table_download(table, "compare-settings", "Settings as CSV")


def differing(configs: Sequence[Mapping[str, Any]], names: Sequence[str]) -> pd.DataFrame:
    """The settings in which configs differ.

    Examples
    --------
    >>> differing([{"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4}], ["x", "y"]).to_numpy().tolist()
    [['b', '2', '3'], ['c', '–', '4']]
    """
    table = side_by_side(configs, names, "setting")
    same = table[list(names)].nunique(axis=1) <= 1
    return table[~same].reset_index(drop=True)


def _show_effects(runs: Sequence[Opened], names: Sequence[str]) -> None:
    st.header("Which setting matters", divider="gray")
    sweeps = [done for done in sweeps_in(store().folder)[0] if set(done.jobs["run"].astype(str)) & set(names)]
    for done in sweeps:
        st.text(f"The sweep {done.name}: {done.told}.")
        page_link("runs", f"Open {plain(done.name)}", sweep=done.name)
    if len(runs) < _FEW:
        if not sweeps:
            st.info(f"Put {_FEW} or more runs into the basket, or do a sweep with `distill batch`.")
        return
    table = effects_table(runs, names)
    if table.empty:
        st.info("The runs came out the same, or no setting differs: there is nothing to tell.")
        return
    percent = st.column_config.NumberColumn(format="percent")
    st.dataframe(
        table, hide_index=True, key="compare/effects", column_config={"share": percent, "chance": percent}
    )
    st.caption(
        "Among the runs of this basket. Share: how much of the variance between runs a setting explains. "
        "Chance: what one that does nothing reaches one time in twenty. Settings that change together share "
        "the credit."
    )
    table_download(table, "compare-effects", "Effects as CSV")


def effects_table(runs: Sequence[Opened], names: Sequence[str]) -> pd.DataFrame:
    """How much each setting that differs explains of errors and sizes, most first."""
    settings = differing([flat(run.run.config) for run in runs], names)
    jobs = settings.set_index("setting")[list(names)].T.rename_axis(columns=None)
    jobs["state"] = "done"
    scores = [run.run.metrics for run in runs]
    jobs["test_mae"] = [one["splits"].get("test", {}).get("mae") for one in scores]
    jobs["formula_size"] = [one["formula_size"] for one in scores]
    found = effects(jobs.reset_index(drop=True), list(settings["setting"]))
    return pd.DataFrame(
        {
            "setting": one.setting,
            "for": MEASURES[one.measure],
            "share": one.share,
            "chance": one.chance,
            "matters": one.matters,
            "best": one.best,
        }
        for one in found
    )
