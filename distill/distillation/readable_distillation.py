"""Readable distillation: short features from trees, and the shortest exact value function over them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from distill.distillation.fitting import FeatureFit, FeatureFitter
from distill.distillation.polishing import Polisher
from distill.distillation.readable_extractor import ReadableExtractor
from distill.distillation.result import DistillationResult
from distill.distillation.sample import Sample
from distill.distillation.settings import Distillation
from distill.explanations import Provenance, StateFeature, ValueFunction
from distill.logic import Constant, Count, Distance, Number, Product, weighted
from distill.structures import V_STAR, Quotient

Progress = Callable[[str, int, int], None]

_SHOWN = 4  # states that prevent an exact fit and are shown

_KINDS: Mapping[type[Number], str] = {Product: "product", Count: "numerical", Distance: "distance"}


def extract_features(sample: Sample, settings: Distillation, progress: Progress) -> ReadableExtractor:
    """Extract features from the network layer by layer, or enumerate short formulas, as the pool requires."""
    extractor = ReadableExtractor(sample.quotient, settings)
    if sample.activations is not None and settings.pool != "enumerate":
        extractor.extract(
            sample.activations.embeddings, progress=lambda done, total: progress("layers", done, total)
        )
        extractor.extract_states(sample.activations.pooled)
    if settings.pool in ("enumerate", "both"):
        progress("enumeration", 0, 1)
        extractor.enumerate()
    return extractor


def fit_readable(
    extractor: ReadableExtractor, sample: Sample, whole: Quotient, settings: Distillation, progress: Progress
) -> DistillationResult:
    """Find the shortest value function that is exact on all training states.

    Parameters
    ----------
    extractor : with features.
    sample : the states that they come from.
    whole : all training and validation states.
    progress : called with the stage and the steps done and to do.
    """
    activations = sample.activations
    fitter = FeatureFitter(extractor, sample, whole, settings, progress)
    progress("regression", 0, 1)
    fitter.fit(*extractor.features())
    if activations is not None and settings.pool != "enumerate" and fitter.target.labels(whole) is not None:
        fitter.refit(activations)
    pool = [extractor.named(feature) for feature in fitter.best.features]
    best = fitter.best
    if settings.pool == "ridt+polish" and best.is_exact:
        best = _polished(best, extractor, Polisher(whole, settings, progress))
    known = {feature.number for feature in pool}
    pool += [term for term in map(extractor.named, best.terms) if term.number not in known]
    label = settings.pool if settings.control == "none" else f"{settings.pool}, {settings.control}"
    function = ValueFunction(extractor.renamed(best.value), tuple(pool), whole.vocabulary.is_marked, label)
    fit = {
        "exact": best.is_exact,
        # There is no lower bound on the size of a polished function.
        "gap": best.fit.gap if best is fitter.best else None,
        "wrong": len(best.wrong),
        "blocking": [shown_state(whole, row) for row in best.blocking[:_SHOWN]],
        "conflict": [shown_state(whole, row) for row in fitter.target.conflict(whole) or ()],
    }
    trees = tuple(extractor.named_tree(one) for layer in extractor.tree_layers for one in layer)
    return DistillationResult(function, len(extractor.objects.formulas), fit, trees)


def shown_state(quotient: Quotient, row: int) -> dict[str, Any]:
    """The label and the atoms of a state row, as text."""
    atoms = quotient.states.decode(int(quotient.chosen[row]))
    text = ", ".join(f"{name}({', '.join(f'o{one}' for one in objects)})" for name, objects in atoms)
    return {"v_star": int(quotient.labels[V_STAR][row]), "atoms": text}


def _polished(best: FeatureFit, extractor: ReadableExtractor, polisher: Polisher) -> FeatureFit:
    """Rewrite an exact value function in fewer symbols, if possible."""
    value: Number = extractor.hidden(polisher.polish(extractor.renamed(best.value)))
    if value.order >= best.value.order:
        return best
    known = {term.number: term for term in best.terms}
    terms = tuple(
        known.get(
            number, StateFeature(number, _KINDS.get(type(number), "boolean"), Provenance(0, pool="polish"))
        )
        for _, number in weighted(value)
        if not isinstance(number, Constant)
    )
    return replace(best, terms=terms, value=value)
