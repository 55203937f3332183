"""Value functions with definitions: repeated parts have names, and terms with large weights come first.

Names are capitals in the order of their definitions, as in `A := <on+>clear_G`. V is the function, and T
and F mark goals, so they are not used as names. In a text with definitions, a predicate that looks like a
name is written in double quotes.
"""

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from itertools import count
from string import ascii_uppercase
from typing import Any, NamedTuple

from distill.common import InputError, shown
from distill.logic.notation.english import explain
from distill.logic.notation.operators import Token
from distill.logic.notation.parser import FormulaParser
from distill.logic.notation.sharing import worth_a_name
from distill.logic.notation.tokens import NAME, RESERVED, quoted
from distill.logic.notation.writer import ASCII, LATEX, WRITERS, Notation, Writer, written_sum
from distill.logic.syntax.features import Constant, Indicator, Number, Product, Scaled, weighted
from distill.logic.syntax.formulas import Atom, Truth
from distill.logic.syntax.nodes import Node, PartCount
from distill.logic.syntax.relations import Relation, Role

_VALUE = "V"
_LETTERS = [letter for letter in ascii_uppercase if letter not in ("F", "T", _VALUE)]
_LIKE_A_NAME = re.compile(r"[A-Z]\d*", re.ASCII)
_HEAD = re.compile(rf"^[ \t]*(?:({NAME.pattern})[ \t]*:=|{_VALUE}[ \t]*=)", re.ASCII | re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*;.*$", re.MULTILINE)
_WIDTH = 100  # largest number of characters of a function on one line
_TERM = 4  # the binding strength of a term


@dataclass(frozen=True)
class DefinedFunction:
    """A value function with names for repeated parts.

    Attributes
    ----------
    value : the function.
    definitions : names and formulas; each may use the names before it.
    """

    value: Number
    definitions: tuple[tuple[str, Node], ...]

    def __str__(self) -> str:
        return self.written()

    def written(self, notation: Notation = ASCII, *, english: bool = False) -> str:
        """The definitions and the function as text; `english` adds an explanation before each line."""
        definitions, terms = self._rows(notation)
        line = " ".join([terms[0].text, *(f"{row.sign} {row.text}" for row in terms[1:])])
        if not english and len(f"{_VALUE} = {line}") <= _WIDTH:
            terms = [_Row(_VALUE, "=", line, self.value)]
        if notation is LATEX:
            return _aligned(definitions + terms, english)
        blocks = [_lines(rows, english) for rows in (definitions, terms) if rows]
        return "\n\n".join(map("\n".join, blocks))

    def _rows(self, notation: Notation) -> "tuple[list[_Row], list[_Row]]":
        """The definitions, and the terms in their order."""
        names: dict[Node, tuple[str, int]] = {}
        for name, part in self.definitions:
            named = Role(name) if isinstance(part, Relation) else Atom(name)
            names[part] = WRITERS[type(named)](Writer(notation), named)
        if names and notation.name is quoted:
            notation = replace(notation, name=_quoted_like_a_name)
        writer = Writer(notation)
        texts: dict[Node, str] = {}
        for node in self.value.walk():
            shown = WRITERS[type(node)](writer, node)
            if node in names:
                texts[node] = writer.texts.whole(shown[0])
            writer.shown[node] = names.get(node, (writer.texts.keep(shown[0]), shown[1]))
        definitions = [_Row(names[part][0], ":=", texts[part], part) for _, part in self.definitions]
        terms: list[_Row] = []
        for weight, feature in sorted(weighted(self.value), key=_prominence):
            if isinstance(feature, Product) and feature not in names:
                times = f" {notation.signs['times'].strip()} "
                factors = (writer.inside(part, _TERM + 1) for part in feature.fields)
                writer.shown[feature] = times.join(factors), _TERM
            terms.append(_term(writer, weight, feature, alone=feature is self.value, first=not terms))
        return definitions, terms


class _Row(NamedTuple):
    head: str  # a name, V, or empty on a continuation line
    sign: str
    text: str
    meaning: Node


def define_shared(value: Number) -> DefinedFunction:
    """Name the repeated parts of a value function if that makes its text shorter.

    The parts that save most are named first. The names are the same in all notations.

    Examples
    --------
    >>> from distill.logic import parse
    >>> define_shared(parse("2*#<on+>clear_G - [#(clear & <on+>clear_G) > 0]")).definitions
    (('A', <on+>clear_G),)
    """
    predicates = {node.fields[0] for node in value.walk() if isinstance(node, Atom | Role)}
    # Sorted by size, so that each comes after its parts.
    parts = sorted(worth_a_name(value, _names(predicates)))
    return DefinedFunction(value, tuple(zip(_names(predicates), parts, strict=False)))


def write_defined(value: Number, notation: Notation = ASCII, *, english: bool = False) -> str:
    """Write a value function with definitions; `parse_defined` is the inverse for `ASCII`.

    Terms are sorted by decreasing weight, then by size, and the constant is the last. If the terms do not fit
    on one line, each has its own.

    Parameters
    ----------
    english : explain each definition and term in a comment before it.

    Examples
    --------
    >>> from distill.logic import parse
    >>> print(write_defined(parse("2*#<on+>clear_G - #holding + 3*#(<on+>clear_G & clear) + 1")))
    A := <on+>clear_G
    <BLANKLINE>
    V = 3*#(clear & A) + 2*#A - #holding + 1
    """
    return define_shared(value).written(notation, english=english)


def parse_defined(text: str) -> Number:
    """Parse a value function with definitions, which may use earlier ones; `;` begins a comment line.

    Examples
    --------
    >>> parse_defined('''
    ... above := <on+>clear_G
    ... V = 2*#above
    ...   - [#above > 0]''')
    2*#<on+>clear_G - [#<on+>clear_G > 0]
    """
    bodies = _bodies(_COMMENT.sub("", text))
    value = bodies.pop(_VALUE)
    known: dict[str, _Meaning] = {}
    counted = PartCount()
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


def _prominence(term: tuple[float, Number]) -> tuple[bool, float, tuple[int, str, bytes]]:
    weight, feature = term
    return isinstance(feature, Constant), -abs(weight), feature.order


def _term(writer: Writer, weight: float, feature: Number, alone: bool, first: bool) -> _Row:
    term = Scaled(weight, feature)
    negative = (weight * feature.fields[0] if isinstance(feature, Constant) else weight) < 0
    absolute = Scaled(-1, term) if negative else term
    text = written_sum(absolute, writer.signs, lambda part: writer.inside(part, 0 if alone else _TERM))
    text = writer.texts.whole(text)
    minus = writer.signs["minus"]
    if first:
        return _Row(_VALUE, "=", minus + text if negative else text, term)
    return _Row("", minus if negative else "+", text, term)


def _quoted_like_a_name(predicate: str) -> str:
    return f'"{predicate}"' if _LIKE_A_NAME.fullmatch(predicate) else quoted(predicate)


def _names(predicates: set[str]) -> Iterator[str]:
    every = (f"{letter}{number or ''}" for number in count() for letter in _LETTERS)
    return (name for name in every if name not in predicates)


def _lines(rows: list[_Row], english: bool) -> list[str]:
    found = []
    for row in rows:
        if english:
            found.append(f"; {explain(row.meaning)}")
        found.append(f"{row.head:1} {row.sign} {row.text}")
    return found


def _aligned(rows: list[_Row], english: bool) -> str:
    if len(rows) == 1 and not english:
        return f"{rows[0].head} {rows[0].sign} {rows[0].text}"
    found = [r"\begin{aligned}"]
    for row in rows:
        if english:
            found.append(f"% {explain(row.meaning)}")
        found.append(f"{row.head:1} &{row.sign} {row.text}" + ("" if row is rows[-1] else r" \\"))
    return "\n".join([*found, r"\end{aligned}"])


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
        if self.every and _LIKE_A_NAME.fullmatch(token.text):
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


def _bodies(text: str) -> dict[str, str]:
    """The text after each name and after V; blanks replace the name, so that columns in errors are right."""
    heads = list(_HEAD.finditer(text))
    starts = [*(match.start() for match in heads), len(text)]
    before = text[: starts[0]].strip()
    if before:
        line = shown(before.splitlines()[0])
        raise InputError(f"Expected a definition such as A := formula, or V = number, not {line!r}.")
    found: dict[str, str] = {}
    for match, end in zip(heads, starts[1:], strict=True):
        name = match[1] or _VALUE
        if name in RESERVED:
            raise InputError(f"{name} has a meaning of its own and cannot be defined.")
        if name in found:
            raise InputError(f"{name} is defined twice.")
        found[name] = " " * len(match[0]) + text[match.end() : end]
    if _VALUE not in found:
        raise InputError("The value function is missing; it is given as V = number.")
    return found
