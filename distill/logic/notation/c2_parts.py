"""Parts of C2 formulas with at most two free variables, and their combinations."""

from dataclasses import dataclass, replace

from distill.logic.syntax.formulas import And, Modal, Not, Or, Top, Truth
from distill.logic.syntax.relations import Identity, Relation, RelationAnd, RelationNot, RelationOr


@dataclass(frozen=True)
class Part:
    """A formula with its free variables.

    Attributes
    ----------
    variable : the free variable of a `truth`; none if it is a sentence.
    truth : a formula about objects.
    sentence : the same as a formula about states, if there is no free variable.
    outer : the variables that its outermost quantifiers bind, if there is no free one.
    relation : from the first variable to the second, if the part is a relation.
    operator, parts : a combination of different kinds: `&`, `|` or `~`.
    """

    variable: str | None = None
    truth: Truth | None = None
    sentence: Truth | None = None
    outer: frozenset[str] = frozenset()
    relation: Relation | None = None
    operator: str = ""
    parts: tuple["Part", ...] = ()


def related(relation: Relation, variables: list[str]) -> Part:
    """A relation between two variables; the same one twice gives a formula about it."""
    if variables[0] == variables[1]:
        return Part(variable=variables[0], truth=Modal(RelationAnd(relation, Identity()), Top()))
    return Part(relation=relation if variables[0] < variables[1] else relation.inverse())


def negated(part: Part) -> Part:
    """The negation of a part."""
    if part.operator == "~":
        return part.parts[0]
    if part.operator:
        return Part(operator="~", parts=(part,))
    return replace(
        part,
        truth=None if part.truth is None else Not(part.truth),
        sentence=None if part.sentence is None else Not(part.sentence),
        relation=None if part.relation is None else RelationNot(part.relation),
    )


def joined(operator: str, parts: list[Part]) -> Part:
    """Parts joined by `&` or `|`; parts of one kind give one part."""
    join, join_relations = (And, RelationAnd) if operator == "&" else (Or, RelationOr)
    variables = {part.variable for part in parts} - {None}
    truths = [part.truth for part in parts if part.truth is not None]
    if len(truths) == len(parts) and len(variables) < 2:
        sentences = [part.sentence for part in parts if part.sentence is not None]
        return Part(
            variable=next(iter(variables), None),
            truth=join(*truths),
            sentence=join(*sentences) if len(sentences) == len(parts) else None,
            outer=frozenset().union(*(part.outer for part in parts)),
        )
    relations = [part.relation for part in parts if part.relation is not None]
    if len(relations) == len(parts):
        return Part(relation=join_relations(*relations))
    flat = [one for part in parts for one in (part.parts if part.operator == operator else (part,))]
    return Part(operator=operator, parts=tuple(flat))


def in_order(whole: Part) -> list[Part]:
    """All parts, each once, operands before operators."""
    found: list[Part] = []
    seen: set[int] = set()
    todo: list[tuple[Part, bool]] = [(whole, False)]
    while todo:
        part, done = todo.pop()
        if done:
            found.append(part)
        elif id(part) not in seen:
            seen.add(id(part))
            todo.append((part, True))
            todo += [(one, False) for one in part.parts]
    return found


def evaluated(order: list[Part], known: dict[tuple[Truth, bool], bool], variable: str) -> Relation | bool:
    """The value of a combination for known truths: a relation, or a constant."""
    values: dict[int, Relation | bool] = {}
    for part in order:
        inner = [values[id(one)] for one in part.parts]
        if part.relation is not None:
            found: Relation | bool = part.relation
        elif part.truth is not None:
            found = known[part.truth, part.variable == variable]
        elif part.operator == "~":
            found = RelationNot(inner[0]) if isinstance(inner[0], Relation) else not inner[0]
        else:
            decided = part.operator == "|"
            relations = [one for one in inner if isinstance(one, Relation)]
            if any(one is decided for one in inner):
                found = decided
            elif relations:
                found = (RelationOr if decided else RelationAnd)(*relations)
            else:
                found = not decided
        values[id(part)] = found
    return values[id(order[-1])]


def literals(truths: list[Truth], holds: tuple[bool, ...]) -> list[Truth]:
    """Each truth, or its negation if it does not hold."""
    return [truth if own else Not(truth) for truth, own in zip(truths, holds, strict=True)]


def all_of(truths: list[Truth]) -> Truth:
    """The conjunction; ⊤ of no operands."""
    return And(*truths) if truths else Top()
