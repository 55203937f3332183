"""Parser of value functions with definitions, in the typed notation, that of the thesis, or C2.

In C2 the variables follow the name, as in `A(x) := ∃y (on(x, y) ∧ clear(y))`. Each definition is parsed once,
so the time grows linearly with the text.
"""

import re
from collections.abc import Container, Mapping
from typing import Any, NamedTuple

from distill.common import InputError, shown
from distill.logic.notation.c2_parser import C2Parser
from distill.logic.notation.c2_parts import Part, related
from distill.logic.notation.definitions import LIKE_A_NAME, VALUE
from distill.logic.notation.operators import Token
from distill.logic.notation.parser import FormulaParser
from distill.logic.notation.tokens import NAME, RESERVED
from distill.logic.syntax.features import Indicator, Number
from distill.logic.syntax.formulas import Truth
from distill.logic.syntax.nodes import Node, PartCount

_HEAD = re.compile(
    rf"^[ \t]*(?:({NAME.pattern})[ \t]*(?:\(([\w, \t]*)\)[ \t]*)?:=|{VALUE}[ \t]*=)", re.ASCII | re.MULTILINE
)
_COMMENT = re.compile(r"^[ \t]*;.*$", re.MULTILINE)
_LOOKS_LIKE_C2 = re.compile(
    r"[∃∀]|\b(?:exists|forall)\b|(?<!dist)\(\s*[a-z]\s*[,)]|[a-z]\s*(?:=|!=|≠)\s*[a-z]"
    r'|#[a-z][ \t]+[\w"(¬~⊤⊥]'
)
_IN_QUOTES = re.compile(r'"[^"]*"')


def parse_defined(text: str) -> Number:
    """Parse a value function with definitions, which may use earlier ones; `;` begins a comment line.

    Examples
    --------
    >>> parse_defined('''
    ... above := <on+>clear_G
    ... V = 2*#above
    ...   - [#above > 0]''')
    2*#<on+>clear_G - [#<on+>clear_G > 0]
    >>> parse_defined('''
    ... A(x) := ∃y (on(x, y) ∧ clear_G(y))
    ... V = 2·#x A(x)''')
    2*#<on>clear_G
    """
    text = without_comments(text)
    arguments, bodies = _bodies(text)
    value = bodies.pop(VALUE)
    counted = PartCount()
    if any(one is not None for one in arguments.values()) or looks_like_c2(text):
        return _c2_number(value, _c2_meanings(arguments, bodies, counted), bodies, counted)
    known: dict[str, _Meaning] = {}
    for name, body in bodies.items():
        known[name] = _meaning(f"In the definition of {name}: ", body, known, bodies, counted)
    found = _Names(value, known, bodies, counted).parse()
    return Indicator(found) if isinstance(found, Truth) else found


def has_definitions(text: str) -> bool:
    """Whether a text has definitions, as `parse_defined` expects.

    Examples
    --------
    >>> has_definitions("A := <on>top"), has_definitions("V = #holding"), has_definitions("#holding")
    (True, True, False)
    """
    return _HEAD.search(text) is not None


def looks_like_c2(text: str) -> bool:
    """Whether a text has variables.

    Examples
    --------
    >>> looks_like_c2("∃y on(x, y)"), looks_like_c2("<on>top"), looks_like_c2('"p(x)"')
    (True, False, False)
    """
    # What stands inside a quoted name does not count.
    return _LOOKS_LIKE_C2.search(_IN_QUOTES.sub('""', text)) is not None


def without_comments(text: str) -> str:
    """A text with empty lines instead of comments."""
    return _COMMENT.sub("", text)


class _Meaning(NamedTuple):
    """A definition as formula and as relation: `on_G & ~on` can be both, and its use decides."""

    formula: Node | None
    relation: Node | None


class _Names(FormulaParser):
    """Parses a formula that uses definitions: those known so far, of all names of the text."""

    def __init__(
        self, text: str, known: dict[str, _Meaning], every: Container[str], counted: PartCount
    ) -> None:
        super().__init__(text, counted)
        self.known = known
        self.every = every

    def _named(self, token: Token) -> Node:
        if token.kind != "name":
            return super()._named(token)
        if token.text in self.known:
            meaning = self.known[token.text]
            found = meaning.relation if self.in_relation else meaning.formula
            if found is None:
                sort = "relation" if self.in_relation else "formula"
                raise InputError(f"Column {token.column + 1}: {token.text} is not defined as a {sort}.")
            return found
        if token.text in self.every:
            raise InputError(f"{token.text} is used before it is defined.")
        if self.every and LIKE_A_NAME.fullmatch(token.text):
            raise InputError(f"{token.text} is not defined; put the name of a predicate in double quotes.")
        return super()._named(token)


