"""From a network to a value function: replay, trees, regression."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from distill.common import InputError
from distill.distillation.readable_distillation import extract_features, fit_readable
from distill.distillation.readable_extractor import ReadableExtractor
from distill.distillation.result import DistillationResult
from distill.distillation.ridt import fit_ridt
from distill.distillation.ridt_features import RidtFeatures
from distill.distillation.sample import Sample, draw_sample, every_state, known_rows, marks_goals
from distill.distillation.settings import Distillation
from distill.distillation.targets import Target, target_named
from distill.explanations import ValueFunction, has_integer_weights, weighted_sum
from distill.logic import Number, simplify
from distill.networks import Checkpoint, check_vocabulary
from distill.regression import LinearFit, fit_linear, round_weights
from distill.structures import DataSet, Quotient

Array = NDArray[np.float64]
Progress = Callable[[str, int, int], None]
_LARGEST = 5_000  # symbols of a formula that is simplified
_DIGITS = 9  # of weights that are no whole numbers
_EQUAL = 1e-6  # values closer than this are the same


def distil(
    checkpoint: Checkpoint | None,
    sets: Mapping[str, DataSet],
    settings: Distillation | None = None,
    *,
    progress: Progress | None = None,
) -> DistillationResult:
    """Distil a network into a value function, from labelled training states.

    Parameters
    ----------
    checkpoint : the network; None if features are enumerated without a network.
    sets : all states of `train`, prepared without a reduction (the quotient reduces them without loss);
        optionally those of `validation`, which decide between formulas that are equal on training states.
    progress : called with the stage and the steps done and to do.
    """
    settings = settings or Distillation()
    progress = progress or (lambda stage, done, total: None)
    times = [time.perf_counter()]
    check_distillation(checkpoint, sets, settings)
    whole = known_rows(sets, goal_marking=marks_goals(checkpoint)) if settings.is_readable else None
    sample = take_sample(checkpoint, sets, whole, settings)
    times.append(time.perf_counter())
    found = find_features(sample, settings, progress)
    times.append(time.perf_counter())
    result = fit_features(found, sample, whole, settings, progress)
    times.append(time.perf_counter())
    seconds = dict(zip(("replay", "distil", "regress"), np.diff(times).tolist(), strict=True))
    return replace(result, seconds=seconds)


def check_distillation(
    checkpoint: Checkpoint | None, sets: Mapping[str, DataSet], settings: Distillation
) -> None:
    """Raise an error if states, network and settings do not match."""
    if not len(sets["train"]):
        raise InputError("There are no labelled states to distil on; label some first.")
    if settings.is_readable and settings.regression not in ("auto", "exact"):
        raise InputError(
            f"Readable mode has no regression {settings.regression}; set it to exact, or mode to quotient."
        )
    if checkpoint is not None:
        for data in sets.values():
            check_vocabulary(checkpoint.network, data.vocabulary)
    elif not settings.is_readable:
        raise InputError(f"Mode {settings.mode} needs a network; give a checkpoint.")
    elif settings.pool != "enumerate" or target_named(settings.target).needs_network:
        raise InputError(
            f"Pool {settings.pool} with target {settings.target} needs a network; give a checkpoint."
        )


def take_sample(
    checkpoint: Checkpoint | None, sets: Mapping[str, DataSet], whole: Quotient | None, settings: Distillation
) -> Sample:
    """The states that trees are fitted to, with the activations of the network.

    Parameters
    ----------
    whole : all known states, in readable mode.
    """
    if whole is not None:
        return draw_sample(checkpoint, whole, settings)
    if checkpoint is None:
        raise InputError(f"Mode {settings.mode} needs a network; give a checkpoint.")
    return every_state(checkpoint, sets["train"], stable=settings.needs_stable_rows)


def find_features(
    sample: Sample, settings: Distillation, progress: Progress
) -> ReadableExtractor | RidtFeatures:
    """Fit layers of trees, and extract their features."""
    if settings.is_readable:
        return extract_features(sample, settings, progress)
    if sample.activations is None:
        raise InputError(f"Mode {settings.mode} needs a network; give a checkpoint.")
    return fit_ridt(
        sample.quotient,
        sample.activations.embeddings,
        sample.activations.pooled,
        settings,
        progress=lambda done, total: progress("layers", done, total),
    )


def fit_features(
    found: ReadableExtractor | RidtFeatures,
    sample: Sample,
    whole: Quotient | None,
    settings: Distillation,
    progress: Progress,
) -> DistillationResult:
    """Fit a value function to features.

    Parameters
    ----------
    sample : the states that the features come from.
    whole : all known states, in readable mode.
    """
    if isinstance(found, RidtFeatures):
        return _plain(found, sample, settings, progress)
    if whole is None:
        raise InputError("Readable features are fitted to all known states; give their quotient.")
    return fit_readable(found, sample, whole, settings, progress)


def _plain(
    found: RidtFeatures, sample: Sample, settings: Distillation, progress: Progress
) -> DistillationResult:
    """Fit the formulas of the trees."""
    progress("regression", 0, 1)
    quotient, target = sample.quotient, target_named(settings.target)
    found = replace(found, kinds=settings.features)
    kept = target.rows(quotient)
    labels = target.known_labels(quotient, sample.activations)[kept]
    values, counts = found.values[kept].astype(np.float64), quotient.multiplicity[kept].astype(np.float64)
    sizes = [feature.number.size for feature in found.states]
    fit = _fitted(target, values, labels, counts, sizes, settings)
    pool = [
        replace(f, number=_simplified(f.number)) if weight else f
        for f, weight in zip(found.states, fit.weights, strict=True)
    ]
    value = weighted_sum([feature.number for feature in pool], fit.weights.tolist(), fit.intercept)
    function = ValueFunction(value, tuple(pool), quotient.vocabulary.is_marked)
    if settings.mode == "thesis":
        exact = fit.max_error <= _EQUAL
    else:
        exact = has_integer_weights(value) and fit.max_error == 0
    trees = tuple(one for layer in found.tree_layers for one in layer)
    return DistillationResult(function, len(found.objects), {"exact": exact}, trees)


def _fitted(
    target: Target, values: Array, labels: Array, counts: Array, sizes: list[int], settings: Distillation
) -> LinearFit:
    """Fit weights of features (n_state_rows, n_features).

    In quotient mode they are rounded to whole numbers if no error grows.
    """
    method, nonnegative = settings.regression, settings.nonnegative
    if method == "auto":
        method, nonnegative = "squares", nonnegative or settings.mode == "quotient"
    if method == "exact":
        exact = target.fit(values, labels, sizes, counts, settings, products=False)
        chosen = np.zeros(values.shape[1])
        chosen[[column for (column,) in exact.terms]] = exact.weights
        return LinearFit(chosen, exact.intercept, exact.mae, exact.max_error)
    fit = fit_linear(
        values,
        labels,
        counts,
        method=method,
        intercept=settings.intercept,
        nonnegative=nonnegative,
        scaled=settings.mode == "quotient",
        seed=settings.seed,
    )
    if settings.mode == "thesis":
        return fit
    fit = round_weights(fit, values, labels, counts)
    return replace(fit, weights=np.round(fit.weights, _DIGITS), intercept=round(fit.intercept, _DIGITS))


def _simplified(number: Number) -> Number:
    """An equivalent number, simplified by laws; huge ones are not changed."""
    return simplify(number) if number.size <= _LARGEST else number  # type: ignore[return-value]
