"""How good a network is: its error on labelled states, its greedy choices, its plans."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.errors import InputError
from distill.jobs.quotient import build_quotient_of
from distill.models import Checkpoint, Network, check_vocabulary, replay, values
from distill.planning import (
    UNSOLVABLE,
    DataSet,
    Instance,
    Split,
    collect,
    execute,
    join,
    transitions,
    validate,
)
from distill.planning.comparison import Solver
from distill.planning.outcome import SOLVED, Outcome
from distill.structures import Structures
from distill.symmetry import Options

Array = NDArray[np.float64]
_EQUAL = 1e-6  # values closer than this are the same to a policy
_AMPLE = 100  # pymimir counts states of earlier expansions towards a budget


@dataclass(frozen=True)
class Score:
    """How good a network is on some states.

    Attributes
    ----------
    states : labelled states from which the goal can be reached.
    mae, max_error : mean and largest |V − V*| over them.
    within_half : the share of them with |V − V*| < 0.5.
    ratio_min, ratio_max : least and largest V / V* where V* > 0; None without such states.
    greedy_steps : states, other than goals, of which all successors are labelled.
    greedy_optimal_steps : those in which the successor of least V is one step closer to the goal.
    instances, solved : instances that were executed, and those that the greedy policy solved.
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
    plans : for each split the greedy plan length of every instance; None where it found no plan.
    """

    v_star: NDArray[np.int64]
    value: Array
    split: NDArray[np.int64]
    splits: Mapping[str, Score]
    plans: Mapping[str, Sequence[int | None]]

    def by_v_star(self, split: str) -> list[dict[str, float]]:
        """For each V* of a split the number of states, the mean error and the range of V."""
        mine = self.split == list(self.splits).index(split)
        found = []
        for v_star in np.unique(self.v_star[mine]):
            value = self.value[mine & (self.v_star == v_star)]
            found.append(
                {
                    "v_star": int(v_star),
                    "states": len(value),
                    "mae": float(np.abs(value - v_star).mean()),
                    "least": float(value.min()),
                    "most": float(value.max()),
                }
            )
        return found

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
        whole = _score(self.v_star, self.value)
        summed = ("greedy_steps", "greedy_optimal_steps", "instances", "solved", "plan_length")
        counts = {
            name: sum(getattr(score, name) for score in self.splits.values())
            for name in (*summed, "optimal_length")
        }
        return replace(whole, **counts)


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
    solve = None if max_steps == 0 else policy(checkpoint.network, max_steps)
    return evaluate(value, solve, splits, sets, progress=progress)


def evaluate(
    value: Mapping[str, Array],
    solve: Solver | None,
    splits: Sequence[Split],
    sets: Mapping[str, DataSet],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Score values on labelled splits, and the greedy policy that goes with them.

    Parameters
    ----------
    value : for each split (n_states,) the values.
    solve : the policy; none is executed if left out.
    splits : their instances, which the policy is executed on.
    sets : for each split all its labelled states, prepared without a reduction.
    progress : called with the number of instances executed and to execute.
    """
    scores, plans, kept = {}, {}, []
    todo = [] if solve is None else [one for split in splits for one in split.instances]
    done = 0
    for number, split in enumerate(splits):
        data, predicted = sets[split.name], value[split.name]
        solvable = data.v_star != UNSOLVABLE
        kept.append(np.column_stack([data.v_star, predicted, np.full(len(data), number)])[solvable])
        score = _score(data.v_star[solvable], predicted[solvable])
        steps, optimal = _greedy_steps(split.instances, data, predicted)
        lengths: list[int | None] = []
        known: list[tuple[int, int]] = []
        for instance in split.instances if solve is not None else ():
            lengths.append(_executed(solve, instance))  # type: ignore[arg-type]
            best = _optimum(instance, data)
            if lengths[-1] is not None and best is not None:
                known.append((lengths[-1], best))
            done += 1
            if progress:
                progress(done, len(todo))
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
    v_star, predicted, number = np.concatenate(kept).T
    return Evaluation(v_star.astype(np.int64), predicted, number.astype(np.int64), scores, plans)


def predict(network: Network, sets: Mapping[str, DataSet]) -> dict[str, Array]:
    """V of every state of every set, by lifted execution: (n_states,) for each set."""
    for data in sets.values():
        check_vocabulary(network, data.vocabulary)
    if not any(len(data) for data in sets.values()):
        raise InputError("There are no labelled states to run the network on; label some first.")
    options = Options(nullary=network.architecture.nullary)
    marking = network.architecture.goal_marking
    built = build_quotient_of(sets, network.architecture.layers, options, goal_marking=marking)
    found = replay(network, built.quotient).value[built.state_row].astype(np.float64)
    ends = np.cumsum([len(data) for data in sets.values()])[:-1]
    return dict(zip(sets, np.split(found, ends), strict=True))


def policy(network: Network, max_steps: int | None = None) -> Solver:
    """The greedy policy of a network: from an instance to an outcome."""

    def value(states: Structures) -> Array:
        return values(network, states)

    def solve(instance: Instance) -> Outcome:
        check_vocabulary(network, instance.domain.vocabulary())
        return greedy(value, network.architecture.goal_marking, max_steps)(instance)

    return solve