def _meaning(
    where: str, body: str, known: dict[str, _Meaning], every: Container[str], counted: PartCount
) -> _Meaning:
    found: list[Any] = []
    errors = []
    for in_relation in (0, 1):
        parser = _Names(body, known, every, counted)
        parser.in_relation = in_relation
        try:
            found.append(parser.parse())
        except InputError as error:
            found.append(None)
            errors.append(error)
    if len(errors) == len(found):
        raise InputError(f"{where}{errors[0]}") from errors[0]
    return _Meaning(*found)


class _C2Meaning(NamedTuple):
    """A definition in C2: its variables, and what it says of them."""

    variables: list[str]
    part: Any  # a `Part`, or a number


class _C2Names(C2Parser):
    """Parses a formula of C2 that uses definitions: those known so far, of all names of the text."""

    def __init__(
        self, text: str, known: Mapping[str, _C2Meaning], every: Container[str], counted: PartCount
    ) -> None:
        super().__init__(text, counted)
        self.known = known
        self.every = every

    def applied(self, token: Token, arguments: list[str]) -> Any:
        """A name with its arguments."""
        if token.kind != "name":
            return super().applied(token, arguments)
        if token.text in self.known:
            variables, part = self.known[token.text]
            if len(variables) != len(arguments):
                raise InputError(
                    f"Column {token.column + 1}: {token.text} is defined with {_count(variables)}, not "
                    f"{_count(arguments)}."
                )
            if not variables:
                return part
            if len(variables) == 2:
                return related(part.relation, arguments)
            return Part(variable=arguments[0], truth=part.truth)
        if token.text in self.every:
            raise InputError(f"{token.text} is used before it is defined.")
        if self.every and LIKE_A_NAME.fullmatch(token.text):
            raise InputError(f"{token.text} is not defined; put the name of a predicate in double quotes.")
        return super().applied(token, arguments)


def _c2_meanings(
    arguments: Mapping[str, str | None], bodies: Mapping[str, str], counted: PartCount
) -> dict[str, _C2Meaning]:
    known: dict[str, _C2Meaning] = {}
    for name, body in bodies.items():
        variables = [one.strip() for one in (arguments[name] or "").split(",") if one.strip()]
        try:
            known[name] = _C2Meaning(variables, _c2_part(body, variables, known, bodies, counted))
        except InputError as error:
            raise InputError(f"In the definition of {name}: {error}") from error
    return known


def _c2_part(
    body: str,
    variables: list[str],
    known: Mapping[str, _C2Meaning],
    every: Container[str],
    counted: PartCount,
) -> Any:
    """The body of a definition, as what its variables say it is."""
    if len(variables) > 2 or len(set(variables)) < len(variables):
        raise InputError(f"the variables must be at most two different ones, not {', '.join(variables)}.")
    part = _C2Names(body, known, every, counted).parse()
    if isinstance(part, Number):
        fits = not variables
    elif len(variables) == 2:
        fits = part.relation is not None
        if fits and variables[0] > variables[1]:
            part = Part(relation=part.relation.inverse())
    else:
        fits = part.truth is not None and part.variable in (None, *variables)
    if not fits:
        kinds = ("a sentence or a number", "a formula about it alone", "a relation between the two")
        raise InputError(f"with {_count(variables)} it must be {kinds[len(variables)]}.")
    return part


def _c2_number(
    value: str, known: Mapping[str, _C2Meaning], every: Container[str], counted: PartCount
) -> Number:
    found = _C2Names(value, known, every, counted).formula()
    return Indicator(found) if isinstance(found, Truth) else found


def _count(variables: list[str]) -> str:
    return ("no variable", "one variable", "two variables")[len(variables)] if len(variables) < 3 else "more"


def _bodies(text: str) -> tuple[dict[str, str | None], dict[str, str]]:
    """The variables after each name, and the text after it and after V.

    Blanks replace the name, so that columns in errors are right.
    """
    heads = list(_HEAD.finditer(text))
    starts = [*(match.start() for match in heads), len(text)]
    before = text[: starts[0]].strip()
    if before:
        line = shown(before.splitlines()[0])
        raise InputError(f"Expected a definition such as A := formula, or V = number, not {line!r}.")
    found: dict[str, str] = {}
    arguments: dict[str, str | None] = {}
    for match, end in zip(heads, starts[1:], strict=True):
        name = match[1] or VALUE
        if name in RESERVED:
            raise InputError(f"{name} has a meaning of its own and cannot be defined.")
        if name in found:
            raise InputError(f"{name} is defined twice.")
        arguments[name] = match[2]
        found[name] = " " * len(match[0]) + text[match.end() : end]
    if VALUE not in found:
        raise InputError("The value function is missing; it is given as V = number.")
    return arguments, found
