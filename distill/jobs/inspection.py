"""One state of a run: its atoms, the terms of its value, its successors, the greedy plan from it.

States are those of a labelled set, or others of the same instance, which a plan comes through.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pymimir.advanced.formalism as formalism
from numpy.typing import NDArray

from distill.errors import InputError
from distill.jobs.distilled import Distilled
from distill.jobs.forms import ordered_terms
from distill.logic import Evaluator, Node, Number, Top, Truth
from distill.logic.evaluation import meant_by
from distill.planning import UNSOLVABLE, DataSet, Domain, Instance, collect, execute
from distill.planning.outcome import SOLVED
from distill.structures import Structures, ranges

Array = NDArray[np.float64]
MAX_STEPS = 200  # of a plan that is played
_EQUAL = 1e-6  # values closer than this are the same to a policy
_ATOM = re.compile(r"\(([^()]*)\)")


@dataclass(frozen=True, eq=False)
class State:
    """A state of an instance.

    Attributes
    ----------
    pymimir : as pymimir has it.
    structure : the one state, with goals as the value function sees them.
    number : its number in the set; None if it is not there.
    v_star : -1 without a way to the goal; None if it is not known.
    network : the network's value; None if it is not known.
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
        """What it adds to the value."""
        return self.weight * self.value


@dataclass(frozen=True, eq=False)
class Successor:
    """An applicable action and where it leads.

    Attributes
    ----------
    action : as in a plan file.
    state : the state after it.
    value : the distilled value there.
    stays : whether the action changes nothing; a greedy policy never takes such.
    """

    action: str
    state: State
    value: float
    stays: bool


@dataclass(frozen=True, eq=False)
class GreedyPlan:
    """Where the greedy policy of a value function goes from a state.

    Attributes
    ----------
    solved : whether it reaches the goal.
    actions : as in a plan file.
    states : those it visits, the first included.
    note : why it gave up, if it did.
    """

    solved: bool
    actions: tuple[str, ...]
    states: tuple[State, ...]
    note: str = ""


