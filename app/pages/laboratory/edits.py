"""The edits of a value function in the address: added formulas and removed terms."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from app.components.escape import escape
from app.components.formula_selection import catalogue_of
from app.pages.laboratory.formula_input import check_predicates, formula_vocabulary
from app.session.run_session import RunSession
from app.session.selection import select, selected
from distill.common import InputError
from distill.explanations import (
    METHODS,
    Candidate,
    Refit,
    SplitErrors,
    StateRows,
    as_number,
    candidates,
    edit_terms,
    old_weights,
    refit_weights,
)
from distill.logic import Evaluator, Number
from distill.regression import Method
from distill.runs import splits_of

_BETWEEN = "\n"  # the separator of formulas in an address; no formula contains it
_MOST = 12  # added formulas
_ABLATED = 400_000  # values in all fits without one term


@dataclass(frozen=True, eq=False)
class Edits:
    """The edits of a run's value function.

    Attributes
    ----------
    added : the added features by their text in the address.
    dropped : the places of removed terms.
    again : whether the weights are refitted without other edits.
    """

    added: dict[str, Number]
    dropped: tuple[int, ...]
    again: bool = False

    @property
    def some(self) -> bool:
        """Whether there is an edit."""
        return bool(self.added or self.dropped or self.again)


def edits_of(run: RunSession) -> Edits:
    """The edits in the address; a message reports invalid ones, which are removed."""
    # Places refer to the terms of one run, so the address names it.
    if selected("drop") and selected("base") not in ("", run.name):
        st.info("The removed terms belong to another run; here all terms are used.")
        select(drop=None)
    select(base=run.name if selected("drop") else None)
    places = len(candidates(run.value_function.value)[0])
    wanted = selected("drop").split()
    dropped = sorted({int(one) for one in wanted if one.isdecimal() and 1 <= int(one) <= places})
    if unknown := [one for one in wanted if not (one.isdecimal() and 1 <= int(one) <= places)]:
        st.warning(f"There is no term {escape(', '.join(unknown))}; this function has {places} terms.")
        select(drop=" ".join(map(str, dropped)))
    added: dict[str, Number] = {}
    texts = list(filter(None, map(str.strip, selected("add").split(_BETWEEN))))
    for text in texts[:_MOST]:
        try:
            formula = catalogue_of(run).read(text)
            check_predicates(formula, formula_vocabulary(run))
            added[text] = as_number(formula)
        except InputError as error:
            st.warning(escape(f"{text} is not added: {error}"))
    if list(added) != texts:
        select(add=_BETWEEN.join(added))
    return Edits(added, tuple(dropped), selected("again") == "yes")


def add(text: str) -> None:
    """Add a formula, given by its text in the address."""
    texts = [one for one in selected("add").split(_BETWEEN) if one.strip()]
    if len(texts) >= _MOST:
        st.toast(f"{_MOST} formulas are the limit; remove an added one first.")
    elif text not in texts:
        select(add=_BETWEEN.join([*texts, text]))


def take_back(text: str) -> None:
    """Remove an added formula."""
    select(add=_BETWEEN.join(one for one in selected("add").split(_BETWEEN) if one != text))


def drop(place: int) -> None:
    """Remove a term of the run."""
    select(
        drop=" ".join(map(str, sorted({*map(int, selected("drop").split()), place}))), base=selected("run")
    )


def put_back(place: int) -> None:
    """Restore a removed term."""
    select(drop=" ".join(one for one in selected("drop").split() if one != str(place)))


@dataclass(frozen=True, eq=False)
class Bench:
    """The terms of a run and other formulas, with their values on all states, for fits.

    Attributes
    ----------
    run : the run.
    numbers : the terms of the run, then other formulas, in the order of the columns of `rows`.
    rows : for each split its states; the split for fits comes first.
    """

    run: RunSession
    numbers: tuple[Number, ...]
    rows: dict[str, StateRows]

    @staticmethod
    def of(run: RunSession, others: list[Number]) -> "Bench":
        """Evaluate formulas in addition to the terms of a run; earlier values are reused."""
        terms = [one.number for one in candidates(run.value_function.value)[0]]
        more = tuple(number for number in dict.fromkeys(others) if number not in terms)
        rows = {split: _rows(run, split, more) for split in splits_of(run.run)}
        return Bench(run, (*terms, *more), rows)

    def before(self) -> dict[str, SplitErrors]:
        """The errors of the run's function."""
        terms, constant = candidates(self.run.value_function.value)
        weights = np.array([one.weight for one in terms], dtype=np.float64)
        return {split: one.errors(range(len(terms)), weights, constant) for split, one in self.rows.items()}

    def edited(self, edits: Edits, method: Method) -> Refit:
        """The edited function; without edits that of the run."""
        if edits.some:
            return self.fit(self.features(edits), method)
        terms, constant = candidates(self.run.value_function.value)
        weights = np.array([one.weight for one in terms], dtype=np.float64)
        numbers = tuple(one.number for one in terms)
        return Refit(numbers, weights, constant, self.before(), True, method)

    def fit(self, features: list[Candidate], method: Method) -> Refit:
        """Fit weights of some formulas; the weights of the run stay if none are better."""
        keys = tuple(one.number.order[2] for one in features)
        run = self.run
        return _fit(str(run.folder), run.stamp, tuple(self.rows), keys, method, self, features)

    def features(self, edits: Edits, *more: Number) -> list[Candidate]:
        """The features of the edited function."""
        return edit_terms(self.run.value_function.value, [*edits.added.values(), *more], edits.dropped)

    def without_each(self, features: list[Candidate], method: Method) -> dict[Number, float] | None:
        """The mean training error without each feature; None if these fits would take long."""
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
        """(n_rows,) the values of a function on the rows of a split."""
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
    before = old_weights(_bench.run.value_function.value, _features)
    columns = [_bench.numbers.index(one.number) for one in _features]
    return refit_weights(_bench.rows, columns, _features, before, method)


def _rows(run: RunSession, split: str, more: tuple[Number, ...]) -> StateRows:
    """The states of a split as rows, with a column for each term of the run and each other formula."""
    keys = tuple(number.order[2] for number in more)
    found: StateRows = _kept_rows(str(run.folder), run.stamp, split, keys, more)
    return found


@st.cache_resource(max_entries=18, show_spinner="Evaluating")
def _kept_rows(
    folder: str, stamp: int, split: str, keys: tuple[bytes, ...], _more: tuple[Number, ...]
) -> StateRows:
    run = RunSession(Path(folder), stamp)
    if _more:
        # The rows without the last formula are usually cached.
        return _rows(run, split, _more[:-1]).more(run.values(_more[-1], split))
    evaluator = Evaluator(run.structures(split))
    columns = [evaluator.number(one.number) for one in candidates(run.value_function.value)[0]]
    return StateRows.of(columns, run.states(split).v_star)


def method_of() -> Method:
    """The method of fitting weights."""
    found = selected("fit")
    return next((one for one in METHODS if one == found), "absolute")
