"""One state of a run: its atoms, the terms of its value, its successors, the greedy plan from it.

States are those of a labelled set, or others of the same instance, which a plan comes through.
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

from distill.errors import InputError
from distill.jobs.distilled import Distilled
from distill.jobs.forms import ordered_terms
from distill.logic import Evaluator, Node, Number, Top, Truth
from distill.planning import UNSOLVABLE, DataSet, Domain, Instance, collect, execute
from distill.planning.outcome import SOLVED
from distill.structures import Structures

Array = NDArray[np.float64]
MAX_STEPS = 200  # of a plan that is played
EQUAL = 1e-6  # values closer than this are the same to a policy


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


@dataclass(frozen=True)
class GreedyPlan:
    """What the greedy policy of a value function does from a state.

    Attributes
    ----------
    solved : whether it reaches the goal.
    actions : as in a plan file.
    note : why it gave up, if it did.
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
        if list(self.instance.objects) != list(known["objects"]):
            raise InputError(
                f"The objects of {known['name']} are not those of its PDDL, so its states are damaged; make "
                "them again."
            )

    @property
    def objects(self) -> Sequence[str]:
        """The names of the objects, in the order of every state's."""
        return self.instance.objects

    @property
    def static(self) -> frozenset[str]:
        """The predicates that no action changes."""
        return frozenset(p.get_name() for p in self.instance.domain.pymimir.get_static_predicates())

    def stored(self, number: int) -> State:
        """A state of the set, by its number there."""
        [found] = self._looked_up(self._by_number([number]), [number])[0]
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
        after, structures = self._looked_up([successor for _, successor in steps])
        values = self.distilled.values(structures)
        return [
            Successor(action, reached, float(value), reached.pymimir == state.pymimir)
            for (action, _), reached, value in zip(steps, after, values, strict=True)
        ]

    def steps(self, numbers: Sequence[int]) -> pd.DataFrame:
        """All actions in many states of the set at once: state, action, after, stays, v_star, network, value.

        `after` is the number of the state that the action leads to, or -1 if it is not in the set; what is
        not known of it is missing. V* is infinite without a way to the goal.
        """
        before = self._by_number(numbers)
        steps = [
            (number, action, after, after == state)
            for number, state in zip(numbers, before, strict=True)
            for action, after in sorted(self.instance.successors(state), key=lambda step: step[0])
        ]
        table = pd.DataFrame(
            [(number, action, stays) for number, action, _, stays in steps],
            columns=["state", "action", "stays"],
        )
        if not steps:
            return table.assign(after=-1, v_star=np.nan, network=np.nan, value=np.nan)
        collected, structures = self._collected([after for _, _, after, _ in steps])
        found = [self._find(collected, place) for place in range(len(steps))]
        after = np.array([-1 if one is None else one for one in found])
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

    def plan(self, state: State, max_steps: int = MAX_STEPS) -> GreedyPlan:
        """What the greedy policy of the value function does from a state."""

        def value(instance: Instance, states: Sequence[Any]) -> Array:
            return self.distilled.values(self._collected(states)[1])

        outcome = execute(self.instance, value, state.pymimir, max_steps)
        return GreedyPlan(outcome.status == SOLVED, outcome.plan, outcome.note)

    def along(self, state: State, actions: Sequence[str]) -> list[State]:
        """The states that a plan visits, the first included."""
        return self._looked_up(self.instance.follow(state.pymimir, actions))[0]

    def pddl(self, state: State) -> str:
        """The instance as PDDL, with the state as its initial state."""
        return self.instance.to_pddl(state.pymimir)

    def _collected(self, states: Sequence[Any]) -> tuple[DataSet, Structures]:
        found = collect(self.instance, states, np.zeros(len(states)))
        return found, found.structures(goal_marking=self.distilled.goal_marking)

    def _by_number(self, numbers: Sequence[int]) -> list[Any]:
        """States of the set as pymimir has them."""
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

    def _looked_up(
        self, states: Sequence[Any], numbers: Sequence[int] | None = None
    ) -> tuple[list[State], Structures]:
        """States with what the set knows of them, and all as structures; numbers are looked up if need be."""
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
        return found, structures

    def _find(self, collected: DataSet, place: int) -> int | None:
        """The number of an equal state of the set."""
        begin, end = collected.state_offsets[place : place + 2]
        atoms = _atoms_of(collected, collected.state_atoms[begin:end], self.objects)
        if any(atom not in self._atom_numbers for atom in atoms):
            return None
        numbers = np.sort(np.array([self._atom_numbers[atom] for atom in atoms], dtype=np.int32))
        return self._stored_as.get(numbers.tobytes())

    @cached_property
    def _atom_numbers(self) -> dict[tuple[str, ...], int]:
        """The number of each ground atom of the instance in the set."""
        begin, end = self.data.atom_offsets[self._number : self._number + 2].tolist()
        atoms = _atoms_of(self.data, slice(begin, end), self.objects)
        return {atom: number for number, atom in enumerate(atoms, start=begin)}

    @cached_property
    def _stored_as(self) -> dict[bytes, int]:
        """The first state of each set of changing atoms, which every set lists in ascending order."""
        first, last = np.searchsorted(self.data.state_instance, [self._number, self._number + 1]).tolist()
        atoms = self.data.state_atoms.astype(np.int32, copy=False)
        bounds = self.data.state_offsets[first : last + 1].tolist()
        found: dict[bytes, int] = {}
        for state, (begin, end) in enumerate(pairwise(bounds), start=first):
            found.setdefault(atoms[begin:end].tobytes(), state)
        return found


def best(values: Sequence[float | None], allowed: Sequence[bool]) -> list[bool]:
    """Which of some values are least, among those that are known and allowed.

    Examples
    --------
    >>> best([2.0, None, 1.0, 1.0, 0.0], [True, True, True, True, False])
    [False, False, True, True, False]
    """
    known = [one for one, may in zip(values, allowed, strict=True) if may and one is not None]
    least = min(known, default=0.0)
    return [
        may and one is not None and one <= least + EQUAL for one, may in zip(values, allowed, strict=True)
    ]


def subformulas(formula: Node) -> list[Truth]:
    """The parts of a formula that hold of objects, small ones first; what always holds is left out.

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
