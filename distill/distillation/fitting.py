"""Fits of features to growing sets of states, until all states match."""

from collections.abc import Callable
from dataclasses import dataclass
from time import process_time

import numpy as np
from numpy.typing import NDArray

from distill.common import rank_within
from distill.distillation.readable_extractor import ReadableExtractor
from distill.distillation.sample import Sample
from distill.distillation.settings import Distillation
from distill.distillation.targets import target_named
from distill.explanations import StateFeature
from distill.logic import And, Constant, Evaluator, Indicator, Number, Product, QuotientEvaluator, Scaled, Sum
from distill.networks import Replay
from distill.regression import ExactFit
from distill.structures import Quotient

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Progress = Callable[[str, int, int], None]

_ADDED = 200  # wrong states that are added to the fit at a time
_REFITS = 8
_LESS = 0.1  # relative weight of correct states when trees are fitted to errors


@dataclass(frozen=True, eq=False)
class FeatureFit:
    """A value function fitted to features, and the states in which it is wrong.

    Attributes
    ----------
    features : all features to choose from.
    values : (n_state_rows of the extractor's quotient, n_features) their values.
    fit : the result of the regression.
    terms : the features used, including products.
    value : the value function.
    wrong : rows of all training states in which it differs from the label.
    blocking : rows of training states that provably prevent an exact fit.
    """

    features: list[StateFeature]
    values: Integers
    fit: ExactFit
    terms: tuple[StateFeature, ...]
    value: Number
    wrong: Integers
    blocking: Integers

    @property
    def is_exact(self) -> bool:
        """Whether it matches the labels of all training states, with whole weights."""
        return self.fit.exact and not len(self.wrong)

    @property
    def rank(self) -> tuple[bool, float, int]:
        """A key; lower is better."""
        return not self.is_exact, 0.0 if self.is_exact else self.fit.mae, self.value.size


class FeatureFitter:
    """Fits features to growing sets of states.

    Parameters
    ----------
    extractor : the features, on a sample of states.
    sample : this sample.
    whole : all states.

    Attributes
    ----------
    labels : (n_state_rows of the sample,) the target.
    best : the best fit so far.
    """

    best: FeatureFit

    def __init__(
        self,
        extractor: ReadableExtractor,
        sample: Sample,
        whole: Quotient,
        settings: Distillation,
        progress: Progress,
    ) -> None:
        self.extractor, self.whole, self.settings, self.progress = extractor, whole, settings, progress
        self.target = target_named(settings.target)
        self.labels = self.target.known_labels(extractor.quotient, sample.activations)
        self._chosen = sample.chosen
        self._joined: list[int] = []
        self._evaluator = QuotientEvaluator(whole)

    def fit(self, features: list[StateFeature], values: Integers) -> None:
        """Fit, evaluate on all states, add some wrong ones, and repeat until none is wrong."""
        deadline = process_time() + self.settings.time_limit
        for _ in range(_REFITS):
            self.best = self._fit(features, values, max(0.5, deadline - process_time()))
            wrong = self.best.wrong
            if not self.best.fit.exact or not len(wrong):
                return
            rank = rank_within(self.target.known_labels(self.whole)[wrong], wrong)
            self._joined += wrong[np.argsort(rank, kind="stable")[:_ADDED]].tolist()

    def refit(self, activations: Replay) -> None:
        """If the fit is not exact, fit trees to its residual, then with more weight on wrong states."""
        extractor = self.extractor
        for number in range(self.settings.rounds):
            if self.best.is_exact:
                return
            self.progress("rounds", number, self.settings.rounds)
            extractor.extract_states(self._residual()[:, None])
            self._improve(*extractor.features())
            if self.best.is_exact:
                return
            weight = np.where(np.abs(self._residual()) < 0.5, _LESS, 1.0) * extractor.weight
            extractor.extract(activations.embeddings, weight)
            extractor.extract_states(activations.pooled, weight)
            self._improve(*extractor.features())

    def _improve(self, features: list[StateFeature], values: Integers) -> None:
        """Fit, and keep the better of the new and the previous fit."""
        before = self.best
        self.fit(features, values)
        if self.best.rank >= before.rank:
            self.best = before

    def _residual(self) -> Floats:
        """(n_state_rows of the sample,) labels minus predictions."""
        return self.labels - self.best.fit.predict(self.best.values)

    def _fit(self, features: list[StateFeature], values: Integers, time_limit: float) -> FeatureFit:
        extractor = self.extractor
        rows = np.flatnonzero(extractor.states)
        table, aim, count = values[rows], self.labels[rows], extractor.quotient.multiplicity[rows]
        joined = np.array(self._joined, dtype=np.int64)
        if len(joined):
            states = Evaluator(self.whole.states[self.whole.chosen[joined]])
            more = [states.number(extractor.renamed(feature.number)) for feature in features]
            table = np.concatenate([table, np.stack(more, axis=1)])
            aim = np.concatenate([aim, self.target.known_labels(self.whole)[joined]])
            count = np.concatenate([count, self.whole.multiplicity[joined]])
        sizes = [feature.number.size for feature in features]
        found = self.target.fit(
            table, aim, sizes, count, self.settings, time_limit=time_limit, progress=self.progress
        )
        terms = _terms(found, features)
        scaled = [Scaled(weight, term.number) for weight, term in zip(found.weights, terms, strict=True)]
        value = Sum(*scaled, Constant(found.intercept))
        blocking = np.concatenate([self._chosen[rows], joined])[found.blocking]
        wrong = self.target.wrong(self.whole, lambda: self._evaluator.number(extractor.renamed(value)))
        return FeatureFit(features, values, found, terms, value, wrong, blocking)


def _terms(found: ExactFit, features: list[StateFeature]) -> tuple[StateFeature, ...]:
    """The features of the fit, including products."""
    terms = []
    for numbers in found.terms:
        factors = [features[number] for number in numbers]
        if len(factors) == 1:
            terms.append(factors[0])
            continue
        provenance = max(
            (factor.provenance for factor in factors), key=lambda one: (one.pool != "ridt", one.layer)
        )
        if all(isinstance(factor.number, Indicator) for factor in factors):
            product: Number = Indicator(And(*(factor.number.fields[0] for factor in factors)))
        else:
            product = Product(*(factor.number for factor in factors))
        terms.append(StateFeature(product, "product", provenance))
    return tuple(terms)
