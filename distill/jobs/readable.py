"""Readable distillation: trees, and the shortest exact value function, until all states are met."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from distill.jobs.fitting import Attempt, Fitting
from distill.jobs.polishing import Polishing
from distill.jobs.sample import Sample
from distill.logic import Constant, Count, Distance, Number, Product, weighted
from distill.settings import Distillation
from distill.structures import Quotient
from distill.trees import Grown, Origin, Reader, StateFeature

Integers = NDArray[np.int64]
Progress = Callable[[str, int, int], None]

_KINDS: Mapping[type[Number], str] = {Product: "product", Count: "numerical", Distance: "distance"}


@dataclass(frozen=True, eq=False)
class Solved:
    """A value function and how it came about.

    Attributes
    ----------
    value : the value function.
    terms : its features.
    pool : all features it was chosen from, before it was polished.
    attempt : the fit, and the state rows of `states` that it misses.
    gap : the share of its size that a smaller exact function in the same features might save; none if it
        was polished, as then nothing is known of that.
    conflict : two state rows that look the same and have different labels, or none.
    states : the quotient of training and validation states.
    objects : how many formulas about objects were found.
    grown : the trees of all layers and rounds, which ask in the names of the domain.
    """

    value: Number
    terms: tuple[StateFeature, ...]
    pool: tuple[StateFeature, ...]
    attempt: Attempt
    gap: float | None
    conflict: tuple[int, int] | None
    states: Quotient
    objects: int
    grown: tuple[Grown, ...]


def read_features(sample: Sample, settings: Distillation, progress: Progress) -> Reader:
    """Read the network layer by layer, or list short formulas, as the pool asks."""
    reader = Reader(sample.quotient, settings)
    if sample.activations is not None and settings.pool != "enumerate":
        reader.read(
            sample.activations.embeddings, progress=lambda done, total: progress("layers", done, total)
        )
        reader.read_states(sample.activations.pooled)
    if settings.pool in ("enumerate", "both"):
        progress("enumeration", 0, 1)
        reader.enumerate()
    return reader


def solve(
    reader: Reader, sample: Sample, whole: Quotient, settings: Distillation, progress: Progress
) -> Solved:
    """Find the shortest value function that is exact on all training states.

    Parameters
    ----------
    reader : has read the features.
    sample : what it read them from.
    whole : all training and validation states.
    progress : called with the stage and the steps done and to do.
    """
    activations = sample.activations
    fitting = Fitting(reader, whole, sample.chosen, settings, progress)
    if settings.target == "model" and activations is not None:
        fitting.target = activations.value.astype(np.float64)
    progress("regression", 0, 1)
    fitting.fit(*reader.features())
    if activations is not None and settings.pool != "enumerate" and settings.target == "optimal":
        fitting.refit(activations)
    pool = tuple(reader.named(feature) for feature in fitting.best.features)
    best = fitting.best
    if settings.pool == "ridt+polish" and best.is_exact:
        best = _polished(best, reader, Polishing(whole, settings, progress))
    return Solved(
        reader.renamed(best.value),
        tuple(reader.named(term) for term in best.terms),
        pool,
        best,
        best.fit.gap if best is fitting.best else None,
        _conflict(whole, fitting.usable) if settings.target == "optimal" else None,
        whole,
        len(reader.objects.formulas),
        tuple(reader.named_tree(one) for layer in reader.grown for one in layer),
    )


def _polished(best: Attempt, reader: Reader, polishing: Polishing) -> Attempt:
    """An exact value function in fewer symbols, if there are any."""
    value: Number = reader.hidden(polishing.polished(reader.renamed(best.value)))
    if value.order >= best.value.order:
        return best
    known = {term.number: term for term in best.terms}
    terms = tuple(
        known.get(number, StateFeature(number, _KINDS.get(type(number), "boolean"), Origin(0, pool="polish")))
        for _, number in weighted(value)
        if not isinstance(number, Constant)
    )
    return replace(best, terms=terms, value=value)


def _conflict(whole: Quotient, usable: Integers) -> tuple[int, int] | None:
    """Two state rows with the same rows of objects and different labels."""
    factors = np.random.default_rng(0).integers(-(1 << 62), 1 << 62, len(whole.layers[-1]))
    codes = (whole.layers[-1].histogram @ factors)[usable]
    order = np.argsort(codes, kind="stable")
    same = np.flatnonzero(codes[order][1:] == codes[order][:-1])
    return (int(usable[order[same[0]]]), int(usable[order[same[0] + 1]])) if len(same) else None
