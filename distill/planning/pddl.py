"""Domains, instances and states in PDDL, parsed by pymimir."""

import contextlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import pymimir.advanced.formalism as formalism
import pymimir.advanced.search as search

from distill.common import InputError, read_text
from distill.planning.grounding_size import refuse_large_grounding
from distill.planning.language import check_domain, check_problem
from distill.planning.supervision import included_domains, try_to_parse
from distill.structures import GOAL, GOAL_ABSENT, Predicate, Vocabulary

# pymimir adds these as static predicates; a structure contains their information already.
_BUILT_IN = {"object", "number", "="}


class Domain:
    """A planning domain.

    Attributes
    ----------
    text : the PDDL, in lower case (PDDL is case-insensitive) and without comments.
    source : its file, for messages.

    Examples
    --------
    >>> domain = Domain("(define (domain d) (:predicates (on ?x ?y)) (:action a :parameters (?x)"
    ...                 " :precondition (on ?x ?x) :effect (not (on ?x ?x))))")
    >>> [p.name for p in domain.vocabulary()]
    ['on', 'on_G']
    """

    def __init__(self, text: str, source: str = "domain.pddl") -> None:
        self.declared = check_domain(text, source)
        self.text = plain_pddl(text)
        self.source = source
        try_to_parse(self.text, None, source)
        with _readable_errors(source):
            self._parser = formalism.Parser(self.text, source, formalism.ParserOptions())
        self.pymimir = self._parser.get_domain()
        if len(self.pymimir.get_fluent_functions()) > 0:
            raise InputError(
                f"{source} uses numeric fluents, which are not supported; only STRIPS with types, negative "
                "preconditions, equality, constants and derived predicates can be read."
            )

    @staticmethod
    def read(path: Path) -> "Domain":
        """Read a domain file."""
        return Domain(read_text(path), str(path))

    def __reduce__(self) -> tuple[type["Domain"], tuple[str, str]]:
        return Domain, (self.text, self.source)

    def parse(self, text: str, source: str) -> Any:
        """Parse the PDDL of an instance into a pymimir problem."""
        with _readable_errors(source):
            return self._parser.parse_problem(text, source, formalism.ParserOptions())

    @cached_property
    def constants(self) -> tuple[str, ...]:
        """The names of the domain's constants."""
        return tuple(constant.get_name() for constant in self.pymimir.get_constants())

    def vocabulary(self, absent_goals: Iterable[str] = ()) -> Vocabulary:
        """The predicates of the domain's structures.

        Parameters
        ----------
        absent_goals : predicates that occur negated in goals; only these have a goal version `p_nG`.
        """
        listed = [
            *self.pymimir.get_fluent_predicates(),
            *self.pymimir.get_derived_predicates(),
            *self.pymimir.get_static_predicates(),
        ]
        facts, types = [], []
        for predicate in listed:
            name, arity = predicate.get_name(), predicate.get_arity()
            if _is_type(predicate):
                types.append(Predicate(name, 1, "type"))
            elif name not in _BUILT_IN and self._mentions(name):
                facts.append(Predicate(name, arity, "state" if arity else "nullary"))
        types = [predicate for predicate in types if predicate.name not in _BUILT_IN]
        goals = [Predicate(fact.name + GOAL, fact.arity, "goal") for fact in facts]
        arity_of = {fact.name: fact.arity for fact in facts}
        goals += [Predicate(name + GOAL_ABSENT, arity_of[name], "goal") for name in set(absent_goals)]
        constants = [Predicate(f"is_{name}", 1, "constant") for name in self.constants]
        return Vocabulary.in_order([*facts, *goals, *types, *constants])

    def _mentions(self, name: str) -> bool:
        """Whether the PDDL contains this predicate; pymimir adds others for quantified conditions."""
        return re.search(rf"\(\s*{re.escape(name)}[\s)]", self.text) is not None


