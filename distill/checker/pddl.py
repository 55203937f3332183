"""PDDL instances on plain sets of atoms: STRIPS with types, equality, negation and conditional effects."""

import re
from collections.abc import Iterator
from itertools import product
from typing import Any

Atom = tuple[str, ...]
State = frozenset[Atom]
Binding = dict[str, str]


def nested(text: str) -> Any:
    """PDDL as nested lists of words.

    Examples
    --------
    >>> nested("(:init (on a b)) ; two blocks")
    [':init', ['on', 'a', 'b']]
    """
    stack: list[Any] = [[]]
    for word in re.findall(r"[()]|[^\s()]+", re.sub(r";[^\n]*", "", text).lower()):
        if word == "(":
            stack.append([])
        elif word == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(word)
    return stack[0][0]


def typed(words: list[str]) -> dict[str, str]:
    """The type of each name in a list such as `a b - block c`.

    Examples
    --------
    >>> typed(["a", "b", "-", "block", "c"])
    {'a': 'block', 'b': 'block', 'c': 'object'}
    """
    found: dict[str, str] = {}
    waiting: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "-":
            found |= dict.fromkeys(waiting, next(rest))
            waiting = []
        else:
            waiting.append(word)
    return found | dict.fromkeys(waiting, "object")


def section(parsed: list[Any], name: str) -> list[Any]:
    """What stands in a section of a domain or an instance; nothing if it is not there."""
    return next((part[1:] for part in parsed if isinstance(part, list) and part[0] == name), [])


def conjuncts(formula: list[Any]) -> list[Any]:
    """The parts of a conjunction; a single literal is one of one part."""
    if not formula:
        return []
    return [one for part in formula[1:] for one in conjuncts(part)] if formula[0] == "and" else [formula]


class Instance:
    """A planning instance: its objects with all their types, facts, goal and actions."""

    def __init__(self, domain: str, text: str) -> None:
        self.domain, parsed = nested(domain), nested(text)
        self.above = typed(section(self.domain, ":types"))
        self.constants = typed(section(self.domain, ":constants"))
        self.objects = typed(section(parsed, ":objects")) | self.constants
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
            kind = self.above.get(kind, "object")

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
        """An action with objects for its parameters, if what never changes allows it."""
        names = typed(action[":parameters"])
        fit = [[o for o in self.objects if self._is(o, kind)] for kind in names.values()]
        wanted = conjuncts(action.get(":precondition", []))
        static = [one for one in wanted if (one[1] if one[0] == "not" else one)[0] not in changed]
        fluent = [one for one in wanted if one not in static]
        for objects in product(*fit):
            binding = dict(zip(names, objects, strict=True))
            if all(self.holds(literal, self._possible, binding) for literal in static):
                yield fluent, conjuncts(action[":effect"]), binding

    def _is(self, name: str, kind: str) -> bool:
        return kind == "object" or (kind, name) in self.types

    def holds(self, literal: list[Any], atoms: Any, binding: Binding) -> bool:
        """Whether a literal holds among some atoms."""
        if literal[0] == "not":
            return not self.holds(literal[1], atoms, binding)
        atom = tuple(binding.get(word, word) for word in literal)
        return atom[1] == atom[2] if atom[0] == "=" else atom in atoms

    def is_goal(self, state: State) -> bool:
        """Whether the goal holds."""
        return all(self.holds(literal, state | self.facts, {}) for literal in self.goal)

    def successors(self, state: State) -> list[State]:
        """The states that applicable actions lead to, one for each action."""
        after = []
        for wanted, effects, binding in self._ground:
            if all(self.holds(literal, state, binding) for literal in wanted):
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
            names = typed(effect[1])
            fit = [[o for o in self.objects if self._is(o, kind)] for kind in names.values()]
            for objects in product(*fit):
                inner = binding | dict(zip(names, objects, strict=True))
                for part in conjuncts(effect[2]):
                    self._apply(part, state, inner, adds, deletes)
        elif effect[0] == "when":
            everything = state | self._possible
            if all(self.holds(literal, everything, binding) for literal in conjuncts(effect[1])):
                for part in conjuncts(effect[2]):
                    self._apply(part, state, binding, adds, deletes)
        elif effect[0] == "not":
            deletes.add(tuple(binding.get(word, word) for word in effect[1]))
        else:
            adds.add(tuple(binding.get(word, word) for word in effect))

    def looked_at(self) -> set[str]:
        """The predicates that stand in a condition of an action or of an effect."""
        found: list[Any] = []
        todo = [part for action in self.actions for part in conjuncts(action[":effect"])]
        for action in self.actions:
            found += conjuncts(action.get(":precondition", []))
        while todo:
            part = todo.pop()
            if part[0] == "when":
                found += conjuncts(part[1])
            if part[0] in ("when", "forall"):
                todo += conjuncts(part[2])
        return {(one[1] if one[0] == "not" else one)[0] for one in found}

    def structure(self, state: State) -> dict[str, set[Atom]]:
        """What formulas speak of: for each predicate, also of the goal, the objects it holds of."""
        found: dict[str, set[Atom]] = {}
        for name, *objects in [*state, *self.facts, *self.types, *((f"is_{c}", c) for c in self.constants)]:
            found.setdefault(name, set()).add(tuple(objects))
        for literal in self.goal:
            negated = literal[0] == "not"
            name, *objects = literal[1] if negated else literal
            goal = f"{name}_nG" if negated else f"{name}_G"
            done = ((name, *objects) in state or (name, *objects) in self.facts) != negated
            for marked in (goal, f"{goal},{'T' if done else 'F'}"):
                found.setdefault(marked, set()).add(tuple(objects))
        return found
