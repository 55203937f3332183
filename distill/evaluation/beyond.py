"""Instances far larger than any split, labelled by a hand-made value function instead of a search.

The function is first validated against V* on labelled states of the splits. From every state at which a path
to a goal begins, its greedy policy must find a plan of the predicted length.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.common import InputError
from distill.evaluation.scores import Evaluation, evaluate
from distill.logic import Evaluator, Number, hand_made
from distill.planning import (
    BEYOND,
    SOLVED,
    Instance,
    Labelling,
    ProblemClass,
    Solver,
    Split,
    collect,
    execute,
    successors,
)
from distill.structures import UNSOLVABLE, DataSet, join

Array = NDArray[np.float64]
Predict = Callable[[Mapping[str, DataSet]], Mapping[str, Array]]
Progress = Callable[[int, int], None]
_AT_ONCE = 1_000_000  # atoms encoded at a time


@dataclass(frozen=True, eq=False)
class BeyondSplit:
    """Labelled states of instances beyond all splits of a problem class.

    Attributes
    ----------
    split : the instances.
    data : their states, on random walks and on paths to a goal from where these begin and end.
    labels : the hand-made value function of the labels.
    validated_states : the number of states of the splits on which it equals V*.
    """

    split: Split
    data: DataSet
    labels: str
    validated_states: int

    @property
    def sentence(self) -> str:
        """The origin of the labels, and their validation."""
        return (
            f"labelled by the hand-made function @{self.labels}, validated on {self.validated_states} states"
        )

    def evaluate(
        self, predict: Predict, solve: Solver | None = None, *, progress: Progress | None = None
    ) -> Evaluation:
        """Score a value function on these states; the evaluation has the single split `beyond`.

        Parameters
        ----------
        predict : maps sets of states to their values, as `ValueFunction.predict`.
        solve : its greedy policy; none is executed if left out.
        progress : called with the number of instances executed and to execute.
        """
        value = _in_parts(lambda part: predict({BEYOND: part})[BEYOND], self.data)
        return evaluate({BEYOND: value}, solve, [self.split], {BEYOND: self.data}, progress=progress)


def label_beyond(
    problem: ProblemClass, sets: Mapping[str, DataSet], *, progress: Progress | None = None
) -> BeyondSplit:
    """Generate the instances that a problem class declares beyond its splits, and label states of them.

    Parameters
    ----------
    sets : labelled states of the splits, to validate the hand-made function on.
    progress : called with the number of instances done and to do.

    Examples
    --------
    >>> from distill.planning import expand, problem_class
    >>> gripper = problem_class("gripper")
    >>> gripper = replace(gripper, beyond={**gripper.beyond, "instances": 1})
    >>> far = label_beyond(gripper, {"train": expand(gripper.make("train")[0], 10_000)})
    >>> far.sentence
    'labelled by the hand-made function @gripper, validated on 256 states'
    >>> far.data.n_objects.tolist(), int(far.data.v_star.max())
    ([200], 5)
    >>> far.evaluate(lambda sets: {"beyond": np.zeros(len(sets["beyond"]))}).splits["beyond"].max_error
    5.0
    """
    split = problem.split(BEYOND)
    compared = validate_labels(problem, sets)
    name = str(problem.declared(BEYOND)["labels"])
    value = hand_made(name).value_function(max(len(instance.objects) for instance in split.instances))
    parts = []
    for number, instance in enumerate(split.instances):
        if progress:
            progress(number, len(split.instances))
        states = _sample_states(instance, split.labelling, value)
        parts.append(collect(instance, states, _values_of(value, instance, states)))
    settings = split.labelling.to_mapping()
    provenance = {**split.provenance, "split": BEYOND, "labels": name, "labelling": settings}
    return BeyondSplit(split, replace(join(parts), provenance=provenance), name, compared)


def validate_labels(problem: ProblemClass, sets: Mapping[str, DataSet]) -> int:
    """Compare the hand-made function that labels instances beyond the splits with V*.

    Parameters
    ----------
    sets : labelled states; unsolvable states are left out, since they have no V*.

    Returns
    -------
    The number of states compared. If a state differs, an `InputError` names the first.
    """
    name = str(problem.declared(BEYOND)["labels"])
    compared = 0
    for data in sets.values():
        if not len(data):
            continue
        predicted = _values(hand_made(name).value_function(int(data.n_objects.max())), data)
        solvable = data.v_star != UNSOLVABLE
        wrong = np.flatnonzero(solvable & (predicted != data.v_star))
        if len(wrong):
            first = int(wrong[0])
            instance = data.instances[data.state_instance[first]]["name"]
            raise InputError(
                f"@{name} cannot label {problem.name}: it gives {predicted[first]:g} where V* is "
                f"{data.v_star[first]}, in a state of {instance}: {' '.join(data.atom_names(first))}."
            )
        compared += int(data.multiplicity[solvable].sum())
    if not compared:
        raise InputError(f"There are no labelled states to validate @{name} on; label some first.")
    return compared


def _sample_states(instance: Instance, settings: Labelling, value: Number) -> list[Any]:
    """The distinct states on paths to a goal and on random walks.

    Random walks alone cover few values: in a large instance they seldom change atoms of the goal. So they
    begin at states spread over the path from the initial state to a goal, and a path to a goal follows each.
    """
    rng = random.Random(f"{settings.seed} {instance.text}")
    path = _path_to_a_goal(instance, instance.initial_state, value)
    seen: dict[Any, None] = dict.fromkeys(path)
    for number in range(settings.walks):
        begin = path[round(number * (len(path) - 1) / max(1, settings.walks - 1))]
        walk = _random_walk(instance, begin, settings.walk_length, rng)
        seen.update(dict.fromkeys([*walk, *_path_to_a_goal(instance, walk[-1], value)]))
    return list(seen)


def _random_walk(instance: Instance, state: Any, steps: int, rng: random.Random) -> list[Any]:
    """The states of a random walk; the action schema is drawn first, so that rare schemas occur too."""
    walk = [state]
    for _ in range(steps):
        by_schema: dict[str, list[Any]] = {}
        reached = successors(instance, [walk[-1]])
        for action, after in zip(reached.actions, reached.states, strict=True):
            by_schema.setdefault(action.split()[0], []).append(after)
        if not by_schema:
            break
        walk.append(rng.choice(by_schema[rng.choice(list(by_schema))]))
    return walk


def _path_to_a_goal(instance: Instance, start: Any, value: Number) -> list[Any]:
    """The states of the greedy plan, whose length must be the value of its first state."""
    predicted = int(_values_of(value, instance, [start])[0])
    outcome = execute(instance, partial(_values_of, value), start, max_steps=predicted)
    if outcome.status != SOLVED or len(outcome.plan) != predicted:
        raise InputError(
            f"{instance.name}: the hand-made function predicts a plan of {predicted} steps, but its greedy "
            "policy finds none of that length; it cannot label these instances."
        )
    return instance.follow(start, outcome.plan)


def _values_of(value: Number, instance: Instance, states: Sequence[Any]) -> Array:
    return _values(value, collect(instance, states))


def _values(value: Number, data: DataSet) -> Array:
    return _in_parts(lambda part: Evaluator(part.structures()).number(value).astype(np.float64), data)


def _in_parts(values: Callable[[DataSet], Array], data: DataSet) -> Array:
    """(n_states,) the values of all states, computed in parts to bound memory."""
    atoms = np.cumsum(data.n_fixed[data.state_instance] + np.diff(data.state_offsets))
    ends = np.flatnonzero(np.diff(atoms // _AT_ONCE)) + 1
    return np.concatenate([values(data.pick(part)) for part in np.split(np.arange(len(data)), ends)])
