"""Inspection of one state: its atoms, the terms of its value, its successors and the greedy plan.

A state belongs to a labelled set, or it is another state of the same instance, such as one on a plan.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pymimir.advanced.formalism as formalism
from numpy.typing import NDArray

from distill.common import InputError
from distill.encodings import goal_encoding
from distill.explanations import ValueFunction, ordered_terms
from distill.logic import Evaluator, Node, Number, Top, Truth
from distill.planning import SOLVED, Domain, Instance, collect, execute, successors
from distill.structures import UNSOLVABLE, DataSet, Structures, best_successors

Array = NDArray[np.float64]
MAX_STEPS = 200  # of a greedy plan


@dataclass(frozen=True, eq=False)
class InstanceState:
    """A state of an instance.

    Attributes
    ----------
    pymimir : the state in pymimir.
    structure : the state in the encoding of the value function.
    number : its number in the set; None if it is not in the set.
    v_star : -1 if the goal is unreachable; None if unknown.
    network : the network's value; None if unknown.
    """

    pymimir: Any
    structure: Structures
    number: int | None = None
    v_star: int | None = None
    network: float | None = None


@dataclass(frozen=True)
class TermValue:
    """A term of a value function in one state."""

    weight: float
    feature: Number
    value: float

    @property
    def contribution(self) -> float:
        """Weight times value."""
        return self.weight * self.value


@dataclass(frozen=True, eq=False)
class ApplicableAction:
    """An applicable action and its successor state.

    Attributes
    ----------
    action : as in a plan file.
    state : the successor.
    value : the distilled value of the successor.
    stays : whether the action changes nothing; a greedy policy never takes such an action.
    """

    action: str
    state: InstanceState
    value: float
    stays: bool


@dataclass(frozen=True)
class Rollout:
    """The execution of the greedy policy from a state.

    Attributes
    ----------
    solved : whether it reaches the goal.
    actions : as in a plan file.
    note : the reason for a failure.
    """

    solved: bool
    actions: tuple[str, ...]
    note: str = ""


class Inspection:
    """The states of one instance of a labelled set.

    Parameters
    ----------
    data : the set.
    instance : the number of the instance.
    distilled : the value function.
    network : (n_states,) the network's values of all states of the set, if known.

    Examples
    --------
    >>> from distill.logic import parse
    >>> from distill.planning import expand, problem_class
    >>> data = expand(problem_class("gripper").make("train")[0], 1000)
    >>> inspection = Inspection(data, 0, ValueFunction(parse("2*#free + 3"), ()))
    >>> state = inspection.stored(0)
    >>> state.v_star, [(term.weight, term.value) for term in inspection.terms(state)]
    (3, [(2, 2.0), (1, 3.0)])
    """

    def __init__(
        self, data: DataSet, instance: int, distilled: ValueFunction, network: Array | None = None
    ) -> None:
        if not 0 <= instance < len(data.instances):
            raise InputError(
                f"There is no instance {instance}; choose from 0 to {len(data.instances) - 1} of this split."
            )
        self.data, self.distilled = data, distilled
        self._number, self._network = instance, network
        self._encoding = goal_encoding(distilled.goal_marking)
        known = data.instances[instance]
        self.instance = Instance(Domain(data.domain), known["pddl"], known["name"], known["parameters"])
        if list(self.instance.objects) != list(known["objects"]):
            raise InputError(
                f"The objects of {known['name']} do not match its PDDL, so its states are damaged; make "
                "them again."
            )

    @property
    def objects(self) -> Sequence[str]:
        """The names of the objects, in the order of all states."""
        return self.instance.objects

    @property
    def static(self) -> frozenset[str]:
        """The predicates that no action changes."""
        return frozenset(p.get_name() for p in self.instance.domain.pymimir.get_static_predicates())

    def stored(self, number: int) -> InstanceState:
        """A state of the set, by its number there."""
        return self._label(self._by_number([number]), [number])[0][0]

    def terms(self, state: InstanceState) -> list[TermValue]:
        """The terms of the value function, heavy ones first, the constant last; they add up to its value."""
        evaluator = Evaluator(state.structure)
        return [
            TermValue(weight, feature, float(evaluator.number(feature)[0]))
            for weight, feature in ordered_terms(self.distilled.value)
        ]

    def value(self, state: InstanceState) -> float:
        """The distilled value."""
        return float(self.distilled.values(state.structure)[0])

    def successors(self, state: InstanceState) -> list[ApplicableAction]:
        """All applicable actions, in alphabetical order, and the states they lead to."""
        steps = successors(self.instance, [state.pymimir])
        if not len(steps):
            return []
        after, structures = self._label(steps.states)
        values = self.distilled.values(structures)
        return [
            ApplicableAction(action, successor, float(value), successor.pymimir == state.pymimir)
            for action, successor, value in zip(steps.actions, after, values, strict=True)
        ]

    def steps(self, numbers: Sequence[int]) -> pd.DataFrame:
        """All actions in many states of the set at once: state, action, after, stays, v_star, network, value.

        `after` is the number of the successor, or -1 if it is not in the set. Unknown values are missing, and
        V* is infinite if the goal is unreachable.
        """
        before = self._by_number(numbers)
        steps = successors(self.instance, before)
        stays = [before[source] == after for source, after in zip(steps.source, steps.states, strict=True)]
        columns = {"state": np.asarray(numbers)[steps.source], "action": steps.actions, "stays": stays}
        table = pd.DataFrame(columns)
        if not len(steps):
            return table.assign(after=-1, v_star=np.nan, network=np.nan, value=np.nan)
        structures = self._encoding.structures(steps.data)
        numbers_after = (self._find(steps.data, place) for place in range(len(steps)))
        after = np.array([-1 if one is None else one for one in numbers_after])
        v_star = self.data.v_star[after].astype(np.float64)
        v_star[v_star == UNSOLVABLE] = np.inf
        network = np.full(len(after), np.nan) if self._network is None else self._network[after]
        known = after >= 0
        return table.assign(
            after=after,
            v_star=np.where(known, v_star, np.nan),
            network=np.where(known, network, np.nan),
            value=self.distilled.values(structures),
        )

    def plan(self, state: InstanceState, max_steps: int = MAX_STEPS) -> Rollout:
        """Execute the greedy policy of the value function from a state."""

        def value(instance: Instance, states: Sequence[Any]) -> Array:
            return self.distilled.values(self._collect(states)[1])

        outcome = execute(self.instance, value, state.pymimir, max_steps)
        return Rollout(outcome.status == SOLVED, outcome.plan, outcome.note)

    def along(self, state: InstanceState, actions: Sequence[str]) -> list[InstanceState]:
        """The states that a plan visits, the first included."""
        return self._label(self.instance.follow(state.pymimir, actions))[0]

    def pddl(self, state: InstanceState) -> str:
        """The instance as PDDL, with the state as its initial state."""
        return self.instance.to_pddl(state.pymimir)

    def _collect(self, states: Sequence[Any]) -> tuple[DataSet, Structures]:
        data = collect(self.instance, states)
        return data, self._encoding.structures(data)

    def _by_number(self, numbers: Sequence[int]) -> list[Any]:
        """States of the set in pymimir."""
        for number in numbers:
            if not 0 <= number < len(self.data) or self.data.state_instance[number] != self._number:
                raise InputError(
                    f"The instance {self.instance.name} has no state {number}; choose another one."
                )
        fluent = {p.get_name() for p in self.instance.domain.pymimir.get_fluent_predicates()}
        structures = self.data.structures(list(numbers))
        return [
            _state_of(
                self.instance,
                [
                    (name, tuple(map(str, arguments)))
                    for name, arguments in structures.decode(place, self.objects)
                    if name in fluent
                ],
            )
            for place in range(len(numbers))
        ]

    def _label(
        self, states: Sequence[Any], numbers: Sequence[int] | None = None
    ) -> tuple[list[InstanceState], Structures]:
        """States with their labels in the set, and all as structures; unknown numbers are looked up."""
        collected, structures = self._collect(states)
        labelled = []
        for place, state in enumerate(states):
            number = self._find(collected, place) if numbers is None else numbers[place]
            labels: dict[str, Any] = {}
            if number is not None:
                labels = {"number": number, "v_star": int(self.data.v_star[number])}
                if self._network is not None:
                    labels["network"] = float(self._network[number])
            labelled.append(InstanceState(state, structures[[place]], **labels))
        return labelled, structures

    def _find(self, collected: DataSet, place: int) -> int | None:
        """The number of an equal state of the set."""
        begin, end = collected.state_offsets[place : place + 2]
        atoms = _atoms_of(collected, collected.state_atoms[begin:end], self.objects)
        if any(atom not in self._atom_numbers for atom in atoms):
            return None
        numbers = np.sort(np.array([self._atom_numbers[atom] for atom in atoms], dtype=np.int32))
        return self._number_of_atoms.get(numbers.tobytes())

    @cached_property
    def _atom_numbers(self) -> dict[tuple[str, ...], int]:
        """The number of each ground atom of the instance in the set."""
        begin, end = self.data.atom_offsets[self._number : self._number + 2].tolist()
        atoms = _atoms_of(self.data, slice(begin, end), self.objects)
        return {atom: number for number, atom in enumerate(atoms, start=begin)}

    @cached_property
    def _number_of_atoms(self) -> dict[bytes, int]:
        """The first state with each set of fluent atoms, as bytes of their ascending numbers."""
        first, last = np.searchsorted(self.data.state_instance, [self._number, self._number + 1]).tolist()
        atoms = self.data.state_atoms.astype(np.int32, copy=False)
        bounds = self.data.state_offsets[first : last + 1].tolist()
        numbers: dict[bytes, int] = {}
        for state, (begin, end) in enumerate(pairwise(bounds), start=first):
            numbers.setdefault(atoms[begin:end].tobytes(), state)
        return numbers


def mark_best(values: Sequence[float | None], allowed: Sequence[bool]) -> list[bool]:
    """Mark the least among the values that are known and allowed.

    Examples
    --------
    >>> mark_best([2.0, None, 1.0, 1.0, 0.0], [True, True, True, True, False])
    [False, False, True, True, False]
    """
    known = np.array([may and one is not None for one, may in zip(values, allowed, strict=True)], dtype=bool)
    least = known.copy()
    given = np.array(values, dtype=np.float64)[known]
    least[known] = best_successors(given, np.zeros(len(given), dtype=np.int64))
    marks: list[bool] = least.tolist()
    return marks


def subformulas(formula: Node) -> list[Truth]:
    """The parts of a formula about objects, small ones first, without ⊤.

    Examples
    --------
    >>> from distill.logic import parse
    >>> subformulas(parse("#(clear & <on>top) + [#holding > 0]"))
    [clear, holding, <on>top, clear & <on>top]
    """
    parts = (node for node in formula.walk() if isinstance(node, Truth) and not isinstance(node, Top))
    return sorted(part for part in parts if not part.of_state)


def _atoms_of(data: DataSet, atoms: Any, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Ground atoms of a set by name: predicate, then objects."""
    words = [predicate.name for predicate in data.vocabulary]
    kinds, arguments = data.atom_predicate[atoms].tolist(), data.atom_arguments[atoms].tolist()
    return [
        (words[kind], *(names[one] for one in row if one >= 0))
        for kind, row in zip(kinds, arguments, strict=True)
    ]


def _state_of(instance: Instance, atoms: Sequence[tuple[str, tuple[str, ...]]]) -> Any:
    """The pymimir state with these fluent atoms."""
    # pymimir's own maps by name abort the process.
    objects = {obj.get_name(): obj for obj in instance.problem.get_problem_and_domain_objects()}
    predicates = {p.get_name(): p for p in instance.domain.pymimir.get_fluent_predicates()}
    ground = [
        instance.problem.get_or_create_ground_atom(
            predicates[name], formalism.ObjectList([objects[argument] for argument in arguments])
        )
        for name, arguments in sorted(atoms)
    ]
    repository = instance.context.get_state_repository()
    return repository.get_or_create_state(formalism.FluentGroundAtomList(ground), [])[0]
