"""From a network to a value function: replay, R-IDT, regression; and how it is stored."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.errors import InputError
from distill.files import written_whole
from distill.jobs.evaluation import greedy
from distill.jobs.readable import solve
from distill.jobs.replay import replay_of
from distill.logic import Constant, Evaluator, Node, Number, all_from_json, all_to_json, simplify, weighted
from distill.models import Checkpoint
from distill.planning import UNSOLVABLE, DataSet
from distill.planning.comparison import Solver
from distill.regression import Fit, fit_exact, fit_linear, has_integer_weights, rounded, value_function
from distill.settings import Distillation
from distill.structures import Quotient, Structures
from distill.trees import Chain, Origin, StateFeature, learn

Array = NDArray[np.float64]
Progress = Callable[[str, int, int], None]
_LARGEST = 5_000  # symbols of a formula that is simplified
_SHOWN = 4  # states that prevent an exact fit and are told
_DIGITS = 9  # of weights that are no whole numbers


@dataclass(frozen=True, eq=False)
class Distilled:
    """A value function and the features it was chosen from: formulas, weights, and where they were born.

    Attributes
    ----------
    value : the value function.
    pool : all features of states that it was chosen from, products that it uses among them.
    label : which pool that is, and which control, if it is one.
    goal_marking : whether the formulas speak of achieved and missing goals (`p_G,T`, `p_G,F`).
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

    def save(self, path: Path) -> None:
        """Write it as JSON: a list of nodes that all formulas share, and which node is which formula."""
        formulas: list[Node] = [self.value, *(feature.number for feature in self.pool)]
        origins = [_parts(feature.origin) for feature in self.pool]
        nodes, roots = all_to_json([*formulas, *(node for parts in origins for node in parts.values())])
        place = dict(zip(formulas, roots, strict=False))
        later = iter(roots[len(formulas) :])
        pool = [
            {
                "node": place[feature.number],
                "kind": feature.kind,
                "origin": _origin_to_json(feature.origin) | {name: next(later) for name in parts},
            }
            for feature, parts in zip(self.pool, origins, strict=True)
        ]
        whole = {
            "nodes": nodes,
            "value": roots[0],
            "goal_marking": self.goal_marking,
            "label": self.label,
            "pool": pool,
        }
        with written_whole(path) as stream:
            stream.write(json.dumps(whole).encode())

    @staticmethod
    def load(path: Path) -> "Distilled":
        """Read what `save` wrote."""
        try:
            whole = json.loads(path.read_text())
            rows = whole["pool"]
            roots = [row["origin"][name] for row in rows for name in _PARTS if name in row["origin"]]
            value, *formulas = all_from_json(
                whole["nodes"], [whole["value"], *(row["node"] for row in rows), *roots]
            )
            numbers, later = formulas[: len(rows)], iter(formulas[len(rows) :])
            pool = tuple(
                StateFeature(number, row["kind"], _origin(row["origin"], later))  # type: ignore[arg-type]
                for number, row in zip(numbers, rows, strict=True)
            )
            if not all(isinstance(number, Number) for number in (value, *numbers)):
                raise ValueError("not all of it are numbers of states")
            return Distilled(value, pool, bool(whole["goal_marking"]), str(whole["label"]))  # type: ignore[arg-type]
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
    fit : what is known of the regression: whether all training states are met, how much smaller an exact
        value function might be, and which states stand in the way.
    """

    seconds: dict[str, float]
    objects: int
    fit: Mapping[str, Any]


def distil(
    checkpoint: Checkpoint | None,
    sets: Mapping[str, DataSet],
    settings: Distillation | None = None,
    *,
    progress: Progress | None = None,
    cache: Path | None = None,
) -> tuple[Distilled, Effort]:
    """Distil a network into a value function, from labelled training states.

    Parameters
    ----------
    checkpoint : the network; none is needed where features come from no network.
    sets : all states of `train`, prepared without a reduction (the quotient reduces them without loss); and
        of `validation`, if there is one: it decides between formulas that are equal on training states.
    progress : called with the stage and the steps done and to do.
    """
    settings = settings or Distillation()
    told = progress or (lambda stage, done, total: None)
    if not len(sets["train"]):
        raise InputError("There are no labelled states to distil on; label some first.")
    if settings.mode == "readable":
        return _readable(checkpoint, sets, settings, told)
    if checkpoint is None:
        raise InputError(f"Mode {settings.mode} needs a network; give a checkpoint.")
    return _plain(checkpoint, sets["train"], settings, told, cache)


def _readable(
    checkpoint: Checkpoint | None, sets: Mapping[str, DataSet], settings: Distillation, told: Progress
) -> tuple[Distilled, Effort]:
    """Short formulas, and an exact fit."""
    if settings.regression not in ("auto", "exact"):
        raise InputError(
            f"Readable mode has no regression {settings.regression}; set it to exact, or mode to quotient."
        )
    seconds: dict[str, float] = {}
    network = checkpoint.network if checkpoint else None
    found = solve(network, sets, settings, told, seconds)
    known = {feature.number for feature in found.pool}
    pool = (*found.pool, *(term for term in found.terms if term.number not in known))
    label = settings.pool if settings.control == "none" else f"{settings.pool}, {settings.control}"
    marking = network is not None and network.architecture.goal_marking
    fit = {
        "exact": found.attempt.is_exact,
        "gap": found.attempt.fit.gap,
        "wrong": len(found.attempt.wrong),
        "blocking": [shown_state(found.states, row) for row in found.attempt.blocking[:_SHOWN]],
        "conflict": [shown_state(found.states, row) for row in found.conflict or ()],
    }
    return Distilled(found.value, pool, marking, label), Effort(seconds, found.objects, fit)


def shown_state(quotient: Quotient, row: int) -> dict[str, Any]:
    """A state row for people: its label and its atoms."""
    atoms = quotient.states.decode(int(quotient.chosen[row]))
    text = ", ".join(f"{name}({', '.join(f'o{one}' for one in objects)})" for name, objects in atoms)
    return {"v_star": int(quotient.v_star[row]), "atoms": text}


def _plain(
    checkpoint: Checkpoint, data: DataSet, settings: Distillation, told: Progress, cache: Path | None
) -> tuple[Distilled, Effort]:
    """Formulas as trees make them."""
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
    sizes = [feature.number.size for feature in found.states]
    fit = _fitted(values, target, weights, sizes, settings)
    pool = [
        replace(f, number=_simplified(f.number)) if weight else f
        for f, weight in zip(found.states, fit.weights, strict=True)
    ]
    value = value_function([feature.number for feature in pool], fit)
    seconds["regression"] = time.perf_counter() - begun
    marking = checkpoint.network.architecture.goal_marking
    known = {"exact": has_integer_weights(value) and fit.max_error == 0}
    return Distilled(value, tuple(pool), marking), Effort(seconds, len(found.objects), known)


def _fitted(values: Array, target: Array, weights: Array, sizes: list[int], settings: Distillation) -> Fit:
    """Weights for features (n_state_rows, n_features), whole where that does not make it worse."""
    method, nonnegative = settings.regression, settings.nonnegative
    if method == "auto":
        method, nonnegative = "squares", True
    if method == "exact":
        exact = fit_exact(
            values,
            target,
            sizes,
            weights,
            products=False,
            intercept=settings.intercept,
            nonnegative=nonnegative,
            max_terms=settings.max_features,
            time_limit=settings.time_limit,
        )
        chosen = np.zeros(values.shape[1])
        chosen[[column for (column,) in exact.terms]] = exact.weights
        return Fit(chosen, exact.intercept, exact.mae, exact.max_error)
    fit = fit_linear(
        values,
        target,
        weights,
        method=method,  # type: ignore[arg-type]
        intercept=settings.intercept,
        nonnegative=nonnegative,
        seed=settings.seed,
    )
    fit = rounded(fit, values, target, weights)
    return replace(fit, weights=np.round(fit.weights, _DIGITS), intercept=round(fit.intercept, _DIGITS))


def _simplified(number: Number) -> Number:
    """The same number, shorter by laws that always hold; huge ones stay as they are."""
    return simplify(number) if number.size <= _LARGEST else number  # type: ignore[return-value]


_PARTS = ("formula", "relation", "concept")  # the formulas of an origin


def _parts(origin: Origin) -> dict[str, Node]:
    """The formulas of an origin, by name, in a fixed order."""
    found: dict[str, Node] = {} if origin.formula is None else {"formula": origin.formula}
    if origin.chain is not None:
        found |= {"relation": origin.chain.relation, "concept": origin.chain.concept}
    return found


def _origin_to_json(origin: Origin) -> dict[str, Any]:
    """All but the formulas."""
    found: dict[str, Any] = {
        "layer": origin.layer,
        "tree": origin.tree,
        "leaves": origin.leaves,
        "pool": origin.pool,
    }
    if origin.chain is not None:
        found |= {"steps": origin.chain.steps, "layers": origin.chain.layers}
    return found


def _origin(row: Mapping[str, Any], later: Iterator[Node]) -> Origin:
    parts: dict[str, Any] = {name: next(later) for name in _PARTS if name in row}
    chain = None
    if "relation" in parts:
        first, last = row["steps"]
        chain = Chain(parts["relation"], parts["concept"], (first, last), tuple(row["layers"]))
    return Origin(
        int(row["layer"]), int(row["tree"]), tuple(row["leaves"]), parts.get("formula"), chain, row["pool"]
    )
