"""Action schemas of a domain as plain data."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distill.planning.pddl import Domain

_OBJECT = "object"  # the type of all objects


@dataclass(frozen=True)
class Literal:
    """An atom over variables (`?x…`) and constants, and whether it holds."""

    name: str
    terms: tuple[str, ...]
    holds: bool


@dataclass(frozen=True)
class Condition:
    """Variables, and static and fluent literals over them.

    Positive static literals with many terms come first, since they leave the fewest bindings.
    """

    variables: tuple[str, ...]
    static: tuple[Literal, ...]
    fluent: tuple[Literal, ...]


@dataclass(frozen=True)
class Change:
    """A conditional effect; without a condition it always applies."""

    condition: Condition
    literals: tuple[Literal, ...]


@dataclass(frozen=True)
class Schema:
    """An action."""

    name: str
    condition: Condition
    changes: tuple[Change, ...]


def schemas_of(domain: "Domain") -> list[Schema]:
    """The actions of a domain.

    Examples
    --------
    >>> from distill.planning import problem_class
    >>> [(one.name, [str(l.name) for l in one.condition.fluent]) for one in
    ...  schemas_of(problem_class("visitall").domain)]
    [('move', ['at-robot'])]
    """
    return [
        Schema(
            action.get_name(),
            _condition(action, action.get_conjunctive_condition()),
            tuple(
                Change(
                    _condition(effect.get_conjunctive_condition(), effect.get_conjunctive_condition()),
                    _literals(effect.get_conjunctive_effect().get_literals()),
                )
                for effect in action.get_conditional_effects()
            ),
        )
        for action in domain.pymimir.get_actions()
    ]


def condition_predicates(schemas: Sequence[Schema]) -> set[str]:
    """The predicates in conditions of actions and of their effects."""
    conditions = [schema.condition for schema in schemas]
    conditions += [change.condition for schema in schemas for change in schema.changes]
    return {literal.name for condition in conditions for literal in (*condition.static, *condition.fluent)}


def _condition(holder: Any, condition: Any) -> Condition:
    static = [one for one in _literals(condition.get_static_literals()) if one.name != _OBJECT]
    static.sort(key=lambda one: (not one.holds or one.name == "=", -len(one.terms)))
    variables = tuple(parameter.get_variable().get_name() for parameter in holder.get_parameters())
    return Condition(variables, tuple(static), _literals(condition.get_fluent_literals()))


def _literals(literals: Iterable[Any]) -> tuple[Literal, ...]:
    return tuple(
        Literal(
            literal.get_atom().get_predicate().get_name(),
            tuple(term.get().get_name() for term in literal.get_atom().get_terms()),
            bool(literal.get_polarity()),
        )
        for literal in literals
    )
