"""Value functions as people write them: what is said more than once has a name, and heavy terms come first.

Names are capitals in the order of their definitions, as in `A := <on+>clear_G`. V is the function, and T
and F are marks of goals, so they are no names. Beside definitions, a predicate that looks like a name stands
in double quotes.
"""

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from itertools import count
from string import ascii_uppercase
from typing import Any, NamedTuple

from distill.errors import InputError
from distill.logic.english import explain
from distill.logic.features import Constant, Indicator, Number, Product, Scaled, weighted
from distill.logic.formulas import Atom, Truth
from distill.logic.nodes import Node
from distill.logic.operators import Token
from distill.logic.reading import FormulaReader
from distill.logic.relations import Relation, Role
from distill.logic.sharing import worth_a_name
from distill.logic.signs import NAME, RESERVED
from distill.logic.writing import ASCII, LATEX, WRITERS, Notation, Writer, quoted, written_sum

_VALUE = "V"
_LETTERS = [letter for letter in ascii_uppercase if letter not in ("F", "T", _VALUE)]
_LIKE_A_NAME = re.compile(r"[A-Z]\d*", re.ASCII)
_HEAD = re.compile(rf"^[ \t]*(?:({NAME.pattern})[ \t]*:=|{_VALUE}[ \t]*=)", re.ASCII | re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*;.*$", re.MULTILINE)
_WIDTH = 100  # characters of a function on one line
_TERM = 4  # how strongly the writer takes a term to hold together


@dataclass(frozen=True)
class DefinedFunction:
    """A value function, with names for what it says more than once.

    Attributes
    ----------
    value : the function.
    definitions : names and what they stand for; each is written with those before it.
    """

    value: Number
    definitions: tuple[tuple[str, Node], ...]

    def __str__(self) -> str:
        return self.written()

    def written(self, notation: Notation = ASCII, *, english: bool = False) -> str:
        """The definitions and the function; `english` says before each definition and term what it means."""
        definitions, terms = self._rows(notation)
        line = " ".join([terms[0].text, *(f"{row.sign} {row.text}" for row in terms[1:])])
        if not english and len(f"{_VALUE} = {line}") <= _WIDTH:
            terms = [_Row(_VALUE, "=", line, self.value)]
        if notation is LATEX:
            return _aligned(definitions + terms, english)
        blocks = [_lines(rows, english) for rows in (definitions, terms) if rows]
        return "\n\n".join(map("\n".join, blocks))

    def _rows(self, notation: Notation) -> "tuple[list[_Row], list[_Row]]":
        """The definitions, and the terms in the order in which they are written."""
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
                texts[node] = shown[0]
            writer.shown[node] = names.get(node, shown)
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
    head: str  # a name, V, or nothing where a term goes on
    sign: str
    text: str
    meaning: Node


def define_shared(value: Number) -> DefinedFunction:
    """Name what a value function says more than once, wherever that makes its text shorter.

    What saves most is named first. The names are the same in all notations.

    Examples
    --------
    >>> from distill.logic import parse
    >>> define_shared(parse("2*#<on+>clear_G - [#(clear & <on+>clear_G) > 0]")).definitions
    (('A', <on+>clear_G),)
    """
    predicates = {node.fields[0] for node in value.walk() if isinstance(node, Atom | Role)}
    # Small ones first: so each comes after its parts.
    parts = sorted(worth_a_name(value, _names(predicates)))
    return DefinedFunction(value, tuple(zip(_names(predicates), parts, strict=False)))


def write_defined(value: Number, notation: Notation = ASCII, *, english: bool = False) -> str:
    """Write a value function as people do; `parse_defined` reads what is written in `ASCII`.

    Heavy terms come first, of these small ones, and the constant is the last. Terms stand on lines of their
    own if they do not fit on one.

    Parameters
    ----------
    english : say in a comment before each definition and term what it means.

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
    """Read a value function with definitions, each of which may use earlier ones; `;` begins a comment line.

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
    for name, body in bodies.items():
        known[name] = _meaning(f"In the definition of {name}: ", body, known, bodies)
    found = _Names(value, known, bodies).read()
    return Indicator(found) if isinstance(found, Truth) else found


def has_definitions(text: str) -> bool:
    """Whether a text is one for `parse_defined`.

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
    """What a definition is: `on_G & ~on` can be both, and its use tells."""

    formula: Node | None
    relation: Node | None


class _Names(FormulaReader):
    """Reads a formula that uses definitions: those that are known so far, of all that there are."""

    def __init__(self, text: str, known: dict[str, _Meaning], every: Container[str]) -> None:
        super().__init__(text)
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
            raise InputError(f"{token.text} is not defined; a predicate called so stands in double quotes.")
        return super()._named(token)


def _meaning(where: str, body: str, known: dict[str, _Meaning], every: Container[str]) -> _Meaning:
    found: list[Any] = []
    errors = []
    for in_relation in (0, 1):
        reader = _Names(body, known, every)
        reader.in_relation = in_relation
        try:
            found.append(reader.read())
        except InputError as error:
            found.append(None)
            errors.append(error)
    if len(errors) == len(found):
        raise InputError(f"{where}{errors[0]}") from errors[0]
    return _Meaning(*found)


def _bodies(text: str) -> dict[str, str]:
    """What stands after each name and after V, with blanks for the name, so that columns are right."""
    heads = list(_HEAD.finditer(text))
    starts = [*(match.start() for match in heads), len(text)]
    before = text[: starts[0]].strip()
    if before:
        line = before.splitlines()[0]
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
