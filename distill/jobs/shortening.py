"""A shorter formula that says the same on all states of a set: found on some of them, checked on all."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distill.errors import InputError
from distill.jobs.neighbours import spread
from distill.jobs.quotient import build_quotient_of
from distill.logic import (
    And,
    Count,
    Evaluator,
    Indicator,
    Node,
    Not,
    Number,
    Or,
    QuotientEvaluator,
    Truth,
    minimise,
    resynthesise,
    simplify,
)
from distill.planning import DataSet
from distill.structures import Options, Structures

_OBJECTS = 20_000  # of the states that are searched on
_ROWS = 2_000  # classes of objects that the search can tell apart quickly
_KEPT = 5_000  # formulas that the search keeps
_LARGEST = 10  # symbols of formulas that are searched for
_COLUMNS = 20  # parts whose Boolean combinations are looked at
_ROUNDS = 4
_MORE = 40  # states that join where a formula turned out to be wrong


@dataclass(frozen=True)
class Shortened:
    """A formula that says the same as another one on data.

    Attributes
    ----------
    formula : never larger than what laws alone make of the given one.
    classes : on how many classes of objects, or of states, it was searched for.
    states : in all of these it says the same.
    are_objects : whether single objects were compared, as classes would not do.
    """

    formula: Node
    classes: int
    states: int
    are_objects: bool = False

    @property
    def sentence(self) -> str:
        """What is known of the formula."""
        found = f"equivalent on {self.classes:,} {'objects' if self.are_objects else 'classes'} of the data"
        return f"{found}, and the same in all {self.states:,} states"


def shorten(formula: Node, data: DataSet, states: Structures) -> Shortened:
    """Search for a shorter formula that says the same of all objects, or gives the same numbers.

    The search sees some of the states; where its result is wrong on others, some of those join.

    Parameters
    ----------
    data : where it must be the same.
    states : the same as structures.

    Examples
    --------
    >>> from distill.logic import parse
    >>> from distill.planning import expand, problem_class
    >>> data = expand(problem_class("blocks-clear").make("train")[1], 1000)
    >>> found = shorten(parse("<on>top & (~clear | <on>top) & ~holding"), data, data.structures())
    >>> print(found.formula, "is", found.sentence)
    <on>top is equivalent on 27 classes of the data, and the same in all 22 states
    """
    wanted = _values(Evaluator(states), formula)
    plain = simplify(formula)
    if not len(states):
        return Shortened(plain, 0, 0)
    chosen = spread(states, objects=_OBJECTS)
    while (evaluator := _evaluator(data, chosen, states, plain, _ROWS)) is None:
        chosen = chosen[:: 2 + len(chosen) // 500]
    found = Shortened(plain, 0, len(states))
    for _ in range(_ROUNDS):
        found = _searched(plain, evaluator, len(states))
        wrong = _wrong_states(found.formula, wanted, states)
        if not len(wrong):
            return found
        chosen = np.union1d(chosen, wrong[np.linspace(0, len(wrong) - 1, _MORE).astype(np.int64)])
        evaluator = _evaluator(data, chosen, states, plain, 2 * _ROWS) or evaluator
    return Shortened(plain, found.classes, len(states), found.are_objects)


_Evaluators = QuotientEvaluator | Evaluator


def _evaluator(
    data: DataSet, chosen: NDArray[np.int64], states: Structures, formula: Node, rows: int
) -> _Evaluators | None:
    """On classes of objects, or on objects if the formula needs them; None if there are too many."""
    marking = states.vocabulary.is_marked
    options = Options(joint=True)
    found = build_quotient_of({"": data.pick(chosen)}, options=options, goal_marking=marking).quotient
    evaluator: _Evaluators = QuotientEvaluator(found)
    n_rows = len(found.layers[-1])
    try:
        _values(evaluator, formula)
    except InputError:
        some = states[chosen]
        evaluator, n_rows = Evaluator(some), some.n_objects
    return evaluator if n_rows <= rows or len(chosen) == 1 else None


def _searched(plain: Node, evaluator: _Evaluators, n_states: int) -> Shortened:
    """The shortest of what two searches find: among all small formulas, and among combinations of parts."""
    made = resynthesise(plain, evaluator, largest=_LARGEST, at_most=_KEPT)
    ways = [(plain, made.classes), (made.formula, made.classes)]
    ways += [_combined(formula, evaluator, made.classes) for formula in (plain, made.formula)]
    formula, classes = min(ways, key=lambda way: way[0].size)
    return Shortened(formula, classes, n_states, made.are_objects)


def _combined(formula: Node, evaluator: _Evaluators, classes: int) -> tuple[Node, int]:
    """The shortest Boolean combination of its parts that says the same, and on how many classes."""
    inner = formula.fields[0] if isinstance(formula, Count | Indicator) else formula
    if not isinstance(inner, And | Or | Not):
        return formula, classes
    columns = _joined(inner)
    if len(columns) > _COLUMNS:
        return formula, classes
    rows = np.column_stack([evaluator.holds(column) for column in columns])
    short = minimise(columns, rows, evaluator.holds(inner)).formula
    return simplify(short if inner is formula else type(formula)(short)), len(rows)


def _joined(formula: Truth) -> list[Truth]:
    """What a formula is a Boolean combination of."""
    found: dict[Truth, None] = {}
    todo: list[Truth] = [formula]
    seen: set[Truth] = set()
    while todo:
        node = todo.pop()
        if isinstance(node, And | Or | Not):
            todo += [part for part in node.fields if part not in seen]
            seen.update(node.fields)
        else:
            found[node] = None
    return sorted(found)


def _values(evaluator: _Evaluators, formula: Node) -> NDArray[np.float64]:
    if isinstance(formula, Number):
        return evaluator.number(formula).astype(np.float64)
    if not isinstance(formula, Truth):
        raise InputError(f"{formula} is a relation; put a formula after it, as in <{formula}>top.")
    return evaluator.holds(formula).astype(np.float64)


def _wrong_states(found: Node, wanted: NDArray[np.float64], states: Structures) -> NDArray[np.int64]:
    """In which states a formula says something else than wanted."""
    # Sums with fractions may be added up in another order.
    same = np.isclose(_values(Evaluator(states), found), wanted, rtol=1e-9, atol=1e-9)
    differ = np.flatnonzero(~same)
    if isinstance(found, Truth) and not found.of_state:
        return np.unique(states.state_of_object[differ]).astype(np.int64)
    return differ
