"""The form people type: `clear_G & ~clear`, `<on^-1+>clear_G > 0`, `#(holding & <on_G>clear)`.

Objects: `top`, a predicate, `~ & |`, and `<relation>formula > t` (more than t; `> 0` may be left out).
Relations: a predicate, `name[i,j]` for two arguments of several, `id`, `all`, `~ & | \\`, and after one `^-1`
(backwards), `+` (one or more steps) or `*` (none or more).
States: `#formula`, `[number > t]`, `dist(formula, relation, formula)`, `number * number`, and `~ & |` between
comparisons.

Both directions work with stacks of their own, so that formulas may be nested as deeply as memory allows.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from distill.errors import InputError
from distill.logic.syntax import (
    And,
    Atom,
    Closure,
    Compare,
    Count,
    Distance,
    Everything,
    Identity,
    Indicator,
    Modal,
    Node,
    Not,
    Number,
    Or,
    Product,
    Relation,
    RelationAnd,
    RelationNot,
    RelationOr,
    Role,
    Top,
    Truth,
)

_TOKEN = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_](?:[\w-]*\w)?(?:,[TF])?)|(?P<int>\d+)|(?P<op>\^-1|[~&|<>()\[\]#*+\\,])|(?P<bad>\S))"
)


@dataclass
class _Token:
    kind: str  # name, int, op, end
    text: str
    column: int


@dataclass
class _Open:
    """An operator or bracket that waits for what comes after it."""

    text: str
    column: int
    strength: int  # of an infix operator; 0 for brackets, 9 for what stands before its operand
    content: list[Any] = field(default_factory=list)


class _Reader:
    """Operators wait on one stack, finished parts on another."""

    def __init__(self, text: str) -> None:
        self.tokens = _tokens(text)
        self.place = 0
        self.open: list[_Open] = []
        self.done: list[Any] = []
        self.in_relation = 0

    def read(self) -> Any:
        expecting = True
        while True:
            token = self.tokens[self.place]
            self.place += 1
            if expecting:
                expecting = self._begin(token)
            elif token.kind == "end":
                self._close(token, "")
                return self.done[0]
            else:
                expecting = self._go_on(token)

    def _begin(self, token: _Token) -> bool:
        """A part begins; whether another one is still expected."""
        if token.kind == "op" and token.text in "~#([<" and not (self.in_relation and token.text in "#[<"):
            self.open.append(_Open(token.text, token.column, 9 if token.text in "~#" else 0))
            self.in_relation += token.text == "<"
            return True
        if token.kind == "name":
            if token.text == "dist" and self._next_is("(") and not self.in_relation:
                self.place += 1
                self.open.append(_Open("dist(", token.column, 0))
                return True
            self._finished(self._named(token))
            return False
        raise _wrong(token, "a relation" if self.in_relation else "a formula")

    def _named(self, token: _Token) -> Node:
        if self.in_relation:
            if token.text in ("id", "all"):
                return Identity() if token.text == "id" else Everything()
            if self._next_is("["):
                self.place += 1
                places = []
                for end in (",", "]"):
                    places.append(int(self._take("int").text))
                    self._take("op", end)
                role: Node = _built(token, Role, token.text, *places)
                return role
            return Role(token.text)
        return Top() if token.text == "top" else Atom(token.text)

    def _go_on(self, token: _Token) -> bool:
        """After a finished part; whether another one is expected."""
        text = token.text
        infix = _INFIX_RELATION if self.in_relation else _INFIX
        if token.kind == "op" and text in infix:
            self._reduce(infix[text], "" if text == "\\" else text)
            self.open.append(_Open(text, token.column, infix[text]))
            return True
        if text == ">" and self.in_relation:
            self._close(token, "<")
            return True
        if text == ">":
            self._close(token, "[")
            threshold = int(self._take("int").text)
            self._take("op", "]")
            self._finished(_built(token, Compare, _as_number(self.done.pop(), token), threshold))
            return False
        if text == ",":
            return self._next_argument(token)
        if text == ")":
            if self._waiting() == "dist(":
                self._reduce(1)
                bracket = self.open.pop()
                arguments = [*bracket.content, self.done.pop()]
                if len(arguments) != 3:
                    raise _wrong(token, "three arguments of dist")
                first, relation, last = arguments
                self._finished(Distance(_as_truth(first, token), relation, _as_truth(last, token)))
            else:
                self._close(token, "(")
                self._finished(self.done.pop())
            return False
        raise _wrong(token, "an operator or the end" if not self.open else "an operator or a closing bracket")

    def _next_argument(self, token: _Token) -> bool:
        self._reduce(1)
        if self._waiting() != "dist(":
            raise _wrong(token, "an operator")
        bracket = self.open[-1]
        bracket.content.append(self.done.pop())
        if len(bracket.content) == 1:
            # The second argument is a relation; it ends at the next comma.
            self.in_relation += 1
        elif len(bracket.content) == 2:
            self.in_relation -= 1
        else:
            raise _wrong(token, "three arguments of dist")
        return True

    def _waiting(self) -> str:
        for item in reversed(self.open):
            if item.strength == 0:
                return item.text
        return ""

    def _close(self, token: _Token, opening: str) -> None:
        """Finish everything since an opening bracket (or since the beginning)."""
        self._reduce(1)
        if not self.open:
            if opening:
                raise _wrong(token, "an operator or the end")
            return
        if self.open[-1].text != opening:
            shown = {"": "the end", "<": "'>'", "[": "'>'", "(": "')'"}
            wanted = {"<": "'>'", "[": "'> t]'", "(": "')'", "dist(": "')'"}[self.open[-1].text]
            raise InputError(
                f"Column {token.column + 1}: expected {wanted} for the bracket at column "
                f"{self.open[-1].column + 1}, not {shown[opening]}."
            )
        bracket = self.open.pop()
        if opening == "<":
            self.in_relation -= 1
            self.open.append(_Open("<>", bracket.column, 9, [_as_relation(self.done.pop(), token)]))

    def _finished(self, part: Any) -> None:
        """A part is complete: what stands directly after it, then what stands before it, takes it."""
        while self.in_relation and self.tokens[self.place].text in ("^-1", "+", "*"):
            part = _postfixed(part, self.tokens[self.place].text)
            self.place += 1
        while self.open and self.open[-1].strength == 9:
            prefix = self.open.pop()
            place = _Token("op", prefix.text, prefix.column)
            if prefix.text == "~":
                part = RelationNot(part) if self.in_relation else Not(_as_truth(part, place))
            elif prefix.text == "#":
                part = _built(place, Count, _as_truth(part, place))
            else:
                threshold = 0
                if self._next_is(">") and self._has_threshold():
                    threshold = int(self.tokens[self.place + 1].text)
                    self.place += 2
                part = _built(place, Modal, prefix.content[0], _as_truth(part, place), threshold)
        self.done.append(part)

    def _reduce(self, strength: int, joining: str = "") -> None:
        """Apply waiting operators that bind at least so strongly; a run of `joining` goes on waiting."""
        while self.open and 0 < self.open[-1].strength < 9 and self.open[-1].strength >= strength:
            operator = self.open[-1]
            if operator.text == joining:
                return
            operands = [self.done.pop()]
            while self.open and self.open[-1].text == operator.text and self.open[-1].strength < 9:
                operator = self.open.pop()
                operands.append(self.done.pop())
                if operator.text == "\\":
                    break
            token = _Token("op", operator.text, operator.column)
            self.done.append(_joined(token, operands[::-1], bool(self.in_relation)))

    def _has_threshold(self) -> bool:
        """Whether `> t` is a modal's own; before a closing `]` it belongs to the comparison."""
        after = self.tokens[self.place + 1 : self.place + 3]
        return after[0].kind == "int" and after[-1].text != "]"

    def _next_is(self, text: str) -> bool:
        return self.tokens[self.place].kind == "op" and self.tokens[self.place].text == text

    def _take(self, kind: str, text: str | None = None) -> _Token:
        token = self.tokens[self.place]
        if token.kind != kind or (text is not None and token.text != text):
            raise _wrong(token, f"{text!r}" if text else "a number")
        self.place += 1
        return token


