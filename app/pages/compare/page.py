"""The page Compare: several runs side by side, with equivalent terms, metrics and different settings."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from app.components.equation import equation
from app.components.escape import escape
from app.components.failures import part
from app.components.formula_display import formula_text
from app.components.sweeps import sweeps_in
from app.components.tables import table_download
from app.pages.compare.basket import ask_basket
from app.pages.compare.terms import common_terms, terms_table
from app.session.run_index import store
from app.session.run_session import RunSession
from app.session.selection import link, notation, page_link, remember
from distill.common import InputError
from distill.explanations import LARGEST
from distill.jobs import MEASURES, effects
from distill.logic import write
from distill.runs import flatten, main_metrics

_BESIDE = 3  # value functions in a row
_HEIGHT = 260  # pixels of each
_SHOWN = 200  # terms in the list
_LINKED = 600  # symbols of a formula that fits into an address
_FEW = 4  # the least number of runs for effects of settings
_LATEX = 3_000  # characters that a browser typesets quickly


def show() -> None:
    """Show the page."""
    st.title("Compare")
    st.caption(
        "The value functions of several runs, their metrics, equivalent terms and different settings. The "
        "runs are part of the address."
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


def _opened(names: Sequence[str]) -> list[RunSession]:
    """The runs that can be read; a message names the others."""
    found = []
    for name in names:
        try:
            run = RunSession.of(name)
            _ = run.value_function, run.vocabulary, run.run.config
            found.append(run)
        except InputError as error:
            st.warning(escape(f"{name} is left out: {error}"))
    return found


def _show_functions(runs: Sequence[RunSession]) -> None:
    st.header("Value functions", divider="gray")
    for begin in range(0, len(runs), _BESIDE):
        places = st.columns(_BESIDE if len(runs) > 2 else len(runs), gap="medium")
        for place, run in zip(places, runs[begin : begin + _BESIDE], strict=False):
            with place, st.container(border=True), part():
                _show_function(run)


def _show_function(run: RunSession) -> None:
    st.text(run.name)
    metrics = run.run.metrics
    errors = ", ".join(f"{split} {score['mae']:.4f}" for split, score in metrics["splits"].items())
    st.caption(escape(f"{metrics['features']} terms, {metrics['formula_size']:,} symbols; MAE: {errors}"))
    if run.value_function.value.size > LARGEST:
        st.info("Too large to display; export it on the page Value function.")
    else:
        _show_equation(run)
    with st.container(horizontal=True):
        page_link("value", "Value function", run=run.name)
        page_link("laboratory", "Laboratory", run=run.name)


def _show_equation(run: RunSession) -> None:
    form = notation()
    try:
        text = equation(run, form)
    except InputError as error:
        st.caption(escape(f"Shown as typed: {error}"))
        form, text = "ascii", equation(run, "ascii")
    if form == "latex" and len(text) <= _LATEX:
        st.latex(text)
    else:
        st.code(text, language=None, wrap_lines=True, height=_HEIGHT if len(text) > 250 else "content")


def _show_metrics(runs: Sequence[RunSession], names: Sequence[str]) -> None:
    st.header("Metrics", divider="gray")
    table = side_by_side([main_metrics(run.run) for run in runs], names, "metric")
    st.dataframe(table.astype(str), hide_index=True, key="compare/metrics", height=37 + 35 * len(table))
    table_download(table, "compare-metrics", "Metrics as CSV")


def side_by_side(rows: Sequence[Mapping[str, Any]], names: Sequence[str], label: str) -> pd.DataFrame:
    """One row for each key, one column for each run; a dash if a run has no such key.

    Examples
    --------
    >>> side_by_side([{"a": 1}, {"a": 2, "b": True}], ["x", "y"], "key").to_numpy().tolist()
    [['a', '1', '2'], ['b', '–', 'yes']]
    """
    keys = dict.fromkeys(key for row in rows for key in row)
    columns = {name: [cell_text(row.get(key)) for key in keys] for name, row in zip(names, rows, strict=True)}
    return pd.DataFrame({label: list(keys), **columns})


def cell_text(value: Any) -> str:
    """A setting or metric as text.

    Examples
    --------
    >>> [cell_text(one) for one in (None, True, 0.25, [1, 2], "a")]
    ['–', 'yes', '0.25', '1, 2', 'a']
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    return ", ".join(map(cell_text, value)) if isinstance(value, list | tuple) else str(value)


def _show_terms(runs: Sequence[RunSession], names: Sequence[str]) -> None:
    st.header("Equivalent terms", divider="gray")
    common = common_terms(runs)
    if common.apart:
        st.warning(
            f"Other predicates than {escape(names[0])}: {escape(', '.join(common.apart))}. Their formulas "
            "are compared by their text, not by their values."
        )
    st.caption(
        f"Terms with equal values on {common.states:,} training states of the first run share a row with "
        "the shortest formula and the weight in each run."
    )
    listed = common.terms[:_SHOWN]
    form = "emlc" if notation() == "latex" else None
    texts = [" ".join(formula_text(one.formula, runs[0], form).split("\n")) for one in listed]
    table = terms_table(type(common)(listed, common.states, common.apart), names, texts)
    everywhere = sum(one.n_functions == len(runs) for one in common.terms)
    st.text(f"{len(common.terms):,} different terms, {everywhere:,} of them in all {len(runs)} runs.")
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


def _show_settings(runs: Sequence[RunSession], names: Sequence[str]) -> None:
    st.header("Settings that differ", divider="gray")
    table = setting_differences([flatten(run.run.config) for run in runs], names)
    if table.empty:
        st.info("All settings are the same.")
        return
    st.dataframe(table, hide_index=True, key="compare/settings")
    table_download(table, "compare-settings", "Settings as CSV")


def setting_differences(configs: Sequence[Mapping[str, Any]], names: Sequence[str]) -> pd.DataFrame:
    """The settings that differ between configs.

    Examples
    --------
    >>> setting_differences([{"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4}], ["x", "y"]).to_numpy().tolist()
    [['b', '2', '3'], ['c', '–', '4']]
    """
    table = side_by_side(configs, names, "setting")
    same = table[list(names)].nunique(axis=1) <= 1
    return table[~same].reset_index(drop=True)


def _show_effects(runs: Sequence[RunSession], names: Sequence[str]) -> None:
    st.header("Which setting matters", divider="gray")
    sweeps = [done for done in sweeps_in(store().folder)[0] if set(done.jobs["run"].astype(str)) & set(names)]
    for done in sweeps:
        st.text(f"The sweep {done.name}: {done.main_effects}.")
        page_link("runs", f"Open {escape(done.name)}", sweep=done.name)
    if len(runs) < _FEW:
        if not sweeps:
            st.info(f"Choose {_FEW} or more runs, or run a sweep with `distill batch`.")
        return
    table = effects_table(runs, names)
    if table.empty:
        st.info("The runs have equal results, or no setting differs, so no effects can be estimated.")
        return
    percent = st.column_config.NumberColumn(format="percent")
    st.dataframe(
        table, hide_index=True, key="compare/effects", column_config={"share": percent, "chance": percent}
    )
    st.caption(
        "Among the chosen runs. Share: the share of the variance between runs that a setting explains. "
        "Chance: the share that a setting without effect exceeds one time in twenty. The effects of settings "
        "that change together cannot be separated."
    )
    table_download(table, "compare-effects", "Effects as CSV")


def effects_table(runs: Sequence[RunSession], names: Sequence[str]) -> pd.DataFrame:
    """The effects of the different settings on errors and sizes, largest first."""
    settings = setting_differences([flatten(run.run.config) for run in runs], names)
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
