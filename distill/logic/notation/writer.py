"""Writer of the typed notation, the notation of the thesis, and LaTeX, which have the same shape."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from distill.common import InputError
from distill.logic import syntax as fo
from distill.logic.notation.texts import Texts
from distill.logic.notation.tokens import quoted

LARGEST = 2_000_000  # largest size of a formula that is written


@dataclass(frozen=True)
class Notation:
    """A notation of formulas.

    Attributes
    ----------
    signs : the sign of each kind of node.
    name : the text of a predicate's name.
    role : the text of a role, with a predicate's name; `inverse` and `places` (two numbers) follow it.
    modal : the text of relation and operand; `zero`: whether a threshold of 0 is written.
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


_LATEX_SIGNS = {sign: f"\\{sign}" for sign in "_&%#${}"} | {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
}


def latex_name(name: str) -> str:
    r"""A predicate's name in LaTeX, its goal mark as an index.

    Examples
    --------
    >>> latex_name("at-robby"), latex_name("clear_G"), latex_name("on_G,F")
    ('\\text{at-robby}', '\\text{clear}_{G}', '\\text{on}_{G,F}')
    >>> print(latex_name(r"\input{a}"))
    \text{\textbackslash{}input\{a\}}
    """
    stem, mark, after = name.rpartition("_G")
    if not mark or after not in ("", ",T", ",F"):
        stem, mark, after = name, "", ""
    escaped = "".join(_LATEX_SIGNS.get(sign, sign) for sign in stem)
    return f"\\text{{{escaped}}}" + (f"_{{G{after}}}" if mark else "")


_SIGNS = {  # ASCII, EMLC, LaTeX
    "top": ("top", "⊤", r"\top"),
    "bottom": ("bot", "⊥", r"\bot"),
    "not": ("~", "¬", r"\neg "),
    "and": (" & ", " ∧ ", r" \wedge "),
    "or": (" | ", " ∨ ", r" \vee "),
    "id": ("id", "𝐈", r"\mathbf{I}"),
    "all": ("all", "𝟏", r"\mathbf{1}"),
    "plus": ("+", "⁺", "^{+}"),
    "star": ("*", "*", "^{*}"),
    "count": ("#", "#", r"\#"),
    "times": ("*", "·", r" \cdot "),
    "minus": ("-", "−", "-"),
    "dist": ("dist", "dist", r"\mathrm{dist}"),
}


def _signs(column: int) -> dict[str, str]:
    return {kind: texts[column] for kind, texts in _SIGNS.items()}