_INFIX = {"|": 1, "&": 2, "*": 3}
_INFIX_RELATION = {"|": 1, "&": 2, "\\": 2}


def parse(text: str) -> Any:
    """Read a formula about objects or about states.

    Examples
    --------
    >>> parse("<on>(clear & ~holding) > 1")
    <on>(clear & ~holding) > 1
    >>> parse("clear &")
    Traceback (most recent call last):
        ...
    distill.errors.InputError: Column 8: expected a formula, not the end.
    """
    return _Reader(text).read()


def parse_relation(text: str) -> Relation:
    """Read a relation.

    Examples
    --------
    >>> parse_relation("(on_G \\\\ on)^-1")
    on_G^-1 & ~on^-1
    """
    reader = _Reader(text)
    reader.in_relation = 1
    return _as_relation(reader.read(), reader.tokens[-1])


def _tokens(text: str) -> list[_Token]:
    found, place = [], 0
    while match := _TOKEN.match(text, place):
        kind = match.lastgroup or ""
        begin = match.start(kind)
        if kind == "bad":
            raise InputError(f"Column {begin + 1}: {match[kind]!r} has no meaning in a formula.")
        found.append(_Token(kind, match[kind], begin))
        place = match.end()
    return [*found, _Token("end", "the end", len(text.rstrip()))]


