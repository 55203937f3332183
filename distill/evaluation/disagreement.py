"""Disagreements of a network and a value function, judged by V*.

Rounded values and best successors are compared.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.planning import transitions
from distill.structures import UNSOLVABLE, DataSet, best_successors

Array = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]
_NETWORK_TIE = 1e-3  # sums of a network are inexact, and equivalent successors must tie
_EXAMPLES = 3  # of each verdict
VERDICTS = ("network right", "formulas right", "both right", "neither right")


@dataclass(frozen=True)
class DisagreementExample:
    """A state in which the two disagree.

    Attributes
    ----------
    split, state, instance : which state, numbered within its split, and the name of its instance.
    verdict : one of `VERDICTS`.
    v_star, network, formulas : its three values.
    atoms : its atoms.
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
class Disagreement:
    """The number of disagreements by verdict.

    Attributes
    ----------
    what : `value` (rounded) or `greedy choice`.
    compared : the number of states compared.
    counts : for each verdict the number of states.
    examples : some of these states.
    """

    what: str
    compared: int
    counts: dict[str, int]
    examples: tuple[DisagreementExample, ...] = field(default=())

    @property
    def disagreements(self) -> int:
        """States in which they disagree."""
        return sum(self.counts.values())

    def to_json(self) -> dict[str, Any]:
        """The disagreement as plain data."""
        return {**asdict(self), "disagreements": self.disagreements}


@dataclass(frozen=True)
class ChoiceAgreement:
    """The agreement of the greedy choices by two values.

    Attributes
    ----------
    states : states other than goals with all successors known.
    meet : states in which the two sets of best successors intersect.
    same : states in which they are equal.
    """

    states: int
    meet: int
    same: int


def compare_values(split: str, data: DataSet, network: Array, formulas: Array) -> Disagreement:
    """Find the states in which rounded values differ.

    Parameters
    ----------
    network, formulas : (n_states,) the two values of each state.
    """
    solvable = data.v_star != UNSOLVABLE
    one, other = np.rint(network), np.rint(formulas)
    apart = solvable & (one != other)
    verdict = _verdicts(one == data.v_star, other == data.v_star)
    n_states, values = int(solvable.sum()), (network, formulas)
    return _disagreement("value", n_states, split, data, np.flatnonzero(apart), verdict, values)


def compare_choices(
    split: str, data: DataSet, network: Array, formulas: Array
) -> tuple[ChoiceAgreement, Disagreement]:
    """Find the states in which the two have no best successor in common.

    A side is right if all its best successors are one step closer to the goal.

    Parameters
    ----------
    network, formulas : (n_states,) the two values of each state. Only fully expanded instances are
        compared.
    """
    steps = transitions(data)
    source, target = steps.source, steps.target
    one = best_successors(network, source, target, tie=_NETWORK_TIE)
    other = best_successors(formulas, source, target)
    closer = data.v_star[target] == data.v_star[source] - 1

    def some(condition: Booleans) -> Booleans:
        """(n_states,) whether some transition from a state meets a condition (n_transitions,)."""
        return np.bincount(source[condition], minlength=len(data)) > 0

    compared = some(np.ones(len(source), dtype=bool)) & (data.v_star > 0)
    meet, same = some(one & other), ~some(one != other)
    apart = np.flatnonzero(compared & ~meet)
    agreement = ChoiceAgreement(*(int(x.sum()) for x in (compared, compared & meet, compared & same)))
    verdict = _verdicts(~some(one & ~closer), ~some(other & ~closer))
    values = network, formulas
    return agreement, _disagreement("greedy choice", agreement.states, split, data, apart, verdict, values)


def _verdicts(network: Booleans, formulas: Booleans) -> Integers:
    """The number of the verdict, by which sides are right."""
    return np.where(network, np.where(formulas, 2, 0), np.where(formulas, 1, 3))


def _disagreement(
    what: str,
    compared: int,
    split: str,
    data: DataSet,
    apart: Integers,
    verdict: Integers,
    values: tuple[Array, Array],
) -> Disagreement:
    counts, examples = {}, []
    network, formulas = values
    for number, name in enumerate(VERDICTS):
        states = apart[verdict[apart] == number].tolist()
        counts[name] = len(states)
        for state in states[:_EXAMPLES]:
            instance = data.instances[data.state_instance[state]]["name"]
            three = int(data.v_star[state]), float(network[state]), float(formulas[state])
            atoms = tuple(data.atom_names(state))
            examples.append(DisagreementExample(split, state, instance, name, *three, atoms))
    return Disagreement(what, compared, counts, tuple(examples))


def merge_disagreements(disagreements: Sequence[Disagreement]) -> Disagreement:
    """One disagreement over several splits."""
    counts = {name: sum(one.counts[name] for one in disagreements) for name in VERDICTS}
    examples: list[DisagreementExample] = []
    for name in VERDICTS:
        every = [example for one in disagreements for example in one.examples if example.verdict == name]
        examples += every[:_EXAMPLES]
    compared = sum(one.compared for one in disagreements)
    return Disagreement(disagreements[0].what, compared, counts, tuple(examples))
