"""What a distillation gives: a value function and the features it was chosen from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.errors import InputError
from distill.files import written_whole
from distill.jobs.evaluation import greedy
from distill.logic import Constant, Evaluator, NodeTable, Number, read_nodes, weighted
from distill.planning import DataSet
from distill.planning.comparison import Solver
from distill.structures import Structures
from distill.trees import StateFeature

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Distilled:
    """A value function and the features it was chosen from: formulas, weights, and where they were born.

    Attributes
    ----------
    value : the value function.
    pool : all features of states that it was chosen from, products that it uses among them.
    goal_marking : whether the formulas speak of achieved and missing goals (`p_G,T`, `p_G,F`).
    label : which pool that is, and which control, if it is one.
    """

    value: Number
    pool: tuple[StateFeature, ...]
    goal_marking: bool = False
    label: str = "ridt"

    def terms(self) -> list[tuple[float, StateFeature]]:
        """The weights and features of the value function, without its constant."""
        born = {feature.number: feature for feature in self.pool}
        return [(weight, born[number]) for weight, number in weighted(self.value) if number in born]

    @property
    def constant(self) -> float:
        """What the value function adds to its features."""
        return float(sum(n.fields[0] for _, n in weighted(self.value) if isinstance(n, Constant)))

    def values(self, states: Structures) -> Array:
        """(n_states,) the value of each state."""
        return Evaluator(states).number(self.value).astype(np.float64)

    def predict(self, sets: Mapping[str, DataSet]) -> dict[str, Array]:
        """The value of every state of every set: (n_states,) for each set."""
        return {
            name: self.values(data.structures(goal_marking=self.goal_marking)) for name, data in sets.items()
        }

    def policy(self, max_steps: int | None = None) -> Solver:
        """The greedy policy: from an instance to an outcome."""
        return greedy(self.values, self.goal_marking, max_steps)

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

    @staticmethod
    def from_json(whole: Mapping[str, Any]) -> "Distilled":
        """Undo `to_json`."""
        nodes = read_nodes(whole["nodes"])
        value = nodes[whole["value"]]
        if not isinstance(value, Number):
            raise ValueError("its value is no number of states")
        pool = tuple(StateFeature.from_json(row, nodes) for row in whole["pool"])
        return Distilled(value, pool, bool(whole["goal_marking"]), str(whole["label"]))

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        with written_whole(path) as stream:
            stream.write(json.dumps(self.to_json()).encode())

    @staticmethod
    def load(path: Path) -> "Distilled":
        """Read what `save` wrote."""
        try:
            return Distilled.from_json(json.loads(path.read_text()))
        except (OSError, ValueError, KeyError, IndexError, TypeError, InputError) as error:
            raise InputError(
                f"{path} holds no value function ({error}); write it with `distill run`."
            ) from error
