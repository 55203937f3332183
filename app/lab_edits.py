"""The edits of the laboratory, as the address has them: formulas that are added, terms that are removed."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from app.chosen_formula import catalogue_of
from app.lab_formula import check_words, spoken
from app.opened import Opened
from app.plain import plain
from app.selection import select, selected
from distill.errors import InputError
from distill.jobs.catalogue import as_number
from distill.jobs.experiment import (
    METHODS,
    Candidate,
    Errors,
    Refit,
    StateRows,
    candidates,
    edited,
    fit_again,
    old_weights,
)
from distill.jobs.refitting import splits_of
from distill.logic import Evaluator, Number
from distill.regression import Method

_BETWEEN = "\n"  # formulas in an address; no line of a formula holds one
_MOST = 12  # formulas that are added
_ABLATED = 400_000  # numbers that all fits without one term look at


@dataclass(frozen=True, eq=False)
class Edits:
    """What was changed of a run's value function.

    Attributes
    ----------
    added : formulas, and how the address has each.
    dropped : places of terms.
    again : whether the weights are fitted again, even if nothing else was changed.
    """

    added: dict[str, Number]
    dropped: tuple[int, ...]
    again: bool = False

    @property
    def some(self) -> bool:
        """Whether anything was changed."""
        return bool(self.added or self.dropped or self.again)


def edits_of(run: Opened) -> Edits:
    """What the address says; what is not there, or cannot be read, is told and taken back."""
    # Places are those of one run's terms, so the address says of which.
    if selected("drop") and selected("base") not in ("", run.name):
        st.info("Terms were removed from another run's function; here all terms are in place again.")
        select(drop=None)
    select(base=run.name if selected("drop") else None)
    places = len(candidates(run.distilled.value)[0])
    wanted = selected("drop").split()
    dropped = sorted({int(one) for one in wanted if one.isdecimal() and 1 <= int(one) <= places})
    if unknown := [one for one in wanted if not (one.isdecimal() and 1 <= int(one) <= places)]:
        st.warning(f"There is no term {plain(', '.join(unknown))} to remove; this function has {places}.")
        select(drop=" ".join(map(str, dropped)))
    added: dict[str, Number] = {}
    texts = list(filter(None, map(str.strip, selected("add").split(_BETWEEN))))
    for text in texts[:_MOST]:
        try:
            formula = catalogue_of(run).read(text)
            check_words(formula, spoken(run))
            added[text] = as_number(formula)
        except (InputError, RecursionError) as error:
            st.warning(plain(f"{text} is not added: {error}"))
    if list(added) != texts:
        select(add=_BETWEEN.join(added))
    return Edits(added, tuple(dropped), selected("again") == "yes")


def add(text: str) -> None:
    """Add a formula, as an address has it."""
    texts = [one for one in selected("add").split(_BETWEEN) if one.strip()]
    if len(texts) >= _MOST:
        st.toast(f"{_MOST} formulas are added already; take one back first.")
    elif text not in texts:
        select(add=_BETWEEN.join([*texts, text]))


def take_back(text: str) -> None:
    """Do not add a formula any more."""
    select(add=_BETWEEN.join(one for one in selected("add").split(_BETWEEN) if one != text))


def drop(place: int) -> None:
    """Remove a term of the run's function."""
    select(
        drop=" ".join(map(str, sorted({*map(int, selected("drop").split()), place}))), base=selected("run")
    )


def put_back(place: int) -> None:
    """Do not remove a term any more."""
    select(drop=" ".join(one for one in selected("drop").split() if one != str(place)))


