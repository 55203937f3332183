"""Plan validation: actions are replayed on sets of atoms by the semantics of PDDL.

It is independent of a planner's successor generator, so it detects errors there. Only derived atoms are
computed by pymimir.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pymimir.advanced.formalism as formalism

from distill.planning.pddl import Instance, atom_of, literal_text

Atom = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Verdict:
    """The result of replaying a plan.

    Attributes
    ----------
    valid : whether every action was applicable in turn and the goal holds at the end.
    reason : the first error of the plan; empty if it is valid.
    """

    valid: bool
    reason: str = ""


def validate(instance: Instance, plan: Sequence[str]) -> Verdict:
    """Replay `plan` from the instance's initial state.

    Parameters
    ----------
    plan : actions as in a plan file, for example `(unstack b1 b2)`.

    Examples
    --------
    >>> from distill.planning import find_plan, problem_class
    >>> instance = problem_class("blocks-clear").make("train")[7]
    >>> plan = find_plan("astar", instance).plan
    >>> validate(instance, plan).valid, validate(instance, plan[1:]).valid
    (True, False)
    """
    replay = _Replay(instance)
    atoms = frozenset(atom_of(atom) for atom in instance.problem.get_fluent_initial_atoms())
    for number, action in enumerate(plan, start=1):
        after = replay.apply(atoms, action)
        if isinstance(after, str):
            return Verdict(False, f"step {number}, {action}: {after}")
        atoms = after
    holding = replay.all_atoms(atoms)
    for name, arguments, wanted in instance.goals:
        if ((name, arguments) in holding) != wanted:
            return Verdict(False, f"at the end {literal_text(name, arguments, wanted)} does not hold")
    return Verdict(True)


class _Replay:
    """Action semantics over sets of atoms."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._objects = instance.objects
        self._static = {atom_of(atom) for atom in instance.problem.get_static_initial_atoms()}
        self._actions = {action.get_name(): action for action in instance.domain.pymimir.get_actions()}

    def all_atoms(self, fluent: frozenset[Atom]) -> set[Atom]:
        """The fluent, static and derived atoms of a state."""
        return {*fluent, *self._static, *self._derived(fluent)}

    def apply(self, fluent: frozenset[Atom], action: str) -> frozenset[Atom] | str:
        """The fluent atoms of the next state, or the reason why the action is not applicable."""
        name, *arguments = action.strip("() \n").lower().split() or [""]
        if name not in self._actions:
            return "there is no such action"
        schema = self._actions[name]
        variables = [parameter.get_variable().get_name() for parameter in schema.get_parameters()]
        if len(arguments) != len(variables):
            return f"it takes {len(variables)} objects, not {len(arguments)}"
        if unknown := [argument for argument in arguments if argument not in self._objects]:
            return f"there is no object {unknown[0]}"
        binding = dict(zip(variables, arguments, strict=True))
        holding = self.all_atoms(fluent)
        if failed := _first_failure(schema.get_conjunctive_condition(), binding, holding):
            return f"{failed} does not hold"
        added: set[Atom] = set()
        deleted: set[Atom] = set()
        for effect in schema.get_conditional_effects():
            for inner in self._bindings(effect.get_conjunctive_condition(), binding, holding):
                for literal in effect.get_conjunctive_effect().get_literals():
                    (added if literal.get_polarity() else deleted).add(_grounded(literal.get_atom(), inner))
        return (fluent - deleted) | added

    def _bindings(
        self, condition: Any, outer: Mapping[str, str], holding: set[Atom]
    ) -> Iterator[dict[str, str]]:
        """All bindings of an effect's own variables under which its condition holds."""
        names = [parameter.get_variable().get_name() for parameter in condition.get_parameters()]
        own = [name for name in names if name not in outer]
        for objects in itertools.product(self._objects, repeat=len(own)):
            binding = {**outer, **dict(zip(own, objects, strict=True))}
            if _first_failure(condition, binding, holding) is None:
                yield binding

    @cached_property
    def _has_derived(self) -> bool:
        return len(self._instance.problem.get_problem_and_domain_derived_predicates()) > 0

    def _derived(self, fluent: frozenset[Atom]) -> set[Atom]:
        if not self._has_derived:
            return set()
        problem = self._instance.problem
        # pymimir's own maps by name abort the process.
        objects = {obj.get_name(): obj for obj in problem.get_problem_and_domain_objects()}
        predicates = {p.get_name(): p for p in self._instance.domain.pymimir.get_fluent_predicates()}
        ground = [
            problem.get_or_create_ground_atom(
                predicates[name], formalism.ObjectList([objects[argument] for argument in arguments])
            )
            for name, arguments in sorted(fluent)
        ]
        repository = self._instance.context.get_state_repository()
        state, _ = repository.get_or_create_state(formalism.FluentGroundAtomList(ground), [])
        look_up = problem.get_repositories().get_derived_ground_atom
        return {atom_of(look_up(index)) for index in state.get_derived_atoms()}


def _first_failure(condition: Any, binding: Mapping[str, str], holding: set[Atom]) -> str | None:
    """The first literal of a condition that does not hold, as text."""
    literals = itertools.chain(
        condition.get_static_literals(), condition.get_fluent_literals(), condition.get_derived_literals()
    )
    for literal in literals:
        name, arguments = _grounded(literal.get_atom(), binding)
        holds = arguments[0] == arguments[1] if name == "=" else (name, arguments) in holding
        if holds != literal.get_polarity():
            return literal_text(name, arguments, literal.get_polarity())
    return None


def _grounded(atom: Any, binding: Mapping[str, str]) -> Atom:
    names = (term.get().get_name() for term in atom.get_terms())
    return atom.get_predicate().get_name(), tuple(binding.get(name, name) for name in names)