def _wrong(token: _Token, expected: str) -> InputError:
    shown = token.text if token.kind == "end" else repr(token.text)
    return InputError(f"Column {token.column + 1}: expected {expected}, not {shown}.")


def _built(token: _Token, make: Callable[..., Any], *parts: Any) -> Any:
    try:
        return make(*parts)
    except InputError as error:
        raise InputError(f"Column {token.column + 1}: {error}") from error


def _joined(token: _Token, operands: list[Any], in_relation: bool) -> Any:
    if in_relation:
        if token.text == "\\":
            return RelationAnd(operands[0], RelationNot(operands[1]))
        return (RelationAnd if token.text == "&" else RelationOr)(*operands)
    if token.text == "*":
        return _built(token, Product, *(_as_number(one, token) for one in operands))
    make = And if token.text == "&" else Or
    return _built(token, make, *(_as_truth(one, token) for one in operands))


def _postfixed(relation: Relation, text: str) -> Relation:
    return relation.inverse() if text == "^-1" else Closure(relation, text == "*")


def _as_truth(part: Any, token: _Token) -> Truth:
    if isinstance(part, Truth):
        return part
    raise InputError(f"Column {token.column + 1}: {token.text} needs a formula, and this is a number.")


def _as_number(part: Any, token: _Token) -> Number:
    if isinstance(part, Truth):
        return _built(token, Indicator, part)  # type: ignore[no-any-return]
    return part  # type: ignore[no-any-return]


def _as_relation(part: Any, token: _Token) -> Relation:
    if isinstance(part, Relation):
        return part
    raise InputError(f"Column {token.column + 1}: expected a relation.")


def write(formula: Node) -> str:
    """Write a formula as `parse` reads it.

    Examples
    --------
    >>> write(Modal(Closure(Role("on", 1, 0)), Atom("clear_G"), 0))
    '<on^-1+>clear_G'
    """
    shown: dict[Node, tuple[str, int]] = {}
    for node in formula.walk():
        shown[node] = _WRITERS[type(node)](node, shown)
    return shown[formula][0]


_ATOMIC, _PREFIX = 9, 8  # how strongly what is written holds together
_Shown = dict[Node, tuple[str, int]]


def _inside(node: Node, shown: _Shown, strength: int) -> str:
    text, own = shown[node]
    return text if own >= strength else f"({text})"


def _infix(sign: str, strength: int) -> Callable[[Any, _Shown], tuple[str, int]]:
    def written(node: Any, shown: _Shown) -> tuple[str, int]:
        return f" {sign} ".join(_inside(part, shown, strength + 1) for part in node.fields), strength

    return written


def _modal(node: Any, shown: _Shown) -> tuple[str, int]:
    relation, operand, threshold = node.fields
    text = f"<{shown[relation][0]}>{_inside(operand, shown, _PREFIX)}"
    # After a modal without one, a threshold would belong to it: brackets keep it outside.
    if threshold and isinstance(operand, Modal | Not) and shown[operand][1] == _PREFIX:
        text = f"<{shown[relation][0]}>({shown[operand][0]})"
    return f"{text} > {threshold}" if threshold else text, _PREFIX


def _role(node: Any, shown: _Shown) -> tuple[str, int]:
    name, source, target = node.fields
    if (source, target) in ((0, 1), (1, 0)):
        return name + ("^-1" if source else ""), _ATOMIC
    return f"{name}[{source},{target}]", _ATOMIC


_WRITERS: dict[type[Node], Callable[[Any, _Shown], tuple[str, int]]] = {
    Identity: lambda node, shown: ("id", _ATOMIC),
    Everything: lambda node, shown: ("all", _ATOMIC),
    Role: _role,
    RelationNot: lambda node, shown: (f"~{_inside(node.fields[0], shown, _PREFIX)}", _PREFIX),
    RelationAnd: _infix("&", 2),
    RelationOr: _infix("|", 1),
    Closure: lambda n, shown: (_inside(n.fields[0], shown, _ATOMIC) + ("*" if n.fields[1] else "+"), _ATOMIC),
    Top: lambda node, shown: ("top", _ATOMIC),
    Atom: lambda node, shown: (node.fields[0], _ATOMIC),
    Not: lambda node, shown: (f"~{_inside(node.fields[0], shown, _PREFIX)}", _PREFIX),
    And: _infix("&", 2),
    Or: _infix("|", 1),
    Modal: _modal,
    Count: lambda node, shown: (f"#{_inside(node.fields[0], shown, _PREFIX)}", _PREFIX),
    Compare: lambda node, shown: (f"[{shown[node.fields[0]][0]} > {node.fields[1]}]", _ATOMIC),
    Indicator: lambda node, shown: shown[node.fields[0]],
    Product: _infix("*", 3),
    Distance: lambda node, shown: (f"dist({', '.join(shown[part][0] for part in node.fields)})", _ATOMIC),
}
