"""The value function: what the planner became, and what each of its terms does."""

from collections import Counter
from functools import partial

import streamlit as st

from app.contributions import Effects, effects_of, terms_of
from app.equation import copyable, exported, show_equation
from app.opened import Opened, opened
from app.plain import plain
from app.selection import pick, pick_section, remember
from app.terms import show_terms
from app.terms_figures import show_contributions, show_weights
from distill.errors import InputError
from distill.jobs import FORMS, verdict

_FAILURES = (InputError, OSError, ValueError, LookupError, TypeError, ArithmeticError)
_BORN = "features were born in trees on the network's embeddings"
_POOLS = {
    "ridt": f"{_BORN}.",
    "ridt+polish": f"{_BORN}; then the function was polished: said in fewer symbols by formulas near those "
    "chosen, which were not born in trees.",
    "enumerate": "features are short formulas made without a network.",
    "both": f"{_BORN}, or are short formulas made without a network; the origin of a term tells which.",
}
_CONTROLS = {
    "untrained": "Control: an untrained network — what is found here is not due to what the network learned.",
    "permuted": "Control: permuted embeddings — what is found here is not due to the network.",
}
_TERMS, _ADDED, _WEIGHTS = _SECTIONS = ("Terms", "What terms add, by V*", "Weights")
_ORIGINS = {"ridt": "born in trees", "polish": "polished", "enumerate": "made without a network"}


def page() -> None:
    """Show the page."""
    st.title("Value function")
    st.caption(
        "What the planner became in logic: V, a sum of weights times features, and what each term does."
    )
    run = opened()
    remember("run", "notation", "split", "part")
    with st.container(key="first"):
        st.text(run.name)
        _show_verdict(run)
        show_equation(run)
    _show_exports(run)
    section = pick_section(_SECTIONS, "part")
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


def told_pool(label: str, mode: str) -> list[str]:
    """What the pool and the control of a run mean, a sentence each.

    Parameters
    ----------
    label : the pool, and after a comma the control if there is one.
    mode : of the distillation.

    Examples
    --------
    >>> told_pool("ridt, permuted", "readable")[1]
    'Control: permuted embeddings — what is found here is not due to the network.'
    >>> told_pool("ridt", "thesis")
    ["Mode thesis: features are as trees on the network's embeddings made them."]
    """
    pool, _, control = label.partition(", ")
    if mode in ("quotient", "thesis"):
        found = [f"Mode {mode}: features are as trees on the network's embeddings made them."]
    else:
        found = [f"Pool {pool}: {_POOLS.get(pool, 'nothing more is known of its features.')}"]
    if control:
        found.append(_CONTROLS.get(control, f"Control: {control}."))
    return found


def _show_verdict(run: Opened) -> None:
    distilled, config = run.distilled, run.run.config
    sentences = told_pool(distilled.label, str((config.get("distillation") or {}).get("mode", "")))
    born = Counter(feature.origin.pool for _, feature in distilled.terms())
    if len(born) > 1:
        counted = ", ".join(f"{count} {_ORIGINS.get(pool, pool)}" for pool, count in born.most_common())
        sentences.append(f"Of its terms: {counted}.")
    try:
        first, *rest = verdict(run.run.metrics.get("fit", {}), config)
    except (KeyError, TypeError, ValueError, AttributeError):
        first, rest = "Nothing is known of the fit.", []
    shown = {"Exact": st.success, "NOT": st.warning}.get(first.split()[0], st.info)
    shown(plain(first))
    if rest:
        st.text("\n".join(rest))
    control = len(sentences) > 1 and sentences[1].startswith("Control")
    (st.warning if control else st.markdown)(plain(" ".join(sentences)))


def _show_exports(run: Opened) -> None:
    """Every form as a file; what is long is written when it is asked for."""
    with st.container(horizontal=True):
        with st.popover("Export the value function"):
            for form, kept in FORMS.items():
                st.download_button(
                    kept.file,
                    partial(exported, run, form),
                    kept.file,
                    "text/plain",
                    key=f"value/{form}",
                    on_click="ignore",
                    width="stretch",
                )
            st.caption("What a form cannot say is told in comments of its file.")
            copyable(run)
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
            st.caption("This run was made without a report; `distill export RUN --format html` writes one.")


def _effects(run: Opened) -> dict[str, Effects]:
    """What terms do on each split; splits whose states cannot be read are told and left out."""
    found = {}
    for split in run.splits:
        try:
            found[split] = effects_of(run, split)
        except _FAILURES as error:
            st.warning(plain(f"The states of {split} cannot be evaluated: {error}"))
    return found
