"""Instances far larger than any split: no search can label them, but a hand-made value function does.

That function is compared with V* on labelled states of the splits before it is believed, and a plan of just
the promised length is found by it from every state that a walk to a goal begins at.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.errors import InputError
from distill.jobs.evaluation import Evaluation, evaluate
from distill.logic import Evaluator, Number, hand_made
from distill.planning import (
    UNSOLVABLE,
    DataSet,
    Instance,
    Labelling,
    ProblemClass,
    Split,
    collect,
    execute,
    join,
)
from distill.planning.comparison import Solver
from distill.planning.outcome import SOLVED
from distill.planning.problems import BEYOND

Array = NDArray[np.float64]
Predict = Callable[[Mapping[str, DataSet]], Mapping[str, Array]]
Progress = Callable[[int, int], None]
_AT_ONCE = 1_000_000  # atoms that are encoded at the same time


@dataclass(frozen=True, eq=False)
class Beyond:
    """Labelled states of instances beyond all splits of a problem class.

    Attributes
    ----------
    split : the instances.
    data : their states: on random walks, and on the ways to a goal where these begin and end.
    labels : the hand-made value function that labelled them.
    validated : so many states of the splits have the V* that it gives.
    """

    split: Split
    data: DataSet
    labels: str
    validated: int

    @property
    def sentence(self) -> str:
        """Who labelled the states, and why that is believed."""
        return f"labelled by the hand-made function @{self.labels}, validated on {self.validated} states"

    def evaluate(
        self, predict: Predict, solve: Solver | None = None, *, progress: Progress | None = None
    ) -> Evaluation:
        """Score a value function on these states; the only split of the answer is `beyond`.

        Parameters
        ----------
        predict : from sets of states to their values, as `Distilled.predict`.
        solve : its greedy policy; none is executed if left out.
        progress : called with the number of instances executed and to execute.
        """
        value = _in_parts(lambda part: predict({BEYOND: part})[BEYOND], self.data)
        return evaluate({BEYOND: value}, solve, [self.split], {BEYOND: self.data}, progress=progress)


def label_beyond(
    problem: ProblemClass, sets: Mapping[str, DataSet], *, progress: Progress | None = None
) -> Beyond:
    """Make the instances that a problem class declares beyond its splits, and label states of them.

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
    compared = validated(problem, sets)
    name = str(problem.declared(BEYOND)["labels"])
    value = hand_made(name).value_function(max(len(instance.objects) for instance in split.instances))
    parts = []
    for number, instance in enumerate(split.instances):
        if progress:
            progress(number, len(split.instances))
        states = _walked(instance, split.labelling, value)
        parts.append(collect(instance, states, _values_of(value, instance, states)))
    origin = {**split.origin, "split": BEYOND, "labels": name, "labelling": split.labelling.to_mapping()}
    return Beyond(split, replace(join(parts), origin=origin), name, compared)


def validated(problem: ProblemClass, sets: Mapping[str, DataSet]) -> int:
    """Compare the hand-made function that labels a class's instances beyond its splits with V*.

    Parameters
    ----------
    sets : labelled states; unsolvable ones are left out, as there is no V* to compare with.

    Returns
    -------
    The number of states, in all of which the two are equal; an `InputError` names the first that differs.
    """
    name = str(problem.declared(BEYOND)["labels"])
    compared = 0
    for data in sets.values():
        if not len(data):
            continue
        found = _values(hand_made(name).value_function(int(data.n_objects.max())), data)
        solvable = data.v_star != UNSOLVABLE
        wrong = np.flatnonzero(solvable & (found != data.v_star))
        if len(wrong):
            first = int(wrong[0])
            instance = data.instances[data.state_instance[first]]["name"]
            raise InputError(
                f"@{name} cannot label {problem.name}: it gives {found[first]:g} where V* is "
                f"{data.v_star[first]}, in a state of {instance}: {' '.join(data.atom_names(first))}."
            )
        compared += int(data.multiplicity[solvable].sum())
    if not compared:
        raise InputError(f"There are no labelled states to validate @{name} on; label some first.")
    return compared


def _walked(instance: Instance, settings: Labelling, value: Number) -> list[Any]:
    """The distinct states on the way from the initial state to a goal, on random walks, and from these on.

    Random walks alone would see few values: in a large instance they seldom touch what the goal names. So
    they begin at states spread over the way to a goal, and from where each ends another way is taken.
    """
    rng = random.Random(f"{settings.seed} {instance.text}")
    way = _way_to_a_goal(instance, instance.initial_state, value)
    seen: dict[Any, None] = dict.fromkeys(way)
    for number in range(settings.walks):
        begin = way[round(number * (len(way) - 1) / max(1, settings.walks - 1))]
        walk = _random_walk(instance, begin, settings.walk_length, rng)
        seen.update(dict.fromkeys([*walk, *_way_to_a_goal(instance, walk[-1], value)]))
    return list(seen)


def _random_walk(instance: Instance, state: Any, steps: int, rng: random.Random) -> list[Any]:
    """The states on a random walk: what kind of action is drawn first, so that rare kinds are taken too."""
    walk = [state]
    for _ in range(steps):
        by_kind: dict[str, list[Any]] = {}
        for action, after in sorted(instance.successors(walk[-1]), key=lambda step: step[0]):
            by_kind.setdefault(action.split()[0], []).append(after)
        if not by_kind:
            break
        walk.append(rng.choice(by_kind[rng.choice(list(by_kind))]))
    return walk


def _way_to_a_goal(instance: Instance, start: Any, value: Number) -> list[Any]:
    """The states of the greedy plan, which must be as long as the value of its first state says."""
    promised = int(_values_of(value, instance, [start])[0])
    outcome = execute(
        instance, lambda instance, states: _values_of(value, instance, states), start, max_steps=promised
    )
    if outcome.status != SOLVED or len(outcome.plan) != promised:
        raise InputError(
            f"{instance.name}: the hand-made function promises a plan of {promised} steps, but its greedy "
            "policy finds none of that length; it cannot label these instances."
        )
    return instance.follow(start, outcome.plan)


def _values_of(value: Number, instance: Instance, states: Sequence[Any]) -> Array:
    return _values(value, collect(instance, states, np.zeros(len(states))))


def _values(value: Number, data: DataSet) -> Array:
    return _in_parts(lambda part: Evaluator(part.structures()).number(value).astype(np.float64), data)


def _in_parts(values: Callable[[DataSet], Array], data: DataSet) -> Array:
    """(n_states,) the values of all states, asked for a part at a time, so that memory is bounded."""
    atoms = np.cumsum(data.n_fixed[data.state_instance] + np.diff(data.state_offsets))
    ends = np.flatnonzero(np.diff(atoms // _AT_ONCE)) + 1
    return np.concatenate([values(data.pick(part)) for part in np.split(np.arange(len(data)), ends)])