class Inspection:
    """The states of one instance of a labelled set.

    Parameters
    ----------
    data : the set.
    instance : the number of the instance.
    distilled : the value function.
    network : (n_states,) the network's values of all states of the set; none if left out.

    Examples
    --------
    >>> from distill.logic import parse
    >>> from distill.planning import expand, problem_class
    >>> data = expand(problem_class("gripper").make("train")[0], 1000)
    >>> looked = Inspection(data, 0, Distilled(parse("2*#free + 3"), ()))
    >>> state = looked.stored(0)
    >>> state.v_star, [(term.weight, term.value) for term in looked.terms(state)]
    (3, [(2, 2.0), (1, 3.0)])
    """

    def __init__(
        self, data: DataSet, instance: int, distilled: Distilled, network: Array | None = None
    ) -> None:
        if not 0 <= instance < len(data.instances):
            raise InputError(
                f"There is no instance {instance}; choose from 0 to {len(data.instances) - 1} of this split."
            )
        self.data, self.distilled = data, distilled
        self._number, self._network = instance, network
        known = data.instances[instance]
        self.instance = Instance(Domain(data.domain), known["pddl"], known["name"], known["parameters"])

    @property
    def objects(self) -> Sequence[str]:
        """The names of the objects, in the order of every state's."""
        return self.instance.objects

    def stored(self, number: int) -> State:
        """A state of the set, by its number there."""
        if not 0 <= number < len(self.data) or self.data.state_instance[number] != self._number:
            raise InputError(f"The instance {self.instance.name} has no state {number}; choose another one.")
        names = self.data.instances[self._number]["objects"]
        fluent = {p.get_name() for p in self.instance.domain.pymimir.get_fluent_predicates()}
        decoded = self.data.structures([number]).decode(0, names)
        atoms = [(name, tuple(map(str, arguments))) for name, arguments in decoded if name in fluent]
        [found] = self._looked_up([_state_of(self.instance, atoms)], [number])
        return found

    def terms(self, state: State) -> list[TermValue]:
        """The terms of the value function, heavy ones first, the constant last; they add up to its value."""
        evaluator = Evaluator(state.structure)
        return [
            TermValue(weight, feature, float(evaluator.number(feature)[0]))
            for weight, feature in ordered_terms(self.distilled.value)
        ]

    def value(self, state: State) -> float:
        """The distilled value."""
        return float(self.distilled.values(state.structure)[0])

    def successors(self, state: State) -> list[Successor]:
        """All applicable actions, in alphabetical order, and the states they lead to."""
        steps = sorted(self.instance.successors(state.pymimir), key=lambda step: step[0])
        if not steps:
            return []
        after = self._looked_up([successor for _, successor in steps])
        values = self.distilled.values(self._collected([one.pymimir for one in after])[1])
        return [
            Successor(action, reached, float(value), reached.pymimir == state.pymimir)
            for (action, _), reached, value in zip(steps, after, values, strict=True)
        ]

    def plan(self, state: State, max_steps: int = MAX_STEPS) -> GreedyPlan:
        """What the greedy policy of the value function does from a state."""

        def value(instance: Instance, states: Sequence[Any]) -> Array:
            return self.distilled.values(self._collected(states)[1])

        outcome = execute(self.instance, value, state.pymimir, max_steps)
        visited = self._looked_up(self.instance.follow(state.pymimir, outcome.plan))
        return GreedyPlan(outcome.status == SOLVED, outcome.plan, tuple(visited), outcome.note)

    def pddl(self, state: State) -> str:
        """The instance as PDDL, with the state as its initial state."""
        return self.instance.to_pddl(state.pymimir)

    def _collected(self, states: Sequence[Any]) -> tuple[DataSet, Structures]:
        found = collect(self.instance, states, np.zeros(len(states)))
        return found, found.structures(goal_marking=self.distilled.goal_marking)

    def _looked_up(self, states: Sequence[Any], numbers: Sequence[int] | None = None) -> list[State]:
        """States with what the set knows of them; their numbers are looked up if they are not given."""
        collected, structures = self._collected(states)
        found = []
        for place, state in enumerate(states):
            number = self._find(collected, place) if numbers is None else numbers[place]
            labels: dict[str, Any] = {}
            if number is not None:
                labels = {"number": number, "v_star": int(self.data.v_star[number])}
                if self._network is not None:
                    labels["network"] = float(self._network[number])
            found.append(State(state, structures[[place]], **labels))
        return found

    def _find(self, collected: DataSet, place: int) -> int | None:
        """The number of an equal state of the set."""
        begin, end = collected.state_offsets[place : place + 2]
        atoms = _atoms_of(collected, collected.state_atoms[begin:end], self.objects)
        known = [self._atom_numbers.get(atom) for atom in atoms]
        return None if None in known else self._stored_as.get(frozenset(known))

    @cached_property
    def _atom_numbers(self) -> dict[tuple[str, ...], int]:
        """The number of each ground atom of the instance."""
        begin, end = self.data.atom_offsets[self._number : self._number + 2]
        names = self.data.instances[self._number]["objects"]
        return {atom: int(begin) + i for i, atom in enumerate(_atoms_of(self.data, slice(begin, end), names))}

    @cached_property
    def _stored_as(self) -> dict[frozenset[Any], int]:
        """The first state of each set of changing atoms."""
        begin, end = np.searchsorted(self.data.state_instance, [self._number, self._number + 1])
        atoms, bounds = self.data.state_atoms.tolist(), self.data.state_offsets.tolist()
        found: dict[frozenset[Any], int] = {}
        for state in range(int(begin), int(end)):
            first = int(self.data.atom_offsets[self._number])
            own = (first + atom - first for atom in atoms[bounds[state] : bounds[state + 1]])
            found.setdefault(frozenset(own), state)
        return found


def _atoms_of(data: DataSet, atoms: Any, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Ground atoms of a set by name: predicate, then objects."""
    words = [predicate.name for predicate in data.vocabulary]
    kinds, arguments = data.atom_predicate[atoms].tolist(), data.atom_arguments[atoms].tolist()
    return [
        (words[kind], *(names[one] for one in row if one >= 0))
        for kind, row in zip(kinds, arguments, strict=True)
    ]
