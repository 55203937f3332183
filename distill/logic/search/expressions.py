"""The cheapest Boolean combinations of at most three columns that equal given sets of rows.

Conjunctions and disjunctions of up to three columns and their negations are enumerated by increasing cost.
All targets are compared at once, through hashes of the sets.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.logic.semantics.denotations import BLOCK_BYTES, Words, hashes
from distill.logic.syntax.formulas import And, Not, Or, Truth

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]
Recipe = tuple[Any, ...]  # Not, And or Or, and recipes; or None and the number of a column

_MOST_RECIPES = 24  # kept for one target


@dataclass
class Expression:
    """The cheapest expressions of a target.

    Attributes
    ----------
    cost : of each of the recipes.
    recipes : how to combine columns.
    """

    cost: int
    recipes: list[Recipe] = field(default_factory=list)


def formula_of(recipe: Recipe, column: Callable[[int], Truth]) -> Truth:
    """The formula of a recipe; `column` gives the formula of a column.

    Examples
    --------
    >>> from distill.logic import parse
    >>> formula_of((And, (None, 1), (Not, (None, 0))), [parse("clear"), parse("holding")].__getitem__)
    holding & ~clear
    """
    make, *parts = recipe
    if make is None:
        return column(parts[0])
    return make(*(formula_of(part, column) for part in parts))  # type: ignore[no-any-return]


def truth_of(recipe: Recipe, holds: Booleans) -> Booleans:
    """(n_rows,) where a recipe holds, given the columns (n_rows, n_columns)."""
    make, *parts = recipe
    if make is None:
        return holds[:, parts[0]]
    found = [truth_of(part, holds) for part in parts]
    if make is Not:
        return ~found[0]
    joined: Booleans = (np.logical_and if make is And else np.logical_or).reduce(found)
    return joined


def variants_of(recipe: Recipe, twins: Mapping[int, Sequence[int]]) -> Iterator[Recipe]:
    """The recipe with each column replaced by each of its twins.

    Examples
    --------
    >>> [parts for _, *parts in variants_of((And, (None, 0), (None, 1)), {0: [0, 7], 1: [1]})]
    [[(None, 0), (None, 1)], [(None, 7), (None, 1)]]
    """
    make, *parts = recipe
    if make is None:
        yield from ((None, twin) for twin in twins[parts[0]])
    else:
        for chosen in itertools.product(*(list(variants_of(part, twins)) for part in parts)):
            yield (make, *chosen)


@dataclass(frozen=True, eq=False)
class _Sets:
    """Distinct sets of rows by increasing cost.

    Attributes
    ----------
    words : (m, n_words) the sets, as bits.
    cost : (m,) ascending.
    recipes : (m, 3) operator and two numbers; a negation and a single column do not use the last.
    """

    words: Words
    cost: Integers
    recipes: Integers

    @staticmethod
    def of(words: Words, cost: Integers, recipes: Integers) -> "_Sets":
        """Of equal sets the cheapest, and of these the first."""
        order = np.argsort(cost, kind="stable")
        chosen = order[np.sort(np.unique(hashes(words)[order], return_index=True)[1])]
        return _Sets(words[chosen], cost[chosen], recipes[chosen])

    def costing(self, cost: int) -> slice:
        """The sets of this cost."""
        return slice(*np.searchsorted(self.cost, [cost, cost + 1]).tolist())


_COLUMN, _NOT, _AND, _OR = range(4)
_JOINS = ((_AND, np.bitwise_and), (_OR, np.bitwise_or))


class ExpressionSearch:
    """Searches for the cheapest expressions of sets of rows.

    Parameters
    ----------
    words : (n_columns, n_words) the columns, as bits (see `pack`).
    cost : (n_columns,) of the columns.
    mask : (n_words,) all rows.
    limit : largest cost of a combination.
    longest : largest cost of a single column or its negation.

    Examples
    --------
    >>> from distill.logic import pack
    >>> columns = np.array([[1, 1, 0, 0], [1, 0, 1, 0]], dtype=bool)
    >>> search = ExpressionSearch(pack(columns), np.array([1, 2]), pack(np.ones((1, 4), bool))[0], 8, 8)
    >>> [found] = search.express(pack(np.array([[False, False, True, False]])))
    >>> found.cost, truth_of(found.recipes[0], columns.T)
    (5, array([False, False,  True, False]))
    """

    def __init__(self, words: Words, cost: Integers, mask: Words, limit: int, longest: int) -> None:
        self.limit, self.longest = limit, longest
        number = np.arange(len(cost))
        recipes = np.zeros((2 * len(cost), 3), dtype=np.int64)
        recipes[:, 1] = np.tile(number, 2)
        recipes[len(cost) :, 0] = _NOT
        both = np.concatenate([cost, cost + 1])
        self._literals = _Sets.of(np.concatenate([words, ~words & mask]), both, recipes)

    def express(self, targets: Words) -> list[Expression | None]:
        """The cheapest expressions of distinct targets (m, n_words); None where they exceed the limits."""
        found: list[Expression | None] = [None] * len(targets)
        if not len(targets):
            return found
        wanted = _Targets(targets)
        for place, target in wanted.among(self._literals.words):
            cost = int(self._literals.cost[place])
            if cost <= self.longest:
                found[target] = Expression(cost, [self._literal(place)])
        best = np.array([one.cost if one else self.limit + 1 for one in found])
        pairs: list[_Sets] = []
        for cost in range(3, self.limit + 1):
            still = np.flatnonzero(best >= cost)
            if not len(still):
                break
            wanted = _Targets(targets[still])
            made = []
            for words, recipes in self._pairs(cost):
                for place, target in wanted.among(words):
                    _keep(found, int(still[target]), cost, self._pair(recipes[place]))
                made.append((words, recipes))
            for known in pairs:
                for words, recipes in self._triples(known, cost):
                    for place, target in wanted.among(words):
                        operator, pair, third = recipes[place].tolist()
                        recipe = (_MAKES[operator], self._pair(known.recipes[pair]), self._literal(third))
                        _keep(found, int(still[target]), cost, recipe)
            if made and cost <= self.limit - 2:
                words, recipes = (np.concatenate(parts) for parts in zip(*made, strict=True))
                pairs.append(_Sets.of(words, np.full(len(words), cost), recipes))
            best = np.array([one.cost if one else self.limit + 1 for one in found])
        return found

    def _pairs(self, cost: int) -> Iterator[tuple[Words, Integers]]:
        """All pairs of literals with this cost: the set of each, and its recipe."""
        for first in range(1, (cost - 1) // 2 + 1):
            yield from _joined(self._literals, self._literals, first, cost - 1 - first)

    def _triples(self, pairs: _Sets, cost: int) -> Iterator[tuple[Words, Integers]]:
        """All pairs from a list joined with a literal, with this cost."""
        before = int(pairs.cost[0]) if len(pairs.cost) else cost
        yield from _joined(pairs, self._literals, before, cost - 1 - before)

    def _pair(self, recipe: Integers) -> Recipe:
        operator, left, right = recipe.tolist()
        return _MAKES[operator], self._literal(left), self._literal(right)

    def _literal(self, place: int) -> Recipe:
        operator, column, _ = self._literals.recipes[place].tolist()
        return (Not, (None, column)) if operator == _NOT else (None, column)


_MAKES: dict[int, type[Truth]] = {_AND: And, _OR: Or}


def _joined(left: _Sets, right: _Sets, first: int, second: int) -> Iterator[tuple[Words, Integers]]:
    """The sets of one cost joined with those of another: the set of each pair, and its recipe."""
    ours, theirs = left.costing(first), right.costing(second)
    others = right.words[theirs]
    if not len(others):
        return
    step = max(1, BLOCK_BYTES // others.nbytes)
    for begin in range(ours.start, ours.stop, step):
        some = left.words[begin : min(ours.stop, begin + step)]
        one = np.repeat(np.arange(begin, begin + len(some)), len(others))
        other = np.tile(np.arange(theirs.start, theirs.stop), len(some))
        for operator, join in _JOINS:
            words = join(some[:, None], others[None]).reshape(-1, some.shape[1])
            yield words, np.column_stack([np.full(len(words), operator), one, other])


def _keep(found: list[Expression | None], target: int, cost: int, recipe: Recipe) -> None:
    known = found[target]
    if known is None or cost < known.cost:
        found[target] = Expression(cost, [recipe])
    elif cost == known.cost and len(known.recipes) < _MOST_RECIPES:
        known.recipes.append(recipe)


class _Targets:
    """Looks targets up among many sets."""

    def __init__(self, targets: Words) -> None:
        keys = hashes(targets)
        order = np.argsort(keys, kind="stable")
        self._keys, self._numbers, self._targets = keys[order], order, targets[order]

    def among(self, words: Words) -> list[tuple[int, int]]:
        """Places among sets (m, n_words), and the numbers of the targets that they equal."""
        keys = hashes(words)
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        hit = np.flatnonzero(self._keys[place] == keys)
        hit = hit[(words[hit] == self._targets[place[hit]]).all(axis=1)]
        return list(zip(hit.tolist(), self._numbers[place[hit]].tolist(), strict=True))
