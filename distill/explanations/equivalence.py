"""Terms that are equal by denotation: by their values on states, not by how they are written."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from distill.logic import Constant, Evaluator, Number, weighted


@dataclass(frozen=True)
class SharedTerm:
    """Terms of several value functions that have the same values.

    Attributes
    ----------
    formula : the shortest of them.
    weights : for each function the weight; None where it has no such term.
    """

    formula: Number
    weights: tuple[float | None, ...]

    @property
    def n_functions(self) -> int:
        """How many functions have it."""
        return sum(weight is not None for weight in self.weights)


def denotations(numbers: Iterable[Number], parts: Sequence[Evaluator]) -> dict[Number, str]:
    """For each number a key of its values on all states; equal values have equal keys.

    Parameters
    ----------
    parts : evaluators of the states, which may come in several batches.
    """
    found = {}
    for number in numbers:
        digest = hashlib.sha256()
        for part in parts:
            # Adding zero turns -0 into 0.
            digest.update((part.number(number).astype(np.float64) + 0.0).tobytes())
        found[number] = digest.hexdigest()
    return found


def features_of(value: Number) -> list[Number]:
    """The features of a value function, without its constant.

    Examples
    --------
    >>> from distill.logic import parse
    >>> features_of(parse("2*#clear - #holding + 3"))
    [#clear, #holding]
    """
    return [number for _, number in weighted(value) if not isinstance(number, Constant)]


def shared_terms(values: Sequence[Number], keys: Sequence[Mapping[Number, str]]) -> tuple[SharedTerm, ...]:
    """The terms of several value functions, those of most functions first, then short ones.

    Parameters
    ----------
    values : the functions.
    keys : for each of them the denotations of its features; one without a key is equal only to itself.

    Examples
    --------
    >>> from distill.logic import parse
    >>> one, other = parse("2*#clear + 1"), parse("#(clear & clear) + #holding")
    >>> keys = [{parse("#clear"): "a"}, {parse("#(clear & clear)"): "a"}]
    >>> [(term.formula, term.weights) for term in shared_terms([one, other], keys)]
    [(#clear, (2, 1)), (#holding, (None, 1))]
    """
    found: dict[object, tuple[Number, list[float | None]]] = {}
    for place, (value, own) in enumerate(zip(values, keys, strict=True)):
        for weight, number in weighted(value):
            if isinstance(number, Constant):
                continue
            key = own.get(number, number)
            shortest, weights = found.get(key, (number, [None] * len(values)))
            weights[place] = (weights[place] or 0) + weight
            found[key] = (min(shortest, number, key=lambda one: one.order), weights)
    terms = (SharedTerm(formula, tuple(weights)) for formula, weights in found.values())
    return tuple(sorted(terms, key=lambda one: (-one.n_functions, one.formula.order)))
