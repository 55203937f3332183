"""Writing formulas in the notations that share their shape: typed, as in the thesis, and LaTeX."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from distill.errors import InputError
from distill.logic.features import (
    Compare,
    Constant,
    Count,
    Distance,
    Indicator,
    Number,
    Product,
    Scaled,
    Sum,
    weighted,
)
from distill.logic.formulas import BOTTOM, And, Atom, Modal, Not, Or, Top
from distill.logic.nodes import Node
from distill.logic.relations import (
    Closure,
    Everything,
    Identity,
    RelationAnd,
    RelationNot,
    RelationOr,
    Role,
)
from distill.logic.signs import NAME, RESERVED

LARGEST = 2_000_000  # symbols that are still written out


@dataclass(frozen=True)
class Notation:
    """How formulas look.

    Attributes
    ----------
    signs : for what has a sign of its own: its kind and the sign.
    name : a predicate's name.
    role : of a predicate's name; `inverse` and `places` (two numbers) are put after it.
    modal : of relation and operand; `zero` says whether a threshold of 0 is shown.
    bare : whether a modal needs brackets inside other formulas.
    brackets, square : left and right.
    """

    signs: dict[str, str]
    name: Callable[[str], str]
    role: str
    inverse: str
    places: str
    modal: str
    zero: bool
    bare: bool
    brackets: tuple[str, str] = ("(", ")")
    square: tuple[str, str] = ("[", "]")


def quoted(name: str) -> str:
    """A predicate's name as it is typed."""
    return name if NAME.fullmatch(name) and name not in RESERVED else f'"{name}"'


def latex_name(name: str) -> str:
    r"""A predicate's name in LaTeX, its goal mark as an index.

    Examples
    --------
    >>> latex_name("at-robby"), latex_name("clear_G"), latex_name("on_G,F")
    ('\\text{at-robby}', '\\text{clear}_{G}', '\\text{on}_{G,F}')
    """
    stem, mark, after = name.rpartition("_G")
    if not mark or after not in ("", ",T", ",F"):
        stem, mark, after = name, "", ""
    escaped = "".join(f"\\{sign}" if sign in "_&%#$" else sign for sign in stem)
    return f"\\text{{{escaped}}}" + (f"_{{G{after}}}" if mark else "")


ASCII = Notation(
    signs={
        "top": "top",
        "bottom": "bot",
        "not": "~",
        "and": " & ",
        "or": " | ",
        "id": "id",
        "all": "all",
        "plus": "+",
        "star": "*",
        "count": "#",
        "times": "*",
        "minus": "-",
        "dist": "dist",
    },
    name=quoted,
    role="{}",
    inverse="^-1",
    places="[{},{}]",
    modal="<{}>{}",
    zero=False,
    bare=False,
)
EMLC = Notation(
    signs={
        "top": "⊤",
        "bottom": "⊥",
        "not": "¬",
        "and": " ∧ ",
        "or": " ∨ ",
        "id": "𝐈",
        "all": "𝟏",
        "plus": "⁺",
        "star": "*",
        "count": "#",
        "times": "·",
        "minus": "−",
        "dist": "dist",
    },
    name=quoted,
    role="𝐀_{}",
    inverse="ᵀ",
    places="[{},{}]",
    modal="{} {}",
    zero=True,
    bare=True,
)
LATEX = Notation(
    signs={
        "top": r"\top",
        "bottom": r"\bot",
        "not": r"\neg ",
        "and": r" \wedge ",
        "or": r" \vee ",
        "id": r"\mathbf{I}",
        "all": r"\mathbf{1}",
        "plus": "^{+}",
        "star": "^{*}",
        "count": r"\#",
        "times": r" \cdot ",
        "minus": "-",
        "dist": r"\mathrm{dist}",
    },
    name=latex_name,
    role=r"\mathbf{{A}}_{{{}}}",
    inverse="^{T}",
    places="[{},{}]",
    modal=r"{}\,{}",
    zero=True,
    bare=True,
    brackets=(r"\left(", r"\right)"),
    square=(r"\left[", r"\right]"),
)


def write(formula: Node, notation: Notation = ASCII) -> str:
    """Write a formula; `parse` reads what is written in `ASCII` and `EMLC`.

    Examples
    --------
    >>> formula = Modal(Closure(Role("on", 1, 0)), Atom("clear_G"), 0)
    >>> write(formula), write(formula, EMLC)
    ('<on^-1+>clear_G', '𝐀_onᵀ⁺ clear_G > 0')
    """
    check_size(formula)
    writer = Writer(notation)
    for node in formula.walk():
        writer.shown[node] = WRITERS[type(node)](writer, node)
    return writer.shown[formula][0]


def check_size(formula: Node) -> None:
    """Refuse to write out what would fill the memory."""
    if formula.size > LARGEST:
        raise InputError(
            f"Written out the formula has {formula.size:,} symbols, which nobody can read; store it as JSON, "
            "which keeps what is shared, or simplify it."
        )


