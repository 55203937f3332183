"""From a network to a value function: replay, R-IDT, regression."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.errors import InputError
from distill.files import written_whole
from distill.jobs.evaluation import greedy
from distill.jobs.replay import replay_of
from distill.logic import Constant, Evaluator, Number, all_from_json, all_to_json, simplify, weighted
from distill.models import Checkpoint
from distill.planning import UNSOLVABLE, DataSet
from distill.planning.comparison import Solver
from distill.regression import fit_linear, rounded, value_function
from distill.settings import Distillation
from distill.structures import Structures
from distill.trees import Origin, StateFeature, learn

Array = NDArray[np.float64]
Progress = Callable[[str, int, int], None]
_LARGEST = 5_000  # symbols of a formula that is simplified
_DIGITS = 9  # of weights that are no whole numbers


@dataclass(frozen=True, eq=False)
class Distilled:
    """A value function and the features it was chosen from: formulas, weights, and where they were born.

    Attributes
    ----------
    value : the value function.
    pool : all features of states that the R-IDT found.
    goal_marking : whether the formulas speak of achieved and missing goals (`p_G,T`, `p_G,F`).
    """

    value: Number
    pool: tuple[StateFeature, ...]
    goal_marking: bool = False

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

    def save(self, path: Path) -> None:
        """Write it as JSON: a list of nodes that all formulas share, and which node is which formula."""
        nodes, roots = all_to_json([self.value, *(feature.number for feature in self.pool)])
        pool = [
            {"node": root, "kind": feature.kind, "origin": asdict(feature.origin)}
            for root, feature in zip(roots[1:], self.pool, strict=True)
        ]
        whole = {"nodes": nodes, "value": roots[0], "goal_marking": self.goal_marking, "pool": pool}
        with written_whole(path) as stream:
            stream.write(json.dumps(whole).encode())

    @staticmethod
    def load(path: Path) -> "Distilled":
        """Read what `save` wrote."""
        try:
            whole = json.loads(path.read_text())
            value, *numbers = all_from_json(
                whole["nodes"], [whole["value"], *(row["node"] for row in whole["pool"])]
            )
            pool = tuple(
                StateFeature(number, row["kind"], _origin(row["origin"]))  # type: ignore[arg-type]
                for number, row in zip(numbers, whole["pool"], strict=True)
            )
            if not all(isinstance(number, Number) for number in (value, *numbers)):
                raise ValueError("not all of it are numbers of states")
            return Distilled(value, pool, bool(whole["goal_marking"]))  # type: ignore[arg-type]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{path} holds no value function ({error}); write it with `distill run`."
            ) from error


@dataclass(frozen=True)
class Effort:
    """What a distillation took.

    Attributes
    ----------
    seconds : for each stage.
    objects : formulas about objects that were found.
    """

    seconds: dict[str, float]
    objects: int


def distil(
    checkpoint: Checkpoint,
    data: DataSet,
    settings: Distillation | None = None,
    *,
    progress: Progress | None = None,
    cache: Path | None = None,
) -> tuple[Distilled, Effort]:
    """Distil a network into a value function, from labelled training states.

    Parameters
    ----------
    data : all training states, prepared without a reduction; the quotient reduces them without loss.
    progress : called with the stage and the steps done and to do.
    """
    settings = settings or Distillation()
    told = progress or (lambda stage, done, total: None)
    seconds: dict[str, float] = {}
    begun = time.perf_counter()
    told("replay", 0, 1)
    replayed = replay_of(checkpoint, {"train": data}, cache=cache)
    quotient, activations = replayed.quotient, replayed.replay
    seconds["replay"] = time.perf_counter() - begun
    begun = time.perf_counter()
    found = learn(
        quotient,
        activations.embeddings,
        activations.pooled,
        settings,
        progress=lambda done, total: told("layers", done, total),
    )
    seconds["layers"] = time.perf_counter() - begun
    begun = time.perf_counter()
    told("regression", 0, 1)
    kept = quotient.v_star != UNSOLVABLE
    target = (quotient.v_star if settings.target == "optimal" else activations.value)[kept].astype(np.float64)
    values, weights = found.values[kept].astype(np.float64), quotient.multiplicity[kept].astype(np.float64)
    fit = fit_linear(
        values,
        target,
        weights,
        method=settings.regression,  # type: ignore[arg-type]
        intercept=settings.intercept,
        nonnegative=settings.nonnegative,
        seed=settings.seed,
    )
    fit = rounded(fit, values, target, weights)
    fit = replace(fit, weights=np.round(fit.weights, _DIGITS), intercept=round(fit.intercept, _DIGITS))
    pool = [
        replace(f, number=_simplified(f.number)) if weight else f
        for f, weight in zip(found.states, fit.weights, strict=True)
    ]
    value = value_function([feature.number for feature in pool], fit)
    seconds["regression"] = time.perf_counter() - begun
    marking = checkpoint.network.architecture.goal_marking
    return Distilled(value, tuple(pool), marking), Effort(seconds, len(found.objects))


def _simplified(number: Number) -> Number:
    """The same number, shorter by laws that always hold; huge ones stay as they are."""
    return simplify(number) if number.size <= _LARGEST else number  # type: ignore[return-value]


def _origin(row: Mapping[str, Any]) -> Origin:
    return Origin(int(row["layer"]), int(row["tree"]), tuple(row["leaves"]))
