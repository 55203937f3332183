"""The result of the stage `evaluate`: the values of all states, and all metrics as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.evaluation import Evaluation
from distill.explanations import ValueFunction, has_integer_weights
from distill.runs.records import Metrics
from distill.structures import read_archive, write_archive

Array = NDArray[np.float64]
KIND = "evaluation result"


@dataclass(frozen=True, eq=False)
class EvaluationResult:
    """The values and metrics of a value function.

    Attributes
    ----------
    values : for each split (n_states,) the value of each state.
    metrics : all metrics, as plain data.
    """

    values: Mapping[str, Array]
    metrics: Mapping[str, Any]

    def save(self, path: Path) -> None:
        """Write it to one file (see `distill.structures.archive`)."""
        write_archive(path, self.values, {"kind": KIND, "metrics": dict(self.metrics)})

    @staticmethod
    def load(path: Path) -> "EvaluationResult":
        """Read what `save` wrote."""
        values, metadata = read_archive(path, KIND)
        Metrics.check(metadata.get("metrics"), path)
        return EvaluationResult(values, metadata["metrics"])


def metrics_of(
    function: ValueFunction,
    objects: int,
    fit: Mapping[str, Any],
    evaluation: Evaluation,
    fidelity: Mapping[str, Any],
) -> dict[str, Any]:
    """All metrics of a value function, as plain data.

    Parameters
    ----------
    objects, fit : see `DistillationResult`.
    evaluation : the scores on all splits.
    fidelity : the agreement with the network, and its own errors; empty without one.
    """
    return {
        "splits": {name: score.to_json() for name, score in evaluation.splits.items()},
        "fidelity": dict(fidelity),
        "features": len(function.terms()),
        "integer_weights": has_integer_weights(function.value),
        "formula_size": function.size,
        "pool": function.label,
        "pool_size": len(function.pool),
        "objects": objects,
        "fit": dict(fit),
        "plans": {name: list(lengths) for name, lengths in evaluation.plans.items()},
    }