def written_sum(number: Number, signs: dict[str, str], inside: Callable[[Node], str]) -> str:
    """Weights, features and a constant, with the signs between them."""
    shown = ""
    for weight, feature in weighted(number):
        constant = isinstance(feature, Constant)
        own = weight * feature.fields[0] if constant else weight
        term = repr(abs(own)) if constant else inside(feature)
        if not constant and abs(own) != 1:
            term = f"{abs(own)!r}{signs['times']}{term}"
        sign = signs["minus"] if own < 0 else "+"
        shown = f"{shown} {sign} {term}" if shown else ("" if own >= 0 else sign) + term
    return shown


_ATOMIC, _PREFIX, _LOOSE = 9, 8, 0  # how strongly what is written holds together
_Shown = tuple[str, int]


class Writer:
    """Writes nodes whose parts are written; `shown` has their texts and how strongly they hold together."""

    def __init__(self, notation: Notation) -> None:
        self.notation = notation
        self.signs = notation.signs
        self.shown: dict[Node, _Shown] = {}

    def inside(self, node: Node, strength: int) -> str:
        """A part, in brackets if it holds together less strongly than asked for."""
        text, own = self.shown[node]
        return text if own >= strength else self.in_brackets(text)

    def in_brackets(self, text: str) -> str:
        """The text in brackets."""
        return text.join(self.notation.brackets)

    def role(self, node: Role) -> _Shown:
        """A relation of the domain, or two places of it."""
        name, source, target = node.fields
        shown = self.notation.role.format(self.notation.name(name))
        if (source, target) == (0, 1):
            return shown, _ATOMIC
        if (source, target) == (1, 0):
            return shown + self.notation.inverse, _ATOMIC
        return shown + self.notation.places.format(source, target), _ATOMIC

    def negation(self, node: Node) -> _Shown:
        """Not, of formulas and relations."""
        if node is BOTTOM:
            return self.signs["bottom"], _ATOMIC
        return self.signs["not"] + self.inside(node.fields[0], _PREFIX), _PREFIX

    def modal(self, node: Modal) -> _Shown:
        """More than so many along a relation."""
        relation, operand, threshold = node.fields
        # A relation without brackets of its own gets some, unless it is a single sign.
        outer = self.inside(relation, _ATOMIC if self.notation.bare else _LOOSE)
        inner = self.inside(operand, _PREFIX)
        last = operand
        while threshold and isinstance(last, Not):
            last = last.fields[0]
        if threshold and isinstance(last, Modal) and self.shown[operand][1] == _PREFIX:
            # Otherwise the threshold would belong to the modal inside.
            inner = self.in_brackets(self.shown[operand][0])
        shown = self.notation.modal.format(outer, inner)
        if threshold or self.notation.zero:
            shown = f"{shown} > {threshold}"
        return shown, _LOOSE if self.notation.bare else _PREFIX

    def total(self, node: Number) -> _Shown:
        """A sum, a weighted number or a constant."""
        shown = written_sum(node, self.signs, lambda part: self.inside(part, 4))
        negative = shown.startswith(self.signs["minus"])
        alone = _ATOMIC if isinstance(node, Constant) else 4
        return shown, 3 if negative or isinstance(node, Sum) else alone

    def infix(self, node: Node, kind: str, strength: int) -> _Shown:
        """Parts with a sign between them."""
        return self.signs[kind].join(self.inside(part, strength + 1) for part in node.fields), strength

    def compare(self, node: Compare) -> _Shown:
        """More than so many in the state."""
        number, threshold = node.fields
        return f"{self.shown[number][0]} > {threshold}".join(self.notation.square), _ATOMIC

    def distance(self, node: Distance) -> _Shown:
        """Steps from one to the other."""
        parts = ", ".join(self.shown[part][0] for part in node.fields)
        return self.signs["dist"] + self.in_brackets(parts), _ATOMIC


WRITERS: dict[type[Node], Callable[[Writer, Any], _Shown]] = {
    Identity: lambda w, node: (w.signs["id"], _ATOMIC),
    Everything: lambda w, node: (w.signs["all"], _ATOMIC),
    Role: Writer.role,
    RelationNot: Writer.negation,
    RelationAnd: lambda w, node: w.infix(node, "and", 2),
    RelationOr: lambda w, node: w.infix(node, "or", 1),
    Closure: lambda w, n: (
        w.inside(n.fields[0], _ATOMIC) + w.signs["star" if n.fields[1] else "plus"],
        _ATOMIC,
    ),
    Top: lambda w, node: (w.signs["top"], _ATOMIC),
    Atom: lambda w, node: (w.notation.name(node.fields[0]), _ATOMIC),
    Not: Writer.negation,
    And: lambda w, node: w.infix(node, "and", 2),
    Or: lambda w, node: w.infix(node, "or", 1),
    Modal: Writer.modal,
    Count: lambda w, node: (w.signs["count"] + w.inside(node.fields[0], _PREFIX), _PREFIX),
    Compare: Writer.compare,
    Indicator: lambda w, node: w.shown[node.fields[0]],
    Product: lambda w, node: w.infix(node, "times", 4),
    Constant: Writer.total,
    Scaled: Writer.total,
    Sum: Writer.total,
    Distance: Writer.distance,
}
