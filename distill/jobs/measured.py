"""What is measured of a value function: its values on all states, and its scores."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.jobs.distillation import Fitted
from distill.jobs.evaluation import Evaluation
from distill.regression import has_integer_weights
from distill.structures import read_archive, write_archive

Array = NDArray[np.float64]
KIND = "measured"


@dataclass(frozen=True, eq=False)
class Measured:
    """The values and metrics of a value function.

    Attributes
    ----------
    values : for each split (n_states,) the value of each state.
    metrics : all scores, as plain data.
    """

    values: Mapping[str, Array]
    metrics: Mapping[str, Any]

    def save(self, path: Path) -> None:
        """Write it to one file (see `distill.structures.archive`)."""
        write_archive(path, self.values, {"kind": KIND, "metrics": dict(self.metrics)})

    @staticmethod
    def load(path: Path) -> "Measured":
        """Read what `save` wrote."""
        values, metadata = read_archive(path, KIND)
        return Measured(values, metadata["metrics"])


def measured(
    fitted: Fitted,
    values: Mapping[str, Array],
    found: Evaluation,
    faithful: Mapping[str, float | None],
) -> Measured:
    """All metrics of a value function, as plain data."""
    distilled = fitted.distilled
    metrics = {
        "splits": {name: score.to_json() for name, score in found.splits.items()},
        "fidelity": dict(faithful),
        "features": len(distilled.terms()),
        "integer_weights": has_integer_weights(distilled.value),
        "formula_size": distilled.value.size,
        "pool": distilled.label,
        "pool_size": len(distilled.pool),
        "objects": fitted.objects,
        "fit": dict(fitted.fit),
        "plans": {name: list(lengths) for name, lengths in found.plans.items()},
    }
    return Measured(values, metrics)
