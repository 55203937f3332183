"""Enumeration of the short formulas of a language: the baseline without a network."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from distill.logic.search.language import Language
from distill.logic.syntax.formulas import And, Not, Or, Truth

Booleans = NDArray[np.bool_]


def short_formulas(
    language: Language, train: Booleans, largest: int, at_most: int
) -> tuple[list[Truth], list[int], Booleans]:
    """Formulas about objects by increasing cost; of equal denotations the first is kept.

    Parameters
    ----------
    train : (n_rows,) the rows on which denotations are compared.
    largest : largest cost.
    at_most : largest number of formulas, at least 1.

    Returns
    -------
    The formulas, their costs, and where they hold (n_rows, n_formulas).
    """
    made = _Enumeration(language)
    known: set[bytes] = set()
    for price in range(1, largest + 1):
        if len(made.formulas) >= at_most:
            break
        for formula, holds in list(made.costing(price)) if price == 1 else made.costing(price):
            seen = holds[train]
            key = np.packbits(seen).tobytes()
            if seen.any() and key not in known:
                known.add(key)
                made.formulas.append(formula)
                made.cost.append(price)
                made.columns.append(np.ascontiguousarray(holds))
            if len(made.formulas) >= at_most:
                break
    none = np.zeros((len(train), 0), dtype=bool)
    return made.formulas, made.cost, np.concatenate([none, *(one[:, None] for one in made.columns)], axis=1)


@dataclass
class _Enumeration:
    """The formulas so far, and where they hold."""

    language: Language
    formulas: list[Truth] = field(default_factory=list)
    cost: list[int] = field(default_factory=list)
    columns: list[Booleans] = field(default_factory=list)

    def costing(self, price: int) -> Iterator[tuple[Truth, Booleans]]:
        """All combinations of cheaper formulas that have a given cost."""
        if price == 1:
            yield from zip(self.language.concepts, self.language.holds.T, strict=True)
            return
        formulas, columns = self.formulas, self.columns
        of = {cost: [n for n, own in enumerate(self.cost) if own == cost] for cost in range(1, price)}
        for number in of[price - 1]:
            yield Not(formulas[number]), ~columns[number]
        for modality in self.language.modalities:
            if operands := of.get(price - modality.cost):
                found = modality.apply(np.stack([columns[number] for number in operands], axis=1))
                for number, holds in zip(operands, found.T, strict=True):
                    yield modality.of(formulas[number]), holds
        for first in range(1, (price - 1) // 2 + 1):
            for one, other in itertools.product(of[first], of[price - 1 - first]):
                yield And(formulas[one], formulas[other]), columns[one] & columns[other]
                yield Or(formulas[one], formulas[other]), columns[one] | columns[other]
