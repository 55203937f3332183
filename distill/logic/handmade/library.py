"""Hand-made features and value functions, stored as YAML files.

A definition may refer to others: `$alpha`, `$eta[k-1]`, or `$F[1..n-1]` for a disjunction over an index. In
C2 the variable follows, as in `$eta[k-1](y)`. `n` is the number of objects: some functions need one feature
for each.
"""

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from distill.common import InputError, read_yaml, shown
from distill.logic.notation.c2_parser import parse_c2
from distill.logic.notation.formats import parse_any
from distill.logic.notation.parser import parse
from distill.logic.syntax.features import Constant, Indicator, Number, Scaled, Sum
from distill.logic.syntax.formulas import Truth
from distill.logic.syntax.nodes import Node

_NAMED = re.compile(r"\$(\w+)(?:\[([^\]]+)\])?(?:\(([xy])\))?")
_CHAIN = 12  # default number of objects
_DIGITS = 6  # of an index
_CHARACTERS = 2_000_000  # of the text of a formula with all its references replaced
_FORMS = {"emlc": parse, "c2": parse_c2}


@dataclass(frozen=True)
class HandMade:
    """Formulas of one problem class, and its value function if it has one.

    Attributes
    ----------
    name, title, source, notes : description and reference; `notes` lists corrections.
    problem : the problem class whose V* the value function equals.
    definitions : for each name, with `[0]` or `[k]` for families, its meaning and its `emlc` and `c2` text.
    terms : weight, feature and the range of `k` of each term of the value function.
    """

    name: str
    title: str
    source: str
    notes: str
    problem: str | None
    definitions: dict[str, dict[str, str]]
    terms: list[dict[str, Any]]

    def formula(self, name: str, n: int, k: int | None = None, form: str = "emlc") -> Node:
        """One of its formulas, for states of at most `n` objects."""
        found: Node = _FORMS[form](self._text(name, k, n, form))
        return found

    def value_function(self, n: int, form: str = "emlc") -> Number:
        """Its value function for states of at most `n` objects, from its C2 or its EMLC formulas.

        Examples
        --------
        >>> hand_made("visitall-distance").value_function(9)
        dist(visited_G & ~visited, connected, at-robot)
        """
        if not self.terms:
            raise InputError(f"{self.name} has formulas but no value function.")
        found: list[Number] = []
        for term in self.terms:
            for k in _range(str(term.get("k", "1..1")), n, 0):
                read = _FORMS[form](self._filled(term["feature"], k, n, form))
                feature = Indicator(read) if isinstance(read, Truth) else read
                found.append(Scaled(_linear(str(term.get("weight", 1)), k, n), feature))
        return Sum(*found) if found else Constant(0)

    def _text(self, name: str, k: int | None, n: int, form: str) -> str:
        return self._filled(self._definition(name, k, form), k or 0, n, form)

    def _definition(self, name: str, k: int | None, form: str) -> str:
        keys = [name] if k is None else [f"{name}[{k}]", f"{name}[k]"]
        chosen = next((self.definitions[key] for key in keys if key in self.definitions), None)
        if chosen is None or form not in chosen:
            raise InputError(f"{self.name} has no formula {keys[0]} in {form}.")
        return chosen[form]

    def _filled(self, text: str, k: int, n: int, form: str) -> str:
        """A text with its references replaced by definitions."""
        found: list[str] = []
        length = 0
        # Pieces, the index of those with references, and whether the two variables are exchanged.
        todo: list[tuple[str, int | None, bool]] = [(text, k, False)]
        while todo:
            piece, index, exchanged = todo.pop()
            if index is None:
                found.append(_swapped(piece) if exchanged else piece)
                length += len(piece)
                if length > _CHARACTERS:
                    raise InputError(f"A formula of {self.name} is too long for so many objects; take fewer.")
                continue
            pieces: list[tuple[str, int | None, bool]] = []
            place = 0
            for match in _NAMED.finditer(piece):
                pieces.append((piece[place : match.start()], None, exchanged))
                # For the other variable, the two variables are exchanged.
                pieces += self._referred(match, index, n, form, exchanged != (match[3] == "y"))
                place = match.end()
            todo += reversed([*pieces, (piece[place:], None, exchanged)])
        return "".join(found)

    def _referred(
        self, match: re.Match[str], k: int, n: int, form: str, exchanged: bool
    ) -> list[tuple[str, int | None, bool]]:
        """The definition that is referred to, or the disjunction of several, in brackets."""
        name, index, _ = match.groups()
        if index is None:
            numbers: list[int | None] = [None]
        elif ".." in index:
            numbers = list(_range(index, n, k))
        else:
            numbers = [_linear(index, k, n)]
        parts: list[tuple[str, int | None, bool]] = []
        for number in numbers:
            parts.append((" | (" if parts else "((", None, False))
            parts.append((self._definition(name, number, form), number or 0, exchanged))
            parts.append((")", None, False))
        nothing = "(bot" if form == "emlc" else "(⊥"
        return [*(parts or [(nothing, None, False)]), (")", None, False)]


