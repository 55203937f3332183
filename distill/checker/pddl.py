"""A strict reader of PDDL: STRIPS with types, constants, equality, negation and conditional effects.

Everything else is refused by name, so that nothing is read otherwise than it is written.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from .errors import CannotCheckError, shown

Atom = tuple[str, ...]
Types = dict[str, str]

_WORD = re.compile(r"[?:]?[a-z][a-z0-9_-]*|[-=]")
_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_VARIABLE = re.compile(r"\?[a-z][a-z0-9_-]*")
_RESERVED = {
    "and",
    "or",
    "not",
    "imply",
    "exists",
    "forall",
    "when",
    "either",
    "object",
    "number",
    "increase",
}
_DEEPEST = 100
_MOST_TYPES = 1_000


class Literal(NamedTuple):
    """An atom over variables and objects, and whether it must hold."""

    atom: Atom
    holds: bool


class Effect(NamedTuple):
    """For all objects in place of the variables: if the condition holds, the changes are made."""

    variables: Types
    condition: list[Literal]
    changes: list[Literal]


class Action(NamedTuple):
    """An action schema."""

    name: str
    parameters: Types
    precondition: list[Literal]
    effects: list[Effect]


@dataclass(frozen=True)
class Domain:
    """A domain: supertypes, constants with their types, arities of predicates, and actions."""

    name: str
    supertypes: Types
    constants: Types
    predicates: dict[str, int]
    actions: list[Action]


@dataclass(frozen=True)
class Problem:
    """An instance: objects with their types (constants included), the atoms that hold, and the goal."""

    objects: Types
    init: frozenset[Atom]
    goal: list[Literal]


def parse(text: str) -> list[Any]:
    """PDDL as nested lists of words: one pair of brackets, and nothing after it.

    Examples
    --------
    >>> parse("(:init (on a b)) ; two blocks")
    [':init', ['on', 'a', 'b']]
    """
    text = re.sub(r";[^\n]*", "", text)
    if not text.isascii():
        raise CannotCheckError("the PDDL has characters that are not ASCII")
    stack: list[list[Any]] = [[]]
    for word in re.findall(r"[()]|[^ \t\r\n()]+", text.lower()):
        if len(stack) == 1 and stack[0]:
            raise CannotCheckError(f"the PDDL goes on after its last bracket, with {shown(word)}")
        if word == "(":
            stack.append([])
            if len(stack) > _DEEPEST:
                raise CannotCheckError(f"the PDDL has more than {_DEEPEST} nested brackets")
        elif word == ")":
            if len(stack) == 1:
                raise CannotCheckError("the PDDL has a bracket that closes nothing")
            inner = stack.pop()
            stack[-1].append(inner)
        elif not _WORD.fullmatch(word):
            raise CannotCheckError(f"the PDDL has {shown(word)}, which is no name")
        else:
            stack[-1].append(word)
    if len(stack) > 1 or not stack[0] or isinstance(stack[0][0], str):
        raise CannotCheckError("the PDDL is not one expression in brackets")
    return stack[0][0]  # type: ignore[no-any-return]


def types_of(words: list[Any], known: Collection[str], *, variables: bool = False) -> Types:
    """The type of each name in a list such as `a b - block c`.

    Examples
    --------
    >>> types_of(["a", "b", "-", "block", "c"], {"block"})
    {'a': 'block', 'b': 'block', 'c': 'object'}
    """
    types: Types = {}
    names: dict[str, None] = {}
    rest = iter(words)
    for word in rest:
        if word == "-":
            kind = next(rest, "")
            if isinstance(kind, list):
                raise CannotCheckError(f"the PDDL has the type {_written(kind)}, which cannot be checked")
            if not names or (kind != "object" and kind not in known):
                raise CannotCheckError(f"the PDDL has no type {shown(kind)}")
            types |= dict.fromkeys(names, kind)
            names = {}
        elif isinstance(word, list) or not (_VARIABLE if variables else _NAME).fullmatch(word):
            due = "variable" if variables else "name"
            raise CannotCheckError(f"the PDDL lists {_written(word)}, which is no {due}")
        elif word in types or word in names:
            raise CannotCheckError(f"the PDDL lists {word} twice")
        else:
            names[word] = None
    return types | dict.fromkeys(names, "object")


def read_domain(text: str) -> Domain:
    """Read a domain.

    Examples
    --------
    >>> read_domain("(define (domain d) (:predicates (p ?x)) (:action a :effect (and)))").predicates
    {'p': 1}
    """
    name, sections, actions = _sections(text, "domain", (":types", ":constants", ":predicates"))
    words = sections.get(":types", [])
    supertypes = types_of(words, {word for word in words if isinstance(word, str)})
    if len(supertypes) > _MOST_TYPES:
        raise CannotCheckError(f"the PDDL has more than {_MOST_TYPES} types")
    for kind in supertypes:
        _check_free(kind, ())
        above, steps = kind, 0
        while above != "object":
            # A type that is never declared or is its own supertype.
            if above not in supertypes or steps > len(supertypes):
                raise CannotCheckError(f"the PDDL does not say what the type {kind} is")
            above, steps = supertypes[above], steps + 1
    constants = types_of(sections.get(":constants", []), supertypes)
    predicates: dict[str, int] = {}
    taken = {*supertypes, *(f"is_{name}" for name in constants)}
    for one in sections.get(":predicates", []):
        if not isinstance(one, list) or not one or not isinstance(one[0], str) or not _NAME.fullmatch(one[0]):
            raise CannotCheckError(f"the PDDL declares {_written(one)}, which is no predicate")
        _check_free(one[0], taken)
        taken.add(one[0])
        predicates[one[0]] = len(types_of(one[1:], supertypes, variables=True))
    known = Domain(name, supertypes, constants, predicates, [])
    for one in actions:
        known.actions.append(_action(one, known))
    if len({action.name for action in known.actions}) < len(known.actions):
        raise CannotCheckError("the PDDL has two actions of one name")
    return known


def read_problem(domain: Domain, text: str) -> Problem:
    """Read an instance of a domain."""
    _, sections, _ = _sections(text, "problem", (":domain", ":objects", ":init", ":goal"))
    for needed in (":domain", ":init", ":goal"):
        if needed not in sections:
            raise CannotCheckError(f"the PDDL of an instance has no {needed}")
    if sections[":domain"] != [domain.name]:
        raise CannotCheckError(f"the PDDL of an instance is not of the domain {domain.name}")
    objects = types_of(sections.get(":objects", []), domain.supertypes)
    if repeated := objects.keys() & domain.constants.keys():
        raise CannotCheckError(f"the PDDL lists {min(repeated)} as an object and as a constant")
    objects |= domain.constants
    init = []
    for part in sections[":init"]:
        literal = _literal(part, domain.predicates, objects)
        if not literal.holds:
            raise CannotCheckError("the PDDL has not in its initial state, which cannot be checked")
        init.append(literal.atom)
    if len(sections[":goal"]) != 1:
        raise CannotCheckError("the PDDL of an instance needs one goal")
    goal = [_literal(part, domain.predicates, objects) for part in _conjuncts(sections[":goal"][0])]
    return Problem(objects, frozenset(init), goal)


def read_atom(text: str, domain: Domain, objects: Collection[str]) -> Atom:
    """Read a ground atom, such as `(on a b)`."""
    literal = _literal(parse(text), domain.predicates, objects)
    if not literal.holds:
        raise CannotCheckError(f"{shown(text)} is no atom")
    return literal.atom


def _sections(text: str, kind: str, known: tuple[str, ...]) -> tuple[str, dict[str, Any], list[Any]]:
    """The name of a domain or an instance, its sections by name, and its actions."""
    match parse(text):
        case ["define", [head, str(name)], *parts] if head == kind and _NAME.fullmatch(name):
            pass
        case _:
            raise CannotCheckError(f"the PDDL does not begin with (define ({kind} NAME)")
    sections: dict[str, Any] = {}
    actions = []
    for part in parts:
        if not isinstance(part, list) or not part or not isinstance(part[0], str):
            raise CannotCheckError(f"the PDDL has {_written(part)} where a section is due")
        if part[0] == ":action" and kind == "domain":
            actions.append(part)
        elif part[0] in sections or part[0] not in (*known, ":requirements"):
            raise CannotCheckError(f"the PDDL has a section {part[0]} that cannot be checked")
        else:
            sections[part[0]] = part[1:]
    return name, sections, actions


def _action(parts: list[Any], domain: Domain) -> Action:
    match parts:
        case [_, str(name), *rest] if _NAME.fullmatch(name) and len(rest) % 2 == 0:
            pass
        case _:
            raise CannotCheckError(f"the PDDL has an action that cannot be checked: {_written(parts)}")
    entries = {}
    for key, content in zip(rest[::2], rest[1::2], strict=True):
        if key not in (":parameters", ":precondition", ":effect") or key in entries:
            raise CannotCheckError(f"the PDDL has {_written(key)} in the action {name}")
        if not isinstance(content, list):
            raise CannotCheckError(f"the PDDL has {_written(content)} in the action {name}")
        entries[key] = content
    parameters = types_of(entries.get(":parameters", []), domain.supertypes, variables=True)
    terms = {*parameters, *domain.constants}
    condition = _conjuncts(entries.get(":precondition", []))
    precondition = [_literal(part, domain.predicates, terms, equality=True) for part in condition]
    effects = list(_effects(entries.get(":effect", []), domain, parameters, {}))
    return Action(name, parameters, precondition, effects)


def _effects(effect: list[Any], domain: Domain, parameters: Types, inner: Types) -> Iterator[Effect]:
    terms = {*parameters, *inner, *domain.constants}
    for part in _conjuncts(effect):
        match part:
            case ["forall", list(words), list(inside)]:
                variables = types_of(words, domain.supertypes, variables=True)
                if repeated := variables.keys() & {*parameters, *inner}:
                    raise CannotCheckError(f"the PDDL names two variables {min(repeated)}")
                yield from _effects(inside, domain, parameters, inner | variables)
            case ["when", list(condition), list(changes)]:
                needed = [
                    _literal(one, domain.predicates, terms, equality=True) for one in _conjuncts(condition)
                ]
                changed = [_literal(one, domain.predicates, terms) for one in _conjuncts(changes)]
                yield Effect(inner, needed, changed)
            case _:
                yield Effect(inner, [], [_literal(part, domain.predicates, terms)])


def _conjuncts(formula: Any) -> list[Any]:
    """The parts of a conjunction; a single literal is a conjunction with one part."""
    if not isinstance(formula, list):
        raise CannotCheckError(f"the PDDL has {_written(formula)} where a literal is due")
    if formula and formula[0] == "and":
        return [one for part in formula[1:] for one in _conjuncts(part)]
    return [formula] if formula else []


def _literal(
    part: Any, predicates: dict[str, int], terms: Collection[str], *, equality: bool = False
) -> Literal:
    match part:
        case ["not", [str(name), *arguments]]:
            holds = False
        case [str(name), *arguments]:
            holds = True
        case _:
            raise CannotCheckError(f"the PDDL has {_written(part)} where a literal is due")
    if name in _RESERVED:
        raise CannotCheckError(f"the PDDL has {name} in {_written(part)}, which cannot be checked")
    if predicates.get(name, 2 if name == "=" and equality else -1) != len(arguments):
        raise CannotCheckError(f"the PDDL declares no predicate for {_written(part)}")
    for term in arguments:
        if isinstance(term, list) or term not in terms:
            raise CannotCheckError(f"the PDDL does not say what {_written(term)} is in {_written(part)}")
    return Literal((name, *arguments), holds)


def _check_free(name: str, taken: Collection[str]) -> None:
    if name in _RESERVED or name in taken:
        raise CannotCheckError(f"the PDDL gives the name {name} to two things, or it is reserved")


def _written(part: Any) -> str:
    """An expression for messages, shortened."""
    if isinstance(part, list):
        words = " ".join(one if isinstance(one, str) else "(...)" for one in part[:6])
        return f"({words}{' ...' if len(part) > 6 else ''})"
    return shown(part)
