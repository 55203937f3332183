"""Planning instances on sets of atoms."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import product
from typing import NamedTuple

from .errors import CannotCheckError
from .pddl import Atom, Domain, Effect, Literal, Types, read_problem

State = frozenset[Atom]
Binding = dict[str, str]
_MOST_BINDINGS = 1_000_000  # bindings of variables that are tried in an instance
_MOST_OBJECTS = 1_000


class Condition(NamedTuple):
    """Atoms that must hold and atoms that must not hold."""

    needs: State
    forbids: State

    def holds(self, state: State) -> bool:
        """Whether it holds in a state."""
        return self.needs <= state and not self.forbids & state


class GroundAction(NamedTuple):
    """A precondition, and for each effect its condition, and the atoms that it adds and deletes."""

    condition: Condition
    effects: list[tuple[Condition, Condition]]


class PlainInstance:
    """A planning instance on sets of atoms.

    Attributes
    ----------
    objects : their types, by name.
    start : the atoms of the initial state that actions can change.
    facts : the other atoms.
    goal : its literals.
    types : the types of each object, as atoms.

    Examples
    --------
    >>> from .pddl import read_domain
    >>> text = "(define (domain d) (:predicates (p ?x)) (:action a :parameters (?x) :effect (p ?x)))"
    >>> problem = "(define (problem e) (:domain d) (:objects b c) (:init (p b)) (:goal (p c)))"
    >>> instance = PlainInstance(read_domain(text), problem)
    >>> [sorted(state) for state in instance.successors(instance.start)]
    [[('p', 'b')], [('p', 'b'), ('p', 'c')]]
    """

    def __init__(self, domain: Domain, text: str) -> None:
        self.domain = domain
        problem = read_problem(domain, text)
        self.objects, self.goal = problem.objects, problem.goal
        if len(self.objects) > _MOST_OBJECTS:
            raise CannotCheckError(f"it has more than {_MOST_OBJECTS} objects")
        self.fluent = fluent_predicates(domain)
        self.start = frozenset(atom for atom in problem.init if atom[0] in self.fluent)
        self.facts = problem.init - self.start
        self.types = frozenset(
            (kind, name) for name, own in self.objects.items() for kind in _above(own, domain.supertypes)
        )

    @property
    def family(self) -> tuple[frozenset[tuple[str, str]], State, frozenset[Literal]]:
        """What all its states have in common: objects, facts and goal."""
        return frozenset(self.objects.items()), self.facts, frozenset(self.goal)

    @property
    def fixed_atoms(self) -> State:
        """What all its states have in common, as atoms: types, facts, the goal and the constants."""
        goal = {(f"{atom[0]}_{'G' if holds else 'nG'}", *atom[1:]) for atom, holds in self.goal}
        return self.facts | self.types | goal | {(f"is_{name}", name) for name in self.domain.constants}

    @property
    def goal_atoms(self) -> State:
        """The atoms that the goal names."""
        return frozenset(literal.atom for literal in self.goal)

    def is_goal(self, state: State) -> bool:
        """Whether the goal holds."""
        return all((atom in state or atom in self.facts) == holds for atom, holds in self.goal)

    def successors(self, state: State) -> list[State]:
        """The successor states, one for each applicable action; an atom that is added and deleted holds."""
        after = []
        for action in self.ground_actions:
            if action.condition.holds(state):
                changes = [change for condition, change in action.effects if condition.holds(state)]
                deleted = frozenset[Atom]().union(*(change.forbids for change in changes))
                after.append((state - deleted).union(*(change.needs for change in changes)))
        return after

    @cached_property
    def ground_actions(self) -> list[GroundAction]:
        """All ground actions whose static preconditions hold."""
        self._tried = 0
        actions = []
        for action in self.domain.actions:
            for binding in self._bindings(action.parameters, action.precondition, {}):
                effects = [one for effect in action.effects for one in self._ground(effect, binding)]
                actions.append(GroundAction(self._fluent(action.precondition, binding), effects))
        return actions

    def _ground(self, effect: Effect, outer: Binding) -> Iterator[tuple[Condition, Condition]]:
        for binding in self._bindings(effect.variables, effect.condition, outer):
            yield self._fluent(effect.condition, binding), self._fluent(effect.changes, binding)

    def _bindings(self, variables: Types, condition: list[Literal], outer: Binding) -> Iterator[Binding]:
        """All objects of the right types for some variables under which the static literals hold."""
        static = [literal for literal in condition if literal.atom[0] not in self.fluent]
        members = [self._of_type[kind] for kind in variables.values()]
        # A literal is tested once its last variable is bound.
        order = {name: place for place, name in enumerate(variables, 1)}
        due: list[list[Literal]] = [[] for _ in range(len(variables) + 1)]
        for literal in static:
            due[max((order.get(term, 0) for term in literal.atom[1:]), default=0)].append(literal)
        bindings: Iterable[Binding] = [outer] if self._hold(due[0], outer) else []
        for (name, literals), objects in zip(zip(variables, due[1:], strict=True), members, strict=True):
            bindings = [
                binding
                for old, choice in product(bindings, objects)
                if self._hold(literals, binding := {**old, name: choice})
            ]
        yield from bindings

    def _hold(self, static: list[Literal], binding: Binding) -> bool:
        self._tried += 1
        if self._tried > _MOST_BINDINGS:
            raise CannotCheckError(f"it has more than {_MOST_BINDINGS} bindings of variables to try")
        for literal in static:
            atom = _bound(literal.atom, binding)
            if (atom[1] == atom[2] if atom[0] == "=" else atom in self.facts) != literal.holds:
                return False
        return True

    def _fluent(self, literals: list[Literal], binding: Binding) -> Condition:
        atoms = [(_bound(atom, binding), holds) for atom, holds in literals if atom[0] in self.fluent]
        needs = frozenset(atom for atom, holds in atoms if holds)
        return Condition(needs, frozenset(atom for atom, holds in atoms if not holds))

    @cached_property
    def _of_type(self) -> dict[str, list[str]]:
        kinds = ["object", *self.domain.supertypes]
        return {
            kind: [name for name in self.objects if kind == "object" or (kind, name) in self.types]
            for kind in kinds
        }

    def structure(self, state: State) -> dict[str, set[Atom]]:
        """The interpretation of all predicates, including those of the goal."""
        atoms: dict[str, set[Atom]] = {}
        for name, *objects in state | self.fixed_atoms:
            atoms.setdefault(name, set()).add(tuple(objects))
        for (name, *objects), holds in self.goal:
            achieved = ((name, *objects) in state or (name, *objects) in self.facts) == holds
            marked = f"{name}_{'G' if holds else 'nG'},{'T' if achieved else 'F'}"
            atoms.setdefault(marked, set()).add(tuple(objects))
        return atoms


def fluent_predicates(domain: Domain) -> set[str]:
    """The predicates that actions change."""
    effects = [effect for action in domain.actions for effect in action.effects]
    return {literal.atom[0] for effect in effects for literal in effect.changes}


def condition_predicates(domain: Domain) -> set[str]:
    """The predicates in conditions of actions and of effects."""
    conditions = [literal for action in domain.actions for literal in action.precondition]
    for action in domain.actions:
        conditions += [literal for effect in action.effects for literal in effect.condition]
    return {literal.atom[0] for literal in conditions}


def vocabulary(domain: Domain, goal_marking: bool) -> dict[str, int]:
    """The arity of each predicate that a formula may use."""
    arities = dict(domain.predicates)
    for name, arity in domain.predicates.items():
        for goal in (f"{name}_G", f"{name}_nG"):
            arities[goal] = arity
            if goal_marking:
                arities |= {f"{goal},T": arity, f"{goal},F": arity}
    return arities | dict.fromkeys([*domain.supertypes, *(f"is_{name}" for name in domain.constants)], 1)


def _above(kind: str, supertypes: Types) -> Iterator[str]:
    while kind != "object":
        yield kind
        kind = supertypes[kind]


def _bound(atom: Atom, binding: Binding) -> Atom:
    return (atom[0], *[binding.get(term, term) for term in atom[1:]])
