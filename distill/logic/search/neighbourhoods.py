"""The neighbourhood of formulas: what at most two operators make of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from distill.logic.search.enumeration import short_formulas
from distill.logic.search.language import Language
from distill.logic.semantics.denotations import Words, hashes, pack, unpack
from distill.logic.syntax.formulas import And, Not, Or, Truth

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]
Make = Callable[[int], Truth]

_SHORT = 600  # short formulas of the language that are operands of the second step


def neighbourhood(
    words: Sequence[Truth], holds: Booleans, language: Language, largest: int, at_most: int
) -> tuple[list[Truth], Words]:
    """Formulas about objects that are at most two steps from given words, by increasing size.

    The first step joins two words, negates one, or applies a modality. The second step does the same with the
    results of the first and with short formulas of the language, but joins them with words only. Of formulas
    that hold of the same rows, the smallest is kept.

    Parameters
    ----------
    words : formulas about objects; among equal ones the first is kept.
    holds : (n_rows, n_words) where they hold.
    largest : largest size of a formula.
    at_most : largest number of formulas.

    Returns
    -------
    The formulas and where they hold, as bits (n_formulas, n_words); see `unpack`.

    Examples
    --------
    >>> from distill.logic import parse
    >>> clear = np.array([[True], [False]])
    >>> language = Language((parse("clear"),), clear, (), ())
    >>> neighbourhood([parse("clear")], clear, language, largest=8, at_most=9)[0]
    [clear, ~clear, clear | ~clear]
    """
    kept = _Neighbours(largest)
    kept.add(holds, np.array([word.size for word in words]), lambda number: words[number])
    n_words = len(kept)
    kept.step(language, range(n_words), n_words)
    short, _, where = short_formulas(language, np.ones(len(holds), dtype=bool), largest, _SHORT)
    kept.add(where, np.array([formula.size for formula in short]), lambda number: short[number])
    kept.step(language, range(n_words, len(kept)), n_words)
    chosen = np.argsort(kept.sizes, kind="stable")[:at_most]
    formulas = [kept.formula(number) for number in chosen.tolist()]
    return formulas, kept.rows[chosen]


@dataclass
class _Neighbours:
    """Sets of rows, each with the smallest formula known for it.

    Attributes
    ----------
    largest : largest size of a formula.
    sizes : of the formulas.
    """

    largest: int
    sizes: list[int] = field(default_factory=list)
    _places: dict[int, int] = field(default_factory=dict)
    _made: list[tuple[Make, int]] = field(default_factory=list)
    _parts: list[Words] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def rows(self) -> Words:
        """(n, n_words) the rows of each set, as bits."""
        self._parts = [np.concatenate(self._parts)]
        return self._parts[0]

    def formula(self, number: int) -> Truth:
        """The smallest formula of a set."""
        make, own = self._made[number]
        return make(own)

    def add(self, holds: Booleans, sizes: Integers, make: Make) -> None:
        """Keep new sets (n_rows, m), and smaller formulas of known sets."""
        fitting = np.flatnonzero((sizes <= self.largest) & holds.any(axis=0))
        fitting = fitting[np.argsort(sizes[fitting], kind="stable")]
        bits = pack(holds.T[fitting])
        _, first = np.unique(hashes(bits), return_index=True)
        first = np.sort(first)
        fresh = []
        for place, key in zip(first.tolist(), hashes(bits[first]).tolist(), strict=True):
            own = int(fitting[place])
            known = self._places.get(key)
            if known is None:
                self._places[key] = len(self)
                self.sizes.append(int(sizes[own]))
                self._made.append((make, own))
                fresh.append(place)
            elif sizes[own] < self.sizes[known]:
                self.sizes[known] = int(sizes[own])
                self._made[known] = make, own
        self._parts.append(bits[fresh])

    def step(self, language: Language, operands: range, n_words: int) -> None:
        """Add what is one step from some of the sets; they are joined with the first `n_words` sets only."""
        n_rows = len(language.holds)
        holds = unpack(self.rows[operands.start : operands.stop], n_rows).T
        sizes = np.array(self.sizes[operands.start : operands.stop], dtype=np.int64)
        formulas = [self.formula(number) for number in operands]
        for modality in language.modalities:
            made = [modality.of(formula) for formula in formulas]
            self.add(modality.apply(holds), np.array([one.size for one in made], dtype=int), made.__getitem__)
        self.add(~holds, sizes + 1, lambda number: Not(formulas[number]))
        for word in range(n_words):
            # Each pair of words is joined once.
            others = np.arange(word + 1, n_words) if operands.start == 0 else np.arange(len(formulas))
            others = others[self.sizes[word] + sizes[others] < self.largest]
            if len(others):
                self._join(word, formulas, holds[:, others], sizes[others], others)

    def _join(
        self, word: int, formulas: list[Truth], holds: Booleans, sizes: Integers, others: Integers
    ) -> None:
        """Add conjunctions and disjunctions of one set with others (n_rows, m)."""
        first, own = self.formula(word), unpack(self.rows[[word]], len(holds)).T
        total = sizes + self.sizes[word] + 1
        self.add(own & holds, total, lambda number: And(first, formulas[others[number]]))
        self.add(own | holds, total, lambda number: Or(first, formulas[others[number]]))
        self.add(own & ~holds, total + 1, lambda number: And(first, Not(formulas[others[number]])))
        self.add(~own & holds, total + 1, lambda number: And(Not(first), formulas[others[number]]))
