"""Reading formulas, as people type them or as the thesis writes them.

Objects: `top`, a predicate, `~ & |`, and `<relation>formula > t` (more than t; `> 0` may be left out).
Relations: a predicate, `name[i,j]` for two arguments of several, `id`, `all`, `~ & | \\`, and after one `^-1`
(backwards), `+` (one or more steps) or `*` (none or more).
States: `#formula`, `[number > t]`, `dist(formula, relation, formula)`, `number * number`, sums with weights
such as `2*#formula - #formula + 3`, and `~ & |` between comparisons.
Names that mean something else, or hold other characters, stand in double quotes.

The signs of the thesis are read too: `⊤ ⊥ ¬ ∧ ∨ ·`, and modals without brackets, as in `𝐀_onᵀ clear > 0`,
with `𝐈` and `𝟏` for `id` and `all`, and `⁺` for closures.

Operators wait on a stack, so that formulas may be nested as deeply as memory allows.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from distill.errors import InputError
from distill.logic.features import Compare, Constant, Count, Distance, Indicator, Number, Product, Scaled, Sum
from distill.logic.formulas import BOTTOM, And, Atom, Modal, Not, Or, Top, Truth
from distill.logic.nodes import Node
from distill.logic.relations import (
    Closure,
    Everything,
    Identity,
    Relation,
    RelationAnd,
    RelationNot,
    RelationOr,
    Role,
)

NAME = re.compile(r"[A-Za-z_](?:[\w-]*\w)?(?:,[TF])?", re.ASCII)
RESERVED = ("top", "bot", "id", "all", "dist")
_SIGNS = {
    "¬": "~",
    "∧": "&",
    "∨": "|",
    "·": "*",
    "⁺": "+",
    "ᵀ": "^-1",
    "−": "-",
}
_WORDS = {"⊤": "top", "⊥": "bot", "𝐈": "id", "𝟏": "all"}
_TOKEN = re.compile(
    rf"""\s*(?:(?P<name>{NAME.pattern}|[⊤⊥])|"(?P<quoted>[^"]*)"
    |𝐀_(?P<role>{NAME.pattern}|"[^"]*")|(?P<parameter>[𝐈𝟏])
    |(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)
    |(?P<op>\^-1|[~&|<>()\[\]#*+\\,\-{"".join(_SIGNS)}])|(?P<bad>\S))""",
    re.VERBOSE | re.ASCII,
)


@dataclass
class _Token:
    kind: str  # name, quoted, role, parameter, number, op, end
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
        self.tokens = _bracketed(_tokens(text))
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
        if token.text == "-" and token.kind == "op" and not self.in_relation:
            self.done.append(Constant(0))
            self.open.append(_Open("-", token.column, _INFIX["-"]))
            return True
        if token.kind == "number" and not self.in_relation:
            self._finished(_built(token, Constant, float(token.text)))
            return False
        if token.kind in ("name", "quoted", "role", "parameter"):
            if token.text == "dist" and token.kind == "name" and self._next_is("(") and not self.in_relation:
                self.place += 1
                self.open.append(_Open("dist(", token.column, 0))
                return True
            self._finished(self._named(token))
            return False
        raise _wrong(token, "a relation" if self.in_relation else "a formula")

    def _named(self, token: _Token) -> Node:
        word = token.text if token.kind in ("name", "parameter") else ""
        if self.in_relation:
            if word in ("id", "all"):
                return Identity() if word == "id" else Everything()
            if self._next_is("["):
                self.place += 1
                places = []
                for end in (",", "]"):
                    places.append(self._threshold())
                    self._take("op", end)
                role: Node = _built(token, Role, token.text, *places)
                return role
            return Role(token.text)
        if word in ("top", "bot"):
            return Top() if word == "top" else BOTTOM
        return Atom(token.text)

    def _go_on(self, token: _Token) -> bool:
        """After a finished part; whether another one is expected."""
        text = token.text
        infix = _INFIX_RELATION if self.in_relation else _INFIX
        if token.kind == "op" and text in infix:
            self._reduce(infix[text], "" if text in _IN_TURN else text)
            self.open.append(_Open(text, token.column, infix[text]))
            return True
        if text == ">" and self.in_relation:
            self._close(token, "<")
            return True
        if text == ">":
            self._close(token, "[")
            threshold = self._threshold()
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
                    self.place += 1
                    threshold = self._threshold()
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
                if operator.text in _IN_TURN:
                    break
            token = _Token("op", operator.text, operator.column)
            self.done.append(_joined(token, operands[::-1], bool(self.in_relation)))

    def _has_threshold(self) -> bool:
        """Whether `> t` is a modal's own; before a closing `]` it belongs to the comparison."""
        after = self.tokens[self.place + 1 : self.place + 3]
        return after[0].text == "-" or (after[0].kind == "number" and after[-1].text != "]")

    def _next_is(self, text: str) -> bool:
        return self.tokens[self.place].kind == "op" and self.tokens[self.place].text == text

    def _threshold(self) -> int:
        if self._next_is("-"):
            raise InputError(f"Column {self.tokens[self.place].column + 1}: a threshold must be at least 0.")
        token = self._take("number")
        if not token.text.isdigit():
            raise _wrong(token, "a whole number")
        return int(token.text)

    def _take(self, kind: str, text: str | None = None) -> _Token:
        token = self.tokens[self.place]
        if token.kind != kind or (text is not None and token.text != text):
            raise _wrong(token, f"{text!r}" if text else "a number")
        self.place += 1
        return token


_INFIX = {"|": 1, "&": 2, "+": 3, "-": 3, "*": 4}
_INFIX_RELATION = {"|": 1, "&": 2, "\\": 2}
_IN_TURN = ("\\", "-")  # with two operands, from left to right


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
        shown = _WORDS.get(match[kind], _SIGNS.get(match[kind], match[kind]))
        found.append(_Token(kind, shown.strip('"') if kind == "role" else shown, begin))
        place = match.end()
    return [*found, _Token("end", "the end", len(text.rstrip()))]


def _bracketed(tokens: list[_Token]) -> list[_Token]:
    """Put `< >` around the relations that the thesis writes without."""
    if not any(token.kind in ("role", "parameter") for token in tokens):
        return tokens
    relational = _relational_groups(tokens)
    found: list[_Token] = []
    groups: list[int] = []  # for each open bracket how many commas of `dist` came, or -1 if it is another
    place = 0
    while place < len(tokens):
        token = tokens[place]
        if (token.kind in ("role", "parameter") or place in relational) and not (groups and groups[-1] == 1):
            end = _end_of_relation(tokens, place)
            found.append(_Token("op", "<", token.column))
            found += tokens[place:end]
            found.append(_Token("op", ">", tokens[end].column))
            place = end
            continue
        if token.kind == "op" and token.text in ("(", "["):
            before = tokens[place - 1]
            of_dist = token.text == "(" and place and (before.kind, before.text) == ("name", "dist")
            in_relation = token.text == "(" and bool(groups) and groups[-1] == 1
            groups.append(0 if of_dist else 1 if in_relation else -1)
        elif token.text in (")", "]") and groups:
            groups.pop()
        elif token.text == "," and groups and groups[-1] >= 0:
            groups[-1] += 1
        found.append(token)
        place += 1
    return found


def _relational_groups(tokens: list[_Token]) -> set[int]:
    """The places of brackets that hold nothing but relations."""
    waiting: list[tuple[int, bool, bool]] = []  # place, nothing but relations so far, a relation at all
    found = set()
    for place, token in enumerate(tokens):
        if token.kind == "op" and token.text == "(":
            waiting.append((place, True, False))
            continue
        named = token.kind in ("role", "parameter")
        fits = named or token.kind == "number" or (token.kind == "op" and token.text in _IN_RELATIONS)
        if token.kind == "op" and token.text == ")" and waiting:
            begin, fits, named = waiting.pop()
            if fits and named:
                found.add(begin)
        if waiting:
            begin, pure, some = waiting.pop()
            waiting.append((begin, pure and fits, some or named))
    return found


_IN_RELATIONS = ("~", "&", "|", "\\", "^-1", "+", "*", "[", "]", ",")


def _end_of_relation(tokens: list[_Token], place: int) -> int:
    """Where the relation that begins at `place` is over, with all that stands directly after it."""
    depth = 0
    while True:
        text = tokens[place].text if tokens[place].kind == "op" else ""
        depth += (text in ("(", "[")) - (text in (")", "]"))
        place += 1
        after = tokens[place]
        if depth == 0 and not (after.kind == "op" and after.text in ("^-1", "+", "*", "[")):
            return place
        if after.kind == "end":
            return place


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
    if token.text in "*+-":
        numbers = [_as_number(one, token) for one in operands]
        if token.text == "-":
            numbers[1] = Scaled(-1, numbers[1])
        return _built(token, Product if token.text == "*" else Sum, *numbers)
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
