"""From a network to a value function: replay, trees, regression."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.errors import InputError
from distill.jobs.distilled import Distilled
from distill.jobs.readable import read_features, solve
from distill.jobs.sample import Sample, draw_sample, every_state, known_rows, marks_goals
from distill.logic import NodeTable, Number, read_nodes, simplify
from distill.models import Checkpoint, check_vocabulary
from distill.planning import UNSOLVABLE, DataSet
from distill.regression import Fit, fit_exact, fit_linear, has_integer_weights, rounded, value_function
from distill.settings import Distillation
from distill.structures import Quotient, read_archive, write_archive
from distill.trees import Grown, Learned, Reader, learn, pack_trees, unpack_trees

Array = NDArray[np.float64]
Progress = Callable[[str, int, int], None]
KIND = "fitted"
_LARGEST = 5_000  # symbols of a formula that is simplified
_SHOWN = 4  # states that prevent an exact fit and are told
_DIGITS = 9  # of weights that are no whole numbers


@dataclass(frozen=True, eq=False)
class Fitted:
    """A value function, and what is known of how it came about.

    Attributes
    ----------
    distilled : the value function.
    objects : formulas about objects that were found.
    fit : whether all training states are met, how much smaller an exact value function might be, and which
        states stand in the way.
    grown : all trees.
    """

    distilled: Distilled
    objects: int
    fit: Mapping[str, Any]
    grown: tuple[Grown, ...]

    def save(self, path: Path) -> None:
        """Write it to one file (see `distill.structures.archive`)."""
        table = NodeTable()
        arrays, trees = pack_trees(self.grown, table)
        known = {"model": self.distilled.to_json(), "objects": self.objects, "fit": dict(self.fit)}
        write_archive(path, arrays, {"kind": KIND, **known, "trees": trees, "nodes": table.rows})

    @staticmethod
    def load(path: Path) -> "Fitted":
        """Read what `save` wrote."""
        arrays, known = read_archive(path, KIND)
        grown = tuple(unpack_trees(arrays, known["trees"], read_nodes(known["nodes"])))
        return Fitted(Distilled.from_json(known["model"]), known["objects"], known["fit"], grown)


@dataclass(frozen=True)
class Effort:
    """What a distillation took.

    Attributes
    ----------
    seconds : for each stage.
    objects : formulas about objects that were found.
    fit : what is known of the regression; see `Fitted`.
    """

    seconds: dict[str, float]
    objects: int
    fit: Mapping[str, Any]


def distil(
    checkpoint: Checkpoint | None,
    sets: Mapping[str, DataSet],
    settings: Distillation | None = None,
    *,
    progress: Progress | None = None,
) -> tuple[Distilled, Effort]:
    """Distil a network into a value function, from labelled training states.

    Parameters
    ----------
    checkpoint : the network; none is needed where features come from no network.
    sets : all states of `train`, prepared without a reduction (the quotient reduces them without loss); and
        of `validation`, if there is one: it decides between formulas that are equal on training states.
    progress : called with the stage and the steps done and to do.
    """
    settings = settings or Distillation()
    told = progress or (lambda stage, done, total: None)
    times = [time.perf_counter()]
    check_distillation(checkpoint, sets, settings)
    whole = known_rows(sets, goal_marking=marks_goals(checkpoint)) if settings.is_readable else None
    sample = take_sample(checkpoint, sets, whole, settings)
    times.append(time.perf_counter())
    found = find_features(sample, settings, told)
    times.append(time.perf_counter())
    fitted = fit_features(found, sample, whole, settings, told)
    times.append(time.perf_counter())
    seconds = dict(zip(("replay", "distil", "regress"), np.diff(times).tolist(), strict=True))
    return fitted.distilled, Effort(seconds, fitted.objects, fitted.fit)


def check_distillation(
    checkpoint: Checkpoint | None, sets: Mapping[str, DataSet], settings: Distillation
) -> None:
    """Refuse what cannot be distilled, before any work."""
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
    elif settings.pool != "enumerate" or settings.target == "model":
        raise InputError(
            f"Pool {settings.pool} with target {settings.target} needs a network; give a checkpoint."
        )


def take_sample(
    checkpoint: Checkpoint | None,
    sets: Mapping[str, DataSet],
    whole: Quotient | None,
    settings: Distillation,
) -> Sample:
    """The states that trees learn from, with what the network computes on them.

    Parameters
    ----------
    whole : all known states, in readable mode.
    """
    if whole is not None:
        return draw_sample(checkpoint, whole, settings)
    if checkpoint is None:
        raise InputError(f"Mode {settings.mode} needs a network; give a checkpoint.")
    return every_state(checkpoint, sets["train"])


def find_features(sample: Sample, settings: Distillation, told: Progress) -> Reader | Learned:
    """Layers of trees, and the features they bear."""
    if settings.is_readable:
        return read_features(sample, settings, told)
    if sample.activations is None:
        raise InputError(f"Mode {settings.mode} needs a network; give a checkpoint.")
    return learn(
        sample.quotient,
        sample.activations.embeddings,
        sample.activations.pooled,
        settings,
        progress=lambda done, total: told("layers", done, total),
    )


def fit_features(
    found: Reader | Learned, sample: Sample, whole: Quotient | None, settings: Distillation, told: Progress
) -> Fitted:
    """The value function that a regression makes of features.

    Parameters
    ----------
    sample : what the features were found on.
    whole : all known states, in readable mode.
    """
    if isinstance(found, Learned):
        return _plain(found, sample, settings, told)
    if whole is None:
        raise InputError("Readable features are fitted to all known states; give their quotient.")
    return _readable(found, sample, whole, settings, told)


def _readable(
    reader: Reader, sample: Sample, whole: Quotient, settings: Distillation, told: Progress
) -> Fitted:
    """Short formulas, and an exact fit."""
    found = solve(reader, sample, whole, settings, told)
    known = {feature.number for feature in found.pool}
    pool = (*found.pool, *(term for term in found.terms if term.number not in known))
    label = settings.pool if settings.control == "none" else f"{settings.pool}, {settings.control}"
    marking = whole.vocabulary.is_marked
    fit = {
        "exact": found.attempt.is_exact,
        "gap": found.gap,
        "wrong": len(found.attempt.wrong),
        "blocking": [shown_state(found.states, row) for row in found.attempt.blocking[:_SHOWN]],
        "conflict": [shown_state(found.states, row) for row in found.conflict or ()],
    }
    return Fitted(Distilled(found.value, pool, marking, label), found.objects, fit, found.grown)


def shown_state(quotient: Quotient, row: int) -> dict[str, Any]:
    """A state row for people: its label and its atoms."""
    atoms = quotient.states.decode(int(quotient.chosen[row]))
    text = ", ".join(f"{name}({', '.join(f'o{one}' for one in objects)})" for name, objects in atoms)
    return {"v_star": int(quotient.v_star[row]), "atoms": text}


def _plain(found: Learned, sample: Sample, settings: Distillation, told: Progress) -> Fitted:
    """Formulas as trees make them."""
    told("regression", 0, 1)
    quotient = sample.quotient
    found = replace(found, kinds=settings.features)
    kept = quotient.v_star != UNSOLVABLE
    aim: NDArray[Any] = quotient.v_star
    if settings.target == "model" and sample.activations is not None:
        aim = sample.activations.value
    target = aim[kept].astype(np.float64)
    values, weights = found.values[kept].astype(np.float64), quotient.multiplicity[kept].astype(np.float64)
    sizes = [feature.number.size for feature in found.states]
    fit = _fitted(values, target, weights, sizes, settings)
    pool = [
        replace(f, number=_simplified(f.number)) if weight else f
        for f, weight in zip(found.states, fit.weights, strict=True)
    ]
    value = value_function([feature.number for feature in pool], fit)
    distilled = Distilled(value, tuple(pool), quotient.vocabulary.is_marked)
    known = {"exact": has_integer_weights(value) and fit.max_error == 0}
    return Fitted(distilled, len(found.objects), known, tuple(one for layer in found.grown for one in layer))


def _fitted(values: Array, target: Array, weights: Array, sizes: list[int], settings: Distillation) -> Fit:
    """Weights for features (n_state_rows, n_features), whole where that does not make it worse."""
    method, nonnegative = settings.regression, settings.nonnegative
    if method == "auto":
        method, nonnegative = "squares", True
    if method == "exact":
        exact = fit_exact(
            values,
            target,
            sizes,
            weights,
            products=False,
            intercept=settings.intercept,
            nonnegative=nonnegative,
            max_terms=settings.max_features,
            time_limit=settings.time_limit,
        )
        chosen = np.zeros(values.shape[1])
        chosen[[column for (column,) in exact.terms]] = exact.weights
        return Fit(chosen, exact.intercept, exact.mae, exact.max_error)
    fit = fit_linear(
        values,
        target,
        weights,
        method=method,  # type: ignore[arg-type]
        intercept=settings.intercept,
        nonnegative=nonnegative,
        seed=settings.seed,
    )
    fit = rounded(fit, values, target, weights)
    return replace(fit, weights=np.round(fit.weights, _DIGITS), intercept=round(fit.intercept, _DIGITS))


def _simplified(number: Number) -> Number:
    """The same number, shorter by laws that always hold; huge ones stay as they are."""
    return simplify(number) if number.size <= _LARGEST else number  # type: ignore[return-value]
