"""Editing value functions: add formulas, remove terms, and refit the weights.

States with equal values and equal V* are one row, so the time of a fit depends on the distinct rows only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from distill.common import InputError
from distill.explanations.export import ordered_terms
from distill.explanations.value_function import weighted_sum
from distill.logic import Constant, Number
from distill.regression import LinearFit, Method, distinct_rows, fit_linear, median, round_weights

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

METHODS: Mapping[Method, str] = {"absolute": "least absolute error", "squares": "least squares"}
EXACT = 1e-6  # largest error of a value that is exact
LARGEST = 100_000  # rows times columns of a linear programme that is solved within about a second
_AS_GOOD = 1e-9  # errors that differ by less are the same
_DIGITS = 9  # of weights that are no whole numbers


@dataclass(frozen=True, eq=False)
class StateRows:
    """The states of a split that have a V*; those with equal columns and V* are one row.

    Attributes
    ----------
    values : (n_rows, n_columns) the numbers of each row.
    v_star : (n_rows,).
    counts : (n_rows,) the number of states of each row.
    first : (n_rows,) the number of one of these states.
    known : (n_known,) the numbers of the states that have a V*.
    row_of : (n_known,) the row of each of them.

    Examples
    --------
    >>> rows = StateRows.of([np.array([1, 1, 2, 1])], np.array([3, 3, 4, -1]))
    >>> rows.values.tolist(), rows.v_star.tolist(), rows.counts.tolist()
    ([[1.0], [2.0]], [3, 4], [2, 1])
    >>> rows.more(np.array([0, 7, 0, 0])).values.tolist()
    [[1.0, 0.0], [1.0, 7.0], [2.0, 0.0]]
    """

    values: Floats
    v_star: Integers
    counts: Integers
    first: Integers
    known: Integers
    row_of: Integers

    @staticmethod
    def of(columns: Sequence[NDArray[Any]], v_star: NDArray[np.integer]) -> "StateRows":
        """The rows of states.

        Parameters
        ----------
        columns : (n_states,) each.
        v_star : (n_states,) negative where there is none.
        """
        known = np.flatnonzero(np.asarray(v_star) >= 0)
        table = np.column_stack([*columns, v_star])[known].astype(np.float64)
        first, row_of = distinct_rows(table)
        return StateRows(
            table[first, :-1],
            table[first, -1].astype(np.int64),
            np.bincount(row_of, minlength=len(first)),
            known[first],
            known,
            row_of,
        )

    def more(self, column: NDArray[Any]) -> "StateRows":
        """The rows with one more column (n_states,)."""
        values, level = np.unique(column[self.known], return_inverse=True)
        codes = self.row_of * max(len(values), 1) + level
        _, first, row_of = np.unique(codes, return_index=True, return_inverse=True)
        old = self.row_of[first]
        return StateRows(
            np.column_stack([self.values[old], values[level[first]].astype(np.float64)]),
            self.v_star[old],
            np.bincount(row_of, minlength=len(first)),
            self.known[first],
            self.known,
            row_of.astype(np.int64),
        )

    def errors(self, columns: Sequence[int], weights: Floats, constant: float) -> "SplitErrors":
        """The errors of the weighted sum of some columns."""
        off = np.abs(self.values[:, list(columns)] @ weights + constant - self.v_star)
        states = int(self.counts.sum())
        if not states:
            return SplitErrors(0, float("nan"), float("nan"), 0)
        wrong = int(self.counts[off > EXACT].sum())
        return SplitErrors(states, float(np.average(off, weights=self.counts)), float(off.max()), wrong)


@dataclass(frozen=True)
class SplitErrors:
    """Errors on a split: number of states, mean and largest error, number of wrong states."""

    states: int
    mae: float
    max_error: float
    wrong: int


@dataclass(frozen=True)
class Candidate:
    """A feature that the function may use.

    Attributes
    ----------
    number : its formula.
    place : of the term in the run's function, counted from 1, heavy ones first; None if it is new.
    weight : in the run's function; 0 if it is new.
    """

    number: Number
    place: int | None = None
    weight: float = 0.0


@dataclass(frozen=True, eq=False)
class Refit:
    """A value function whose weights were fitted again.

    Attributes
    ----------
    features, weights, constant : its terms.
    errors : on each split.
    as_before : whether the weights of the run were kept, since no others are better.
    method : the method of the fit.
    """

    features: tuple[Number, ...]
    weights: Floats
    constant: float
    errors: Mapping[str, SplitErrors]
    as_before: bool
    method: Method

    @cached_property
    def value(self) -> Number:
        """The value function."""
        return weighted_sum(self.features, self.weights.tolist(), self.constant, tolerance=0.0)

    @property
    def whole(self) -> bool:
        """Whether all weights are whole numbers."""
        return all(float(one).is_integer() for one in (*self.weights, self.constant))

    @property
    def exact(self) -> bool:
        """Whether it is exact on the states that it was fitted to."""
        return next(iter(self.errors.values())).wrong == 0


def candidates(value: Number) -> tuple[list[Candidate], float]:
    """The terms of a value function, and its constant.

    Examples
    --------
    >>> from distill.logic import parse
    >>> found, constant = candidates(parse("2*#clear - 3*#holding + 1"))
    >>> [(one.place, one.weight, one.number) for one in found], constant
    ([(1, -3, #holding), (2, 2, #clear)], 1.0)
    """
    terms = ordered_terms(value)
    found = [(weight, number) for weight, number in terms if not isinstance(number, Constant)]
    constant = sum(weight * number.fields[0] for weight, number in terms if isinstance(number, Constant))
    return [Candidate(number, place, w) for place, (w, number) in enumerate(found, 1)], float(constant)


def edit_terms(value: Number, added: Sequence[Number], dropped: Sequence[int]) -> list[Candidate]:
    """The features of a value function after edits; one that is removed and added again does not change.

    Parameters
    ----------
    added : formulas; those that are terms already change nothing.
    dropped : places of terms, counted from 1.

    Examples
    --------
    >>> from distill.logic import parse
    >>> value, free = parse("2*#clear - 3*#holding"), parse("#free")
    >>> [(one.place, one.number) for one in edit_terms(value, [free], [1])]
    [(2, #clear), (None, #free)]
    >>> [one.place for one in edit_terms(value, [parse("#holding")], [1])]
    [2, 1]
    """
    terms, _ = candidates(value)
    for place in dropped:
        if not 1 <= place <= len(terms):
            raise InputError(f"There is no term {place}; the value function has {len(terms)}, from 1 on.")
    found = {one.number: one for one in terms if one.place not in dropped}
    old = {one.number: one for one in terms}
    for number in added:
        found.setdefault(number, old.get(number, Candidate(number)))
    return list(found.values())


def old_weights(value: Number, features: Sequence[Candidate]) -> tuple[list[float], float] | None:
    """The weights that features have in a value function, and its constant; None if some term is missing.

    Examples
    --------
    >>> from distill.logic import parse
    >>> value = parse("2*#clear - 3*#holding + 1")
    >>> old_weights(value, edit_terms(value, [parse("#free")], []))
    ([-3.0, 2.0, 0.0], 1.0)
    >>> old_weights(value, edit_terms(value, [], [1]))
    """
    terms, constant = candidates(value)
    if not {one.number for one in terms} <= {one.number for one in features}:
        return None
    return [float(one.weight) for one in features], constant


def refit_weights(
    rows: Mapping[str, StateRows],
    columns: Sequence[int],
    features: Sequence[Candidate],
    before: tuple[Sequence[float], float] | None,
    method: Method = "absolute",
) -> Refit:
    """Fit weights to V* on the first split, and evaluate them on all splits.

    Weights are rounded to whole numbers if no error grows.

    Parameters
    ----------
    rows : for each split; the first is fitted.
    columns : the column of each feature in the rows.
    features : in the order of `columns`.
    before : the weights and constant of the run, which are kept if no others are better.
    method : one of `METHODS`; a programme that would take long is replaced by least squares.

    Examples
    --------
    >>> from distill.logic import parse
    >>> rows = {"train": StateRows.of([np.array([0, 1, 2])], np.array([1, 3, 5]))}
    >>> found = refit_weights(rows, [0], [Candidate(parse("#clear"))], None)
    >>> found.value, found.errors["train"].wrong
    (2*#clear + 1, 0)
    """
    chosen, train = list(columns), next(iter(rows.values()))
    if not len(train.v_star):
        raise InputError("No state of the first split has a V*, so there is nothing to fit.")
    table, target, counts = train.values[:, chosen], train.v_star.astype(float), train.counts.astype(float)
    if method == "absolute" and table.size > LARGEST:
        method = "squares"
    # Several threads are slower on small tables.
    with threadpool_limits(1):
        fit = _solved(table, target, counts, method)
    weights, constant = np.round(fit.weights, _DIGITS) + 0.0, round(fit.intercept, _DIGITS) + 0.0
    as_before = False
    if before is not None:
        old = np.asarray(before[0], dtype=np.float64)
        worse = train.errors(chosen, old, before[1]).mae
        if worse <= train.errors(chosen, weights, constant).mae + _AS_GOOD:
            weights, constant, as_before = old, float(before[1]), True
    errors = {split: one.errors(chosen, weights, constant) for split, one in rows.items()}
    return Refit(tuple(one.number for one in features), weights, constant, errors, as_before, method)


def _solved(table: Floats, target: Floats, counts: Floats, method: Method) -> LinearFit:
    if not table.shape[1]:
        # The best constant is a median, or the mean.
        best = median(target, counts) if method == "absolute" else np.average(target, weights=counts)
        return LinearFit(np.zeros(0), float(best), 0.0, 0.0)
    try:
        fit = fit_linear(table, target, counts, method=method)
    except InputError:
        if method == "squares":
            raise
        fit = fit_linear(table, target, counts, method="squares")
    return round_weights(fit, table, target, counts)
