"""The PDDL that is supported, and the check that a text is nothing else.

The parser reads some PDDL otherwise than it is written, and crashes on some. So each text is checked before
the parser sees it, and what is not listed here or in `conditions.py` is refused by name.
"""

from collections.abc import Collection

from distill.planning.language.conditions import (
    CONDITIONS,
    COST,
    NAME,
    NUMBER,
    OBJECT,
    Domain,
    Reader,
    Types,
)
from distill.planning.language.expressions import Expression, Part, Text, written

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


class _Check(Reader):
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
            case ["define", [str(head), str(name)]] if head == kind and NAME.fullmatch(name):
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
            while above != OBJECT:
                if above not in types:
                    self.fail(section, None, f"the type {above} is not declared", f"add '{above} - object'")
                if steps > len(types):
                    self.fail(section, None, f"the type {kind} is below itself", "remove the circle")
                above, steps = types[above], steps + 1

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

    def _init(self, section: Expression, objects: Types) -> None:
        costs = False
        for position in range(1, len(section)):
            part = section[position]
            if isinstance(part, list) and part[:1] == ["="]:
                if len(part) != 3 or not isinstance(part[2], str) or not NUMBER.fullmatch(part[2]):
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
