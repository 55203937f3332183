"""Value functions with definitions: repeated parts have names, and terms with large weights come first.

Names are capitals in the order of their definitions, as in `A := <on+>clear_G`. V is the function, and T
and F mark goals, so they are not used as names. In a text with definitions, a predicate that looks like a
name is written in double quotes.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from string import ascii_uppercase
from typing import NamedTuple

from distill.logic.notation.c2_writer import C2Writer, check_c2
from distill.logic.notation.english import explain
from distill.logic.notation.sharing import worth_a_name
from distill.logic.notation.tokens import quoted
from distill.logic.notation.writer import ASCII, EMLC, LATEX, WRITERS, Notation, Writer, written_sum
from distill.logic.syntax.features import Constant, Number, Product, Scaled, weighted
from distill.logic.syntax.formulas import Atom
from distill.logic.syntax.nodes import Node
from distill.logic.syntax.relations import Relation, Role

VALUE = "V"
_LETTERS = [letter for letter in ascii_uppercase if letter not in ("F", "T", VALUE)]
LIKE_A_NAME = re.compile(r"[A-Z]\d*", re.ASCII)
_WIDTH = 100  # largest number of characters of a function on one line
_SHORTEST_CHAIN = 3  # steps of a chain that is named
_LARGEST_MEANING = 200  # symbols of a part that is explained without names
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
        names: dict[Node, tuple[str, int]] = {}
        for name, part in self.definitions:
            named = Role(name) if isinstance(part, Relation) else Atom(name)
            names[part] = WRITERS[type(named)](Writer(notation), named)
        writer = Writer(self._without_names(notation))
        texts: dict[Node, str] = {}
        for node in self.value.walk():
            shown = WRITERS[type(node)](writer, node)
            if node in names:
                texts[node] = writer.texts.whole(shown[0])
            writer.shown[node] = names.get(node, (writer.texts.keep(shown[0]), shown[1]))
        for feature in (feature for _, feature in weighted(self.value) if isinstance(feature, Product)):
            if feature not in names:
                times = f" {notation.signs['times'].strip()} "
                factors = (writer.inside(part, _TERM + 1) for part in feature.fields)
                writer.shown[feature] = times.join(factors), _TERM
        rows = [_Row(names[part][0], ":=", texts[part], part) for _, part in self.definitions]
        strength = _TERM if len(weighted(self.value)) > 1 or isinstance(self.value, Scaled) else 0
        terms = self._terms(writer, lambda part: writer.inside(part, strength))
        return self._text(rows, terms, notation, english)

    def written_c2(self, *, latex: bool = False) -> str:
        """The definitions and the function in C2, with the variables after the names."""
        check_c2(self.value)
        notation = LATEX if latex else EMLC
        names = {part: notation.name(name) for name, part in self.definitions}
        writer = C2Writer(self._without_names(notation), names)
        writer.write(self.value)
        rows = [_Row(writer.head(part), ":=", writer.defined[part], part) for _, part in self.definitions]
        terms = self._terms(writer, lambda part: writer.shown[part, "x"][0])
        return self._text(rows, terms, notation, False)

    def _without_names(self, notation: Notation) -> Notation:
        """A notation in which no predicate looks like a name."""
        if self.definitions and notation.name is quoted:
            return replace(notation, name=_quoted_like_a_name)
        return notation

    def _terms(self, writer: Writer | C2Writer, inside: Callable[[Node], str]) -> "list[_Row]":
        """The terms in their order."""
        terms: list[_Row] = []
        for weight, feature in sorted(weighted(self.value), key=_prominence):
            terms.append(_term(writer, inside, weight, feature, first=not terms))
        return terms

    def _text(self, definitions: "list[_Row]", terms: "list[_Row]", notation: Notation, english: bool) -> str:
        line = " ".join([terms[0].text, *(f"{row.sign} {row.text}" for row in terms[1:])])
        if not english and len(f"{VALUE} = {line}") <= _WIDTH:
            terms = [_Row(VALUE, "=", line, self.value)]
        explained = self._explained if english else None
        if notation is LATEX:
            return _aligned(definitions + terms, explained)
        blocks = [_lines(rows, explained) for rows in (definitions, terms) if rows]
        return "\n\n".join(map("\n".join, blocks))

    def _explained(self, part: Node) -> str:
        """The meaning in words; large parts are explained by the names of their parts."""
        names = {named: name for name, named in self.definitions} if part.size > _LARGEST_MEANING else {}
        return explain(part, names)


class _Row(NamedTuple):
    head: str  # a name, V, or empty on a continuation line
    sign: str
    text: str
    meaning: Node


def define_shared(
    value: Number, chains: Iterable[Sequence[Node]] = (), *, relations: bool = True
) -> DefinedFunction:
    """Name the repeated parts of a value function if that makes its text shorter.

    The parts that save most are named first. The names are the same in all notations.

    Parameters
    ----------
    chains : steps of bounded forms; those that occur are named with one letter and a number each.
    relations : whether relations may have names.

    Examples
    --------
    >>> from distill.logic import parse
    >>> define_shared(parse("2*#<on+>clear_G - [#(clear & <on+>clear_G) > 0]")).definitions
    (('A', <on+>clear_G),)
    """
    nodes = set(value.walk())
    predicates = {node.fields[0] for node in nodes if isinstance(node, Atom | Role)}
    names = _names_of_chains([[one for one in chain if one in nodes] for chain in chains], predicates)
    used = {*predicates, *names.values(), *(name[0] for name in names.values())}
    found = worth_a_name(value, _names(used), names)
    parts = sorted(part for part in found if relations or not isinstance(part, Relation))
    names.update(zip(parts, _names(used), strict=False))
    # Sorted by size, so that each comes after its parts.
    return DefinedFunction(value, tuple((names[part], part) for part in sorted(names)))


def _names_of_chains(chains: Iterable[Sequence[Node]], predicates: set[str]) -> dict[Node, str]:
    """A letter with the numbers 1, 2, … for each chain, as long as there are letters."""
    found: dict[Node, str] = {}
    letters = iter(_LETTERS)
    for chain in chains:
        steps = [step for step in chain if step not in found]
        if len(steps) < _SHORTEST_CHAIN:
            continue
        for letter in letters:
            names = [f"{letter}{number}" for number in range(1, len(steps) + 1)]
            if predicates.isdisjoint(names):
                found.update(zip(steps, names, strict=True))
                break
    return found


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


def _prominence(term: tuple[float, Number]) -> tuple[bool, float, tuple[int, str, bytes]]:
    weight, feature = term
    return isinstance(feature, Constant), -abs(weight), feature.order


def _term(
    writer: Writer | C2Writer, inside: Callable[[Node], str], weight: float, feature: Number, first: bool
) -> _Row:
    term = Scaled(weight, feature)
    negative = (weight * feature.fields[0] if isinstance(feature, Constant) else weight) < 0
    absolute = Scaled(-1, term) if negative else term
    text = writer.texts.whole(written_sum(absolute, writer.signs, inside))
    minus = writer.signs["minus"]
    if first:
        return _Row(VALUE, "=", minus + text if negative else text, term)
    return _Row("", minus if negative else "+", text, term)


def _quoted_like_a_name(predicate: str) -> str:
    return f'"{predicate}"' if LIKE_A_NAME.fullmatch(predicate) else quoted(predicate)


def _names(predicates: set[str]) -> Iterator[str]:
    every = (f"{letter}{number or ''}" for number in count() for letter in _LETTERS)
    return (name for name in every if name not in predicates)


def _lines(rows: list[_Row], explained: Callable[[Node], str] | None) -> list[str]:
    found = []
    for row in rows:
        if explained:
            found.append(f"; {explained(row.meaning)}")
        found.append(f"{row.head:1} {row.sign} {row.text}")
    return found


def _aligned(rows: list[_Row], explained: Callable[[Node], str] | None) -> str:
    if len(rows) == 1 and not explained:
        return f"{rows[0].head} {rows[0].sign} {rows[0].text}"
    found = [r"\begin{aligned}"]
    for row in rows:
        if explained:
            found.append(f"% {explained(row.meaning)}")
        found.append(f"{row.head:1} &{row.sign} {row.text}" + ("" if row is rows[-1] else r" \\"))
    return "\n".join([*found, r"\end{aligned}"])
