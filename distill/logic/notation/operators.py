"""Operator-precedence parser, independent of the language.

Operators and finished parts are on two stacks, so nothing recurses.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from distill.common import InputError, shown as shown_text
from distill.logic.syntax.nodes import MAX_PARTS, PartCount

PREFIX = 9  # binding strength of prefix operators
_DIGITS = 9
_MOST_TOKENS = 4 * MAX_PARTS
_IN_TURN = "\\"  # left-associative with two operands
_SUMS = ("+", "-")  # joined together; each sign belongs to the operand after it
_CLOSING = {"<": "'>'", "[": "']'", "(": "')'", "dist(": "')'"}


@dataclass(slots=True)
class Token:
    """A word, number or sign, and its position."""

    kind: str
    text: str
    column: int

    def is_sign(self, *signs: str) -> bool:
        """Whether it is one of these signs."""
        return self.kind == "op" and self.text in signs


@dataclass(slots=True)
class Open:
    """An operator or bracket on the stack."""

    text: str
    column: int
    strength: int  # of an infix operator; 0 for brackets
    content: list[Any] = field(default_factory=list)


def tokens_of(text: str, pattern: re.Pattern[str], replaced: dict[str, str]) -> list[Token]:
    """Split text into tokens: the groups of the pattern name their kinds; `bad` raises an error."""
    found, place = [], 0
    while match := pattern.match(text, place):
        kind = match.lastgroup or ""
        begin = match.start(kind)
        if kind == "bad":
            raise InputError(f"Column {begin + 1}: {match[kind]!r} has no meaning in a formula.")
        word = match[kind]
        meant = word.replace('""', '"') if kind == "quoted" else replaced.get(word, word)
        found.append(Token(kind, meant, begin))
        place = match.end()
        if len(found) > _MOST_TOKENS:
            raise InputError(
                f"Column {begin + 1}: the formula has more than {_MOST_TOKENS:,} words and signs, which is "
                "the limit; give a smaller one."
            )
    return [*found, Token("end", "the end", len(text.rstrip()))]


class OperatorParser(ABC):
    """Parses parts with infix and prefix operators.

    A language defines what begins a part, what may follow one, and what operators build.
    """

    def __init__(self, tokens: list[Token], counted: PartCount | None = None) -> None:
        self.tokens = tokens
        self.counted = counted or PartCount()
        self.place = 0
        self.open: list[Open] = []
        self.done: list[Any] = []

    def parse(self) -> Any:
        """Parse the whole text as one part."""
        expecting = True
        while True:
            token = self.tokens[self.place]
            self.place += 1
            if expecting:
                expecting = self.begin(token)
            elif token.kind == "end":
                self.close(token, "")
                return self.done[0]
            else:
                expecting = self.go_on(token)

    @abstractmethod
    def begin(self, token: Token) -> bool:
        """A part begins; whether another one is still expected."""

    @abstractmethod
    def go_on(self, token: Token) -> bool:
        """After a finished part; whether another one is expected."""

    @abstractmethod
    def joined(self, token: Token, operands: list[Any]) -> Any:
        """Apply an infix operator to its operands; a sum has the signs of all operands but the first."""

    def infix(self, token: Token, strength: int) -> bool:
        """Push an infix operator; operators that bind at least as strongly are applied first."""
        self.reduce(strength, () if token.text == _IN_TURN else _run(token.text))
        self.open.append(Open(token.text, token.column, strength))
        return True

    @property
    def follows_prefix(self) -> bool:
        """Whether a prefix operator has just been read; its operand cannot begin with a minus sign."""
        return bool(self.open) and self.open[-1].strength == PREFIX

    def waiting(self) -> str:
        """The innermost open bracket."""
        return next((item.text for item in reversed(self.open) if item.strength == 0), "")

    def close(self, token: Token, opening: str) -> Open | None:
        """Apply all operators since an opening bracket, or since the beginning."""
        self.reduce(0)
        if not self.open:
            if opening:
                raise wrong(token, "an operator or the end")
            return None
        if self.open[-1].text != opening:
            bracket = self.open[-1]
            raise wrong(token, f"{_CLOSING[bracket.text]} for the bracket at column {bracket.column + 1}")
        return self.open.pop()

    def reduce(self, strength: int, joining: tuple[str, ...] = ()) -> None:
        """Apply the operators on the stack that bind at least as strongly; a run of `joining` is kept."""
        while self.open and max(strength, 1) <= self.open[-1].strength < PREFIX:
            operator = self.open[-1]
            if operator.text in joining:
                return
            run, signs = _run(operator.text), []
            operands = [self.done.pop()]
            while self.open and self.open[-1].text in run and self.open[-1].strength < PREFIX:
                operator = self.open.pop()
                operands.append(self.done.pop())
                signs.append(operator.text)
                if operator.text == _IN_TURN:
                    break
            text = "".join(reversed(signs)) if run is _SUMS else operator.text
            self.done.append(self.joined(Token("op", text, operator.column), operands[::-1]))

    def next_is(self, *signs: str) -> bool:
        """Whether one of these signs comes next."""
        return self.tokens[self.place].is_sign(*signs)

    def take(self, kinds: Iterable[str], expected: str, text: str | None = None) -> Token:
        """The next token, which must be of one of the kinds."""
        token = self.tokens[self.place]
        if token.kind not in kinds or (text is not None and token.text != text):
            raise wrong(token, expected)
        self.place += 1
        return token

    def take_sign(self, sign: str) -> Token:
        """The next token, which must be this sign."""
        return self.take(("op",), repr(sign), sign)

    def take_whole(self) -> int:
        """The next token, which must be a whole number."""
        if self.next_is("-"):
            raise InputError(f"Column {self.tokens[self.place].column + 1}: a threshold must be at least 0.")
        token = self.take(("number",), "a number")
        if not token.text.isdigit() or len(token.text) > _DIGITS:
            raise wrong(token, f"a whole number of at most {_DIGITS} digits")
        return int(token.text)


def _run(sign: str) -> tuple[str, ...]:
    """The operators that are applied together with one."""
    return _SUMS if sign in _SUMS else (sign,)


def shown(token: Token) -> str:
    """A token as text for messages."""
    return token.text if token.kind == "end" else repr(shown_text(token.text))


def wrong(token: Token, expected: str) -> InputError:
    """The error for an unexpected token."""
    return InputError(f"Column {token.column + 1}: expected {expected}, not {shown(token)}.")


def built(token: Token, make: Callable[..., Any], *parts: Any) -> Any:
    """Build a node; errors state the position of the token."""
    try:
        return make(*parts)
    except InputError as error:
        raise InputError(f"Column {token.column + 1}: {error}") from error
