"""The conditions, effects and atoms of PDDL that are supported."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from distill.planning.language.expressions import Expression, Part, Text, written

CONDITIONS = {"and": None, "or": None, "not": 1, "imply": 2, "forall": 2, "exists": 2}
"""The connectives of conditions, with their number of arguments."""
MINIMUM = {"and": 1, "or": 2}
"""The least number of arguments, except for the outermost `and`."""
EFFECTS = ("and", "not", "forall", "when", "increase")
COST = "total-cost"
RESERVED = {
    *CONDITIONS,
    *EFFECTS,
    *("object", "number", "either", "=", "-"),
    *("assign", "decrease", "scale-up", "scale-down", "oneof", "preference", "always", "sometime", "within"),
}
NAME = re.compile(r"[a-z][a-z0-9_-]*")
_VARIABLE = re.compile(r"\?[a-z][a-z0-9_-]*")
_OWN = re.compile(r"axiom_[0-9]+")
NUMBER = re.compile(r"[0-9]{1,9}")
OBJECT = "object"
Types = dict[str, str]


@dataclass
class Domain:
    """What a domain declares.

    Attributes
    ----------
    supertypes : the type above each type.
    constants : their types.
    predicates, functions : the types of their arguments.
    derived : the derived predicates.
    """

    name: str
    supertypes: Types = field(default_factory=dict)
    constants: Types = field(default_factory=dict)
    predicates: dict[str, list[str]] = field(default_factory=dict)
    functions: dict[str, list[str]] = field(default_factory=dict)
    derived: set[str] = field(default_factory=set)

    def fits(self, kind: str, wanted: str) -> bool:
        """Whether a type is another one or below it."""
        while kind not in (wanted, OBJECT):
            kind = self.supertypes[kind]
        return kind == wanted


class Reader:
    """Checks the parts of a text, and fails at those that are not supported.

    Attributes
    ----------
    text : the text.
    known : what its domain declares.
    """

    def __init__(self, text: Text, known: Domain | None = None) -> None:
        self.text = text
        self.fail = text.fail
        self.known = known or Domain("")

    def _name(
        self,
        group: Expression,
        position: int,
        taken: Collection[str],
        variable: bool = False,
        reserved: bool = True,
    ) -> str:
        kind = "variable" if variable else "name"
        if position >= len(group):
            self.fail(group, None, f"{written(group)} lacks a {kind}", "add it")
        word = group[position]
        if not isinstance(word, str) or not (_VARIABLE if variable else NAME).fullmatch(word):
            shape = f"a {kind} is {'? and ' * variable}a letter, then letters, digits, - or _"
            self.fail(group, position, f"{written(word)!r} is no {kind}", shape)
        if word in taken:
            self.fail(group, position, f"the name {word!r} is given twice", "rename one")
        if reserved and (word in RESERVED or _OWN.fullmatch(word)):
            self.fail(group, position, f"the name {word!r} is reserved", "choose another name")
        return word

    def _typed(
        self,
        group: Expression,
        begin: int,
        taken: Collection[str] = (),
        *,
        kinds: Collection[str] | None = None,
        variables: bool = False,
        reserved: bool = False,
    ) -> Types:
        """The type of each name in a list such as `a b - block c`."""
        kinds = self.known.supertypes if kinds is None else kinds
        types: Types = {}
        waiting: list[str] = []
        seen = set(taken)
        position = begin
        while position < len(group):
            word = group[position]
            if word == "-":
                kind = group[position + 1] if position + 1 < len(group) else ""
                if isinstance(kind, list):
                    remedy = "declare a common supertype instead"
                    self.fail(group, position + 1, f"the type {written(kind)} is not supported", remedy)
                if not waiting or (kind != OBJECT and kind not in kinds):
                    self.fail(group, position, f"there is no type {kind!r} for names before it", "declare it")
                types |= dict.fromkeys(waiting, kind)
                waiting = []
                position += 2
                continue
            name = self._name(group, position, seen, variables, reserved)
            seen.add(name)
            waiting.append(name)
            position += 1
        return types | dict.fromkeys(waiting, OBJECT)

    def _group(self, group: Expression, position: int) -> Expression:
        """The expression at a position."""
        if position >= len(group) or isinstance(group[position], str):
            at = position if position < len(group) else None
            self.fail(group, at, f"{written(group)} lacks an expression in brackets", "add it")
        return group[position]  # type: ignore[return-value]

    def _condition(
        self, outer: Expression, position: int, terms: Types, *, top: bool = False, quantified: bool = True
    ) -> None:
        part = self._group(outer, position)
        head = part[0] if part else ""
        if head == "=":
            if len(part) != 3:
                self.fail(part, None, f"{written(part)} has not two arguments", "correct it")
            self._arguments(part, ["object"] * 2, terms)
        elif isinstance(head, str) and head in CONDITIONS:
            wanted = CONDITIONS[head]
            if wanted is not None and len(part) - 1 != wanted:
                self.fail(part, None, f"{written(part)} has not {wanted} arguments", "correct it")
            if len(part) < MINIMUM.get(head, 0) + 1 and not (top and head == "and"):
                reason = f"{written(part)} joins fewer than {MINIMUM[head]} conditions"
                self.fail(part, None, reason, "leave it out" if len(part) == 1 else f"leave out {head!r}")
            if head in ("forall", "exists"):
                if not quantified:
                    remedy = "state the condition as a derived predicate"
                    self.fail(part, None, f"{head} in the condition of an effect is not supported", remedy)
                self._condition(part, 2, {**terms, **self._variables(part, terms)})
            else:
                for at in range(1, len(part)):
                    self._condition(part, at, terms, quantified=quantified)
        else:
            self._atom(outer, position, terms)

    def _scope(self, part: Part, holds: bool, most: int = 1) -> None:
        """Refuse disjunctions beside or inside each other or a quantifier: the parser loses alternatives."""
        if isinstance(part, list) and self._disjunctions(part, holds) > most:
            where = "has more than one" if most else "stands below a quantifier and has an"
            reason = f"{written(part)} {where} 'or', 'imply' or negated 'and' that asks for alternatives"
            self.fail(part, None, reason, "split the action, or state a part of it as a derived predicate")

    def _disjunctions(self, part: Part, holds: bool) -> int:
        """How many disjunctions a condition, or its negation, has outside of quantifiers."""
        match part:
            case ["not", inner]:
                return self._disjunctions(inner, not holds)
            case ["forall" | "exists" as head, _, inner]:
                # A universal quantifier is a negated existential one.
                self._scope(inner, head == "exists", 0)
            case ["and" | "or" | "imply" as head, first, *rest]:
                inside = self._disjunctions(first, holds != (head == "imply"))
                inside += sum(self._disjunctions(one, holds) for one in rest)
                return inside + (bool(rest) and (head == "and") != holds)
        return 0

    def _variables(self, part: Expression, terms: Types) -> Types:
        """The variables of a quantifier, which are new and all used."""
        variables = self._typed(self._group(part, 1), 0, terms, variables=True)
        used = _words(part[2])
        unused = [name for name in variables if name not in used]
        if not variables or unused:
            reason = (
                f"{written(part)} does not use {unused[0]}" if unused else f"{written(part)} has no variables"
            )
            self.fail(part, None, reason, "quantify over the variables that occur")
        return variables

    def _effect(self, outer: Expression, position: int, terms: Types, inside: str = "") -> None:
        part = self._group(outer, position)
        head = part[0] if part else ""
        match head:
            case "and":
                for at in range(1, len(part)):
                    self._effect(part, at, terms, inside)
            case "not" if len(part) == 2:
                self._changed(part, 1, terms)
            case "forall" if len(part) == 3 and not inside.startswith("when"):
                self._effect(part, 2, {**terms, **self._variables(part, terms)}, "forall")
            case "when" if len(part) == 3 and not inside.startswith("when"):
                self._condition(part, 1, terms, quantified=False)
                self._scope(self._group(part, 1), holds=True)
                self._effect(part, 2, terms, f"when {inside}")
            case "increase" if len(part) == 3 and not inside:
                self._cost(part, terms)
            case str() if head in CONDITIONS or head in EFFECTS:
                remedy = f"effects are atoms, {', '.join(EFFECTS)}"
                self.fail(part, None, f"the effect {written(part)} is not supported here", remedy)
            case _:
                self._changed(outer, position, terms)

    def _changed(self, outer: Expression, position: int, terms: Types) -> None:
        name = self._atom(outer, position, terms)
        if name in self.known.derived:
            self.fail(outer, position, f"an effect changes the derived predicate {name}", "remove it")

    def _cost(self, part: Expression, terms: Types) -> None:
        if part[1] != [COST] or COST not in self.known.functions:
            remedy = "declare it in :functions; nothing else can increase"
            self.fail(part, None, f"{written(part[1])} is not the function ({COST})", remedy)
        amount = part[2]
        if isinstance(amount, str):
            if not NUMBER.fullmatch(amount):
                self.fail(part, 2, f"the cost {written(amount)} is no whole number", "correct it")
        else:
            self._function(part, 2, terms)

    def _function(self, outer: Expression, position: int, terms: Types) -> str:
        part = self._group(outer, position)
        name = part[0] if part else ""
        if not isinstance(name, str) or name not in self.known.functions:
            self.fail(outer, position, f"{written(part)} is no declared function", "declare it in :functions")
        self._arguments(part, self.known.functions[name], terms)
        return name

    def _atom(self, outer: Expression, position: int, terms: Types) -> str:
        part = self._group(outer, position)
        name = part[0] if part else ""
        if not isinstance(name, str) or name not in self.known.predicates:
            reason = f"{written(part)} is neither a supported connective nor an atom of a declared predicate"
            self.fail(outer, position, reason, "declare the predicate in :predicates, or rewrite this")
        self._arguments(part, self.known.predicates[name], terms)
        return name

    def _arguments(self, part: Expression, kinds: list[str], terms: Types) -> None:
        if len(part) - 1 != len(kinds):
            reason = (
                f"{written(part)} has {len(part) - 1} arguments and {part[0]} is declared with {len(kinds)}"
            )
            self.fail(part, None, reason, "correct one of them")
        for position, kind in enumerate(kinds, 1):
            term = part[position]
            if not isinstance(term, str) or term not in terms:
                self.fail(part, position, f"{written(term)} is not declared", "declare it")
            if not self.known.fits(terms[term], kind):
                reason = f"{term} in {written(part)} has the type {terms[term]} and not {kind}"
                self.fail(part, position, reason, "correct one of them")


def _words(part: Part) -> set[str]:
    return {part} if isinstance(part, str) else set().union(*map(_words, part))
