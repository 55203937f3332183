"""Rankings: tuples of features of states that every step of a policy lowers lexicographically."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from distill.common import InputError
from distill.explanations.explanation import Explanation, register
from distill.explanations.export import FORMS, file_text
from distill.explanations.provenance import StateFeature
from distill.logic import Bounds, Constant, Evaluator, NodeTable, Number, read_nodes, weighted
from distill.structures import Structures, Vocabulary

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]


@register
@dataclass(frozen=True, eq=False)
class Ranking(Explanation):
    """A tuple of sums of features with whole weights; a transition descends if the first that changes falls.

    If every state that is not a goal has a descending transition, descending transitions lead to a goal and
    never return to a state, since every level is a bounded whole number.

    Attributes
    ----------
    levels : the sums, the most important first.
    pool : all features of states that they were chosen from.
    goal_marking, label : see `Explanation`.

    Examples
    --------
    >>> from distill.explanations import Provenance
    >>> from distill.logic import parse
    >>> pool = [StateFeature(parse(text), "numerical", Provenance(0)) for text in ("#clear", "#holding")]
    >>> ranking = Ranking((parse("-#clear"), parse("#holding")), tuple(pool))
    >>> ranking
    (-#clear, #holding)
    >>> ranking.terms() == [(-1, pool[0]), (1, pool[1])], ranking.size
    (True, 5)
    """

    kind: ClassVar[str] = "ranking"

    levels: tuple[Number, ...]
    pool: tuple[StateFeature, ...]
    goal_marking: bool = False
    label: str = "ridt"

    def __repr__(self) -> str:
        return f"({', '.join(map(str, self.levels))})"

    @property
    def size(self) -> int:
        """The number of symbols of all levels."""
        return sum(level.size for level in self.levels)

    def keys(self, states: Structures) -> Floats:
        """(n_states, n_levels) the value of each level."""
        evaluator = Evaluator(states)
        columns = [evaluator.number(level).astype(np.float64) for level in self.levels]
        return np.stack(columns, axis=1) if columns else np.zeros((len(states), 0))

    def terms(self) -> list[tuple[float, StateFeature]]:
        """The features of all levels in their order, with their weights."""
        known = {feature.number: feature for feature in self.pool}
        return [
            (weight, known[number])
            for level in self.levels
            for weight, number in weighted(level)
            if not isinstance(number, Constant) and number in known
        ]

    def export(self, form: str, vocabulary: Vocabulary, bounds: Bounds | None = None) -> str:
        """The text of a file in one of the forms of `export.FORMS`: the levels, each after a comment."""
        if form not in FORMS:
            raise InputError(f"There is no form {form!r}; choose from {', '.join(FORMS)}.")
        sign = FORMS[form].comment
        if not sign:
            raise InputError(
                f"Form {form} has no comments, so it cannot separate levels; choose another form."
            )
        heads = (f"{sign} level {number} of {len(self.levels)}" for number in range(1, len(self.levels) + 1))
        parts = (file_text(level, form, vocabulary, bounds).rstrip() for level in self.levels)
        texts = [f"{head}\n{part}" for head, part in zip(heads, parts, strict=True)]
        return "\n".join(texts)

    def to_json(self) -> dict[str, Any]:
        """A list of nodes that all formulas share, and which node is which level."""
        table = NodeTable()
        whole = {
            "kind": self.kind,
            "levels": [table.add(level) for level in self.levels],
            "goal_marking": self.goal_marking,
            "label": self.label,
            "pool": [feature.to_json(table) for feature in self.pool],
        }
        return {"nodes": table.rows, **whole}

    @classmethod
    def from_json(cls, whole: Mapping[str, Any]) -> "Ranking":
        """Undo `to_json`."""
        nodes = read_nodes(whole["nodes"])
        levels = tuple(nodes[number] for number in whole["levels"])
        if not all(isinstance(level, Number) for level in levels):
            raise ValueError("one of its levels is no number of states")
        pool = tuple(StateFeature.from_json(row, nodes) for row in whole["pool"])
        return cls(levels, pool, bool(whole["goal_marking"]), str(whole["label"]))


def descends(before: ArrayLike, after: ArrayLike) -> Booleans:
    """Which transitions lower the first level that they change.

    Parameters
    ----------
    before, after : (n_transitions, n_levels) the keys of the states.

    Examples
    --------
    >>> descends([[1, 5], [1, 5], [1, 5]], [[1, 4], [0, 9], [1, 5]])
    array([ True,  True, False])
    """
    change = np.asarray(after) - np.asarray(before)
    if not change.shape[1]:
        return np.zeros(len(change), dtype=bool)
    first = np.argmax(change != 0, axis=1)
    found: Booleans = change[np.arange(len(change)), first] < 0
    return found
