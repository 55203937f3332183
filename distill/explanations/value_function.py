"""Value functions: weighted sums of features of states."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from distill.common import InputError
from distill.explanations.explanation import FIRST_KIND, Explanation, register
from distill.explanations.export import file_text
from distill.explanations.provenance import StateFeature
from distill.logic import (
    Bounds,
    Constant,
    Evaluator,
    Node,
    NodeTable,
    Number,
    Scaled,
    Sum,
    bounds_of,
    read_nodes,
    unroll,
    weighted,
)
from distill.structures import DataSet, Structures, Vocabulary

Floats = NDArray[np.float64]
_CELLS = 1 << 31  # objects times formulas whose values are held at a time


@register
@dataclass(frozen=True, eq=False)
class ValueFunction(Explanation):
    """A weighted sum of features of states; the lower its value, the closer the goal.

    Attributes
    ----------
    value : the sum.
    pool : all features of states that it was chosen from, and the products that it uses.
    goal_marking, label : see `Explanation`.

    Examples
    --------
    >>> from distill.explanations import Provenance
    >>> from distill.logic import parse
    >>> clear = StateFeature(parse("#clear"), "numerical", Provenance(1))
    >>> function = ValueFunction(parse("2*#clear + 1"), (clear,))
    >>> [(weight, feature.number) for weight, feature in function.terms()], function.constant
    ([(2, #clear)], 1.0)
    """

    kind: ClassVar[str] = FIRST_KIND

    value: Number
    pool: tuple[StateFeature, ...]
    goal_marking: bool = False
    label: str = "ridt"

    @property
    def size(self) -> int:
        """The number of symbols when it is written out."""
        return self.value.size

    @property
    def constant(self) -> float:
        """The constant that is added to the features."""
        return float(sum(n.fields[0] for _, n in weighted(self.value) if isinstance(n, Constant)))

    def terms(self) -> list[tuple[float, StateFeature]]:
        """The weights and features, without the constant."""
        known = {feature.number: feature for feature in self.pool}
        return [(weight, known[number]) for weight, number in weighted(self.value) if number in known]

    def values(self, states: Structures) -> Floats:
        """(n_states,) the value of each state."""
        return Evaluator(states).number(self.value).astype(np.float64)

    def keys(self, states: Structures) -> Floats:
        """(n_states, 1) the value of each state."""
        return self.values(states)[:, None]

    def predict(self, sets: Mapping[str, DataSet]) -> dict[str, Floats]:
        """(n_states,) the value of every state, for each set; equal states are evaluated once."""
        found = {}
        for name, data in sets.items():
            first, place = np.unique(data.repeats(), return_inverse=True)
            values = [np.zeros(0), *map(self.values, self._batches(data, first))]
            found[name] = np.concatenate(values)[place]
        return found

    def bounds(self, sets: Iterable[DataSet]) -> dict[Node, int]:
        """The least bounds with which its form in C2 equals it on some data, if it needs any."""
        with suppress(InputError):
            unroll(self.value, {}, counting=True)
            return {}
        batches = (batch for data in sets for batch in self._batches(data, np.unique(data.repeats())))
        return bounds_of(self.value, batches, counting=True)

    def _batches(self, data: DataSet, states: NDArray[np.int64]) -> Iterator[Structures]:
        """Some states in parts, so that the values of all subformulas fit into memory."""
        most = max(1, _CELLS // sum(1 for _ in self.value.walk()))
        part = np.cumsum(data.n_objects[data.state_instance[states]]) // most
        for own in np.split(states, np.flatnonzero(np.diff(part)) + 1):
            if len(own):
                yield data.structures(own, goal_marking=self.goal_marking)

    def export(self, form: str, vocabulary: Vocabulary, bounds: Bounds | None = None) -> str:
        """The text of a file in one of the forms of `export.FORMS`; with `bounds`, in bounded form."""
        return file_text(self.value, form, vocabulary, bounds)

    def to_json(self) -> dict[str, Any]:
        """A list of nodes that all formulas share, and which node is which formula."""
        table = NodeTable()
        whole = {
            "value": table.add(self.value),
            "goal_marking": self.goal_marking,
            "label": self.label,
            "pool": [feature.to_json(table) for feature in self.pool],
        }
        return {"nodes": table.rows, **whole}

    @classmethod
    def from_json(cls, whole: Mapping[str, Any]) -> "ValueFunction":
        """Undo `to_json`."""
        nodes = read_nodes(whole["nodes"])
        value = nodes[whole["value"]]
        if not isinstance(value, Number):
            raise ValueError("its value is no number of states")
        pool = tuple(StateFeature.from_json(row, nodes) for row in whole["pool"])
        return cls(value, pool, bool(whole["goal_marking"]), str(whole["label"]))


def weighted_sum(
    features: Sequence[Number], weights: Sequence[float], intercept: float, *, tolerance: float = 1e-6
) -> Number:
    """The sum of features with real weights, and an intercept.

    Weights within `tolerance` of a whole number become it, so those near 0 vanish. A value changes
    by at most `tolerance` for each unit of its terms. If that matters, round with
    `distill.regression.round_weights` first, and use a tolerance of 0.

    Examples
    --------
    >>> from distill.logic import parse
    >>> names = ("#clear", "#on-table", "#holding")
    >>> weighted_sum([parse(name) for name in names], [2.0000000001, 1e-12, -0.5], 3.0)
    2*#clear - 0.5*#holding + 3
    """
    if len(features) != len(weights):
        raise InputError(f"There are {len(features)} features, but the fit has {len(weights)} weights.")
    terms = (Scaled(float(weight), one) for weight, one in zip(weights, features, strict=True))
    # Equal features are added first: 0.1 + 0.2 - 0.3 must vanish.
    total = weighted(Sum(*terms, Constant(intercept)))
    return Sum(*(_snapped(weight, number, tolerance) for weight, number in total))


def _snapped(weight: float, number: Number, tolerance: float) -> Number:
    if isinstance(number, Constant):
        return Constant(_near(weight * number.fields[0], tolerance))
    return Scaled(_near(weight, tolerance), number)


def _near(weight: float, tolerance: float) -> float:
    return round(weight) if abs(weight - round(weight)) <= tolerance else weight


def has_integer_weights(value: Number) -> bool:
    """Whether all weights of a value function and its constant are whole numbers.

    Examples
    --------
    >>> from distill.logic import parse
    >>> has_integer_weights(parse("2*#clear - #holding + 3")), has_integer_weights(parse("0.5*#clear"))
    (True, False)
    """
    terms = weighted(value)
    return all(
        float(weight * number.fields[0] if isinstance(number, Constant) else weight).is_integer()
        for weight, number in terms
    )
