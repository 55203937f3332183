"""Refits: a run's value function with formulas added or removed, and fitted again.

A result is a folder beside the runs, under `refits`: `result.json`, and the value function in every form.
It is complete or absent, and never overwritten. Equal requests share a folder.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from distill.common import InputError, content_key, parse_json, read_text, shown
from distill.explanations import (
    FORMS,
    LARGEST,
    Candidate,
    Catalogue,
    StateRows,
    ValueFunction,
    as_number,
    candidates,
    edit_terms,
    file_text,
    has_integer_weights,
    old_weights,
    refit_weights,
)
from distill.logic import Constant, Evaluator, Number, Product, Scaled, Sum, write
from distill.planning import SPLITS
from distill.regression import fit_exact
from distill.runs.records import RefitResult
from distill.runs.run import Run
from distill.runs.writer import new_folder

Progress = Callable[[str, int, int], None]
REFITS = "refits"
RESULT = "result.json"
TIME_LIMIT = 60.0  # seconds of an exact solve
MAX_TERMS = 12  # of an exact function
_BLOCKING = 4  # states that prevent an exact function and are reported


@dataclass(frozen=True)
class Request:
    """What to fit.

    Attributes
    ----------
    added : formulas as typed, or `no:7` for a formula of the run; see `Catalogue.read`.
    dropped : positions of terms of the run's function, from 1, by decreasing weight.
    exact : search the shortest function with whole weights, instead of the least absolute error.
    pool : whether all other features of the run may be used; only with `exact`.
    products : whether a term may be the product of two features; only with `exact`.
    time_limit : seconds for an exact function.
    """

    added: tuple[str, ...] = ()
    dropped: tuple[int, ...] = ()
    exact: bool = False
    pool: bool = False
    products: bool = False
    time_limit: float = TIME_LIMIT


@dataclass(frozen=True, eq=False)
class StoredRefit:
    """The folder of a refit.

    Attributes
    ----------
    folder : its path.
    result : its result, as plain data.
    """

    folder: Path
    result: Mapping[str, Any]


def splits_of(run: Run) -> list[str]:
    """The splits of a run, the training split first."""
    return sorted(run.splits, key=lambda name: (name not in SPLITS, [*SPLITS, name].index(name)))


def read_formulas(distilled: ValueFunction, texts: Sequence[str]) -> list[Number]:
    """The features of typed formulas; a formula about objects becomes a count.

    Examples
    --------
    >>> from distill.logic import parse
    >>> read_formulas(ValueFunction(parse("#clear"), ()), ["clear & ~holding", "[#clear > 1]"])
    [#(clear & ~holding), [#clear > 1]]
    """
    catalogue = Catalogue(distilled)
    return [as_number(catalogue.read(text)) for text in texts]


def refit_run(run: Run, request: Request, store: Path, progress: Progress | None = None) -> StoredRefit:
    """Fit again and store the result; an existing result is read.

    Parameters
    ----------
    store : the folder of runs.
    progress : called with the stage, the number of finished steps and of all steps.
    """
    added = read_formulas(run.value_function, request.added)
    features = edit_terms(run.value_function.value, added, request.dropped)
    key = content_key(
        [
            run.inputs["files"],
            [one.order[2].hex() for one in added],
            sorted(request.dropped),
            _options(request),
        ]
    )
    place = store / REFITS / f"{run.name}-{key[:8]}"
    if not (place / RESULT).exists():
        value, known = _solve(run, features, request, progress or (lambda stage, done, total: None))
        terms, constant = candidates(value)
        result = {
            "run": run.name,
            "added": [_text(number) for number in added],
            "dropped": sorted(request.dropped),
            "asked": _options(request),
            **known,
            "value": _text(value),
            "terms": [[one.weight, _text(one.number)] for one in terms],
            "constant": constant,
            "size": value.size,
            "whole_weights": has_integer_weights(value),
        }
        with new_folder(place) as folder:
            _write(folder, result, value, run)
    return StoredRefit(place, _read(place))


def refits_in(store: Path, run: str = "") -> Iterator[StoredRefit]:
    """The readable refits in a store, newest first; only those of one run if it is named."""
    places = [file.parent for file in (store / REFITS).glob(f"*/{RESULT}")]
    for place in sorted(places, key=lambda one: (-one.stat().st_mtime, one.name)):
        try:
            found = StoredRefit(place, _read(place))
        except InputError:
            continue
        if run in ("", found.result["run"]):
            yield found


def _options(request: Request) -> dict[str, Any]:
    if not request.exact:
        return {"exact": False}
    return {name: getattr(request, name) for name in ("exact", "pool", "products", "time_limit")}


def _text(number: Number) -> str:
    """A formula as typed; only its size if it is too long to read."""
    return write(number) if number.size <= LARGEST else f"{number.size} symbols"


def _solve(
    run: Run, features: Sequence[Candidate], request: Request, progress: Progress
) -> tuple[Number, dict[str, Any]]:
    """The value function, and its properties."""
    states, marking = {}, run.value_function.goal_marking
    for number, split in enumerate(names := splits_of(run)):
        progress("evaluation", number, len(names))
        data = run.states(split)
        states[split] = (Evaluator(data.structures(goal_marking=marking)), data.v_star)
    evaluator, v_star = states[names[0]]
    columns = [one.number for one in features]
    if request.exact and request.pool:
        dropped = {one.number for one in candidates(run.value_function.value)[0]} - set(columns)
        others = (feature.number for feature in run.value_function.pool if feature.number not in dropped)
        columns = list(dict.fromkeys([*columns, *others]))
    train = StateRows.of([evaluator.number(column) for column in columns], v_star)
    progress("regression", 0, 1)
    if request.exact:
        value, known = _shortest(train, columns, request, progress)
    else:
        before = old_weights(run.value_function.value, features)
        found = refit_weights({names[0]: train}, range(len(features)), features, before)
        value, known = found.value, {"exact": found.exact and found.whole}
    for key, function in (("before", run.value_function.value), ("after", value)):
        known[key] = {
            split: asdict(StateRows.of([there.number(function)], labels).errors([0], np.ones(1), 0.0))
            for split, (there, labels) in states.items()
        }
    return value, known


def _shortest(
    train: StateRows, columns: Sequence[Number], request: Request, progress: Progress
) -> tuple[Number, dict[str, Any]]:
    """The shortest exact function of columns; if there is none, a short one with a small error."""
    found = fit_exact(
        train.values,
        train.v_star,
        [column.size for column in columns],
        train.counts,
        products=request.products,
        max_terms=MAX_TERMS,
        time_limit=request.time_limit,
        progress=progress,
    )
    terms = [
        Scaled(weight, Product(*(columns[place] for place in places)))
        for places, weight in zip(found.terms, found.weights, strict=True)
    ]
    return Sum(*terms, Constant(found.intercept)), {
        "exact": found.exact,
        "proved": found.exact and found.gap == 0,
        "gap": found.gap,
        "blocking": sorted(train.first[found.blocking].tolist())[:_BLOCKING],
        "columns": len(columns),
    }


def _write(folder: Path, result: Mapping[str, Any], value: Number, run: Run) -> None:
    function = ValueFunction(value, (), run.value_function.goal_marking)
    bounds = function.bounds(run.states(name) for name in run.splits)
    for form, one in FORMS.items():
        text = file_text(value, form, run.vocabulary, bounds if one.two_variables else None)
        (folder / one.file).write_text(f"{text}\n")
    (folder / RESULT).write_text(json.dumps(result, indent=1, ensure_ascii=False))


def _read(place: Path) -> dict[str, Any]:
    file = place / RESULT
    found = parse_json(read_text(file), shown(file))
    RefitResult.check(found, file, "remove its folder and fit again")
    result: dict[str, Any] = found
    return result
