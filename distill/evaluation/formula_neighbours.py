"""Relations between formulas on data: equal, opposite, weaker or stronger."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.common import InputError
from distill.logic import Evaluator, Node, Number, QuotientEvaluator, Truth
from distill.structures import Structures

EQUAL, OPPOSITE, WEAKER, STRONGER = "equal", "opposite", "weaker", "stronger"
STATES = 2_000  # in the sample
OBJECTS = 40_000  # in the sample
FORMULAS = 400  # compared at most
_PARTS = 4_000  # nodes evaluated at most
_EACH = 25  # neighbours of each relation


@dataclass(frozen=True, eq=False)
class Neighbour:
    """A formula related to another one on the data.

    Attributes
    ----------
    formula : the neighbour.
    relation : `equal`; `opposite` if it holds exactly where the other does not; `weaker` if it holds wherever
        the other does, or is never less; `stronger` if it holds only there, or is never more.
    apart : the number of objects, or of states, on which both differ.
    """

    formula: Node
    relation: str
    apart: int


def sample_evenly(states: Structures, at_most: int = STATES, objects: int = OBJECTS) -> NDArray[np.int64]:
    """(n,) ascending numbers of evenly spaced states with a bounded total number of objects.

    Examples
    --------
    >>> from distill.structures import Vocabulary
    >>> sample_evenly(Structures(Vocabulary([]), 7, np.arange(7), {}), at_most=3)
    array([0, 3, 6])
    """
    n = min(at_most, len(states))
    if states.n_objects > objects:
        n = min(n, max(1, len(states) * objects // states.n_objects))
    return np.arange(n) * (len(states) - 1) // max(1, n - 1)


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The neighbours of a formula.

    Attributes
    ----------
    formulas : equal formulas first, then opposite ones, then others, nearest first.
    constant : whether the formula is constant; then only constant formulas are its neighbours.
    """

    formulas: tuple[Neighbour, ...]
    constant: bool


class Neighbourhood:
    """Formulas evaluated on the same states, for comparison with others.

    Formulas about objects are compared object by object; numbers and formulas about states, state by state.

    Parameters
    ----------
    formulas : the candidates; of too many the first ones are used, and very large ones are skipped.
    states : a sample of states.

    Attributes
    ----------
    left_out : the number of formulas that were too many or too large.

    Examples
    --------
    >>> from distill.logic import parse
    >>> from distill.structures import Predicate, Vocabulary
    >>> words = Vocabulary([Predicate("on", 2), Predicate("clear", 1)])
    >>> tower = Structures(words, 1, [0, 0, 0], {"on": [[0, 1], [1, 2]], "clear": [[0]]})
    >>> found = Neighbourhood([parse("clear"), parse("<on><on>top"), parse("<on>top")], tower)
    >>> [(one.formula, one.relation, one.apart) for one in found.of(parse("<on>top & clear")).formulas]
    [(clear, 'equal', 0), (<on><on>top, 'equal', 0), (<on>top, 'weaker', 1)]
    """

    def __init__(self, formulas: Iterable[Node], states: Structures) -> None:
        self.states = states
        evaluator = Evaluator(states)
        objects: dict[Node, NDArray[Any]] = {}
        numbers: dict[Node, NDArray[Any]] = {}
        parts: set[Node] = set()
        self.left_out = 0
        for formula in formulas:
            more = _new_parts(formula, parts, _PARTS - len(parts))
            if more is None or len(objects) + len(numbers) >= FORMULAS:
                self.left_out += 1
                continue
            parts |= more
            values = formula_values(evaluator, formula)
            if values.dtype == np.bool_:
                objects[formula] = np.packbits(values)
            else:
                numbers[formula] = values
        self._objects = _Table(objects)
        self._numbers = _Table(numbers)

    def __len__(self) -> int:
        return len(self._objects.formulas) + len(self._numbers.formulas)

    def of(self, formula: Node) -> Neighbours:
        """All neighbours of a formula.

        A constant formula is no neighbour of other formulas, although it implies or follows from all of them.
        """
        values = formula_values(Evaluator(self.states), formula)
        own_constant = not len(values) or bool((values == values[0]).all())
        about_objects = values.dtype == np.bool_
        table = self._objects if about_objects else self._numbers
        if not len(values) or not len(table.formulas):
            return Neighbours((), own_constant)
        compare = _compare_objects if about_objects else _compare_numbers
        relations, apart, constant = compare(table.values, values)
        neighbours: list[Neighbour] = []
        for relation, true in relations:
            if relation in (WEAKER, STRONGER):
                true &= ~constant & (not own_constant)
            places = [place for place in np.flatnonzero(true) if table.formulas[place] is not formula]
            places.sort(key=lambda place: int(apart[place]))
            neighbours += [Neighbour(table.formulas[i], relation, int(apart[i])) for i in places[:_EACH]]
        return Neighbours(tuple(neighbours), own_constant)


class _Table:
    """The values of formulas, one row each."""

    def __init__(self, rows: dict[Node, NDArray[Any]]) -> None:
        self.formulas = list(rows)
        self.values = np.array(list(rows.values())) if rows else np.zeros((0, 0))


_Comparison = tuple[list[tuple[str, NDArray[np.bool_]]], NDArray[np.int64], NDArray[np.bool_]]


def _compare_objects(rows: NDArray[Any], values: NDArray[Any]) -> _Comparison:
    """The relations of packed rows to the values, their distances, and which rows are constant."""
    own, every = np.packbits(values), np.packbits(np.ones(len(values), dtype=bool))
    apart = np.bitwise_count(rows ^ own).sum(axis=1, dtype=np.int64)
    equal, opposite = apart == 0, apart == len(values)
    weaker = ~equal & ~(own & ~rows).any(axis=1)
    stronger = ~equal & ~(rows & ~own).any(axis=1)
    constant = ~rows.any(axis=1) | (rows == every).all(axis=1)
    return [(EQUAL, equal), (OPPOSITE, opposite), (WEAKER, weaker), (STRONGER, stronger)], apart, constant


def _compare_numbers(rows: NDArray[Any], values: NDArray[Any]) -> _Comparison:
    apart = (rows != values).sum(axis=1, dtype=np.int64)
    equal = apart == 0
    binary = np.isin(rows, (0, 1)).all(axis=1) & bool(np.isin(values, (0, 1)).all())
    opposite = binary & (rows + values == 1).all(axis=1)
    weaker = ~equal & (rows >= values).all(axis=1)
    stronger = ~equal & (rows <= values).all(axis=1)
    constant = (rows == rows[:, :1]).all(axis=1)
    return [(EQUAL, equal), (OPPOSITE, opposite), (WEAKER, weaker), (STRONGER, stronger)], apart, constant


def _new_parts(formula: Node, known: set[Node], at_most: int) -> set[Node] | None:
    """The parts of a formula that are not known yet; None if they are more than `at_most`."""
    new: set[Node] = set()
    todo = [formula]
    while todo:
        node = todo.pop()
        if node not in known and node not in new:
            if len(new) >= at_most:
                return None
            new.add(node)
            todo += node.parts
    return new


def formula_values(evaluator: Evaluator | QuotientEvaluator, formula: Node) -> NDArray[Any]:
    """(n_objects,) truth values of a formula about objects, otherwise (n_states,) numbers."""
    if isinstance(formula, Number):
        return evaluator.number(formula).astype(np.float64)
    if not isinstance(formula, Truth):
        raise InputError(f"{formula} is a relation; put a formula after it, as in <{formula}>top.")
    holds = evaluator.holds(formula)
    return holds.astype(np.float64) if formula.of_state else holds
