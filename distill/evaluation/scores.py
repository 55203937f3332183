"""Scores of a network or value function: errors on labelled states, greedy choices and plans."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.common import InputError
from distill.encodings import Encoding, goal_encoding
from distill.explanations import Explanation
from distill.networks import Checkpoint, Network, check_vocabulary, predict, values
from distill.planning import (
    SOLVED,
    Instance,
    PlanResult,
    Solver,
    Split,
    collect,
    execute,
    transitions,
    validate,
)
from distill.structures import UNSOLVABLE, DataSet, Structures, best_successors, greedy_successors, join

Array = NDArray[np.float64]
_COUNTS = ("greedy_steps", "greedy_optimal_steps", "instances", "solved", "plan_length", "optimal_length")


@dataclass(frozen=True)
class Score:
    """Errors and greedy performance on some states.

    Attributes
    ----------
    states : labelled states from which the goal can be reached.
    mae, max_error : mean and largest |V − V*| over them.
    within_half : the share of them with |V − V*| < 0.5.
    ratio_min, ratio_max : least and largest V / V* where V* > 0; None without such states.
    greedy_steps : states, other than goals, of which all successors are labelled.
    greedy_optimal_steps : those in which the successor of least V is one step closer to the goal.
    instances, solved : numbers of executed instances, and of those that the greedy policy solved.
    plan_length : steps of the greedy plans where the optimum is known.
    optimal_length : steps of optimal plans for the same instances.
    """

    states: int
    mae: float
    max_error: float
    within_half: float
    ratio_min: float | None
    ratio_max: float | None
    greedy_steps: int = 0
    greedy_optimal_steps: int = 0
    instances: int = 0
    solved: int = 0
    plan_length: int = 0
    optimal_length: int = 0

    def to_json(self) -> dict[str, Any]:
        """The score as plain data."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The scores of a network on several splits.

    Attributes
    ----------
    v_star, value, split : (n_states,) labels, predictions and split of all solvable states.
    splits : for each split its score.
    plans : for each split the greedy plan length of every instance; None without a plan.
    """

    v_star: NDArray[np.int64]
    value: Array
    split: NDArray[np.int64]
    splits: Mapping[str, Score]
    plans: Mapping[str, Sequence[int | None]]

    def by_v_star(self, split: str) -> list[dict[str, float]]:
        """For each V* of a split the number of states, the mean error and the range of V."""
        mine = self.split == list(self.splits).index(split)
        rows = []
        for v_star in np.unique(self.v_star[mine]):
            value = self.value[mine & (self.v_star == v_star)]
            rows.append(
                {
                    "v_star": int(v_star),
                    "states": len(value),
                    "mae": float(np.abs(value - v_star).mean()),
                    "least": float(value.min()),
                    "most": float(value.max()),
                }
            )
        return rows

    def known_within_half(self, split: str, known: str = "train") -> float | None:
        """The share of a split's states with |V − V*| < 0.5, of those whose V* occurs in another split."""
        names = list(self.splits)
        if known not in names:
            return None
        labels = self.v_star[self.split == names.index(known)]
        mine = (self.split == names.index(split)) & np.isin(self.v_star, labels)
        error = np.abs(self.value - self.v_star)[mine]
        return float((error < 0.5).mean()) if len(error) else None

    def total(self) -> Score:
        """The score of all splits together."""
        counts = {name: sum(getattr(score, name) for score in self.splits.values()) for name in _COUNTS}
        return replace(_score(self.v_star, self.value), **counts)


