"""Transitions between states by ground actions, and best successors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from distill.common import offsets

EQUAL = 1e-6  # a policy treats values closer than this as equal
_ARRAYS = {
    "source": "transition_source",
    "target": "transition_target",
    "action": "transition_action",
    "action_schema": "action_schema",
    "action_arguments": "action_arguments",
    "action_instance": "action_instance",
}


@dataclass(frozen=True, eq=False)
class Transitions:
    """All transitions of the fully expanded instances of a set.

    Attributes
    ----------
    source, target : (n_transitions,) numbers of states in the set.
    action : (n_transitions,) numbers of ground actions.
    schemas : the names of the action schemas.
    action_schema : (n_actions,) the schema of each ground action, by position.
    action_arguments : (n_actions, max arity) its objects, numbered within the instance; -1 for none.
    action_instance : (n_actions,) its instance.
    """

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    action: NDArray[np.int32]
    schemas: tuple[str, ...]
    action_schema: NDArray[np.int32]
    action_arguments: NDArray[np.int32]
    action_instance: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.source)

    @staticmethod
    def none() -> "Transitions":
        """No transitions."""
        empty = np.zeros(0, dtype=np.int32)
        return Transitions(empty, empty, empty, (), empty, np.zeros((0, 0), dtype=np.int32), empty)

    def action_names(self, objects: Sequence[Sequence[str]]) -> list[str]:
        """The ground actions as in a plan file, where one without arguments is `(name )`.

        Parameters
        ----------
        objects : the object names of each instance.

        Examples
        --------
        >>> one = np.zeros(1, dtype=np.int32)
        >>> Transitions(one, one, one, ("move",), one, np.array([[1, 0]]), one).action_names([["a", "b"]])
        ['(move b a)']
        """
        rows = zip(self.action_schema, self.action_instance, self.action_arguments, strict=True)
        return [
            f"({self.schemas[schema]} {' '.join(objects[instance][one] for one in row if one >= 0)})"
            for schema, instance, row in rows
        ]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of a file; `schemas` is stored in its metadata."""
        return {name: getattr(self, own) for own, name in _ARRAYS.items()}

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], schemas: Sequence[str]) -> "Transitions":
        """Undo `arrays`."""
        return Transitions(schemas=tuple(schemas), **{own: arrays[name] for own, name in _ARRAYS.items()})


def join_transitions(
    parts: Sequence[Transitions], n_states: Sequence[int], n_instances: Sequence[int]
) -> Transitions:
    """Concatenate the transitions of sets of one domain.

    Parameters
    ----------
    n_states, n_instances : the numbers of states and instances of each set.
    """
    states, instances = offsets(n_states), offsets(n_instances)
    actions = offsets([len(part.action_schema) for part in parts])
    schemas = max((part.schemas for part in parts), key=len, default=())
    width = max((part.action_arguments.shape[1] for part in parts), default=0)

    def joined(columns: Sequence[NDArray[Any]]) -> NDArray[np.int32]:
        return np.concatenate([np.zeros(0), *columns]).astype(np.int32)

    arguments = [np.full((len(part.action_schema), width), -1, dtype=np.int32) for part in parts]
    for table, part in zip(arguments, parts, strict=True):
        table[:, : part.action_arguments.shape[1]] = part.action_arguments
    return Transitions(
        joined([part.source + states[i] for i, part in enumerate(parts)]),
        joined([part.target + states[i] for i, part in enumerate(parts)]),
        joined([part.action + actions[i] for i, part in enumerate(parts)]),
        schemas,
        joined([part.action_schema for part in parts]),
        np.concatenate([np.zeros((0, width), dtype=np.int32), *arguments]),
        joined([part.action_instance + instances[i] for i, part in enumerate(parts)]),
    )


def best_successors(
    value: ArrayLike, source: ArrayLike, target: ArrayLike | None = None, *, tie: float = EQUAL
) -> NDArray[np.bool_]:
    """Which transitions lead to a successor of least value among those of their source.

    Parameters
    ----------
    value : (n_states,) the value of each state.
    source, target : (n_transitions,) numbers of states; without `target`, `value` (n_transitions,) has the
        value of the target of each transition.
    tie : values that differ by at most this are equal.

    Returns
    -------
    (n_transitions,). If a successor has no value (NaN), no successor is best.

    Examples
    --------
    >>> best_successors([9.0, 1.0, 2.0, 1.0], [0, 0, 0, 2], [1, 2, 3, 0])
    array([ True, False,  True,  True])
    """
    values, before = np.asarray(value, dtype=np.float64), np.asarray(source, dtype=np.int64)
    after = values if target is None else values[np.asarray(target)]
    least = np.full(before.max(initial=-1) + 1, np.inf)
    with np.errstate(invalid="ignore"):  # NaN
        np.minimum.at(least, before, after)
    return np.asarray(after <= least[before] + tie)


def greedy_successors(value: ArrayLike, source: ArrayLike, target: ArrayLike) -> NDArray[np.int64]:
    """From each state with successors the first transition to one of least value.

    Parameters
    ----------
    value, source, target : as in `best_successors`, without a tolerance for ties.

    Returns
    -------
    (n_states with successors,) numbers of transitions, in the order of their sources.

    Examples
    --------
    >>> greedy_successors([9.0, 1.0, 2.0, 1.0], [0, 2, 0, 0], [2, 0, 3, 1])
    array([2, 1])
    """
    before, after = np.asarray(source), np.asarray(value)[np.asarray(target)]
    order = np.lexsort((after, before))
    return order[np.unique(before[order], return_index=True)[1]]
