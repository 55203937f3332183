"""A family: terms of a value function whose formulas are one formula iterated, with weights on a line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.logic import Evaluator, Number, walk, write
from distill.structures import Structures

Array = NDArray[np.float64]
Term = tuple[float, Number]
LEAST = 3  # smallest number of members: two points are always on a line
CLOSE = 0.01  # values closer than this are equal, as least squares gives no whole weights
_AT_ONCE = 200_000_000  # objects times formulas in memory at once
_LONGEST = 200  # largest number of characters of a printed formula


@dataclass(frozen=True)
class WeightLine:
    """Weights on a line: `offset + slope·k` for k from `first` to `last`."""

    first: int
    last: int
    offset: float
    slope: float

    def weight(self, k: int) -> float:
        """The weight of member k."""
        return self.offset + self.slope * k

    def __str__(self) -> str:
        if self.slope == 0:
            return f"{self.offset:g}"
        slope = "k" if self.slope == 1 else "-k" if self.slope == -1 else f"{self.slope:g}k"
        if self.offset == 0:
            return slope if self.slope == 1 else f"({slope})"
        return f"({slope} {'+' if self.offset > 0 else '-'} {abs(self.offset):g})"


@dataclass(frozen=True)
class TermFamily:
    """Terms with a common closed form.

    Attributes
    ----------
    how : `iterated` if each formula is the one before with the same step around it; `distance` if the terms
        depend on the number of steps between two concepts alone; `together` if only their sum does, perhaps
        with side conditions; `levels` if they count objects by the number of steps to a concept.
    terms : the terms with their weights.
    line : the weights.
    closed : the replacement of the terms.
    is_closed : whether this is a closed form; otherwise it is the same sum, extended to cover the data.
    beyond : how far a state is beyond the last member; the two may differ only if this is not 0.
    notation : the family and its step as text.
    once : the sum of the terms in every state if no object is counted twice, as in the closed form.
    """

    how: str
    terms: tuple[Term, ...]
    line: WeightLine
    closed: Number
    is_closed: bool
    beyond: Number
    notation: str
    once: Number | None = None

    @property
    def label(self) -> str:
        """What the replacement adds to the finite family."""
        sort = "closed form" if self.is_closed else "the sum carried on"
        sort += " of the sum, not of each term" if self.how == "together" else ""
        return f"{sort}; extends beyond k={self.line.last}"

    @property
    def size(self) -> int:
        """The total size of the terms."""
        return sum(feature.size for _, feature in self.terms)

    def to_json(self) -> dict[str, Any]:
        """The family as plain data."""
        return {
            "how": self.how,
            "members": len(self.terms),
            "first": self.line.first,
            "last": self.line.last,
            "offset": self.line.offset,
            "slope": self.line.slope,
            "notation": self.notation,
            "closed": abbreviate(self.closed),
            "label": self.label,
            "size_before": self.size,
            "size_after": self.closed.size,
        }


def abbreviate(formula: Number, longest: int = _LONGEST) -> str:
    """A formula as text; only its size if it is too long."""
    return write(formula) if formula.size <= longest else f"a formula of {formula.size} symbols"


def line_through(weights: Sequence[float], first: int) -> WeightLine | None:
    """The line on which all weights lie, from k = `first` on; None for fewer than three, or if they do not.

    Examples
    --------
    >>> line_through([1, 3, 5], 1)
    WeightLine(first=1, last=3, offset=-1, slope=2)
    >>> line_through([1, 3, 6], 1) is None
    True
    """
    if len(weights) < LEAST:
        return None
    places = np.arange(first, first + len(weights))
    slope, offset = np.polyfit(places, np.asarray(weights, dtype=np.float64), 1)
    slope, offset = nearest_whole(float(slope)), nearest_whole(float(offset))
    if np.abs(offset + slope * places - weights).max() > CLOSE:
        return None
    return WeightLine(first, first + len(weights) - 1, offset, slope)


def nearest_whole(weight: float) -> float:
    """The whole number close to a weight, if there is one; otherwise the weight."""
    return round(weight) if abs(weight - round(weight)) <= CLOSE / 2 else weight


def longest_line(weights: Sequence[float], first: int) -> WeightLine | None:
    """The longest run of consecutive weights that lies on a line; the first of equally long ones.

    Examples
    --------
    >>> longest_line([9, 1, 2, 3, 4, 0], 0)
    WeightLine(first=1, last=4, offset=0, slope=1)
    """
    for length in range(len(weights), LEAST - 1, -1):
        for begin in range(len(weights) - length + 1):
            found = line_through(weights[begin : begin + length], first + begin)
            if found is not None:
                return found
    return None


def line_from(weights: Sequence[float], first: int, silence: float = 0.0) -> WeightLine | None:
    """The longest line from k = `first` on, if all weights after it are those of `silence`.

    Examples
    --------
    >>> line_from([7, 1, 2, 3, 4, 0], 1)
    WeightLine(first=1, last=4, offset=0, slope=1)
    >>> line_from([7, 1, 2, 3, 9], 1) is None
    True
    """
    for last in range(len(weights) - 1, first + LEAST - 2, -1):
        line = line_through([float(one) for one in weights[first : last + 1]], first)
        if line is not None:
            silent = all(abs(one - silence) <= CLOSE for one in weights[last + 1 :])
            return line if silent and not (line.slope == 0 and abs(line.offset - silence) <= CLOSE) else None
    return None


def values_of(features: Sequence[Number], states: Structures) -> Array:
    """(n_states, n_features) the values of features, computed in parts to limit memory."""
    nodes = sum(1 for _ in walk(features))
    table = np.zeros((len(states), len(features)))
    for part in _parts(states, max(1, _AT_ONCE // max(1, nodes))):
        evaluator = Evaluator(states[part])
        for number, feature in enumerate(features):
            table[part, number] = evaluator.number(feature)
    return table


def _parts(states: Structures, objects: int) -> Iterator[slice]:
    """Slices of states with about `objects` objects each."""
    offsets = states.object_offsets
    begin = 0
    while begin < len(states):
        end = int(np.searchsorted(offsets, offsets[begin] + objects, side="right")) - 1
        end = min(max(end, begin + 1), len(states))
        yield slice(begin, end)
        begin = end