@dataclass(frozen=True, eq=False)
class Instance:
    """A planning instance.

    Attributes
    ----------
    domain : its domain.
    name : the name of its file, or the name from its generator.
    text : the PDDL, in lower case and without comments.
    parameters : the parameters of its generator; empty for files.
    source : its file, for messages.
    """

    domain: Domain
    name: str
    text: str
    parameters: Mapping[str, Any]
    source: str

    def __init__(
        self,
        domain: Domain,
        text: str,
        name: str,
        parameters: Mapping[str, Any] | None = None,
        source: str | None = None,
        *,
        generated: bool = False,
    ) -> None:
        object.__setattr__(self, "domain", domain)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "source", source or name)
        check_problem(domain.declared, text, self.source)
        object.__setattr__(self, "text", plain_pddl(text))
        object.__setattr__(self, "parameters", dict(parameters or {}))
        # What a generator of the package makes for a domain of the package does not harm the parser.
        if not (generated and domain.text in included_domains()):
            try_to_parse(domain.text, self.text, self.source)
        known = {predicate.get_name() for predicate in domain.pymimir.get_derived_predicates()}
        if any(atom_of(goal.get_atom())[0] not in known for goal in self.problem.get_derived_goal_literals()):
            raise InputError(
                f"{self.source}: the goal is not a conjunction of literals, which is required; state "
                "it as a derived predicate of the domain."
            )

    @staticmethod
    def read(domain: Domain, path: Path) -> "Instance":
        """Read an instance file."""
        return Instance(domain, read_text(path), path.name, source=str(path))

    def __reduce__(self) -> tuple[type["Instance"], tuple[Any, ...]]:
        return Instance, (self.domain, self.text, self.name, self.parameters, self.source)

    @cached_property
    def problem(self) -> Any:
        """The pymimir problem."""
        return self.domain.parse(self.text, self.source)

    @cached_property
    def context(self) -> Any:
        """The pymimir search context: successor generator and state repository."""
        refuse_large_grounding(self)
        return search.SearchContext.create(
            self.problem, search.SearchContextOptions(search.LiftedOptions(search.LiftedKPKCOptions()))
        )

    @cached_property
    def max_heuristic(self) -> Any:
        """The heuristic h_max for this instance."""
        refuse_large_grounding(self)
        with silent_stdout():
            return search.MaxHeuristic.create(search.LiftedGrounder(self.problem))

    @cached_property
    def objects(self) -> tuple[str, ...]:
        """Names of all objects, the domain's constants included."""
        return tuple(obj.get_name() for obj in self.problem.get_problem_and_domain_objects())

    @cached_property
    def goals(self) -> tuple[tuple[str, tuple[str, ...], bool], ...]:
        """The goal literals: predicate, object names, and whether the literal is positive."""
        literals = [
            *self.problem.get_fluent_goal_literals(),
            *self.problem.get_derived_goal_literals(),
            *self.problem.get_static_goal_literals(),
        ]
        return tuple((*atom_of(literal.get_atom()), literal.get_polarity()) for literal in literals)

    @cached_property
    def facts(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The static atoms, types included; they hold in every state."""
        atoms = (atom_of(atom) for atom in self.problem.get_static_initial_atoms())
        return tuple(atom for atom in atoms if atom[0] not in _BUILT_IN)

    @property
    def initial_state(self) -> Any:
        """The initial state, as a pymimir state."""
        return self.context.get_state_repository().get_or_create_initial_state()[0]

    @cached_property
    def _goal_test(self) -> Any:
        return search.ProblemGoalStrategy.create(self.problem)

    def is_goal(self, state: Any) -> bool:
        """Whether a pymimir state satisfies the goal."""
        return bool(self._goal_test.test_static_goal() and self._goal_test.test_dynamic_goal(state))

    def successors(self, state: Any) -> Iterator[tuple[str, Any]]:
        """Applicable actions, as in a plan file, with the successors."""
        repository = self.context.get_state_repository()
        for action in self.context.get_applicable_action_generator().generate_applicable_actions(state):
            successor, _ = repository.get_or_create_successor_state(state, action, 0.0)
            yield action.to_string_for_plan(self.problem), successor

    def fluent_atoms(self, state: Any) -> list[tuple[str, tuple[str, ...]]]:
        """The fluent atoms of a pymimir state."""
        repositories = self.problem.get_repositories()
        return [atom_of(repositories.get_fluent_ground_atom(index)) for index in state.get_fluent_atoms()]

    def follow(self, state: Any, plan: Iterable[str]) -> list[Any]:
        """The states that a plan visits, the first included."""
        visited = [state]
        for action in plan:
            successor = next((after for name, after in self.successors(visited[-1]) if name == action), None)
            if successor is None:
                raise InputError(
                    f"{self.name}: the plan's action {action} is not applicable; check the plan."
                )
            visited.append(successor)
        return visited

    def to_pddl(self, state: Any) -> str:
        """The instance as PDDL, with `state` as its initial state."""
        constants = set(self.domain.constants)
        typed = ":typing" in self.domain.text
        objects = []
        for obj in self.problem.get_problem_and_domain_objects():
            if obj.get_name() not in constants:
                kind = f" - {obj.get_bases()[0].get_name()}" if typed else ""
                objects.append(obj.get_name() + kind)
        types = {p.name for p in self.domain.vocabulary() if p.role == "type"}
        facts = [fact for fact in self.facts if fact[0] not in types]
        lines = [
            f"(define (problem {self.problem.get_name()})",
            f" (:domain {self.domain.pymimir.get_name()})",
            f" (:objects {' '.join(objects)})",
            " (:init",
            *(f"  {literal_text(*atom)}" for atom in [*facts, *sorted(self.fluent_atoms(state))]),
            " )",
            f" (:goal (and {' '.join(literal_text(*goal) for goal in self.goals)})))",
        ]
        return "\n".join(lines) + "\n"


def atom_of(atom: Any) -> tuple[str, tuple[str, ...]]:
    """Predicate and object names of a pymimir ground atom."""
    return atom.get_predicate().get_name(), tuple(obj.get_name() for obj in atom.get_objects())


def literal_text(name: str, arguments: Iterable[str], holds: bool = True) -> str:
    """A literal in PDDL."""
    atom = f"({' '.join([name, *arguments])})"
    return atom if holds else f"(not {atom})"


def plain_pddl(text: str) -> str:
    """PDDL in lower case and without comments; line numbers do not change.

    Examples
    --------
    >>> plain_pddl("(:init (ON a B)) ; two blocks")
    '(:init (on a b)) '
    """
    return re.sub(r";[^\n]*", "", text).lower()


def instance_files(folder: Path) -> list[Path]:
    """The instance files of a folder: all `.pddl` files except the domain, in natural order."""
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}; give a folder of PDDL instances.")
    files = [path for path in folder.glob("*.pddl") if "domain" not in path.stem.lower()]
    files = [path for path in files if not path.name.startswith(".")]
    if not files:
        raise InputError(f"The folder {folder} holds no PDDL instances (*.pddl); give another one.")
    return sorted(
        files, key=lambda path: [int(t) if t.isdigit() else t for t in re.split(r"(\d+)", path.name)]
    )


@contextlib.contextmanager
def silent_stdout() -> Iterator[None]:
    """Discard what C++ code, such as pymimir's grounder, prints to standard output."""
    sys.stdout.flush()
    kept = os.dup(1)
    with Path(os.devnull).open("wb") as sink:
        os.dup2(sink.fileno(), 1)
        try:
            yield
        finally:
            os.dup2(kept, 1)
            os.close(kept)


def _is_type(predicate: Any) -> bool:
    if predicate.get_arity() != 1:
        return False
    bases = predicate.get_parameters()[0].get_bases()
    return predicate.get_name() in {base.get_name() for base in bases}


@contextlib.contextmanager
def _readable_errors(source: str) -> Iterator[None]:
    try:
        yield
    except (RuntimeError, ValueError, IndexError) as error:
        raise InputError(_one_sentence(str(error), source)) from error


def _one_sentence(message: str, source: str) -> str:
    where = re.search(r"line (\d+)", message)
    place = f"{source}, line {where[1]}" if where else source
    lines = [line.strip() for line in message.splitlines() if line.strip() and not line.startswith("In file")]
    first = re.sub(r"^Error!\s*", "", lines[0]) if lines else "it is not PDDL"
    reason = first.removesuffix(" here:").rstrip(".:")
    if re.search(r"::|\bN\d|bad ", reason):  # about the parser and not about the PDDL
        reason = "it cannot be read, perhaps because two alternatives of a condition are the same"
    near = _marked_text(message)
    return f"{place}: {reason}{f' at {near!r}' if near else ''}; correct the PDDL."


def _marked_text(message: str) -> str:
    """The PDDL at which pymimir's parser reports the error."""
    for above, below in pairwise(message.splitlines()):
        arrow = re.match(r"^(_*)\^_", below) or re.match(r"^(\s*)~+ <<-- Here", below)
        if arrow:
            return above[len(arrow[1]) :][:40].strip()
    return ""
