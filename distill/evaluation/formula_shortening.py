"""Shorter formulas that are equivalent on data: searched on a sample of states, checked on all."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distill.common import InputError
from distill.evaluation.formula_neighbours import formula_values, sample_evenly
from distill.logic import (
    And,
    Count,
    Evaluator,
    Indicator,
    Node,
    Not,
    Or,
    QuotientEvaluator,
    Truth,
    minimise,
    resynthesise,
    simplify,
)
from distill.structures import DataSet, Options, Structures
from distill.symmetry import build_quotient_of

_OBJECTS = 20_000  # in the sample of states
_ROWS = 2_000  # classes of objects in the search
_FORMULAS = 5_000  # stored by the search
_LARGEST = 10  # symbols of candidate formulas
_COLUMNS = 20  # parts of Boolean combinations
_ROUNDS = 4
_MORE = 40  # wrong states added to the sample in a round


@dataclass(frozen=True)
class Shortening:
    """A formula that is equivalent to a given one on data.

    Attributes
    ----------
    formula : at most as large as the given one simplified by laws.
    classes : the number of classes of objects, or of states, in the search.
    states : the number of states on which it is equivalent.
    are_objects : whether objects were compared instead of classes.
    """

    formula: Node
    classes: int
    states: int
    are_objects: bool = False

    @property
    def sentence(self) -> str:
        """The evidence for the equivalence."""
        kind = "objects" if self.are_objects else "classes"
        return (
            f"equivalent on {self.classes:,} {kind} of the data, and the same in all {self.states:,} states"
        )


def shorten(formula: Node, data: DataSet, states: Structures) -> Shortening:
    """Search for a shorter formula that holds of the same objects, or has the same numbers.

    The search uses a sample of the states. If its result is wrong on other states, some of them are added.

    Parameters
    ----------
    data : the states on which the formulas must be equivalent.
    states : the same states as structures.

    Examples
    --------
    >>> from distill.logic import parse
    >>> from distill.planning import expand, problem_class
    >>> data = expand(problem_class("blocks-clear").make("train")[1], 1000)
    >>> result = shorten(parse("<on>top & (~clear | <on>top) & ~holding"), data, data.structures())
    >>> print(result.formula, "is", result.sentence)
    <on>top is equivalent on 27 classes of the data, and the same in all 22 states
    """
    wanted = formula_values(Evaluator(states), formula)
    plain = simplify(formula)
    if not len(states):
        return Shortening(plain, 0, 0)
    chosen = sample_evenly(states, objects=_OBJECTS)
    while (evaluator := _evaluator(data, chosen, states, plain, _ROWS)) is None:
        chosen = chosen[:: 2 + len(chosen) // 500]
    result = Shortening(plain, 0, len(states))
    for _ in range(_ROUNDS):
        result = _search(plain, evaluator, len(states))
        wrong = _wrong_states(result.formula, wanted, states)
        if not len(wrong):
            return result
        chosen = np.union1d(chosen, wrong[np.linspace(0, len(wrong) - 1, _MORE).astype(np.int64)])
        evaluator = _evaluator(data, chosen, states, plain, 2 * _ROWS) or evaluator
    return Shortening(plain, result.classes, len(states), result.are_objects)


_Evaluators = QuotientEvaluator | Evaluator


def _evaluator(
    data: DataSet, chosen: NDArray[np.int64], states: Structures, formula: Node, rows: int
) -> _Evaluators | None:
    """An evaluator on classes of objects, or on objects if the formula needs them; None if too many."""
    marking = states.vocabulary.is_marked
    options = Options(joint=True)
    quotient = build_quotient_of({"": data.pick(chosen)}, options=options, goal_marking=marking).quotient
    evaluator: _Evaluators = QuotientEvaluator(quotient)
    n_rows = len(quotient.layers[-1])
    try:
        formula_values(evaluator, formula)
    except InputError:
        some = states[chosen]
        evaluator, n_rows = Evaluator(some), some.n_objects
    return evaluator if n_rows <= rows or len(chosen) == 1 else None


def _search(plain: Node, evaluator: _Evaluators, n_states: int) -> Shortening:
    """The shortest result of two searches: over all small formulas, and over combinations of parts."""
    made = resynthesise(plain, evaluator, largest=_LARGEST, at_most=_FORMULAS)
    candidates = [(plain, made.classes), (made.formula, made.classes)]
    candidates += [_combine_parts(formula, evaluator, made.classes) for formula in (plain, made.formula)]
    formula, classes = min(candidates, key=lambda candidate: candidate[0].size)
    return Shortening(formula, classes, n_states, made.are_objects)


def _combine_parts(formula: Node, evaluator: _Evaluators, classes: int) -> tuple[Node, int]:
    """The shortest equivalent Boolean combination of its parts, and the number of classes."""
    inner = formula.fields[0] if isinstance(formula, Count | Indicator) else formula
    if not isinstance(inner, And | Or | Not):
        return formula, classes
    columns = _components(inner)
    if len(columns) > _COLUMNS:
        return formula, classes
    rows = np.column_stack([evaluator.holds(column) for column in columns])
    short = minimise(columns, rows, evaluator.holds(inner)).formula
    return simplify(short if inner is formula else type(formula)(short)), len(rows)


def _components(formula: Truth) -> list[Truth]:
    """The formulas that a formula is a Boolean combination of."""
    components: dict[Truth, None] = {}
    todo: list[Truth] = [formula]
    seen: set[Truth] = set()
    while todo:
        node = todo.pop()
        if isinstance(node, And | Or | Not):
            todo += [part for part in node.fields if part not in seen]
            seen.update(node.fields)
        else:
            components[node] = None
    return sorted(components)


def _wrong_states(formula: Node, wanted: NDArray[np.float64], states: Structures) -> NDArray[np.int64]:
    """The states in which a formula has other values than wanted."""
    # Sums with fractions may be added up in another order.
    same = np.isclose(formula_values(Evaluator(states), formula), wanted, rtol=1e-9, atol=1e-9)
    differ = np.flatnonzero(~same)
    if isinstance(formula, Truth) and not formula.of_state:
        return np.unique(states.state_of_object[differ]).astype(np.int64)
    return differ
