"""Fitting features until all states are met."""

from collections.abc import Callable
from dataclasses import dataclass
from time import process_time

import numpy as np
from numpy.typing import NDArray

from distill.logic import And, Constant, Evaluator, Indicator, Number, Product, QuotientEvaluator, Scaled, Sum
from distill.models import Replay
from distill.planning import UNSOLVABLE
from distill.regression import Exact, fit_exact
from distill.settings import Distillation
from distill.structures import Quotient
from distill.trees import Reader, StateFeature

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Progress = Callable[[str, int, int], None]

_ADDED = 200  # states that join the fit where it was wrong
_REFITS = 8
_LESS = 0.1  # weight of states that are right, where trees look at those that are wrong
_MET = 1e-6


@dataclass(frozen=True, eq=False)
class Attempt:
    """A fit, and what it misses.

    Attributes
    ----------
    features : what it was chosen from.
    values : (n_state_rows of the reader's quotient, n_features) their values.
    fit : what the regression found.
    terms : the features used, products among them.
    value : the value function.
    wrong : rows of all training states that it does not meet.
    blocking : rows of training states that prevent an exact fit, if that is proved.
    """

    features: list[StateFeature]
    values: Integers
    fit: Exact
    terms: tuple[StateFeature, ...]
    value: Number
    wrong: Integers
    blocking: Integers

    @property
    def is_exact(self) -> bool:
        """Whether all training states are met, with whole weights."""
        return self.fit.exact and not len(self.wrong)

    @property
    def rank(self) -> tuple[bool, float, int]:
        """The lower the better."""
        return not self.is_exact, 0.0 if self.is_exact else self.fit.mae, self.value.size


class Fitting:
    """Fits features on more and more states.

    Parameters
    ----------
    reader : what finds features, on a sample of states.
    whole : all states.
    chosen : (n_state_rows of the sample,) which rows of the whole they are.

    Attributes
    ----------
    target : (n_state_rows of the sample,) what is to be explained.
    best : the last attempt.
    """

    best: Attempt

    def __init__(
        self, reader: Reader, whole: Quotient, chosen: Integers, settings: Distillation, progress: Progress
    ) -> None:
        self.reader, self.whole, self.settings, self.progress = reader, whole, settings, progress
        self.target: Floats = reader.quotient.v_star.astype(np.float64)
        self.usable = np.flatnonzero((whole.split == 0) & (whole.v_star != UNSOLVABLE))
        self._chosen = chosen
        self._joined: list[int] = []
        self._evaluator = QuotientEvaluator(whole)

    def fit(self, features: list[StateFeature], values: Integers) -> None:
        """Fit, look at all states, and let some of those that are wrong join, as long as there are any."""
        deadline = process_time() + self.settings.time_limit
        for _ in range(_REFITS):
            self.best = self._attempt(features, values, max(0.5, deadline - process_time()))
            wrong = self.best.wrong
            if self.settings.target == "model" or not self.best.fit.exact or not len(wrong):
                return
            rank = rank_within(self.whole.v_star[wrong], wrong)
            self._joined += wrong[np.argsort(rank, kind="stable")[:_ADDED]].tolist()

    def refit(self, activations: Replay) -> None:
        """Where the fit is not exact: trees about states on what is left, then on what is wrong."""
        reader = self.reader
        for number in range(self.settings.rounds):
            if self.best.is_exact:
                return
            self.progress("rounds", number, self.settings.rounds)
            reader.read_states(self._left()[:, None])
            self._improve(*reader.features())
            if self.best.is_exact:
                return
            weight = np.where(np.abs(self._left()) < 0.5, _LESS, 1.0) * reader.weight
            reader.read(activations.embeddings, weight)
            reader.read_states(activations.pooled, weight)
            self._improve(*reader.features())

    def _improve(self, features: list[StateFeature], values: Integers) -> None:
        """Fit, and stay with what was best if that is no better."""
        before = self.best
        self.fit(features, values)
        if self.best.rank >= before.rank:
            self.best = before

    def _left(self) -> Floats:
        """(n_state_rows of the sample,) what the value function leaves unexplained."""
        return self.target - self.best.fit.predict(self.best.values)

    def _attempt(self, features: list[StateFeature], values: Integers, time_limit: float) -> Attempt:
        reader, settings = self.reader, self.settings
        rows = np.flatnonzero(reader.states)
        table, aim, count = values[rows], self.target[rows], reader.quotient.multiplicity[rows]
        joined = np.array(self._joined, dtype=np.int64)
        if len(joined):
            states = Evaluator(self.whole.states[self.whole.chosen[joined]])
            more = [states.number(reader.renamed(feature.number)) for feature in features]
            table = np.concatenate([table, np.stack(more, axis=1)])
            aim = np.concatenate([aim, self.whole.v_star[joined]])
            count = np.concatenate([count, self.whole.multiplicity[joined]])
        found = fit_exact(
            table,
            aim,
            [feature.number.size for feature in features],
            count,
            intercept=settings.intercept,
            nonnegative=settings.nonnegative,
            max_terms=settings.max_features,
            time_limit=time_limit,
            progress=self.progress,
        )
        terms = _terms(found, features)
        scaled = [Scaled(weight, term.number) for weight, term in zip(found.weights, terms, strict=True)]
        value = Sum(*scaled, Constant(found.intercept))
        blocking = np.concatenate([self._chosen[rows], joined])[found.blocking]
        return Attempt(features, values, found, terms, value, self._wrong(value), blocking)

    def _wrong(self, value: Number) -> Integers:
        """Rows of all training states that a value function does not meet."""
        if self.settings.target == "model":
            return np.zeros(0, dtype=np.int64)
        values = self._evaluator.number(self.reader.renamed(value))[self.usable]
        found: Integers = self.usable[np.abs(values - self.whole.v_star[self.usable]) > _MET]
        return found


def _terms(found: Exact, features: list[StateFeature]) -> tuple[StateFeature, ...]:
    """The features that the fit uses, products among them."""
    terms = []
    for numbers in found.terms:
        factors = [features[number] for number in numbers]
        if len(factors) == 1:
            terms.append(factors[0])
            continue
        origin = max((factor.origin for factor in factors), key=lambda one: (one.pool != "ridt", one.layer))
        if all(isinstance(factor.number, Indicator) for factor in factors):
            product: Number = Indicator(And(*(factor.number.fields[0] for factor in factors)))
        else:
            product = Product(*(factor.number for factor in factors))
        terms.append(StateFeature(product, "product", origin))
    return tuple(terms)


def rank_within(label: Integers, key: NDArray[np.generic]) -> Integers:
    """(n,) the place of each among those with its label, by a key."""
    order = np.lexsort((key, label))
    begins = np.searchsorted(label[order], label[order])
    rank = np.empty(len(label), dtype=np.int64)
    rank[order] = np.arange(len(label)) - begins
    return rank
