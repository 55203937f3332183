"""Where a network and a value function part ways, and who is right.

Both are asked for the value of a state, rounded, and for the successors that they like best. V* is the judge.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.jobs.evaluation import expanded_steps
from distill.jobs.verification import split_of
from distill.planning import UNSOLVABLE, DataSet

Array = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]
_TIE = 1e-6  # values of formulas closer than this are the same
_NETWORK_TIE = 1e-3  # of a network, whose sums are not exact: successors that look alike are to be alike
_EXAMPLES = 3  # of each verdict
VERDICTS = ("network right", "formulas right", "both right", "neither right")


@dataclass(frozen=True)
class DisputedState:
    """A state in which the two disagree.

    Attributes
    ----------
    split, state, instance : which state, numbered within its split, and the name of its instance.
    verdict : who is right.
    v_star, network, formulas : its three values.
    atoms : what holds in it.
    """

    split: str
    state: int
    instance: str
    verdict: str
    v_star: int
    network: float
    formulas: float
    atoms: tuple[str, ...]


@dataclass(frozen=True)
class Dispute:
    """How often two disagree, and who is right then.

    Attributes
    ----------
    what : `value` (rounded) or `greedy choice`.
    compared : states in which both were asked.
    counts : for each verdict the states in which they disagree and it is so.
    examples : some of these states.
    """

    what: str
    compared: int
    counts: dict[str, int]
    examples: tuple[DisputedState, ...] = field(default=())

    @property
    def disagreements(self) -> int:
        """States in which they disagree."""
        return sum(self.counts.values())

    def to_json(self) -> dict[str, Any]:
        """The dispute as plain data."""
        return {**asdict(self), "disagreements": self.disagreements}


@dataclass(frozen=True)
class Choices:
    """How alike the greedy choices of two values are.

    Attributes
    ----------
    states : that are no goals, with all successors known.
    meet : in so many, some successor is a best one for both.
    same : in so many, the best ones are the same for both.
    """

    states: int
    meet: int
    same: int


def compare_values(split: str, data: DataSet, network: Array, formulas: Array) -> Dispute:
    """Where rounded values differ.

    Parameters
    ----------
    network, formulas : (n_states,) the two values of each state.
    """
    solvable = data.v_star != UNSOLVABLE
    one, other = np.rint(network), np.rint(formulas)
    apart = solvable & (one != other)
    verdict = _verdicts(one == data.v_star, other == data.v_star)
    return _dispute(
        "value", int(solvable.sum()), split, data, np.flatnonzero(apart), verdict, network, formulas
    )


def compare_choices(split: str, data: DataSet, network: Array, formulas: Array) -> tuple[Choices, Dispute]:
    """Where no successor is a best one for both; a side is right if all its best ones are a step closer.

    Parameters
    ----------
    network, formulas : (n_states,) the two values of each state. Only instances that were expanded fully can
        be judged.
    """
    asked, meet, same = (np.zeros(len(data), dtype=bool) for _ in range(3))
    right = np.zeros((2, len(data)), dtype=bool)
    for begin, end, source, target in expanded_steps(split_of(split, data).instances, data):
        v_star = data.v_star[begin:end]
        closer = v_star[target] == v_star[source] - 1
        best = [
            best_steps(values[begin:end], source, target, tie)
            for values, tie in ((network, _NETWORK_TIE), (formulas, _TIE))
        ]
        asked[begin:end] = _some(source, np.ones(len(source), dtype=bool), end - begin) & (v_star > 0)
        meet[begin:end] = _some(source, best[0] & best[1], end - begin)
        same[begin:end] = ~_some(source, best[0] != best[1], end - begin)
        for side in (0, 1):
            right[side, begin:end] = ~_some(source, best[side] & ~closer, end - begin)
    apart = np.flatnonzero(asked & ~meet)
    choices = Choices(int(asked.sum()), int((asked & meet).sum()), int((asked & same).sum()))
    verdict = _verdicts(right[0], right[1])
    return choices, _dispute("greedy choice", choices.states, split, data, apart, verdict, network, formulas)


def best_steps(value: Array, source: Integers, target: Integers, tie: float = _TIE) -> Booleans:
    """(n_steps,) whether a step leads to a successor of least value, of all steps from the same state.

    Parameters
    ----------
    value : (n_states,).
    source, target : (n_steps,) the states before and after.
    tie : values so close are the same.

    Examples
    --------
    >>> best_steps(np.array([9.0, 1.0, 2.0, 1.0]), np.array([0, 0, 0]), np.array([1, 2, 3]))
    array([ True, False,  True])
    """
    least = np.full(len(value), np.inf)
    np.minimum.at(least, source, value[target])
    return np.asarray(value[target] <= least[source] + tie)


def _some(source: Integers, wanted: Booleans, n_states: int) -> Booleans:
    """(n_states,) whether some step from a state is wanted (n_steps,)."""
    return np.bincount(source[wanted], minlength=n_states) > 0


def _verdicts(network: Booleans, formulas: Booleans) -> Integers:
    """The number of the verdict, by who is right."""
    return np.where(network, np.where(formulas, 2, 0), np.where(formulas, 1, 3))


def _dispute(
    what: str,
    compared: int,
    split: str,
    data: DataSet,
    apart: Integers,
    verdict: Integers,
    network: Array,
    formulas: Array,
) -> Dispute:
    counts = {name: int((verdict[apart] == number).sum()) for number, name in enumerate(VERDICTS)}
    examples = tuple(_examples(split, data, apart, verdict, network, formulas))
    return Dispute(what, compared, counts, examples)


def _examples(
    split: str, data: DataSet, apart: Integers, verdict: Integers, network: Array, formulas: Array
) -> Iterator[DisputedState]:
    for number, name in enumerate(VERDICTS):
        for state in apart[verdict[apart] == number][:_EXAMPLES].tolist():
            instance = data.instances[data.state_instance[state]]["name"]
            values = int(data.v_star[state]), float(network[state]), float(formulas[state])
            yield DisputedState(split, state, instance, name, *values, tuple(data.atom_names(state)))


def joined(disputes: Sequence[Dispute]) -> Dispute:
    """The same dispute over several splits."""
    counts = {name: sum(one.counts[name] for one in disputes) for name in VERDICTS}
    examples: list[DisputedState] = []
    for name in VERDICTS:
        every = [example for one in disputes for example in one.examples if example.verdict == name]
        examples += every[:_EXAMPLES]
    return Dispute(disputes[0].what, sum(one.compared for one in disputes), counts, tuple(examples))
