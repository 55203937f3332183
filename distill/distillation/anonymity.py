"""Anonymous quotients: predicates are renamed by their signatures, so that results do not depend on names."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from distill.structures import Predicate, Quotient, Structures, Vocabulary
from distill.symmetry import signatures


def anonymise(quotient: Quotient) -> tuple[Quotient, dict[str, str], NDArray[np.uint64]]:
    """The renamed quotient, the original name of each new name, and the signatures of state rows."""
    names, codes = signatures(quotient.states)
    ranked = sorted(names, key=lambda name: (names[name], name))
    number = {name: f"p{rank:04d}" for rank, name in enumerate(ranked)}
    states = quotient.states
    vocabulary, relations, back = [], {}, {}
    for predicate in states.vocabulary:
        new = number[predicate.base] + predicate.name[len(predicate.base) :]
        vocabulary.append(Predicate(new, predicate.arity, predicate.role))
        relations[new] = states.relations[predicate.name]
        back[new] = predicate.name
        back[new.partition(",")[0]] = predicate.name.partition(",")[0]
    hidden = Structures(Vocabulary(vocabulary), len(states), states.state_of_object, relations)
    return replace(quotient, states=hidden), back, codes[quotient.chosen]