@dataclass(frozen=True, eq=False)
class Bench:
    """What fits need: a run's function, formulas beside it, and their numbers on all states.

    Attributes
    ----------
    run : the run.
    numbers : the run's terms, then other formulas, in the order of the columns of `rows`.
    rows : for each split, the one to fit first.
    """

    run: Opened
    numbers: tuple[Number, ...]
    rows: dict[str, StateRows]

    @staticmethod
    def of(run: Opened, others: list[Number]) -> "Bench":
        """Evaluate formulas beside the terms of a run; what was evaluated before is not again."""
        terms = [one.number for one in candidates(run.distilled.value)[0]]
        more = tuple(number for number in dict.fromkeys(others) if number not in terms)
        rows = {split: _rows(run, split, more) for split in splits_of(run.run)}
        return Bench(run, (*terms, *more), rows)

    def before(self) -> dict[str, Errors]:
        """The errors of the run's function."""
        terms, constant = candidates(self.run.distilled.value)
        weights = np.array([one.weight for one in terms], dtype=np.float64)
        return {split: one.errors(range(len(terms)), weights, constant) for split, one in self.rows.items()}

    def edited(self, edits: Edits, method: Method) -> Refit:
        """The edited function; without edits the run's own, as it is."""
        if edits.some:
            return self.fit(self.features(edits), method)
        terms, constant = candidates(self.run.distilled.value)
        weights = np.array([one.weight for one in terms], dtype=np.float64)
        numbers = tuple(one.number for one in terms)
        return Refit(numbers, weights, constant, self.before(), True, method)

    def fit(self, features: list[Candidate], method: Method) -> Refit:
        """Weights for some of the formulas; those of the run, if none are better."""
        keys = tuple(one.number.order[2] for one in features)
        run = self.run
        return _fit(str(run.folder), run.stamp, tuple(self.rows), keys, method, self, features)

    def features(self, edits: Edits, *more: Number) -> list[Candidate]:
        """What the edited function may use."""
        return edited(self.run.distilled.value, [*edits.added.values(), *more], edits.dropped)

    def without_each(self, features: list[Candidate], method: Method) -> dict[Number, float] | None:
        """The mean training error without each feature; None where all these fits would take long."""
        train = next(iter(self.rows.values()))
        if len(train.v_star) * len(features) ** 2 > _ABLATED:
            return None
        first = next(iter(self.rows))
        alone = Bench(self.run, self.numbers, {first: train})
        return {
            one.number: alone.fit([other for other in features if other is not one], method).errors[first].mae
            for one in features
        }

    def column(self, number: Number, split: str) -> NDArray[np.float64]:
        """(n_rows,) the values of one of the formulas on the rows of a split."""
        found: NDArray[np.float64] = self.rows[split].values[:, self.numbers.index(number)]
        return found

    def values(self, fitted: Refit, split: str) -> NDArray[np.float64]:
        """(n_rows,) a function's values on the rows of a split."""
        columns = [self.numbers.index(one) for one in fitted.features]
        found: NDArray[np.float64] = self.rows[split].values[:, columns] @ fitted.weights + fitted.constant
        return found


@st.cache_resource(max_entries=300, show_spinner="Fitting")
def _fit(
    folder: str,
    stamp: int,
    splits: tuple[str, ...],
    keys: tuple[bytes, ...],
    method: Method,
    _bench: Bench,
    _features: list[Candidate],
) -> Refit:
    before = old_weights(_bench.run.distilled.value, _features)
    columns = [_bench.numbers.index(one.number) for one in _features]
    return fit_again(_bench.rows, columns, _features, before, method)


def _rows(run: Opened, split: str, more: tuple[Number, ...]) -> StateRows:
    """The states of a split as rows, with a column for each term of the run's function, and for more."""
    keys = tuple(number.order[2] for number in more)
    found: StateRows = _kept_rows(str(run.folder), run.stamp, split, keys, more)
    return found


@st.cache_resource(max_entries=18, show_spinner="Evaluating")
def _kept_rows(
    folder: str, stamp: int, split: str, keys: tuple[bytes, ...], _more: tuple[Number, ...]
) -> StateRows:
    run = Opened(Path(folder), stamp)
    if _more:
        # What there is without the last formula is mostly known.
        return _rows(run, split, _more[:-1]).more(run.values(_more[-1], split))
    evaluator = Evaluator(run.structures(split))
    columns = [evaluator.number(one.number) for one in candidates(run.distilled.value)[0]]
    return StateRows.of(columns, run.states(split).v_star)


def method_of() -> Method:
    """How weights are fitted."""
    found = selected("fit")
    return next((one for one in METHODS if one == found), "absolute")
