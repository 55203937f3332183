"""The shortest ways to say what a leaf set says, with at most three splits.

All conjunctions and disjunctions of up to three splits and their negations are made, by growing cost, and
compared with all leaf sets at once: hashes of what they hold of are looked up.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.logic import And, Not, Or, Truth
from distill.logic.denotations import BYTES, Words

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]
Recipe = tuple[Any, ...]  # Not, And or Or, and recipes; or None and the number of a split

_MANY = 24  # formulas of one cost that are worth comparing for one target
_FACTORS = np.random.default_rng(1).integers(0, 1 << 63, 1 << 14, dtype=np.uint64) * 2 + 1


@dataclass
class Said:
    """How a target can be said.

    Attributes
    ----------
    cost : of all recipes alike.
    recipes : how to make it of splits.
    """

    cost: int
    recipes: list[Recipe] = field(default_factory=list)


def formula_of(recipe: Recipe, split: Callable[[int], Truth]) -> Truth:
    """Write out a recipe; `split` gives the formula of a split.

    Examples
    --------
    >>> from distill.logic import parse
    >>> formula_of((And, (None, 1), (Not, (None, 0))), [parse("clear"), parse("holding")].__getitem__)
    holding & ~clear
    """
    make, *parts = recipe
    if make is None:
        return split(parts[0])
    return make(*(formula_of(part, split) for part in parts))  # type: ignore[no-any-return]


def truth_of(recipe: Recipe, holds: Booleans) -> Booleans:
    """(n_rows,) where it holds, from where the splits do (n_rows, n_splits)."""
    make, *parts = recipe
    if make is None:
        return holds[:, parts[0]]
    found = [truth_of(part, holds) for part in parts]
    if make is Not:
        return ~found[0]
    joined: Booleans = (np.logical_and if make is And else np.logical_or).reduce(found)
    return joined


def variants_of(recipe: Recipe, twins: Mapping[int, Sequence[int]]) -> Iterator[Recipe]:
    """The recipe with each split replaced by each of its twins.

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
    """Sets of rows by growing cost, no two alike.

    Attributes
    ----------
    words : (m, n_words) the rows of each, as bits.
    cost : (m,) ascending.
    recipes : (m, 3) operator and two numbers; the last is not used by a negation and a single split.
    """

    words: Words
    cost: Integers
    recipes: Integers

    @staticmethod
    def of(words: Words, cost: Integers, recipes: Integers) -> "_Sets":
        """Of equal sets the cheapest, and of these the first."""
        order = np.argsort(cost, kind="stable")
        chosen = order[np.sort(np.unique(_hashes(words)[order], return_index=True)[1])]
        return _Sets(words[chosen], cost[chosen], recipes[chosen])

    def costing(self, cost: int) -> slice:
        """The sets of this cost."""
        return slice(*np.searchsorted(self.cost, [cost, cost + 1]).tolist())


_SPLIT, _NOT, _AND, _OR = range(4)
_JOINS = ((_AND, np.bitwise_and), (_OR, np.bitwise_or))


