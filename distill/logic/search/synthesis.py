"""Synthesis: the shortest formula with the same denotation on given data.

Formulas are enumerated by size. Of formulas with the same denotation only the first is kept. On other data
the result may differ from the target.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np

from distill.common import InputError
from distill.logic.rewriting.simplification import simplify
from distill.logic.search.row_relations import properties, row_relations
from distill.logic.semantics.denotations import (
    BLOCK_BYTES,
    Denotations,
    Words,
    apart,
    pack,
    transpose,
    unpack,
)
from distill.logic.semantics.evaluation import Evaluator
from distill.logic.semantics.quotients import QuotientEvaluator
from distill.logic.syntax.features import Count, Distance
from distill.logic.syntax.formulas import And, Modal, Not, Or, Truth
from distill.logic.syntax.nodes import Node

# An operator and the numbers of its operands; a modal has a relation, an operand and a threshold.
Recipe = tuple[Any, ...]


@dataclass(frozen=True)
class SynthesisResult:
    """A short formula, and the number of rows it was compared on.

    Attributes
    ----------
    formula : never larger than the target.
    classes : number of objects, or of classes of objects, on which it agrees with the target.
    checked_size : up to this size no shorter formula of the language agrees with the target.
    are_objects : whether single objects were compared, not classes.
    """

    formula: Node
    classes: int
    checked_size: int
    are_objects: bool = False

    @property
    def sentence(self) -> str:
        """One sentence on the equivalence."""
        return f"equivalent on {self.classes} {'objects' if self.are_objects else 'classes'}"


def resynthesise(
    target: Node, evaluator: Evaluator | QuotientEvaluator, *, largest: int = 12, **options: Any
) -> SynthesisResult:
    """A shortest formula that holds of the same objects as the target; see `Synthesiser`, also for options.

    Examples
    --------
    >>> from distill.logic import parse
    >>> from distill.structures import Predicate, Structures, Vocabulary
    >>> words = Vocabulary([Predicate("on", 2), Predicate("clear", 1)])
    >>> tower = Structures(words, 1, [0, 0, 0], {"on": [[0, 1], [1, 2]], "clear": [[0]]})
    >>> found = resynthesise(parse("<on>top & (~clear | <on><on>top)"), Evaluator(tower))
    >>> found.formula, found.sentence
    (<on>top, 'equivalent on 3 objects')
    """
    return Synthesiser(evaluator, **options).resynthesise(target, largest=largest)


class Synthesiser:
    """Searches for shortest formulas; the enumeration is shared between targets.

    The language has all predicates that hold somewhere, ⊤, ¬, ∧, ∨, and modals along all relations of the
    vocabulary, in both directions, also R_G ∧ R and R_G ∧ ¬R, if the evaluator supports them.

    Parameters
    ----------
    evaluator : of structures, or of a stable quotient.
    thresholds : the largest threshold of modals.
    closures : whether modals along closures are included (with threshold 0 only).
    at_most : largest number of denotations that are kept; the search then continues among these.
    progress : called with the size that is complete and the number of formulas kept.
    """

    def __init__(
        self,
        evaluator: Evaluator | QuotientEvaluator,
        *,
        thresholds: int = 1,
        closures: bool = True,
        at_most: int = 200_000,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        if isinstance(evaluator, QuotientEvaluator) and not evaluator.quotient.stable:
            raise InputError("Formulas of any depth are compared, which needs a stable quotient; build one.")
        self.evaluator = evaluator
        self.progress = progress
        self._thresholds = thresholds
        self._relations = row_relations(evaluator, closures)
        self._properties = properties(evaluator)
        self._kept = Denotations(len(evaluator.holds(self._properties[0])), at_most)
        self._recipes: list[Recipe] = []
        self._begins = [0, 0]  # for each size the number of its first formula
        self._columns_of_size: dict[int, Words] = {}

    def resynthesise(self, target: Node, *, largest: int = 12) -> SynthesisResult:
        """A shortest formula that holds of the same objects as the target.

        In features and formulas about states, the formulas about objects are replaced.

        Parameters
        ----------
        target : if no shorter formula is found, the result is `simplify` of the target.
        largest : largest size of formulas that are enumerated.
        """
        short = simplify(target)
        parts = [short] if isinstance(short, Truth) and not short.of_state else list(short.walk())
        checked, made = largest, cast(dict[Node, Node], {})
        for node in parts:
            if isinstance(node, Truth) and not node.of_state:
                continue
            fields = [made.get(field, field) if isinstance(field, Node) else field for field in node.fields]
            if isinstance(node, Count | Distance):
                for place, field in enumerate(fields):
                    if isinstance(field, Truth):
                        fields[place], reached = self._shortest(field, largest)
                        checked = min(checked, reached)
            made[node] = type(node)(*fields)
        if short not in made:
            made[short], checked = self._shortest(cast(Truth, short), largest)
        found = min(short, simplify(made[short]), key=lambda formula: formula.size)
        return SynthesisResult(found, self._kept.n_rows, checked, isinstance(self.evaluator, Evaluator))

    def _shortest(self, target: Truth, largest: int) -> tuple[Truth, int]:
        """The formula, and the size up to which no shorter formula has its denotation."""
        wanted = pack(self.evaluator.holds(target)[None])[0]
        found, last = target, min(largest, target.size - 1)
        for size in range(1, last + 1):
            # Formulas of the last size are compared with the target without being kept.
            if size >= len(self._begins) - 1 and size < last and not self._kept.is_full:
                self._grow()
            place = self._kept.find(wanted)
            recipe = self._recipes[place] if place is not None and self._size(place) <= size else None
            if recipe is None and size > self._complete:
                recipe = self._recipe(wanted, size)
            if recipe:
                found = self._formula(recipe)
                break
        compared = self._complete + 1
        return found, largest if compared >= min(largest, found.size - 1) else compared

    @property
    def _complete(self) -> int:
        """The size up to which the enumeration is complete."""
        return len(self._begins) - 2 - self._kept.is_full

    def _size(self, place: int) -> int:
        return int(np.searchsorted(self._begins, place, side="right")) - 1

    def _range(self, size: int) -> tuple[int, int]:
        known = 0 < size < len(self._begins) - 1
        return (self._begins[size], self._begins[size + 1]) if known else (0, 0)

    def _formula(self, recipe: Recipe) -> Truth:
        """The formula of a recipe."""
        made: dict[Recipe, Truth] = {}
        todo = [recipe]
        while todo:
            make, *operands = todo[-1]
            inner = operands[1:2] if make is Modal else [] if isinstance(make, Truth) else operands
            parts = [self._recipes[place] for place in inner]
            if waiting := [part for part in parts if part not in made]:
                todo += waiting
                continue
            built: list[Any] = [made[part] for part in parts]
            if make is Modal:
                built = [self._relations[operands[0]].relation, *built, operands[2]]
            made[todo.pop()] = make if isinstance(make, Truth) else make(*built)
        return made[recipe]

    def _grow(self) -> None:
        """Enumerate the formulas with one symbol more."""
        size = len(self._begins) - 1
        for words, recipe in self._larger(size):
            self._recipes += [recipe(int(number)) for number in self._kept.add(words)]
            if self._kept.is_full:
                break
        self._begins.append(len(self._kept))
        if self.progress:
            self.progress(size, len(self._kept))

    def _larger(self, size: int) -> Iterator[tuple[Words, Callable[[int], Recipe]]]:
        if size == 1:
            holds = np.array([self.evaluator.holds(one) for one in self._properties])
            yield pack(holds), lambda number: (self._properties[number],)
            return
        for at, some in self._blocks(size - 1):
            yield ~some & self._kept.mask, partial(_negation, at)
        for relation, threshold, before in self._modals(size):
            for at, some in self._blocks(before, wide=True):
                found = self._relations[relation].steps_into(unpack(some, self._kept.n_rows).T, threshold)
                yield pack(found.T), partial(_modal, relation, threshold, at)
        for first in range(1, (size - 1) // 2 + 1):
            yield from self._pairs(first, size - 1 - first)

    def _modals(self, size: int) -> Iterator[tuple[int, int, int]]:
        """Relation, threshold and operand size of all modals of a given size."""
        for number, one in enumerate(self._relations):
            for threshold in range((0 if one.is_closure else self._thresholds) + 1):
                yield number, threshold, size - one.relation.size - (threshold > 0)

    def _pairs(self, first: int, second: int) -> Iterator[tuple[Words, Callable[[int], Recipe]]]:
        width = len(self._kept.mask)
        for right, some in self._blocks(second):
            begin, end = self._range(first)
            step = max(1, BLOCK_BYTES // (8 * width * len(some)))
            # Each pair of formulas of equal size is needed once.
            end = min(end, right + len(some)) if first == second else end
            for left in range(begin, end, step):
                others = self._kept.rows(left, min(end, left + step))
                for make, join in ((And, np.bitwise_and), (Or, np.bitwise_or)):
                    words = join(others[:, None], some[None]).reshape(-1, width)
                    yield words, partial(_junction, make, left, right, len(some))

    def _blocks(self, size: int, wide: bool = False) -> Iterator[tuple[int, Words]]:
        """Blocks of the kept formulas of a size: the number of the first, and their denotations."""
        begin, end = self._range(size)
        each = 8 * len(self._kept.mask) * (32 if wide else 8)
        step = max(1, BLOCK_BYTES // each)
        for at in range(begin, end, step):
            yield at, self._kept.rows(at, min(end, at + step))

    def _recipe(self, wanted: Words, size: int) -> Recipe | None:
        """A recipe of this size over kept formulas that has the wanted denotation."""
        kept = self._kept
        opposite = ~wanted & kept.mask
        place = kept.find(opposite)
        if place is not None and self._size(place) < size:
            return Not, place
        holds = unpack(wanted[None], kept.n_rows)[0]
        for relation, threshold, before in self._modals(size):
            begin, end = self._range(before)
            if begin < end and self._relations[relation].has_steps(holds, threshold):
                if before not in self._columns_of_size:
                    self._columns_of_size[before] = transpose(kept.rows(begin, end), kept.n_rows)
                columns = self._columns_of_size[before]
                found = self._relations[relation].find_set(columns, end - begin, holds, threshold)
                if found is not None:
                    return Modal, relation, begin + found, threshold
        for first in range(1, (size - 1) // 2 + 1):
            for make in (And, Or):
                pair = self._pair(make is And, wanted if make is And else opposite, first, size - 1 - first)
                if pair:
                    return make, *pair
        return None

    def _pair(self, is_and: bool, wanted: Words, first: int, second: int) -> tuple[int, int] | None:
        """Two kept formulas whose intersection (or, if not `is_and`, complement of the union) is wanted."""
        places, beyond = [], []
        for size in (first, second):
            begin, end = self._range(size)
            rows = self._kept.rows(begin, end)
            rows = rows if is_and else ~rows & self._kept.mask
            # Both must contain the wanted set; their remainders must be disjoint.
            fitting = np.flatnonzero((rows & wanted == wanted).all(axis=1))
            places.append(begin + fitting)
            beyond.append(rows[fitting] ^ wanted)
        found = apart(beyond[0], beyond[1], self._kept.n_rows)
        return (int(places[0][found[0]]), int(places[1][found[1]])) if found else None


def _negation(begin: int, number: int) -> Recipe:
    return Not, begin + number


def _modal(relation: int, threshold: int, begin: int, number: int) -> Recipe:
    return Modal, relation, begin + number, threshold


def _junction(make: type[Truth], left: int, right: int, width: int, number: int) -> Recipe:
    return make, left + number // width, right + number % width