def greedy(
    value: Callable[[Structures], Array], goal_marking: bool = False, max_steps: int | None = None
) -> Solver:
    """The policy that goes to the successor of least value.

    Parameters
    ----------
    value : from a batch to (n_states,) values; it is asked for all successors at once.
    goal_marking : how the batch is encoded.
    max_steps : it gives up after so many; the default of `execute` if left out.
    """

    def of_states(instance: Instance, states: Sequence[Any]) -> Array:
        data = collect(instance, states, np.zeros(len(states)))
        return value(data.structures(goal_marking=goal_marking))

    limit = {} if max_steps is None else {"max_steps": max_steps}
    return lambda instance: execute(instance, of_states, **limit)


def greedy_agreement(
    instances: Sequence[Instance], data: DataSet, first: Array, second: Array
) -> tuple[int, int]:
    """How often the greedy choice by one value is a best one by another, in fully expanded instances.

    Parameters
    ----------
    first, second : (n_states,) two values of each state.

    Returns
    -------
    The number of choices by the first, and of those that are as good as any by the second.
    """
    steps = agreed = 0
    for begin, end, source, target in expanded_steps(instances, data):
        one, other = first[begin:end], second[begin:end]
        before, after = _greedy_choices(one, source, target)
        best = np.full(end - begin, np.inf)
        np.minimum.at(best, source, other[target])
        counted = data.v_star[begin:end][before] > 0
        steps += int(counted.sum())
        agreed += int((other[after] <= best[before] + _EQUAL)[counted].sum())
    return steps, agreed


def fidelity(
    network: Mapping[str, Array],
    value: Mapping[str, Array],
    splits: Sequence[Split],
    sets: Mapping[str, DataSet],
) -> dict[str, float | None]:
    """How close a value function is to a network: its values, and its greedy choices.

    Parameters
    ----------
    network, value : for each split (n_states,) the values of the two.
    """
    error = np.concatenate([np.abs(network[name] - value[name]) for name in sets])
    counts = [greedy_agreement(s.instances, sets[s.name], network[s.name], value[s.name]) for s in splits]
    steps, agreed = map(sum, zip(*counts, strict=True))
    return {"mae": float(error.mean()), "greedy_agreement": agreed / steps if steps else None}


def _score(v_star: NDArray[np.integer], value: Array) -> Score:
    if not len(value):
        return Score(0, 0.0, 0.0, 0.0, None, None)
    error = np.abs(value - v_star)
    ratio = value[v_star > 0] / v_star[v_star > 0]
    ends = (float(ratio.min()), float(ratio.max())) if len(ratio) else (None, None)
    return Score(len(value), float(error.mean()), float(error.max()), float((error < 0.5).mean()), *ends)


def _greedy_steps(instances: Sequence[Instance], data: DataSet, value: Array) -> tuple[int, int]:
    """Greedy choices in all states of instances that were expanded fully, and the optimal ones among them."""
    steps = optimal = 0
    for begin, end, source, target in expanded_steps(instances, data):
        v_star = data.v_star[begin:end]
        before, after = _greedy_choices(value[begin:end], source, target)
        counted = v_star[before] > 0
        steps += int(counted.sum())
        optimal += int((v_star[after][counted] == v_star[before][counted] - 1).sum())
    return steps, optimal


def expanded_steps(
    instances: Sequence[Instance], data: DataSet
) -> Iterator[tuple[int, int, NDArray[np.int64], NDArray[np.int64]]]:
    """Of instances that were expanded fully: where their states begin and end, and all steps between them."""
    bounds = np.searchsorted(data.state_instance, np.arange(len(instances) + 1))
    for number, instance in enumerate(instances):
        begin, end = int(bounds[number]), int(bounds[number + 1])
        if data.instances[number]["exhaustive"]:
            edges = transitions(instance, _AMPLE * (end - begin) + _AMPLE)
            if edges is not None and len(edges):
                yield begin, end, *edges.T


def _greedy_choices(
    value: Array, source: NDArray[np.int64], target: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The states that have successors, and the first successor of least value of each."""
    order = np.lexsort((value[target], source))
    first = order[np.unique(source[order], return_index=True)[1]]
    return source[first], target[first]


def _executed(solve: Solver, instance: Instance) -> int | None:
    """The length of the greedy plan, which is validated; None if there is none."""
    outcome = solve(instance)
    if outcome.status != SOLVED:
        return None
    verdict = validate(instance, outcome.plan)
    if not verdict.valid:
        raise InputError(f"{instance.name}: the plan of the policy is wrong: {verdict.reason}.")
    return len(outcome.plan)


def _optimum(instance: Instance, data: DataSet) -> int | None:
    """V* of the initial state, if it is labelled and solvable."""
    number = next(i for i, known in enumerate(data.instances) if known["pddl"] == instance.text)
    mine = np.flatnonzero(data.state_instance == number)
    both = join([collect(instance, [instance.initial_state], [0]), data.pick(mine)])
    same = np.flatnonzero(both.repeats()[1:] == 0)
    best = int(data.v_star[mine[same[0]]]) if len(same) else UNSOLVABLE
    return None if best == UNSOLVABLE else best