class Shortest:
    """Looks for cheap ways to say targets.

    Parameters
    ----------
    words : (n_splits, n_words) the rows that splits hold of, as bits (see `denotations.packed`).
    cost : (n_splits,) of the splits.
    mask : (n_words,) all rows.
    limit : combinations cost at most this.
    longest : single splits and their negations cost at most this.

    Examples
    --------
    >>> from distill.logic.denotations import packed
    >>> splits = np.array([[1, 1, 0, 0], [1, 0, 1, 0]], dtype=bool)
    >>> found = Shortest(packed(splits), np.array([1, 2]), packed(np.ones((1, 4), bool))[0], 8, 8)
    >>> [said] = found.say(packed(np.array([[False, False, True, False]])))
    >>> said.cost, truth_of(said.recipes[0], splits.T)
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

    def say(self, targets: Words) -> list[Said | None]:
        """For each target (m, n_words), no two alike, its cheapest recipes; none if they cost too much."""
        found: list[Said | None] = [None] * len(targets)
        if not len(targets):
            return found
        wanted = _Wanted(targets)
        for place, target in wanted.among(self._literals.words):
            cost = int(self._literals.cost[place])
            if cost <= self.longest:
                found[target] = Said(cost, [self._literal(place)])
        best = np.array([said.cost if said else self.limit + 1 for said in found])
        pairs: list[_Sets] = []
        for cost in range(3, self.limit + 1):
            still = np.flatnonzero(best >= cost)
            if not len(still):
                break
            wanted = _Wanted(targets[still])
            made = []
            for words, recipes in self._pairs(cost):
                for place, target in wanted.among(words):
                    _note(found, int(still[target]), cost, self._pair(recipes[place]))
                made.append((words, recipes))
            for known in pairs:
                for words, recipes in self._triples(known, cost):
                    for place, target in wanted.among(words):
                        operator, pair, third = recipes[place].tolist()
                        recipe = (_MAKES[operator], self._pair(known.recipes[pair]), self._literal(third))
                        _note(found, int(still[target]), cost, recipe)
            if made and cost <= self.limit - 2:
                words, recipes = (np.concatenate(parts) for parts in zip(*made, strict=True))
                pairs.append(_Sets.of(words, np.full(len(words), cost), recipes))
            best = np.array([said.cost if said else self.limit + 1 for said in found])
        return found

    def _pairs(self, cost: int) -> Iterator[tuple[Words, Integers]]:
        """All pairs of literals with this cost: the rows of each, and its recipe."""
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
        operator, split, _ = self._literals.recipes[place].tolist()
        return (Not, (None, split)) if operator == _NOT else (None, split)


_MAKES: dict[int, type[Truth]] = {_AND: And, _OR: Or}


def _joined(left: _Sets, right: _Sets, first: int, second: int) -> Iterator[tuple[Words, Integers]]:
    """The sets of one cost joined with those of another: the rows of each, and its recipe."""
    ours, theirs = left.costing(first), right.costing(second)
    others = right.words[theirs]
    if not len(others):
        return
    step = max(1, BYTES // others.nbytes)
    for begin in range(ours.start, ours.stop, step):
        some = left.words[begin : min(ours.stop, begin + step)]
        one = np.repeat(np.arange(begin, begin + len(some)), len(others))
        other = np.tile(np.arange(theirs.start, theirs.stop), len(some))
        for operator, join in _JOINS:
            words = join(some[:, None], others[None]).reshape(-1, some.shape[1])
            yield words, np.column_stack([np.full(len(words), operator), one, other])


def _note(found: list[Said | None], target: int, cost: int, recipe: Recipe) -> None:
    said = found[target]
    if said is None or cost < said.cost:
        found[target] = Said(cost, [recipe])
    elif cost == said.cost and len(said.recipes) < _MANY:
        said.recipes.append(recipe)


class _Wanted:
    """Targets that are recognised among many sets."""

    def __init__(self, targets: Words) -> None:
        hashes = _hashes(targets)
        order = np.argsort(hashes, kind="stable")
        self._hashes, self._numbers, self._targets = hashes[order], order, targets[order]

    def among(self, words: Words) -> list[tuple[int, int]]:
        """Places of sets (m, n_words), and the numbers of the targets that they equal."""
        hashes = _hashes(words)
        place = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        hit = np.flatnonzero(self._hashes[place] == hashes)
        hit = hit[(words[hit] == self._targets[place[hit]]).all(axis=1)]
        return list(zip(hit.tolist(), self._numbers[place[hit]].tolist(), strict=True))


def _hashes(words: Words) -> NDArray[np.uint64]:
    """(m,) a number for each set (m, n_words); equal sets have equal ones."""
    factors = np.resize(_FACTORS, words.shape[1]) + np.arange(words.shape[1], dtype=np.uint64) * np.uint64(2)
    found: NDArray[np.uint64] = (words ^ (words >> np.uint64(29))) @ factors
    return found
