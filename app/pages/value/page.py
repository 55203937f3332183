"""The page Value function: the function, its terms and their effects."""

from collections import Counter
from functools import partial

import streamlit as st

from app.components.equation import equation_file, show_copyable, show_equation
from app.components.escape import escape
from app.components.failures import FAILURES
from app.pages.value.contributions import Effects, effects_of, terms_of
from app.pages.value.layers import show_layers
from app.pages.value.term_charts import show_contributions, show_weights
from app.pages.value.term_table import show_terms
from app.session.run_session import RunSession, current_run
from app.session.selection import pick, pick_section, remember
from distill.common import InputError
from distill.explanations import FORMS
from distill.runs import verdict

_TREES = "features come from trees on the network's embeddings"
_POOLS = {
    "ridt": f"{_TREES}.",
    "ridt+polish": f"{_TREES}; then the function was rewritten in fewer symbols with formulas near the "
    "chosen ones, which do not come from trees.",
    "enumerate": "features are enumerated short formulas; no network was used.",
    "both": f"{_TREES}, or are enumerated short formulas; see the provenance of each term.",
}
_CONTROLS = {
    "untrained": "Control: an untrained network; the result does not depend on what the network learned.",
    "permuted": "Control: permuted embeddings; the result does not depend on the network.",
}
_TERMS, _ADDED, _WEIGHTS, _LAYERS = _SECTIONS = (
    "Terms",
    "What terms add, by V*",
    "Weights",
    "Terms in the network",
)
_ORIGINS = {"ridt": "from trees", "polish": "from polishing", "enumerate": "from enumeration"}


def show() -> None:
    """Show the page."""
    st.title("Value function")
    st.caption("The value function V, a weighted sum of features, with the effect of each term.")
    run = current_run()
    remember("run", "notation", "split", "part")
    with st.container(key="first"):
        st.text(run.name)
        _show_verdict(run)
        show_equation(run)
    _show_exports(run)
    section = pick_section(_SECTIONS, "part")
    if section == _LAYERS:
        show_layers(run)
        return
    terms = terms_of(run)
    if section == _WEIGHTS:
        show_weights(run, terms)
        return
    split = pick("Means over the states of", run.splits, "split", width=280)
    found = _effects(run)
    if section == _TERMS:
        show_terms(run, terms, found, split)
    elif split in found:
        show_contributions(run, terms, found[split], split)


def pool_sentences(label: str, mode: str) -> list[str]:
    """The meaning of the pool and the control of a run, one sentence each.

    Parameters
    ----------
    label : the pool, and after a comma the control if there is one.
    mode : the mode of the distillation.

    Examples
    --------
    >>> pool_sentences("ridt, permuted", "readable")[1]
    'Control: permuted embeddings; the result does not depend on the network.'
    >>> pool_sentences("ridt", "thesis")
    ["Mode thesis: features are leaf sets of trees on the network's embeddings."]
    """
    pool, _, control = label.partition(", ")
    if mode in ("quotient", "thesis"):
        found = [f"Mode {mode}: features are leaf sets of trees on the network's embeddings."]
    else:
        found = [f"Pool {pool}: {_POOLS.get(pool, 'no description is available.')}"]
    if control:
        found.append(_CONTROLS.get(control, f"Control: {control}."))
    return found


def _show_verdict(run: RunSession) -> None:
    distilled, config = run.value_function, run.run.config
    sentences = pool_sentences(distilled.label, str((config.get("distillation") or {}).get("mode", "")))
    pools = Counter(feature.provenance.pool for _, feature in distilled.terms())
    if len(pools) > 1:
        counted = ", ".join(f"{count} {_ORIGINS.get(pool, pool)}" for pool, count in pools.most_common())
        sentences.append(f"Terms: {counted}.")
    try:
        first, *rest = verdict(run.run.metrics.get("fit", {}), config)
    except (KeyError, TypeError, ValueError, AttributeError):
        first, rest = "The quality of the fit is unknown.", []
    shown = {"Exact": st.success, "NOT": st.warning}.get(first.split()[0], st.info)
    shown(escape(first))
    if rest:
        st.text("\n".join(rest))
    control = len(sentences) > 1 and sentences[1].startswith("Control")
    (st.warning if control else st.markdown)(escape(" ".join(sentences)))


def _show_exports(run: RunSession) -> None:
    """Offer every form as a file; a file is written on demand."""
    with st.container(horizontal=True):
        with st.popover("Export the value function"):
            for form, kept in FORMS.items():
                st.download_button(
                    kept.file,
                    partial(equation_file, run, form),
                    kept.file,
                    "text/plain",
                    key=f"value/{form}",
                    on_click="ignore",
                    width="stretch",
                )
            st.caption("Comments in a file name the terms that its form cannot express.")
            show_copyable(run)
        if (run.folder / "report.html").exists():
            st.download_button(
                "Report (HTML)",
                (run.folder / "report.html").read_bytes,
                "report.html",
                "text/html",
                key="value/report",
                on_click="ignore",
            )
        else:
            st.caption("This run has no report; `distill export RUN --format html` writes one.")


def _effects(run: RunSession) -> dict[str, Effects]:
    """The effects of terms on each split; a message reports splits whose states cannot be read."""
    found = {}
    for split in run.splits:
        try:
            found[split] = effects_of(run, split)
        except (InputError, *FAILURES) as error:
            st.warning(escape(f"The states of {split} cannot be evaluated: {error}"))
    return found
