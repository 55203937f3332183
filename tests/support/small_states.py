"""States made by hand, and their quotients."""

import numpy as np

from distill.structures import Options, Predicate, Structures, Vocabulary
from distill.symmetry import LabelledBatch, QuotientMap, build_quotient
from tests.support.strategies import WORDS


def joined(batch: Structures) -> QuotientMap:
    """The stable quotient with joint messages."""
    labels = np.zeros(len(batch), dtype=int)
    return build_quotient([LabelledBatch(batch, {}, labels)], None, Options(joint=True))


FEW = Vocabulary([Predicate("clear", 1), Predicate("on", 2), Predicate("clear_G", 1, "goal")])


def tower() -> Structures:
    atoms = {"on": [[0, 1], [1, 2], [2, 3]], "clear": [[0]], "clear_G": [[2]]}
    return Structures(FEW, 1, [0] * 4, atoms)


TOWER = Structures(
    WORDS, 2, [0, 0, 0, 1, 1], {"on": [[0, 1], [1, 2], [3, 4]], "clear": [[0], [3]], "on_G": [[0, 1], [4, 3]]}
)


def built_from(batch, depth, joint=False):
    labels = np.zeros(len(batch), dtype=int)
    return build_quotient([LabelledBatch(batch, {}, labels)], depth, Options(joint=joint))


TALL = Structures(
    WORDS,
    1,
    [0] * 12,
    {"on": [[i, i + 1] for i in range(11)], "clear": [[0]], "on_G": [[0, 1], [2, 1]], "handempty": [[0]]},
)
