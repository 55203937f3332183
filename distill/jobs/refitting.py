"""Refits: a run's value function with formulas added or removed, and weights that are proved where asked for.

A result is a folder beside the runs, under `refits`: `result.json`, and the value function in every form.
It is complete or absent, and never written over; equal requests have one name.
"""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from distill.errors import InputError
from distill.jobs.catalogue import Catalogue, as_number
from distill.jobs.distilled import Distilled
from distill.jobs.experiment import Candidate, StateRows, candidates, edited, fit_again, old_weights
from distill.jobs.folder import PART
from distill.jobs.forms import FORMS, LARGEST, written
from distill.jobs.run import Run
from distill.logic import Constant, Evaluator, Number, Product, Scaled, Sum, write
from distill.planning import SPLITS
from distill.planning.cache import content_key
from distill.regression import fit_exact, has_integer_weights

Progress = Callable[[str, int, int], None]
REFITS = "refits"
RESULT = "result.json"
TIME_LIMIT = 60.0  # seconds of an exact solve
MAX_TERMS = 12  # of an exact function, where fewer will not do
_BLOCKING = 4  # states that prevent an exact function and are told


@dataclass(frozen=True)
class Request:
    """What to fit.

    Attributes
    ----------
    added : formulas as they are typed, or `no:7` for a formula of the run; see `Catalogue.read`.
    dropped : places of terms of the run's function, counted from 1, heavy ones first.
    exact : whether the shortest function with whole weights is looked for, not the least absolute error.
    pool : whether all other features of the run may be used, too; only with `exact`.
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
class Refitted:
    """A refit that was done.

    Attributes
    ----------
    folder : where it is kept.
    result : what came out, as plain data.
    """

    folder: Path
    result: Mapping[str, Any]


def splits_of(run: Run) -> list[str]:
    """The splits of a run, those to fit on first."""
    return sorted(run.splits, key=lambda name: (name not in SPLITS, [*SPLITS, name].index(name)))


def read_formulas(distilled: Distilled, texts: Sequence[str]) -> list[Number]:
    """The features that typed formulas are; one about objects is counted.

    Examples
    --------
    >>> from distill.logic import parse
    >>> read_formulas(Distilled(parse("#clear"), ()), ["clear & ~holding", "[#clear > 1]"])
    [#(clear & ~holding), [#clear > 1]]
    """
    catalogue = Catalogue(distilled)
    return [as_number(catalogue.read(text)) for text in texts]


def refit_run(run: Run, request: Request, store: Path, progress: Progress | None = None) -> Refitted:
    """Fit again, and keep the result in a store; one that is there already is read.

    Parameters
    ----------
    store : the folder that keeps runs.
    progress : called with what is done, and the steps done and to do.
    """
    added = read_formulas(run.distilled, request.added)
    features = edited(run.distilled.value, added, request.dropped)
    key = content_key(
        [run.inputs["files"], [one.order[2].hex() for one in added], sorted(request.dropped), _asked(request)]
    )
    place = store / REFITS / f"{run.name}-{key[:8]}"
    if not (place / RESULT).exists():
        value, known = _solve(run, features, request, progress or (lambda stage, done, total: None))
        terms, constant = candidates(value)
        result = {
            "run": run.name,
            "added": [_text(number) for number in added],
            "dropped": sorted(request.dropped),
            "asked": _asked(request),
            **known,
            "value": _text(value),
            "terms": [[one.weight, _text(one.number)] for one in terms],
            "constant": constant,
            "size": value.size,
            "whole_weights": has_integer_weights(value),
        }
        _write(place, result, value, run)
    return Refitted(place, _read(place))


def refits_in(store: Path, run: str = "") -> Iterator[Refitted]:
    """The refits in a store that can be read, newest first; those of one run if it is named."""
    places = [file.parent for file in (store / REFITS).glob(f"*/{RESULT}")]
    for place in sorted(places, key=lambda one: (-one.stat().st_mtime, one.name)):
        try:
            found = Refitted(place, _read(place))
        except InputError:
            continue
        if run in ("", found.result["run"]):
            yield found


def _asked(request: Request) -> dict[str, Any]:
    if not request.exact:
        return {"exact": False}
    return {name: getattr(request, name) for name in ("exact", "pool", "products", "time_limit")}


def _text(number: Number) -> str:
    """A formula as it is typed, if anybody could read it; `value.json` has every one."""
    return write(number) if number.size <= LARGEST else f"{number.size} symbols"


def _solve(
    run: Run, features: Sequence[Candidate], request: Request, progress: Progress
) -> tuple[Number, dict[str, Any]]:
    """The value function, and what is known of it."""
    states = {}
    for number, split in enumerate(names := splits_of(run)):
        progress("evaluation", number, len(names))
        data = run.states(split)
        states[split] = (Evaluator(data.structures(goal_marking=run.distilled.goal_marking)), data.v_star)
    evaluator, v_star = states[names[0]]
    columns = [one.number for one in features]
    if request.exact and request.pool:
        dropped = {one.number for one in candidates(run.distilled.value)[0]} - set(columns)
        others = (feature.number for feature in run.distilled.pool if feature.number not in dropped)
        columns = list(dict.fromkeys([*columns, *others]))
    train = StateRows.of([evaluator.number(column) for column in columns], v_star)
    progress("regression", 0, 1)
    if request.exact:
        value, known = _shortest(train, columns, request, progress)
    else:
        before = old_weights(run.distilled.value, features)
        found = fit_again({names[0]: train}, range(len(features)), features, before)
        value, known = found.value, {"exact": found.exact and found.whole}
    for key, function in (("before", run.distilled.value), ("after", value)):
        known[key] = {
            split: asdict(StateRows.of([there.number(function)], labels).errors([0], np.ones(1), 0.0))
            for split, (there, labels) in states.items()
        }
    return value, known


def _shortest(
    train: StateRows, columns: Sequence[Number], request: Request, progress: Progress
) -> tuple[Number, dict[str, Any]]:
    """The shortest exact function of columns; where there is none, a short one of small error."""
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


def _write(place: Path, result: Mapping[str, Any], value: Number, run: Run) -> None:
    """Write all files into a folder beside, then move it to its place at once."""
    part = None
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=f"{PART}{place.name}-", dir=place.parent))
        for form, kept in FORMS.items():
            text = written(Distilled(value, (), run.distilled.goal_marking), form, run.vocabulary)
            (part / kept.file).write_text(f"{text}\n")
        (part / RESULT).write_text(json.dumps(result, indent=1, ensure_ascii=False))
        part.chmod(0o755)
        part.rename(place)
    except OSError as error:
        # Somebody else may have done the same meanwhile.
        if not (place / RESULT).exists():
            raise InputError(
                f"Cannot write {place}: {error.strerror or error}; choose another folder."
            ) from error
    finally:
        if part is not None:
            shutil.rmtree(part, ignore_errors=True)


def _read(place: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads((place / RESULT).read_text())
        if not {"run", "added", "dropped", "value", "terms", "before", "after"} <= set(found):
            raise ValueError("it is not the result of a refit")
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            f"{place / RESULT} cannot be read ({error}); remove its folder and fit again."
        ) from error
    return found
