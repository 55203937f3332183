"""Polishing: rewrites an exact value function in fewer symbols, with the same value in every known state.

A beam search replaces terms by formulas in their neighbourhood. The result depends little on the start, so
functions of different seeds and networks mostly become equal. The new formulas need not occur in trees.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.distillation.readable_extractor import ReadableExtractor
from distill.distillation.sample import draw_sample
from distill.distillation.settings import Distillation
from distill.logic import (
    Compare,
    Constant,
    Count,
    Indicator,
    Number,
    Product,
    QuotientEvaluator,
    Scaled,
    Sum,
    Truth,
    neighbourhood,
    unpack,
    walk,
    weighted,
)
from distill.regression import ColumnPool, Replacement, Solution, Term
from distill.structures import UNSOLVABLE, V_STAR, Quotient

Progress = Callable[[str, int, int], None]

_ROUNDS = 10
_PATIENCE = 3  # rounds without a shorter function before the search ends
_KEPT = 10  # functions of the beam
_SLACK = 3  # symbols by which they may exceed the best one
_LARGEST = 16  # symbols of a formula about objects
_FORMULAS = 20_000  # largest number of formulas about objects
_CHECKED = 60  # functions that are evaluated on all known states
_SYNONYMS = 3  # equivalent formulas that are kept for each factor
_MET = 1e-6
_CHUNK = 500  # formulas that are evaluated at a time


@dataclass(frozen=True)
class _Function:
    """A value function in the extractor's names: weights and numbers, and the constant."""

    terms: tuple[tuple[int, Number], ...]
    constant: int

    @staticmethod
    def of(value: Number) -> "_Function":
        every = weighted(value)
        constant = sum(weight * one.fields[0] for weight, one in every if isinstance(one, Constant))
        terms = [(int(weight), one) for weight, one in every if not isinstance(one, Constant)]
        return _Function(tuple(terms), int(constant))

    @property
    def value(self) -> Number:
        return Sum(*(Scaled(weight, number) for weight, number in self.terms), Constant(self.constant))

    @property
    def factors(self) -> list[Number]:
        return [factor for _, number in self.terms for factor in _factors(number)]


class Polisher:
    """Searches for shorter functions.

    Parameters
    ----------
    whole : all known states.
    settings : the language; the seed does not matter.
    progress : called with the stage and the steps done and to do.
    """

    def __init__(self, whole: Quotient, settings: Distillation, progress: Progress) -> None:
        self._settings, self._progress = settings, progress
        # The same states for all seeds, so that these lead to the same function.
        sample = draw_sample(None, whole, settings.replace(seed=0))
        self._extractor = ReadableExtractor(sample.quotient, settings)
        self._evaluator = QuotientEvaluator(self._extractor.quotient)
        self._everywhere = QuotientEvaluator(whole)
        self._known = np.flatnonzero(whole.labels[V_STAR] != UNSOLVABLE)
        self._words: set[Truth] = set()  # the concepts of all functions so far, and of their synonyms

    def polish(self, value: Number) -> Number:
        """The shortest function found with the values of a given one, whose weights are whole."""
        beam = [_Function.of(self._extractor.hidden(value))]
        if not beam[0].terms:
            return value
        self._target = self._evaluator.number(beam[0].value).astype(np.float64)
        self._aim = self._everywhere.number(self._extractor.renamed(beam[0].value))[self._known]
        least, idle = np.inf, 0
        for number in range(_ROUNDS):
            self._progress("polish", number, _ROUNDS)
            before = beam, len(self._words)
            beam, cost = self._around(beam)
            idle = idle + 1 if cost >= least else 0
            if idle == _PATIENCE or before == (beam, len(self._words)):
                break
            least = min(cost, least)
        found: Number = self._extractor.renamed(beam[0].value)
        return found

    def _around(self, beam: Sequence[_Function]) -> tuple[list[_Function], float]:
        """The best functions in the neighbourhood of a beam, and the cost of the best one."""
        columns = self._columns(beam)
        intercept = self._settings.intercept
        pool = ColumnPool(
            columns.values.astype(np.float64),
            self._target,
            np.ones(len(self._target)),
            np.array([number.size for number in columns.numbers], dtype=np.float64),
            intercept=intercept,
            products=False,
        )
        replacement = Replacement(pool, intercept=intercept, nonnegative=self._settings.nonnegative)
        located = [self._located(function, columns, pool) for function in beam]
        starts = [solution for solution in located if solution is not None]
        most = min((solution.cost(pool) for solution in starts), default=0.0) + _SLACK
        kept: list[_Function] = []
        costs: list[float] = []
        for solution in replacement.near(starts, most)[:_CHECKED]:
            function = _written(solution, [columns.numbers[column] for column in pool.columns])
            if self._is_right(function):
                kept.append(function)
                costs.append(solution.cost(pool))
            if len(kept) == _KEPT:
                break
        same = [columns.synonyms[self._key(one)] for function in kept for one in function.factors]
        self._words |= _parts(number for numbers in same for number in sorted(numbers)[: 1 + _SYNONYMS])
        return (kept, costs[0]) if kept else (list(beam), np.inf)

    def _is_right(self, function: _Function) -> bool:
        values = self._everywhere.number(self._extractor.renamed(function.value))[self._known]
        return bool((np.abs(values - self._aim) <= _MET).all())

    def _key(self, number: Number) -> int:
        return _keys(self._evaluator.number(number)[:, None])[0]

    def _columns(self, beam: Sequence[_Function]) -> "_Columns":
        """Candidate terms and factors of functions in the neighbourhood of a beam."""
        language = self._extractor.language
        words = self._words | _parts(factor for function in beam for factor in function.factors)
        ordered = sorted(words | set(language.concepts))
        holds = np.stack([self._evaluator.holds(word) for word in ordered], axis=1)
        # A formula larger than a whole function cannot be part of a shorter one.
        largest = min(_LARGEST, max(function.value.size for function in beam))
        formulas, bits = neighbourhood(ordered, holds, language, largest, _FORMULAS)
        found = _Columns()
        used = list(dict.fromkeys(factor for function in beam for factor in function.factors))
        found.add(used, np.stack([self._evaluator.number(number) for number in used], axis=1))
        for begin in range(0, len(formulas), _CHUNK):
            part = slice(begin, begin + _CHUNK)
            counts = self._extractor.histogram @ unpack(bits[part], len(holds)).T.astype(np.int32)
            found.add([Count(formula) for formula in formulas[part]], counts)
            found.add([Indicator(Compare(Count(formula), 0)) for formula in formulas[part]], counts > 0)
        return found

    def _located(self, function: _Function, columns: "_Columns", pool: ColumnPool) -> Solution | None:
        """A function as a solution in the pool's columns; None if one of its factors is constant."""
        place = {int(column): number for number, column in enumerate(pool.columns)}
        terms: list[Term] = []
        for _, number in function.terms:
            found = [place.get(columns.places[self._key(factor)]) for factor in _factors(number)]
            if None in found:
                return None
            terms.append(tuple(sorted(one for one in found if one is not None)))
        order = sorted(range(len(terms)), key=terms.__getitem__)
        weights = tuple(function.terms[number][0] for number in order)
        return Solution(tuple(terms[number] for number in order), weights, function.constant)


