"""Readable distillation: rows, trees, and the shortest exact value function, until all states are met."""

import copy
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from distill.errors import InputError
from distill.jobs.fitting import Attempt, Fitting, rank_within
from distill.jobs.quotient import build_quotient_of
from distill.logic import Number
from distill.models import Network, Replay, check_vocabulary, replay
from distill.planning import UNSOLVABLE, DataSet
from distill.settings import Distillation
from distill.structures import Options, Quotient
from distill.structures.ranges import mixed
from distill.symmetry import Labelled, build_quotient, signatures
from distill.trees import Reader, StateFeature

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Progress = Callable[[str, int, int], None]

_JOINT = Options(joint=True)
_VALIDATION = 0.3  # validation states for each training state that trees learn from


@dataclass(frozen=True, eq=False)
class Solved:
    """A value function and how it came about.

    Attributes
    ----------
    value : the value function.
    terms : its features.
    pool : all features it was chosen from, before it was polished.
    attempt : the fit, and the state rows of `states` that it misses.
    conflict : two state rows that look the same and have different labels, or none.
    states : the quotient of training and validation states.
    objects : how many formulas about objects were found.
    """

    value: Number
    terms: tuple[StateFeature, ...]
    pool: tuple[StateFeature, ...]
    attempt: Attempt
    conflict: tuple[int, int] | None
    states: Quotient
    objects: int


def solve(
    network: Network | None,
    sets: Mapping[str, DataSet],
    settings: Distillation,
    progress: Progress,
    seconds: dict[str, float],
) -> Solved:
    """Find the shortest value function that is exact on all training states.

    Parameters
    ----------
    network : not needed for pool `enumerate`.
    sets : `train`, and `validation` if there is one.
    progress : called with the stage and the steps done and to do.
    seconds : is told what each stage takes.
    """
    from_trees = settings.pool != "enumerate"
    if network is None and (from_trees or settings.target == "model"):
        raise InputError(
            f"Pool {settings.pool} with target {settings.target} needs a network; give a checkpoint."
        )
    marking = network is not None and network.architecture.goal_marking
    known = {name: sets[name] for name in ("train", "validation") if name in sets and len(sets[name])}
    with _timed("rows", seconds, progress):
        whole = build_quotient_of(known, None, _JOINT, goal_marking=marking).quotient
        sample, chosen = _part(whole, _spread(whole, settings))
        reader = Reader(sample, settings)
    fitting = Fitting(reader, whole, chosen, settings, progress)
    activations: Replay | None = None
    if network is not None and (from_trees or settings.target == "model"):
        with _timed("replay", seconds, progress):
            for data in known.values():
                check_vocabulary(network, data.vocabulary)
            activations = _activations(network, sample, settings)
        if settings.target == "model":
            fitting.target = activations.value.astype(np.float64)
    if activations is not None and from_trees:
        with _timed("layers", seconds, progress):
            reader.read(activations.embeddings, progress=lambda done, total: progress("layers", done, total))
            reader.read_states(activations.pooled)
    if settings.pool in ("enumerate", "both"):
        with _timed("enumeration", seconds, progress):
            reader.enumerate()
    with _timed("regression", seconds, progress):
        fitting.fit(*reader.features())
    if activations is not None and from_trees and settings.target == "optimal":
        with _timed("rounds", seconds, progress):
            fitting.refit(activations)
    pool = tuple(reader.named(feature) for feature in fitting.best.features)
    if settings.pool == "ridt+polish":
        with _timed("polish", seconds, progress):
            fitting.polish()
    best = fitting.best
    return Solved(
        reader.renamed(best.value),
        tuple(reader.named(term) for term in best.terms),
        pool,
        best,
        _conflict(whole, fitting.usable) if settings.target == "optimal" else None,
        whole,
        len(reader.objects.formulas),
    )


def _activations(network: Network, sample: Quotient, settings: Distillation) -> Replay:
    """What the network computes; or, as a control, what one computes that knows nothing."""
    if settings.control == "untrained":
        network = copy.deepcopy(network)
        torch.manual_seed(settings.seed)
        for module in network.modules():
            if isinstance(module, torch.nn.Linear | torch.nn.LayerNorm):
                module.reset_parameters()
    found = replay(network, sample)
    if settings.control == "permuted":
        random = np.random.default_rng(settings.seed)
        embeddings = tuple(random.permutation(one) for one in found.embeddings)
        found = replace(found, embeddings=embeddings, pooled=random.permutation(found.pooled))
    return found


def _spread(whole: Quotient, settings: Distillation) -> Integers:
    """State rows of each split, as many of each V* as there may be; which ones, their signatures decide."""
    codes = mixed(signatures(whole.states)[1][whole.chosen] + np.uint64(settings.seed))
    chosen = []
    for split, most in ((0, settings.states), (1, int(_VALIDATION * settings.states))):
        rows = np.flatnonzero((whole.split == split) & (whole.v_star != UNSOLVABLE))
        rank = rank_within(whole.v_star[rows], codes[rows])
        chosen.append(np.sort(rows[np.lexsort((codes[rows], rank))[:most]]))
    return np.concatenate(chosen)


def _part(whole: Quotient, rows: Integers) -> tuple[Quotient, Integers]:
    """The quotient of some state rows, and which of them its state rows are."""
    labelled = Labelled(
        whole.states[whole.chosen[rows]], whole.v_star[rows], whole.split[rows], whole.multiplicity[rows]
    )
    built = build_quotient([labelled], None, whole.options)
    chosen = np.empty(len(rows), dtype=np.int64)
    chosen[built.state_row] = rows
    return built.quotient, chosen


def _conflict(whole: Quotient, usable: Integers) -> tuple[int, int] | None:
    """Two state rows with the same rows of objects and different labels."""
    factors = np.random.default_rng(0).integers(-(1 << 62), 1 << 62, len(whole.layers[-1]))
    codes = (whole.layers[-1].histogram @ factors)[usable]
    order = np.argsort(codes, kind="stable")
    same = np.flatnonzero(codes[order][1:] == codes[order][:-1])
    return (int(usable[order[same[0]]]), int(usable[order[same[0] + 1]])) if len(same) else None


@contextmanager
def _timed(stage: str, seconds: dict[str, float], progress: Progress) -> Iterator[None]:
    progress(stage, 0, 1)
    begun = time.perf_counter()
    yield
    seconds[stage] = seconds.get(stage, 0.0) + time.perf_counter() - begun
