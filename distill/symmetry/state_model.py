"""The abstract state model of an instance: classes of isomorphic states (`symmetries.txt`, Definition 1)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.common import InputError
from distill.structures import UNSOLVABLE, DataSet, Structures, Transitions
from distill.symmetry.classes import isomorphism_classes
from distill.symmetry.interning import Integers

_SWEEPS = 8  # over the columns of a layout
_BATCH = 10_000


@dataclass(frozen=True, eq=False)
class StateModel:
    """The classes of isomorphic states of one instance as nodes, and the transitions between them.

    Node 0 is the class of the initial state. The relation is faithful: each state of a class has a transition
    into each class that a transition of the model leads to (Theorem 9).

    Attributes
    ----------
    instance : the name of the instance.
    state : (n_states,) ascending numbers of its states in the data set.
    node : (n_states,) the node of each state.
    v_star : (n_nodes,) V*; -1 without a path to the goal.
    transitions : (n_transitions, 2) distinct pairs of nodes, ascending.
    schemas : for each transition the action schemas that induce it.
    """

    instance: str
    state: Integers
    node: Integers
    v_star: NDArray[np.integer]
    transitions: Integers
    schemas: tuple[tuple[str, ...], ...]

    @staticmethod
    def of(data: DataSet, transitions: Transitions, instance: int = 0) -> "StateModel":
        """The model of an instance of which the set has all states, the initial state first.

        Parameters
        ----------
        transitions : of the set.
        instance : the number of the instance.

        Examples
        --------
        >>> from distill.planning import expand, problem_class, transitions
        >>> data = expand(problem_class("gripper").make("train")[0], 10_000)
        >>> model = StateModel.of(data, transitions(data))
        >>> len(data), len(model), int(model.v_star[0]), model.schemas[0]
        (256, 50, 3, ('move',))
        """
        state = np.flatnonzero(data.state_instance == instance)
        known = data.instances[instance]
        if not known["exhaustive"] or len(state) != known["states"]:
            raise InputError(
                f"{known['name']}: only some of its states are known, and the state model needs all; raise "
                "--max-states or choose a smaller instance."
            )

        def batches() -> Iterator[Structures]:
            for begin in range(0, len(state), _BATCH):
                yield data.structures(state[begin : begin + _BATCH])

        node = isomorphism_classes(batches())
        _, first = np.unique(node, return_index=True)
        own = np.isin(transitions.source, state)
        ends = np.column_stack([transitions.source[own], transitions.target[own]])
        schema = transitions.action_schema[transitions.action[own]]
        labelled = np.column_stack([node[np.searchsorted(state, ends)], schema])
        pairs, names = _grouped(np.unique(labelled, axis=0), transitions.schemas)
        return StateModel(known["name"], state, node, data.v_star[state[first]], pairs, names)

    def __len__(self) -> int:
        return len(self.v_star)

    def sizes(self) -> Integers:
        """(n_nodes,) the number of states of each class."""
        return np.bincount(self.node, minlength=len(self))

    def members(self, node: int) -> Integers:
        """(n,) the numbers in the data set of the states of a class."""
        members: Integers = self.state[self.node == node]
        return members

    def after(self, node: int) -> Integers:
        """(n,) the numbers of the transitions from a node."""
        return np.flatnonzero(self.transitions[:, 0] == node)

    def before(self, node: int) -> Integers:
        """(n,) the numbers of the transitions into a node."""
        return np.flatnonzero(self.transitions[:, 1] == node)

    def schema_names(self) -> list[str]:
        """The action schemas that induce transitions, in the order of the domain's names."""
        return sorted({name for names in self.schemas for name in names})

    def layout(self) -> NDArray[np.float64]:
        """(n_nodes, 2) places for a drawing, with unit distance between neighbours in a column.

        A column holds the nodes of one V*. The goal is in the last column, dead ends in the first. The
        order within a column follows the mean place of the neighbours.
        """
        column = np.where(self.v_star == UNSOLVABLE, self.v_star.max(initial=0) + 1, self.v_star)
        column = column.max(initial=0) - column
        place = np.zeros(len(self))
        for number in np.unique(column):
            mine = np.flatnonzero(column == number)
            place[mine] = np.arange(len(mine)) - (len(mine) - 1) / 2
        ends = np.concatenate([self.transitions, self.transitions[:, ::-1]])
        degree = np.maximum(1, np.bincount(ends[:, 0], minlength=len(self)))
        for _ in range(_SWEEPS):
            mean = np.bincount(ends[:, 0], weights=place[ends[:, 1]], minlength=len(self)) / degree
            for number in np.unique(column):
                mine = np.flatnonzero(column == number)
                ranked = mine[np.lexsort((mine, mean[mine].round(9)))]
                place[ranked] = np.arange(len(mine)) - (len(mine) - 1) / 2
        return np.column_stack([column.astype(np.float64), place])

    def to_json(self) -> dict[str, Any]:
        """The model as plain data."""
        return {
            "instance": self.instance,
            "states": len(self.state),
            "initial": 0,
            "goals": np.flatnonzero(self.v_star == 0).tolist(),
            "nodes": [
                {"states": size, "v_star": None if v_star == UNSOLVABLE else v_star}
                for size, v_star in zip(self.sizes().tolist(), self.v_star.tolist(), strict=True)
            ],
            "transitions": [
                {"source": source, "target": target, "schemas": list(names)}
                for (source, target), names in zip(self.transitions.tolist(), self.schemas, strict=True)
            ],
        }


def _grouped(labelled: Integers, schemas: tuple[str, ...]) -> tuple[Integers, tuple[tuple[str, ...], ...]]:
    """Distinct pairs of nodes, and the schemas of each.

    Parameters
    ----------
    labelled : (n, 3) distinct source, target and schema, ascending.
    """
    pairs, first = np.unique(labelled[:, :2], axis=0, return_index=True)
    groups = np.split(labelled[:, 2], first[1:]) if len(first) else []
    return pairs, tuple(tuple(schemas[number] for number in group) for group in groups)