@cache
def library() -> dict[str, HandMade]:
    """All hand-made functions by name."""
    folder = resources.files("distill.logic.handmade")
    texts = {
        f.name.removesuffix(".yaml"): f.read_text() for f in folder.iterdir() if f.name.endswith(".yaml")
    }
    return {name: _read(name, texts[name]) for name in sorted(texts)}


def hand_made(name: str) -> HandMade:
    """One of the hand-made functions.

    Examples
    --------
    >>> hand_made("blocks-clear").formula("eta", n=5, k=2)
    <on^-1><on^-1>clear
    """
    if name not in library():
        raise InputError(
            f"There is no hand-made function {shown(name)!r}; choose from {', '.join(library())}."
        )
    return library()[name]


def read_formula(text: str, n: int = _CHAIN) -> Any:
    """Parse a formula in any notation, or take `@name` from the library.

    Parameters
    ----------
    n : the largest number of objects that a hand-made function serves.

    Examples
    --------
    >>> read_formula("∃y (on(x, y) ∧ clear(y))"), read_formula("@blocks-clear/eta[1]")
    (<on>clear, <on^-1>clear)
    >>> read_formula("@visitall-distance")
    dist(visited_G & ~visited, connected, at-robot)
    """
    text = text.strip()
    if not text.startswith("@"):
        return parse_any(text)
    name, _, part = text[1:].partition("/")
    made = hand_made(name)
    if not part:
        return made.value_function(n)
    family, _, index = part.removesuffix("]").partition("[")
    if index and not (index.isdecimal() and index.isascii() and len(index) < _DIGITS):
        raise InputError(
            f"{shown(text)}: the index must be a number of less than {_DIGITS} digits, as in "
            "@blocks-clear/eta[2]."
        )
    return made.formula(family, n, int(index) if index else None)


def _read(name: str, text: str) -> HandMade:
    given, _ = read_yaml(text, lambda line: f"{name}.yaml, line {line}")
    return HandMade(
        name,
        given["title"],
        given["source"],
        given.get("notes", ""),
        given.get("problem"),
        given["formulas"],
        given.get("value", []),
    )


def _linear(text: str, k: int, n: int) -> int:
    """The value of `3`, `k`, `n-1`, `2*k - 1` and the like."""
    match = re.fullmatch(r"\s*(?:(-?\d+)\s*\*\s*)?([kn]|-?\d+)\s*(?:([-+])\s*(\d+))?\s*", text)
    if match is None:
        raise InputError(f"{text!r} is no number; use k, n, and whole numbers.")
    factor, of, sign, more = match.groups()
    value = int(factor or 1) * (k if of == "k" else n if of == "n" else int(of))
    return value + int(more or 0) * (-1 if sign == "-" else 1)


def _range(text: str, n: int, k: int) -> range:
    first, last = text.split("..")
    return range(_linear(first, k, n), _linear(last, k, n) + 1)


def _swapped(text: str) -> str:
    return re.sub(r"\b[xy]\b", lambda match: "y" if match[0] == "x" else "x", text)