def evaluate_checkpoint(
    checkpoint: Checkpoint,
    splits: Sequence[Split],
    sets: Mapping[str, DataSet],
    *,
    max_steps: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Score a network on labelled splits; see `evaluate`."""
    value = predict(checkpoint.network, sets)
    solve = None if max_steps == 0 else network_policy(checkpoint.network, max_steps)
    return evaluate(value, solve, splits, sets, progress=progress)


def evaluate(
    value: Mapping[str, Array],
    solve: Solver | None,
    splits: Sequence[Split],
    sets: Mapping[str, DataSet],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Score values on labelled splits, and their greedy policy.

    Parameters
    ----------
    value : for each split (n_states,) the values.
    solve : the policy; none is executed if left out.
    splits : the instances to execute the policy on.
    sets : for each split all its labelled states, prepared without a reduction.
    progress : called with the number of instances executed and to execute.
    """
    scores, plans, tables = {}, {}, []
    total, done = sum(len(split.instances) for split in splits), 0
    for number, split in enumerate(splits):
        data, predicted = sets[split.name], value[split.name]
        solvable = data.v_star != UNSOLVABLE
        tables.append(np.column_stack([data.v_star, predicted, np.full(len(data), number)])[solvable])
        score = _score(data.v_star[solvable], predicted[solvable])
        steps, optimal = _greedy_steps(split.instances, data, predicted)
        lengths: list[int | None] = []
        known: list[tuple[int, int]] = []
        for instance in split.instances if solve is not None else ():
            lengths.append(_plan_length(solve, instance))  # type: ignore[arg-type]
            best = _optimum(instance, data)
            if lengths[-1] is not None and best is not None:
                known.append((lengths[-1], best))
            done += 1
            if progress:
                progress(done, total)
        plans[split.name] = lengths
        scores[split.name] = replace(
            score,
            greedy_steps=steps,
            greedy_optimal_steps=optimal,
            instances=len(lengths),
            solved=sum(length is not None for length in lengths),
            plan_length=sum(own for own, _ in known),
            optimal_length=sum(best for _, best in known),
        )
    v_star, predicted, number = np.concatenate(tables).T
    return Evaluation(v_star.astype(np.int64), predicted, number.astype(np.int64), scores, plans)


def network_policy(network: Network, max_steps: int | None = None) -> Solver:
    """The greedy policy of a network."""
    greedy = value_policy(partial(values, network), network.encoding, max_steps)

    def solve(instance: Instance) -> PlanResult:
        check_vocabulary(network, instance.domain.vocabulary())
        return greedy(instance)

    return solve


def value_policy(
    value: Callable[[Structures], Array], encoding: Encoding, max_steps: int | None = None
) -> Solver:
    """The policy that takes the successor of least value.

    Parameters
    ----------
    value : maps a batch of all successors to (n_states,) values.
    encoding : of the batch.
    max_steps : the limit on plan length; the default of `execute` if left out.
    """

    def of_states(instance: Instance, states: Sequence[Any]) -> Array:
        return value(encoding.structures(collect(instance, states)))

    limit = {} if max_steps is None else {"max_steps": max_steps}
    return lambda instance: execute(instance, of_states, **limit)


def greedy_policy(explanation: Explanation, max_steps: int | None = None) -> Solver:
    """The policy that takes the successor that an explanation ranks first; see `value_policy`."""
    return value_policy(explanation.rank, goal_encoding(explanation.goal_marking), max_steps)


def greedy_agreement(
    instances: Sequence[Instance], data: DataSet, first: Array, second: Array
) -> tuple[int, int]:
    """Count greedy choices by one value that are optimal by another, in fully expanded instances.

    Parameters
    ----------
    first, second : (n_states,) two values of each state.

    Returns
    -------
    The number of choices by the first value, and of those among them that are optimal by the second.
    """
    steps = transitions(data, instances)
    best = best_successors(second, steps.source, steps.target)
    chosen = greedy_successors(first, steps.source, steps.target)
    chosen = chosen[data.v_star[steps.source[chosen]] > 0]
    return len(chosen), int(best[chosen].sum())


def fidelity(
    network: Mapping[str, Array],
    value: Mapping[str, Array],
    splits: Sequence[Split],
    sets: Mapping[str, DataSet],
) -> dict[str, Any]:
    """The fidelity of a value function to a network: mean difference, greedy agreement, the network's errors.

    The network's errors are mean absolute errors against V* on the solvable states of each split.

    Parameters
    ----------
    network, value : for each split (n_states,) the values of the two.
    """
    error = np.concatenate([np.abs(network[name] - value[name]) for name in sets])
    counts = [greedy_agreement(s.instances, sets[s.name], network[s.name], value[s.name]) for s in splits]
    steps, agreed = map(sum, zip(*counts, strict=True))
    errors = {}
    for name, data in sets.items():
        solvable = data.v_star != UNSOLVABLE
        errors[name] = _score(data.v_star[solvable], network[name][solvable]).mae
    agreement = agreed / steps if steps else None
    return {"mae": float(error.mean()), "greedy_agreement": agreement, "network_errors": errors}


def _score(v_star: NDArray[np.integer], value: Array) -> Score:
    if not len(value):
        return Score(0, 0.0, 0.0, 0.0, None, None)
    error = np.abs(value - v_star)
    ratio = value[v_star > 0] / v_star[v_star > 0]
    ends = (float(ratio.min()), float(ratio.max())) if len(ratio) else (None, None)
    return Score(len(value), float(error.mean()), float(error.max()), float((error < 0.5).mean()), *ends)


def _greedy_steps(instances: Sequence[Instance], data: DataSet, value: Array) -> tuple[int, int]:
    """The numbers of greedy choices in fully expanded instances, and of optimal ones among them."""
    steps = transitions(data, instances)
    chosen = greedy_successors(value, steps.source, steps.target)
    before, after = data.v_star[steps.source[chosen]], data.v_star[steps.target[chosen]]
    return int((before > 0).sum()), int((after == before - 1)[before > 0].sum())


def _plan_length(solve: Solver, instance: Instance) -> int | None:
    """The length of the validated greedy plan; None if there is none."""
    outcome = solve(instance)
    if outcome.status != SOLVED:
        return None
    verdict = validate(instance, outcome.plan)
    if not verdict.valid:
        raise InputError(f"{instance.name}: the plan of the policy is invalid: {verdict.reason}.")
    return len(outcome.plan)


def _optimum(instance: Instance, data: DataSet) -> int | None:
    """V* of the initial state, if it is labelled and solvable."""
    number = next(i for i, known in enumerate(data.instances) if known["pddl"] == instance.text)
    mine = np.flatnonzero(data.state_instance == number)
    both = join([collect(instance, [instance.initial_state], [0]), data.pick(mine)])
    same = np.flatnonzero(both.repeats()[1:] == 0)
    best = int(data.v_star[mine[same[0]]]) if len(same) else UNSOLVABLE
    return None if best == UNSOLVABLE else best
