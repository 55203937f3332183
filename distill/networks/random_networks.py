"""Pairs of states that untrained networks do not distinguish (`symmetries.txt`, Section 10).

A network with random weights maps states to numbers. Two states that 1-WL does not distinguish in as many
rounds as the network has layers have the same number. Conversely, two states with the same number under
several networks are most likely not distinguished by any network of this form. So the pairs that are not
distinguished should be those of 1-WL, which tests both.

The first embedding of every object is zero, and a network reads what holds of a single object in its first
layer. So the rounds of 1-WL that are compared here begin with equal colours, and unary atoms are loops.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distill.networks.execution import values
from distill.networks.families import build_network
from distill.networks.network import Network
from distill.networks.settings import Architecture
from distill.structures import Predicate, Structures, Vocabulary
from distill.symmetry import Colouring, Conflicts, Expressivity, split_groups

Progress = Callable[[int, int], None]
TOLERANCE = 1e-13
"""Numbers that differ by at most this, relative to the largest one, are equal.

In double precision the order of sums changes the number of a state by some 1e-15 of the largest one. States
that a network distinguishes can differ by as little as 1e-12 in one network, since messages fade on their
way; in single precision, where sums differ by 1e-7, they would be taken as equal.
"""
_BATCH = 10_000


@dataclass(frozen=True, eq=False)
class RandomNetworks:
    """The pairs that untrained networks do not distinguish, and those of 1-WL.

    Attributes
    ----------
    count : the number of networks.
    layers : of each network, and the rounds of 1-WL.
    by_networks : pairs that no network distinguishes.
    by_colours : pairs that 1-WL does not distinguish in as many rounds, which begin with equal colours.
    """

    count: int
    layers: int
    by_networks: Conflicts
    by_colours: Conflicts

    @property
    def agree(self) -> bool:
        """Whether the pairs are the same."""
        return sorted(map(sorted, self.by_networks.groups)) == sorted(map(sorted, self.by_colours.groups))

    def summary(self) -> dict[str, int | bool | list[int]]:
        """The counts as plain data, E- before V-conflicts."""
        return {
            "networks": self.count,
            "layers": self.layers,
            "networks_E_V": [self.by_networks.e, self.by_networks.v],
            "1-WL_E_V": [self.by_colours.e, self.by_colours.v],
            "agree": self.agree,
        }


def compare_random_networks(
    expressivity: Expressivity, count: int, layers: int, *, seed: int = 0, progress: Progress | None = None
) -> RandomNetworks:
    """Count the pairs that untrained networks do not distinguish, and those of 1-WL with as many rounds.

    The networks are those of thesis Algorithm 1 in double precision, with plain goals. They read nullary
    atoms, which Table 1 leaves out, and so does 1-WL here.

    Parameters
    ----------
    count : the number of networks.
    layers : of each network.
    seed : of the first network; the others follow.

    Examples
    --------
    >>> from distill.planning import expand, problem_class
    >>> analysis = Expressivity.of(expand(problem_class("blocks-clear").make("train")[1], 1000))
    >>> compare_random_networks(analysis, 2, 1).summary()["networks_E_V"]
    [0, 0]
    """
    groups = expressivity.classes
    for number in range(count):
        network = build_network(expressivity.data.vocabulary, Architecture(layers=layers), seed + number)
        candidates = sorted(set().union(*groups))
        if not candidates:
            break
        report = None if progress is None else _share(progress, number, count)
        computed = _values(network.double(), expressivity, candidates, report)
        groups = split_groups(groups, dict(zip(candidates, _ranks(computed).tolist(), strict=True)))
    colouring = Colouring("1-WL", network.bound.options, pairs=False, marked=False, rounds=layers)
    by_colours = colouring.split(
        expressivity.classes, lambda numbers: _looped(expressivity.states_of(numbers))
    )
    v_star = expressivity.v_star
    return RandomNetworks(count, layers, Conflicts(groups, v_star), Conflicts(by_colours, v_star))


def _looped(states: Structures) -> Structures:
    """The states with loops instead of unary atoms, and nullary atoms as loops at every object.

    Examples
    --------
    >>> words = Vocabulary([Predicate("clear", 1), Predicate("free", 0, "nullary")])
    >>> _looped(Structures(words, 2, [0, 0, 1], {"clear": [[1]], "free": [[0]]})).relations["free"].tolist()
    [[0, 0], [1, 1]]
    """
    vocabulary, relations = [], {}
    for predicate in states.vocabulary:
        atoms: NDArray[np.integer] = states.relations[predicate.name]
        if predicate.arity == 0:
            atoms = np.flatnonzero(np.isin(states.state_of_object, atoms[:, 0]))[:, None]
        single = predicate.arity < 2
        vocabulary.append(Predicate(predicate.name, 2) if single else predicate)
        relations[predicate.name] = np.repeat(atoms, 2, axis=1) if single else atoms
    return Structures(Vocabulary(vocabulary), len(states), states.state_of_object, relations)


def _values(
    network: Network, expressivity: Expressivity, classes: list[int], report: Callable[[float], None] | None
) -> NDArray[np.float64]:
    """(n_classes,) the number of a state of each class."""
    parts = [np.zeros(0)]
    for begin in range(0, len(classes), _BATCH):
        states = expressivity.states_of(classes[begin : begin + _BATCH])
        parts.append(values(network, states))
        if report is not None:
            report(min(1.0, (begin + _BATCH) / len(classes)))
    return np.concatenate(parts)


def _ranks(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """(n,) ascending ranks, equal for numbers that are connected by steps within the tolerance.

    Examples
    --------
    >>> _ranks(np.array([2.0, 1.0, 2.0 + 1e-14]))
    array([1, 0, 1])
    """
    order = np.argsort(numbers, kind="stable")
    steps = np.diff(numbers[order], prepend=numbers[order[:1]])
    ranks = np.empty(len(numbers), dtype=np.int64)
    ranks[order] = np.cumsum(steps > TOLERANCE * np.abs(numbers).max(initial=0.0))
    return ranks


def _share(progress: Progress, number: int, count: int) -> Callable[[float], None]:
    return lambda part: progress(round(100 * (number + part)), 100 * count)
