"""An upper bound of the number of ground actions and atoms of an instance, known before grounding."""

from collections import defaultdict
from math import prod
from typing import TYPE_CHECKING

from distill.common import InputError
from distill.planning.schemas import Condition, Schema, schemas_of

if TYPE_CHECKING:
    from distill.planning.pddl import Instance

MOST_GROUND = 10**9
"""Ground actions of a schema, and ground atoms of a predicate, at most."""

_Facts = dict[str, set[tuple[str, ...]]]


def grounding_size(instance: "Instance") -> dict[str, int]:
    """Bounds of the numbers of ground actions of each schema and of ground atoms of each fluent predicate.

    Types and static preconditions restrict the objects. The bound is at least the true number.

    Examples
    --------
    >>> from distill.planning import problem_class
    >>> grounding_size(problem_class("gripper").make("train")[0])["the action pick"]
    16
    """
    facts: _Facts = defaultdict(set)
    for name, arguments in instance.facts:
        facts[name].add(arguments)
    n_objects = len(instance.objects)
    sizes = {
        f"the action {schema.name}": max(_bindings(one, facts, n_objects) for one in _conditions(schema))
        for schema in schemas_of(instance.domain)
    }
    for predicate in instance.domain.pymimir.get_fluent_predicates():
        kinds = [[base.get_name() for base in one.get_bases()] for one in predicate.get_parameters()]
        counts = (
            n_objects if not bases or "object" in bases else sum(len(facts[base]) for base in bases)
            for bases in kinds
        )
        sizes[f"the predicate {predicate.get_name()}"] = prod(counts)
    return sizes


def refuse_large_grounding(instance: "Instance", most: int = MOST_GROUND) -> None:
    """Refuse an instance that may have too many ground actions or atoms."""
    what, size = max(grounding_size(instance).items(), key=lambda one: one[1], default=("", 0))
    if size > most:
        raise InputError(
            f"{instance.source}: with {len(instance.objects)} objects, {what} has up to {size:,} ground "
            f"instances, and at most {most:,} are accepted; give fewer objects, or fewer parameters."
        )


def _conditions(schema: Schema) -> list[Condition]:
    """The condition of an action, and those of its effects together with it."""
    own = schema.condition
    inner = [change.condition for change in schema.changes if change.condition.variables]
    return [own] + [
        Condition(tuple({*own.variables, *one.variables}), own.static + one.static, ()) for one in inner
    ]


def _bindings(condition: Condition, facts: _Facts, n_objects: int) -> int:
    """A bound of the number of bindings of the variables of a condition."""
    positive = [one for one in condition.static if one.holds and one.name != "="]
    domain = dict.fromkeys(condition.variables, n_objects)
    for literal in positive:
        for place, term in enumerate(literal.terms):
            if term in domain:
                domain[term] = min(domain[term], len({fact[place] for fact in facts[literal.name]}))
    # Literals with many terms come first: each binds all its new variables at once.
    size, bound = 1, set[str]()
    for literal in positive:
        new = {term for term in literal.terms if term in domain} - bound
        together = min(
            prod(domain[term] for term in new), _extensions(literal.terms, bound, facts[literal.name])
        )
        size, bound = size * together, bound | new
    return size * prod(count for term, count in domain.items() if term not in bound)


def _extensions(terms: tuple[str, ...], bound: set[str], facts: set[tuple[str, ...]]) -> int:
    """The largest number of facts that agree in the places of bound variables."""
    places = [place for place, term in enumerate(terms) if term in bound]
    counts: dict[tuple[str, ...], int] = defaultdict(int)
    for fact in facts:
        counts[tuple(fact[place] for place in places)] += 1
    return max(counts.values(), default=0)