@dataclass
class _Columns:
    """Numbers with distinct values; of equal ones the first in the canonical order.

    Attributes
    ----------
    numbers : the formulas.
    places : for each key of values the place of its number.
    synonyms : for each key all numbers with these values.
    """

    numbers: list[Number] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)
    synonyms: dict[int, list[Number]] = field(default_factory=dict)
    _parts: list[NDArray[np.int32]] = field(default_factory=list)

    @property
    def values(self) -> NDArray[np.int32]:
        """(n_state_rows, n_numbers)."""
        return np.concatenate(self._parts, axis=1)

    def add(self, numbers: Sequence[Number], values: NDArray[Any]) -> None:
        """Add numbers with their values (n_state_rows, n)."""
        fresh = []
        for place, (number, key) in enumerate(zip(numbers, _keys(values), strict=True)):
            self.synonyms.setdefault(key, []).append(number)
            known = self.places.setdefault(key, len(self.numbers))
            if known == len(self.numbers):
                self.numbers.append(number)
                fresh.append(place)
            elif number < self.numbers[known]:
                self.numbers[known] = number
        self._parts.append(values[:, fresh].astype(np.int32))


def _written(solution: Solution, numbers: Sequence[Number]) -> _Function:
    """A solution as a function; numbers are those of the columns."""
    found = []
    for term, weight in zip(solution.terms, solution.weights, strict=True):
        factors = [numbers[column] for column in term]
        found.append((int(weight), factors[0] if len(factors) == 1 else Product(*factors)))
    return _Function(tuple(found), int(solution.intercept))


def _factors(number: Number) -> tuple[Number, ...]:
    return number.fields if isinstance(number, Product) else (number,)


def _parts(numbers: Iterable[Number]) -> set[Truth]:
    """The formulas about objects in numbers."""
    return {node for node in walk(numbers) if isinstance(node, Truth) and not node.of_state}


def _keys(values: NDArray[Any]) -> list[int]:
    """A number for each column of whole numbers (n_rows, n_columns); equal columns have equal ones."""
    factors = np.random.default_rng(3).integers(1, 1 << 62, len(values), dtype=np.int64) * 2 + 1
    found: list[int] = (factors @ values.astype(np.int64)).tolist()
    return found
