"""A made-up network, and a extractor that has read all of it."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from distill.distillation import Distillation, ReadableExtractor
from distill.logic import Evaluator, parse, renamed
from distill.planning import expand, problem_class
from distill.structures import V_STAR, Options, Quotient, Structures, join
from distill.symmetry import LabelledBatch, build_quotient

SMALL = Distillation(inner_width=3, final_width=3, inner_depth=3, final_depth=3, chain_steps=2)
LAYERS = 3
JOINT = Options(joint=True)


@cache
def tower_states() -> tuple[Structures, NDArray[np.int64], NDArray[np.int64]]:
    """States of towers of up to five blocks, V*, and which of them are for validation."""
    expanded = [expand(instance, 10_000) for instance in problem_class("blocks-clear").make("train")[:4]]
    data = join([found for found in expanded if found is not None])
    split = (np.random.default_rng(0).random(len(data)) < 0.2).astype(np.int64)
    return data.structures(), data.v_star.astype(np.int64), split


def labelled_towers() -> LabelledBatch:
    """These states with their labels."""
    states, v_star, split = tower_states()
    return LabelledBatch(states, {V_STAR: v_star}, split)


@cache
def tower_quotient() -> Quotient:
    """The stable quotient of these states, with joint messages."""
    return build_quotient([labelled_towers()], None, JOINT).quotient


def embeddings_of(quotient: Quotient, names: dict[str, str] | None = None) -> list[NDArray[np.float64]]:
    """A made-up network: layer d knows what is up to d blocks above, and whether a wanted block is below.

    No two leaves of trees are equally far from a third, so that rounding decides nothing.
    """
    evaluator = Evaluator(quotient.states)

    def holds(text: str) -> NDArray[np.bool_]:
        return evaluator.holds(renamed(parse(text), names or {}))

    above, below = np.zeros((2, quotient.states.n_objects))
    found = []
    for depth in range(LAYERS + 1):
        if depth:
            above = above + holds("<on^-1>" * depth + "top")
            below = below + 0.53**depth * holds("<on>" * depth + "clear_G")
        free = 0.71 * holds("clear | holding") if depth else 0 * above
        row = quotient.layers[min(depth, quotient.depth)].representative
        found.append(np.column_stack([np.exp(0.31 * above), 3 * below, free])[row])
    return found


def read(
    quotient: Quotient, settings: Distillation = SMALL, names: dict[str, str] | None = None
) -> ReadableExtractor:
    """A extractor that has read all of the network."""
    extractor = ReadableExtractor(quotient, settings)
    found = embeddings_of(quotient, names)
    extractor.extract(found)
    last = quotient.layers[min(LAYERS, quotient.depth)]
    extractor.extract_states(last.histogram @ found[-1])
    return extractor
