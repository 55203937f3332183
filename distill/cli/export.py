"""`distill export`: a run's value function in any form."""

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from distill.cli.runs import RUNS, RunName, StoreFolder
from distill.errors import InputError
from distill.files import written_whole
from distill.settings import Export

if TYPE_CHECKING:
    from distill.jobs import Run

_REPORT = "report.html"
[_FORMS] = (item.metadata["choices"] for item in fields(Export) if item.name == "formats")
_CHOICES = (*_FORMS, "html", "all")


def export(
    run: RunName,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORM",
            help=f"One of {', '.join(_FORMS)}; html for a report of the whole run; all for all of them.",
        ),
    ] = "ascii",
    out: Annotated[
        Path | None, typer.Option(help="A file, or the folder for all; otherwise it is printed.")
    ] = None,
    term: Annotated[
        int | None, typer.Option(help="Only this term, counted from 1 as in the report.", min=1)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over files that exist.")] = False,
    store: StoreFolder = RUNS,
) -> None:
    """Write a run's value function in another form: for people, papers, planners and programs.

    dlplan, PDDL and C2 cannot say everything: there the terms stand one by one, each after a comment with its
    weight, and a comment tells why one is missing.

    Examples: `distill export artifacts/runs/gripper-gripper-… --format latex`,
    `distill export artifacts/runs/gripper-gripper-… --format all --out gripper`.
    """
    if form not in _CHOICES:
        raise InputError(f"There is no form {form!r}; choose from {', '.join(_CHOICES)}.")
    if form == "all" and out is None:
        raise InputError("All forms need a folder; give --out FOLDER.")
    if term is not None and form in ("html", "all"):
        raise InputError(f"--term needs one form for its formula, not {form}.")
    from distill.jobs import Store

    found = Store(store).find(run)
    if out is None:
        typer.echo(_text(found, form, term))
        return
    texts = _all_texts(found) if form == "all" else {"": _text(found, form, term)}
    files = {out / name: text for name, text in texts.items()}
    taken = next((file for file in files if file.exists()), None)
    if taken is not None and not force:
        raise InputError(f"{taken} exists; give another --out, or --force to write over it.")
    for file, text in files.items():
        with written_whole(file) as stream:
            stream.write(f"{text}\n".encode())


def _text(run: "Run", form: str, term: int | None) -> str:
    from distill.jobs.forms import express, express_term, ordered_terms
    from distill.logic import Constant

    value = run.distilled.value
    if form == "html":
        return _page(run)
    if term is None:
        return express(value, form, run.vocabulary)
    features = [feature for _, feature in ordered_terms(value) if not isinstance(feature, Constant)]
    if term > len(features):
        raise InputError(f"{run.folder} has {len(features)} terms; there is no term {term}.")
    return express_term(features[term - 1], form, run.vocabulary)


def _all_texts(run: "Run") -> dict[str, str]:
    from distill.jobs.forms import FORMS, written

    texts = {form.file: written(run.distilled, name, run.vocabulary) for name, form in FORMS.items()}
    return {**texts, _REPORT: _page(run)}


def _page(run: "Run") -> str:
    from distill.jobs.report import report

    figures = {}
    for file in sorted([*run.folder.glob("*.svg"), *run.folder.glob("figures/*.svg")]):
        try:
            figures[file.stem] = file.read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"Cannot read {file} as a figure: {error}; remove it or make the run again."
            ) from error
    page = report(run.folder.name, run.config, run.metrics, run.distilled, run.vocabulary, figures)
    return page.rstrip("\n")
