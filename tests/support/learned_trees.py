"""R-IDTs learned from small data, with and without the quotient."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import torch

from distill.distillation import Distillation, fit_ridt
from distill.networks import RGNN, Architecture, Checkpoint, replay
from distill.planning import prepare, problem_class
from distill.structures import V_STAR, Options, Quotient
from distill.symmetry import LabelledBatch, build_quotient

SHIPPED = Path(__file__).parents[2] / "artifacts" / "checkpoints"
INSTANCES = {"gripper": 2, "blocks-clear": 4, "blocks-on": 4, "miconic": 7, "visitall": 4}
SMALL = Distillation(inner_width=3, final_width=3, inner_sample=50, final_sample=50)
SINGLE = Distillation(inner_width=1, final_width=1)


@cache
def states_of(name):
    """Some 200 labelled training states."""
    split = problem_class(name).split("train")
    data = prepare(replace(split, instances=split.instances[: INSTANCES[name]]), workers=1)[0]
    some = np.random.default_rng(0).permutation(len(data))[:200]
    return data.structures(some), data.v_star[some].astype(np.int64)


def built_from(batch, v_star, depth=3, **options):
    return build_quotient(
        [LabelledBatch(batch, {V_STAR: v_star}, np.zeros(len(batch), int))], depth, Options(**options)
    )


@cache
def replayed(name, layers=3, depth=3, shipped=False):
    """Labelled states, their quotient, and what a network makes of it: an untrained one, or ours."""
    batch, v_star = states_of(name)
    if shipped:
        network = Checkpoint.load(SHIPPED / f"{name}.safetensors").network
    else:
        torch.manual_seed(0)
        network = RGNN(batch.vocabulary, Architecture(layers=layers, size=8))
    built = built_from(batch, v_star, depth)
    return batch, v_star, built, replay(network, built.quotient)


def learned_from(name, settings=SMALL, **options):
    *_, built, found = replayed(name, **options)
    return fit_ridt(built.quotient, found.embeddings, found.pooled, settings)


def plain_states(batch, v_star, built, found):
    """Every state is a state row and every object a row: no quotient at all."""
    n, ones = len(batch), np.ones(len(batch), int)
    rows = [np.arange(batch.n_objects)] * 2
    plain = Quotient(
        batch, built.quotient.options, rows, True, np.arange(n), {V_STAR: v_star}, 0 * ones, ones
    )
    depth = built.quotient.depth
    spread = [x[built.rows(batch, min(d, depth))] for d, x in enumerate(found.embeddings)]
    return plain, spread, found.pooled[built.state_row]


def described(learned):
    """All that was learned; equal formulas are the same object."""
    states = [(feature.number, feature.kind, feature.provenance) for feature in learned.states]
    paths = [[one.tree.paths for one in layer] for layer in learned.tree_layers]
    return list(learned.objects.items()), states, paths


def with_v_star(quotient, v_star):
    """The quotient with other labels."""
    return replace(quotient, labels={V_STAR: v_star})
