"""PDDL instances on sets of atoms: STRIPS with types, equality, negation and conditional effects."""

import re
from collections.abc import Iterator
from itertools import product
from typing import Any

Atom = tuple[str, ...]
State = frozenset[Atom]
Binding = dict[str, str]


def parse(text: str) -> Any:
    """PDDL as nested lists of words.

    Examples
    --------
    >>> parse("(:init (on a b)) ; two blocks")
    [':init', ['on', 'a', 'b']]
    """
    stack: list[Any] = [[]]
    for word in re.findall(r"[()]|[^\s()]+", re.sub(r";[^\n]*", "", text).lower()):
        if word == "(":
            stack.append([])
        elif word == ")":
            inner = stack.pop()
            stack[-1].append(inner)
        else:
            stack[-1].append(word)
    return stack[0][0]


def parse_atom(text: str) -> Atom:
    """A ground atom, such as `(on a b)`."""
    return tuple(parse(text))


def types_of(words: list[str]) -> dict[str, str]:
    """The type of each name in a list such as `a b - block c`.

    Examples
    --------
    >>> types_of(["a", "b", "-", "block", "c"])
    {'a': 'block', 'b': 'block', 'c': 'object'}
    """
    types: dict[str, str] = {}
    names: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "-":
            types |= dict.fromkeys(names, next(rest))
            names = []
        else:
            names.append(word)
    return types | dict.fromkeys(names, "object")


def section(parsed: list[Any], name: str) -> list[Any]:
    """The content of a section of a domain or an instance; empty if there is no such section."""
    return next((part[1:] for part in parsed if isinstance(part, list) and part[0] == name), [])


def conjuncts(formula: list[Any]) -> list[Any]:
    """The parts of a conjunction; a single literal is a conjunction with one part."""
    if not formula:
        return []
    return [one for part in formula[1:] for one in conjuncts(part)] if formula[0] == "and" else [formula]


def _predicate(literal: list[Any]) -> str:
    return str((literal[1] if literal[0] == "not" else literal)[0])


class PlainInstance:
    """A planning instance on sets of atoms: objects with their types, facts, goal and actions."""

    def __init__(self, domain: str, text: str) -> None:
        self.domain, parsed = parse(domain), parse(text)
        self.supertypes = types_of(section(self.domain, ":types"))
        self.constants = types_of(section(self.domain, ":constants"))
        self.objects = types_of(section(parsed, ":objects")) | self.constants
        self.actions = [dict(zip(a[2::2], a[3::2], strict=True)) for a in self.domain if a[0] == ":action"]
        changed = {effect[0] for action in self.actions for effect in self._changes(action[":effect"])}
        given = {tuple(atom) for atom in section(parsed, ":init")}
        self.start = frozenset(atom for atom in given if atom[0] in changed)
        self.goal = [literal for part in section(parsed, ":goal") for literal in conjuncts(part)]
        self.types = {(kind, name) for name in self.objects for kind in self._kinds(self.objects[name])}
        self.facts = frozenset(given - self.start)
        self._possible = self.facts | self.types
        self._ground = [one for action in self.actions for one in self._grounded(action, changed)]

    def _kinds(self, kind: str) -> Iterator[str]:
        while kind != "object":
            yield kind
            kind = self.supertypes.get(kind, "object")

    def _changes(self, effect: list[Any]) -> Iterator[list[Any]]:
        """The atoms that an effect adds or deletes."""
        for part in conjuncts(effect):
            if part[0] in ("when", "forall"):
                yield from self._changes(part[2])
            else:
                yield part[1] if part[0] == "not" else part

    def _grounded(
        self, action: dict[str, Any], changed: set[str]
    ) -> Iterator[tuple[list[Any], list[Any], Binding]]:
        """The ground actions of a schema whose static preconditions hold."""
        precondition = conjuncts(action.get(":precondition", []))
        static = [one for one in precondition if _predicate(one) not in changed]
        fluent = [one for one in precondition if one not in static]
        for binding in self._bindings(action[":parameters"]):
            if all(self.holds(literal, self._possible, binding) for literal in static):
                yield fluent, conjuncts(action[":effect"]), binding

    def _bindings(self, parameters: list[str]) -> Iterator[Binding]:
        """All objects of the right types for some parameters."""
        types = types_of(parameters)
        members = {kind: [o for o in self.objects if (kind, o) in self.types] for kind in types.values()}
        members["object"] = list(self.objects)
        for objects in product(*(members[kind] for kind in types.values())):
            yield dict(zip(types, objects, strict=True))

    def holds(self, literal: list[Any], atoms: Any, binding: Binding) -> bool:
        """Whether a literal holds in a set of atoms."""
        if literal[0] == "not":
            return not self.holds(literal[1], atoms, binding)
        atom = tuple(binding.get(word, word) for word in literal)
        return atom[1] == atom[2] if atom[0] == "=" else atom in atoms

    def is_goal(self, state: State) -> bool:
        """Whether the goal holds."""
        return all(self.holds(literal, state | self.facts, {}) for literal in self.goal)

    def successors(self, state: State) -> list[State]:
        """The successor states, one for each applicable action."""
        after = []
        for precondition, effects, binding in self._ground:
            if all(self.holds(literal, state, binding) for literal in precondition):
                adds: set[Atom] = set()
                deletes: set[Atom] = set()
                for effect in effects:
                    self._apply(effect, state, binding, adds, deletes)
                after.append((state - deletes) | adds)
        return after

    def _apply(
        self, effect: list[Any], state: State, binding: Binding, adds: set[Atom], deletes: set[Atom]
    ) -> None:
        if effect[0] == "forall":
            for inner in self._bindings(effect[1]):
                for part in conjuncts(effect[2]):
                    self._apply(part, state, binding | inner, adds, deletes)
        elif effect[0] == "when":
            everything = state | self._possible
            if all(self.holds(literal, everything, binding) for literal in conjuncts(effect[1])):
                for part in conjuncts(effect[2]):
                    self._apply(part, state, binding, adds, deletes)
        elif effect[0] == "not":
            deletes.add(tuple(binding.get(word, word) for word in effect[1]))
        else:
            adds.add(tuple(binding.get(word, word) for word in effect))

    def condition_predicates(self) -> set[str]:
        """The predicates in conditions of actions and of effects."""
        conditions = [one for action in self.actions for one in conjuncts(action.get(":precondition", []))]
        effects = [part for action in self.actions for part in conjuncts(action[":effect"])]
        while effects:
            part = effects.pop()
            if part[0] == "when":
                conditions += conjuncts(part[1])
            if part[0] in ("when", "forall"):
                effects += conjuncts(part[2])
        return set(map(_predicate, conditions))

    def structure(self, state: State) -> dict[str, set[Atom]]:
        """The interpretation of all predicates, including those of the goal."""
        atoms: dict[str, set[Atom]] = {}
        for name, *objects in [*state, *self.facts, *self.types, *((f"is_{c}", c) for c in self.constants)]:
            atoms.setdefault(name, set()).add(tuple(objects))
        for literal in self.goal:
            negated = literal[0] == "not"
            name, *objects = literal[1] if negated else literal
            goal = f"{name}_nG" if negated else f"{name}_G"
            achieved = ((name, *objects) in state or (name, *objects) in self.facts) != negated
            for marked in (goal, f"{goal},{'T' if achieved else 'F'}"):
                atoms.setdefault(marked, set()).add(tuple(objects))
        return atoms
