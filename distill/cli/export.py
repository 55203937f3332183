"""`distill export`: the value function of a run in another form."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from distill.cli import options
from distill.common import InputError, atomic_write, read_text
from distill.runs import Export

if TYPE_CHECKING:
    from distill.runs import Run

_REPORT = "report.html"
_FORMS = Export.choices("formats")
_CHOICES = (*_FORMS, "html", "all")


def export(
    run: options.RunName,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORM",
            help=f"One of {', '.join(_FORMS)}; html for a report of the run; all for all of them.",
        ),
    ] = "ascii",
    out: Annotated[
        Path | None, typer.Option(help="A file, or a folder for all forms; by default the text is printed.")
    ] = None,
    term: Annotated[
        int | None, options.count_option("Only this term, counted from 1 as in the report.")
    ] = None,
    up_to: options.UpTo = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
    store: options.StoreFolder = options.RUNS,
) -> None:
    """Write the value function of a run in another form, for people, papers, planners or programs.

    dlplan and PDDL do not express weighted sums. In these forms each term follows a comment with its weight.
    If a term cannot be expressed, a comment gives the reason. C2 expresses closures, distances and products
    up to a bound, by default the least one for the states of the run; the first lines say for which states
    the text equals the value function.

    Examples: `distill export artifacts/runs/gripper-gripper-… --format latex`,
    `distill export artifacts/runs/blocks-on-blocks-on-… --format c2 --up-to 20`,
    `distill export artifacts/runs/gripper-gripper-… --format all --out gripper`.
    """
    if form not in _CHOICES:
        raise InputError(f"There is no form {form!r}; choose from {', '.join(_CHOICES)}.")
    if form == "all" and out is None:
        raise InputError("--format all needs a folder; give --out FOLDER.")
    if term is not None and form in ("html", "all"):
        raise InputError(f"--term needs a form for a single formula, not {form}.")
    from distill.runs import Store

    source = Store(store).find(run)
    if out is None:
        typer.echo(_text(source, form, term, up_to))
        return
    texts = _all_texts(source, up_to) if form == "all" else {"": _text(source, form, term, up_to)}
    files = {out / name: text for name, text in texts.items()}
    existing = next((file for file in files if file.exists()), None)
    if existing is not None and not force:
        raise InputError(f"{existing} exists; give another --out, or --force to overwrite it.")
    for file, text in files.items():
        with atomic_write(file) as stream:
            stream.write(f"{text}\n".encode())


def _text(run: "Run", form: str, term: int | None, up_to: int | None) -> str:
    from distill.explanations import express, express_term, ordered_terms
    from distill.logic import Constant

    if form == "html":
        if up_to is not None:
            raise InputError("--up-to bounds a formula, and html is a report; take another form.")
        return _page(run)
    value = run.value_function.value
    bounds = run.bounds_in(form) if up_to is None else up_to
    if term is not None:
        features = [feature for _, feature in ordered_terms(value) if not isinstance(feature, Constant)]
        if term > len(features):
            raise InputError(f"{run.folder} has {len(features)} terms; there is no term {term}.")
        return express_term(features[term - 1], form, run.vocabulary, bounds)
    return express(value, form, run.vocabulary, bounds)


def _all_texts(run: "Run", up_to: int | None) -> dict[str, str]:
    """All forms; JSON is exact, as it has no comments that could tell a bound."""
    from distill.explanations import FORMS

    texts = {}
    for name, form in FORMS.items():
        bounds = up_to if up_to is not None and form.comment else run.bounds_in(name)
        texts[form.file] = run.value_function.export(name, run.vocabulary, bounds)
    return {**texts, _REPORT: _page(run)}


def _page(run: "Run") -> str:
    from distill.runs import report

    figures = {}
    for file in sorted([*run.folder.glob("*.svg"), *run.folder.glob("figures/*.svg")]):
        figures[file.stem] = read_text(file)
    page = report(run.folder.name, run.config, run.metrics, run.value_function, run.vocabulary, figures)
    return page.rstrip("\n")
