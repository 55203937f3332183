"""PDDL text as nested lists of words that know their lines."""

import re
from typing import NoReturn

from distill.common import InputError

MAX_NESTING = 100
"""Depth of nested brackets, at most."""
MAX_WORDS = 5_000_000
"""Words and brackets in a text, at most."""
_MAX_WORD = 200
_TOKEN = re.compile(r"[()]|[^ \t\r\n()]+")
_COMMENT = re.compile(r";[^\n]*")
_STRANGE = re.compile(r"[^\t\r\n\x20-\x7e]")
_LONE_RETURN = re.compile(r"\r(?!\n)")


class Expression(list["str | Expression"]):
    """What stands between two brackets, and the positions of its brackets in the text."""

    __slots__ = ("begin", "end")
    begin: int
    end: int


Part = str | Expression


class Text:
    """A PDDL text that is one expression in brackets.

    Attributes
    ----------
    source : its file, for messages.
    content : the expression.

    Examples
    --------
    >>> Text("(:init (on a B)) ; two blocks", "p.pddl").content
    [':init', ['on', 'a', 'b']]
    >>> Text("(on a\\nb))", "p.pddl")
    Traceback (most recent call last):
        ...
    distill.common.errors.InputError: p.pddl, line 2: the text goes on after its last bracket; remove ')'.
    """

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        # The text is checked before it is put into lower case: that of some other letters is ASCII.
        without = _COMMENT.sub("", text)
        if strange := _LONE_RETURN.search(text) or _STRANGE.search(without):
            name = f"the character U+{ord(strange[0]):04X} is not allowed"
            self._fail(
                strange.string, strange.start(), name, "use ASCII letters, and line feeds to end lines"
            )
        self._text = without.lower()
        self.content = self._parse()

    def _parse(self) -> Expression:
        tokens = _TOKEN.findall(self._text)
        if len(tokens) > MAX_WORDS:
            self._fail_token(MAX_WORDS, f"it has more than {MAX_WORDS} words", "give a smaller file")
        whole = current = Expression()
        stack: list[Expression] = []
        for number, word in enumerate(tokens):
            if word == "(":
                if not stack and whole:
                    self._fail_after(number, word)
                inner = Expression()
                inner.begin = number
                current.append(inner)
                stack.append(current)
                current = inner
                if len(stack) > MAX_NESTING:
                    self._fail_token(
                        number, f"more than {MAX_NESTING} brackets are nested", "simplify the PDDL"
                    )
            elif not stack:
                if whole:
                    self._fail_after(number, word)
                self._fail_token(number, f"the text begins with {word[:40]!r}", "begin it with '(define'")
            elif word == ")":
                current.end = number
                current = stack.pop()
            else:
                if len(word) > _MAX_WORD:
                    self._fail_token(
                        number, f"a name has more than {_MAX_WORD} characters", "give it a shorter one"
                    )
                current.append(word)
        if stack:
            self._fail_token(current.begin, "this bracket is not closed", "add the missing ')'")
        if not whole or isinstance(whole[0], str):
            self._fail(self._text, 0, "the text is empty", "give one that begins with '(define'")
        return whole[0]

    def _fail_after(self, number: int, word: str) -> NoReturn:
        self._fail_token(number, "the text goes on after its last bracket", f"remove {word[:40]!r}")

    def _fail_token(self, number: int, reason: str, remedy: str) -> NoReturn:
        place = next(m.start() for i, m in enumerate(_TOKEN.finditer(self._text)) if i == number)
        self._fail(self._text, place, reason, remedy)

    def fail(self, within: Expression, position: int | None, reason: str, remedy: str) -> NoReturn:
        """Raise an error about an expression, or about the part of it at this position."""
        number = within.begin
        if position is not None:
            number += 1
            for part in within[:position]:
                number += 1 if isinstance(part, str) else part.end - part.begin + 1
        self._fail_token(number, reason, remedy)

    def _fail(self, text: str, place: int, reason: str, remedy: str) -> NoReturn:
        line = text.count("\n", 0, place) + 1
        raise InputError(f"{self.source}, line {line}: {reason}; {remedy}.")


def written(part: Part) -> str:
    """A part for messages, shortened.

    Examples
    --------
    >>> written(Expression(["on", "a", Expression(["b"])]))
    '(on a (...))'
    """
    if isinstance(part, str):
        return part if len(part) <= 60 else f"{part[:57]}..."
    words = " ".join(written(one) if isinstance(one, str) else "(...)" for one in part[:6])
    return f"({words}{' ...' if len(part) > 6 else ''})"
