"""The PDDL that is supported, and the check that a text is nothing else.

The parser reads some PDDL otherwise than it is written, and crashes on some. So each text is checked before
the parser sees it, and what is not listed here is refused by name.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from distill.planning.expressions import Expression, Part, Text, written

REQUIREMENTS = {
    ":strips",
    ":typing",
    ":negative-preconditions",
    ":disjunctive-preconditions",
    ":equality",
    ":existential-preconditions",
    ":universal-preconditions",
    ":quantified-preconditions",
    ":conditional-effects",
    ":adl",
    ":derived-predicates",
    ":action-costs",
}
SECTIONS = {
    "domain": (":requirements", ":types", ":constants", ":predicates", ":functions", ":action", ":derived"),
    "problem": (":domain", ":requirements", ":objects", ":init", ":goal", ":metric"),
}
"""The sections of a file, in their order; actions and derived predicates may alternate."""
REQUIRED = {"domain": (":predicates",), "problem": (":domain", ":init", ":goal")}
REPEATABLE = (":action", ":derived")
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
_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_VARIABLE = re.compile(r"\?[a-z][a-z0-9_-]*")
_OWN = re.compile(r"axiom_[0-9]+")
_NUMBER = re.compile(r"[0-9]{1,9}")
_OBJECT = "object"
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
        while kind not in (wanted, _OBJECT):
            kind = self.supertypes[kind]
        return kind == wanted


def check_domain(text: str, source: str) -> Domain:
    """Check the text of a domain.

    Parameters
    ----------
    source : its file, for messages.

    Examples
    --------
    >>> check_domain("(define (domain d) (:predicates (p ?x)) (:action a :parameters (?x)"
    ...              " :effect (p ?x)))", "d.pddl").predicates
    {'p': ['object']}
    >>> check_domain("(define (domain d) (:predicates (number ?x)))", "d.pddl")
    Traceback (most recent call last):
        ...
    distill.common.errors.InputError: d.pddl, line 1: the name 'number' is reserved; choose another name.
    """
    return _Check(Text(text, source)).domain()


def check_problem(domain: Domain, text: str, source: str) -> None:
    """Check the text of an instance of a domain.

    Parameters
    ----------
    source : its file, for messages.
    """
    _Check(Text(text, source), domain).problem()


class _Check:
    def __init__(self, text: Text, known: Domain | None = None) -> None:
        self.text = text
        self.fail = text.fail
        self.known = known or Domain("")

    def domain(self) -> Domain:
        self.known.name, sections = self._sections("domain")
        for section in sections:
            if section[0] == ":derived":
                head = self._group(section, 1)
                self.known.derived.add(self._name(head, 0, {}))
        names: dict[str, None] = {}
        for section in sections:
            match section[0]:
                case ":types":
                    self._types(section)
                case ":constants":
                    self.known.constants = self._typed(section, 1)
                case ":predicates":
                    taken = {*self.known.supertypes, *(f"is_{name}" for name in self.known.constants)}
                    self.known.predicates = self._declared(section, taken)
                case ":functions":
                    self.known.functions = self._functions(section)
                case ":derived":
                    self._derived(section)
                case ":action":
                    names[self._name(section, 1, names, reserved=False)] = None
                    self._action(section)
        return self.known

    def problem(self) -> None:
        _, sections = self._sections("problem")
        objects = self.known.constants
        for section in sections:
            match section[0]:
                case ":domain":
                    if section[1:] != [self.known.name]:
                        wanted = f"this is the domain {self.known.name}"
                        self.fail(section, None, f"{written(section)} names another domain", wanted)
                case ":objects":
                    objects = {**objects, **self._typed(section, 1, objects)}
                case ":init":
                    self._init(section, objects)
                case ":goal":
                    self._goal(section, 1, objects, holds=True)
                case ":metric":
                    if section[1:] != ["minimize", [COST]] or COST not in self.known.functions:
                        self.fail(section, None, "this metric is not supported", f"minimize ({COST}) or none")
        if not objects:
            self.fail(self.text.content, None, "there are no objects", "declare at least one")

    def _sections(self, kind: str) -> tuple[str, list[Expression]]:
        whole = self.text.content
        match whole[:2]:
            case ["define", [str(head), str(name)]] if head == kind and _NAME.fullmatch(name):
                pass
            case _:
                self.fail(whole, None, f"this is no {kind}", f"begin it with (define ({kind} NAME)")
        sections: list[Expression] = []
        last = 0
        for position, part in enumerate(whole[2:], 2):
            known = SECTIONS[kind]
            if isinstance(part, str) or not part or part[0] not in known:
                listed = f"the sections of a {kind} are {', '.join(known)}"
                self.fail(whole, position, f"the section {_head(part)} is not supported", listed)
            place = min(known.index(str(part[0])), len(known) - (2 if kind == "domain" else 1))
            again = part[0] in [one[0] for one in sections] and part[0] not in REPEATABLE
            if place < last or again:
                reason = "occurs twice" if again else "comes too late"
                self.fail(part, None, f"the section {part[0]} {reason}", f"the order is {', '.join(known)}")
            last = place
            sections.append(part)
            if part[0] == ":requirements":
                for at, word in enumerate(part[1:], 1):
                    if isinstance(word, list) or word not in REQUIREMENTS:
                        listed = f"supported are {', '.join(sorted(REQUIREMENTS))}"
                        self.fail(part, at, f"the requirement {written(word)} is not supported", listed)
        for needed in REQUIRED[kind]:
            if needed not in [one[0] for one in sections]:
                self.fail(whole, None, f"the {kind} has no section {needed}", "add it")
        return name, sections

    def _types(self, section: Expression) -> None:
        known = {word for word in section[1:] if isinstance(word, str)} - {"-"}
        self.known.supertypes = types = self._typed(section, 1, kinds=known, reserved=True)
        for kind in types:
            above, steps = kind, 0
            while above != _OBJECT:
                if above not in types:
                    self.fail(section, None, f"the type {above} is not declared", f"add '{above} - object'")
                if steps > len(types):
                    self.fail(section, None, f"the type {kind} is below itself", "remove the circle")
                above, steps = types[above], steps + 1

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
                if not waiting or (kind != _OBJECT and kind not in kinds):
                    self.fail(group, position, f"there is no type {kind!r} for names before it", "declare it")
                types |= dict.fromkeys(waiting, kind)
                waiting = []
                position += 2
                continue
            name = self._name(group, position, seen, variables, reserved)
            seen.add(name)
            waiting.append(name)
            position += 1
        return types | dict.fromkeys(waiting, _OBJECT)

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
        if not isinstance(word, str) or not (_VARIABLE if variable else _NAME).fullmatch(word):
            shape = f"a {kind} is {'? and ' * variable}a letter, then letters, digits, - or _"
            self.fail(group, position, f"{written(word)!r} is no {kind}", shape)
        if word in taken:
            self.fail(group, position, f"the name {word!r} is given twice", "rename one")
        if reserved and (word in RESERVED or _OWN.fullmatch(word)):
            self.fail(group, position, f"the name {word!r} is reserved", "choose another name")
        return word

    def _group(self, group: Expression, position: int) -> Expression:
        """The expression at a position."""
        if position >= len(group) or isinstance(group[position], str):
            at = position if position < len(group) else None
            self.fail(group, at, f"{written(group)} lacks an expression in brackets", "add it")
        return group[position]  # type: ignore[return-value]

    def _declared(self, section: Expression, taken: Collection[str]) -> dict[str, list[str]]:
        declared: dict[str, list[str]] = {}
        for position in range(1, len(section)):
            one = self._group(section, position)
            name = self._name(one, 0, {*declared, *taken})
            declared[name] = list(self._typed(one, 1, variables=True).values())
        return declared

    def _functions(self, section: Expression) -> dict[str, list[str]]:
        plain = Expression()
        plain.begin, plain.end = section.begin, section.end
        for position, part in enumerate(section):
            if isinstance(part, str) and position:
                typed = part == "-" and section[position + 1 : position + 2] == ["number"]
                if not typed and not (part == "number" and section[position - 1] == "-"):
                    self.fail(section, position, f"{part!r} is no function", "write (NAME ...) - number")
            else:
                plain.append(part)
        functions = self._declared(plain, self.known.predicates)
        if functions.get(COST, []):
            self.fail(section, None, f"{COST} has arguments", "remove them")
        return functions

    def _derived(self, section: Expression) -> None:
        if len(section) != 3:
            self.fail(
                section, None, f"{written(section)} is not (:derived (NAME ...) CONDITION)", "correct it"
            )
        head = self._group(section, 1)
        name = self._name(head, 0, {})
        variables = self._typed(head, 1, variables=True)
        if len(self.known.predicates.get(name, [name] * len(head))) != len(variables):
            remedy = "declare it in :predicates with these arguments"
            self.fail(head, None, f"there is no predicate for {written(head)}", remedy)
        self._condition(section, 2, {**self.known.constants, **variables}, top=True)
        self._scope(self._group(section, 2), holds=True)

    def _action(self, section: Expression) -> None:
        keys = [":parameters", ":precondition", ":effect"]
        given = section[2::2]
        if given not in (keys, [keys[0], keys[2]]) or len(section) % 2:
            remedy = f"write {keys[0]}, then perhaps {keys[1]}, then {keys[2]}"
            self.fail(section, 1, f"the action {section[1]} is not supported as it is written", remedy)
        parameters = self._typed(self._group(section, 3), 0, variables=True)
        terms = {**self.known.constants, **parameters}
        if len(given) == 3 and self._group(section, 5):
            self._condition(section, 5, terms, top=True)
            self._scope(self._group(section, 5), holds=True)
        elif not parameters:
            reason = f"the action {section[1]} has neither parameters nor a precondition"
            self.fail(section, 1, reason, "add a parameter or a precondition")
        self._effect(section, len(section) - 1, terms)

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
            remedy = f"declare it in :functions; nothing else can increase"
            self.fail(part, None, f"{written(part[1])} is not the function ({COST})", remedy)
        amount = part[2]
        if isinstance(amount, str):
            if not _NUMBER.fullmatch(amount):
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

    def _init(self, section: Expression, objects: Types) -> None:
        costs = False
        for position in range(1, len(section)):
            part = section[position]
            if isinstance(part, list) and part[:1] == ["="]:
                if len(part) != 3 or not isinstance(part[2], str) or not _NUMBER.fullmatch(part[2]):
                    self.fail(part, None, f"{written(part)} gives no whole number", "write (= (NAME ...) 1)")
                costs |= self._function(part, 1, objects) == COST
            elif isinstance(part, list) and part[:1] == ["not"]:
                remedy = "leave it out, since what is not listed does not hold"
                self.fail(part, None, f"{written(part)} stands in the initial state", remedy)
            elif self._atom(section, position, objects) in self.known.derived:
                self.fail(
                    section, position, f"{written(part)} is derived", "remove it from the initial state"
                )
        if COST in self.known.functions and not costs:
            self.fail(section, None, f"{COST} has no initial value", f"add (= ({COST}) 0)")

    def _goal(self, outer: Expression, position: int, objects: Types, *, holds: bool) -> None:
        """A conjunction of literals."""
        if outer[0] == ":goal" and len(outer) != 2:
            self.fail(outer, None, "the section :goal has not one condition", "join them with 'and'")
        part = self._group(outer, position)
        head = part[0] if part else ""
        if head == ("and" if holds else "or"):
            for at in range(1, len(part)):
                self._goal(part, at, objects, holds=holds)
        elif head == "not" and len(part) == 2:
            self._goal(part, 1, objects, holds=not holds)
        elif head == "=" or (isinstance(head, str) and head in CONDITIONS):
            reason = f"the goal is not a conjunction of literals, which is required: it has {head}"
            self.fail(part, None, reason, "state it as a derived predicate of the domain")
        else:
            self._atom(outer, position, objects)


def _head(part: Part) -> str:
    return written(part[0] if isinstance(part, list) and part else part)


def _words(part: Part) -> set[str]:
    return {part} if isinstance(part, str) else set().union(*map(_words, part))