ASCII = Notation(
    signs=_signs(0),
    name=quoted,
    role="{}",
    inverse="^-1",
    places="[{},{}]",
    modal="<{}>{}",
    zero=False,
    bare=False,
)
EMLC = Notation(
    signs=_signs(1),
    name=quoted,
    role="𝐀_{}",
    inverse="ᵀ",
    places="[{},{}]",
    modal="{} {}",
    zero=True,
    bare=True,
)
LATEX = Notation(
    signs=_signs(2),
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


def write(formula: fo.Node, notation: Notation = ASCII) -> str:
    """Write a formula; `parse` is the inverse for `ASCII` and `EMLC`.

    Examples
    --------
    >>> formula = fo.Modal(fo.Closure(fo.Role("on", 1, 0)), fo.Atom("clear_G"), 0)
    >>> write(formula), write(formula, EMLC)
    ('<on^-1+>clear_G', '𝐀_onᵀ⁺ clear_G > 0')
    """
    check_size(formula)
    writer = Writer(notation)
    for node in formula.walk():
        text, strength = WRITERS[type(node)](writer, node)
        writer.shown[node] = writer.texts.keep(text), strength
    return writer.texts.whole(writer.shown[formula][0])


def check_size(formula: fo.Node) -> None:
    """Raise an error for a formula whose text would fill the memory."""
    if formula.size > LARGEST:
        raise InputError(
            f"Written out the formula has {formula.size:,} symbols, which nobody can read; store it as JSON, "
            "which keeps what is shared, or simplify it."
        )


def written_sum(number: fo.Number, signs: dict[str, str], inside: Callable[[fo.Node], str]) -> str:
    """The text of a sum: weights, features and a constant with signs."""
    shown = ""
    for weight, feature in fo.weighted(number):
        constant = isinstance(feature, fo.Constant)
        own = weight * feature.fields[0] if constant else weight
        term = repr(abs(own)) if constant else inside(feature)
        if not constant and abs(own) != 1:
            term = f"{abs(own)!r}{signs['times']}{term}"
        sign = signs["minus"] if own < 0 else "+"
        shown = f"{shown} {sign} {term}" if shown else ("" if own >= 0 else sign) + term
    return shown


_ATOMIC, _PREFIX, _LOOSE = 9, 8, 0  # a text and its binding strength
_Shown = tuple[str, int]


class Writer:
    """Writes nodes from the texts of their parts; `shown` has these texts and their binding strengths."""

    def __init__(self, notation: Notation) -> None:
        self.notation = notation
        self.signs = notation.signs
        self.texts = Texts()
        self.shown: dict[fo.Node, _Shown] = {}

    def inside(self, node: fo.Node, strength: int) -> str:
        """The text of a part, in brackets if it binds less strongly than `strength`."""
        text, own = self.shown[node]
        return text if own >= strength else self.in_brackets(text)

    def in_brackets(self, text: str) -> str:
        """The text in brackets."""
        return text.join(self.notation.brackets)

    def role(self, node: fo.Role) -> _Shown:
        """A role, with two arguments if there are more."""
        name, source, target = node.fields
        shown = self.notation.role.format(self.notation.name(name))
        if (source, target) == (0, 1):
            return shown, _ATOMIC
        if (source, target) == (1, 0):
            return shown + self.notation.inverse, _ATOMIC
        return shown + self.notation.places.format(source, target), _ATOMIC

    def negation(self, node: fo.Node) -> _Shown:
        """Negation of formulas and relations."""
        if node is fo.BOTTOM:
            return self.signs["bottom"], _ATOMIC
        return self.signs["not"] + self.inside(node.fields[0], _PREFIX), _PREFIX

    def modal(self, node: fo.Modal) -> _Shown:
        """A modal with its threshold."""
        relation, operand, threshold = node.fields
        # A relation that is not a single sign gets brackets.
        outer = self.inside(relation, _ATOMIC if self.notation.bare else _LOOSE)
        inner = self.inside(operand, _PREFIX)
        last = operand
        while threshold and isinstance(last, fo.Not):
            last = last.fields[0]
        if threshold and isinstance(last, fo.Modal) and self.shown[operand][1] == _PREFIX:
            # Otherwise the threshold would belong to the modal inside.
            inner = self.in_brackets(self.shown[operand][0])
        shown = self.notation.modal.format(outer, inner)
        if threshold or self.notation.zero:
            shown = f"{shown} > {threshold}"
        return shown, _LOOSE if self.notation.bare else _PREFIX

    def total(self, node: fo.Number) -> _Shown:
        """A sum, a weighted number or a constant."""
        shown = written_sum(node, self.signs, lambda part: self.inside(part, 4))
        negative = shown.startswith(self.signs["minus"])
        alone = _ATOMIC if isinstance(node, fo.Constant) else 4
        return shown, 3 if negative or isinstance(node, fo.Sum) else alone

    def infix(self, node: fo.Node, kind: str, strength: int) -> _Shown:
        """Parts joined by a sign."""
        return self.signs[kind].join(self.inside(part, strength + 1) for part in node.fields), strength

    def compare(self, node: fo.Compare) -> _Shown:
        """A comparison."""
        number, threshold = node.fields
        return f"{self.shown[number][0]} > {threshold}".join(self.notation.square), _ATOMIC

    def distance(self, node: fo.Distance) -> _Shown:
        """A distance."""
        parts = ", ".join(self.shown[part][0] for part in node.fields)
        return self.signs["dist"] + self.in_brackets(parts), _ATOMIC


WRITERS: dict[type[fo.Node], Callable[[Writer, Any], _Shown]] = {
    fo.Identity: lambda w, node: (w.signs["id"], _ATOMIC),
    fo.Everything: lambda w, node: (w.signs["all"], _ATOMIC),
    fo.Role: Writer.role,
    fo.RelationNot: Writer.negation,
    fo.RelationAnd: lambda w, node: w.infix(node, "and", 2),
    fo.RelationOr: lambda w, node: w.infix(node, "or", 1),
    fo.Closure: lambda w, n: (
        w.inside(n.fields[0], _ATOMIC) + w.signs["star" if n.fields[1] else "plus"],
        _ATOMIC,
    ),
    fo.Top: lambda w, node: (w.signs["top"], _ATOMIC),
    fo.Atom: lambda w, node: (w.notation.name(node.fields[0]), _ATOMIC),
    fo.Not: Writer.negation,
    fo.And: lambda w, node: w.infix(node, "and", 2),
    fo.Or: lambda w, node: w.infix(node, "or", 1),
    fo.Modal: Writer.modal,
    fo.Count: lambda w, node: (w.signs["count"] + w.inside(node.fields[0], _PREFIX), _PREFIX),
    fo.Compare: Writer.compare,
    fo.Indicator: lambda w, node: w.shown[node.fields[0]],
    fo.Product: lambda w, node: w.infix(node, "times", 4),
    fo.Constant: Writer.total,
    fo.Scaled: Writer.total,
    fo.Sum: Writer.total,
    fo.Distance: Writer.distance,
}
