"""Parser of formulas, as typed or in the notation of the thesis.

Objects: `top`, a predicate, `~ & |`, and `<relation>formula > t` (more than t; `> 0` may be left out).
Relations: a predicate, `name[i,j]` for two arguments of several, `id`, `all`, `~ & | \\`, and after one `^-1`
(backwards), `+` (one or more steps) or `*` (none or more).
States: `#formula`, `[number > t]`, `dist(formula, relation, formula)`, `number * number`, sums with weights
such as `2*#formula - #formula + 3`, and `~ & |` between comparisons.
Reserved names and names with other characters are written in double quotes.

The signs of the thesis are accepted too: `⊤ ⊥ ¬ ∧ ∨ ·`, and modals without brackets, as in `𝐀_onᵀ clear > 0`,
with `𝐈` and `𝟏` for `id` and `all`, and `⁺` for closures.
"""

from typing import Any

from distill.common import InputError
from distill.logic import syntax as fo
from distill.logic.notation.operators import PREFIX, Open, OperatorParser, Token, built, wrong
from distill.logic.notation.tokens import formula_tokens
from distill.logic.syntax.nodes import PartCount

_INFIX = {"|": 1, "&": 2, "+": 3, "-": 3, "*": 4}
_INVERTED = 5  # parts that count for each node of a relation that is inverted, as new nodes are made
_INFIX_RELATION = {"|": 1, "&": 2, "\\": 2}


class FormulaParser(OperatorParser):
    """Parses one formula; a subclass with further names overrides `_named`."""

    def __init__(self, text: str, counted: PartCount | None = None) -> None:
        super().__init__(formula_tokens(text), counted)
        self.in_relation = 0

    def begin(self, token: Token) -> bool:
        """A part begins; whether another one is still expected."""
        if token.kind == "op" and token.text in "~#([<" and not (self.in_relation and token.text in "#[<"):
            self.open.append(Open(token.text, token.column, PREFIX if token.text in "~#" else 0))
            self.in_relation += token.text == "<"
            return True
        if token.is_sign("-") and not self.in_relation and not self.follows_prefix:
            self.done.append(fo.Constant(0))
            self.open.append(Open("-", token.column, _INFIX["-"]))
            return True
        if token.kind == "number" and not self.in_relation:
            self.finished(number_of(token))
            return False
        if token.kind in ("name", "quoted", "role", "parameter"):
            if token.text == "dist" and token.kind == "name" and self.next_is("(") and not self.in_relation:
                self.place += 1
                self.open.append(Open("dist(", token.column, 0))
                return True
            self.finished(self._named(token))
            return False
        raise wrong(token, "a relation" if self.in_relation else "a formula")

    def _named(self, token: Token) -> fo.Node:
        word = token.text if token.kind in ("name", "parameter") else ""
        if self.in_relation:
            if word in ("id", "all"):
                return fo.Identity() if word == "id" else fo.Everything()
            if self.next_is("["):
                self.place += 1
                places = []
                for end in (",", "]"):
                    places.append(self.take_whole())
                    self.take_sign(end)
                role: fo.Node = built(token, fo.Role, token.text, *places)
                return role
            return built(token, fo.Role, token.text)  # type: ignore[no-any-return]
        if word in ("top", "bot"):
            return fo.Top() if word == "top" else fo.BOTTOM
        return built(token, fo.Atom, token.text)  # type: ignore[no-any-return]

    def go_on(self, token: Token) -> bool:
        """After a finished part; whether another one is expected."""
        text = token.text if token.kind == "op" else ""
        infix = _INFIX_RELATION if self.in_relation else _INFIX
        if text in infix:
            return self.infix(token, infix[text])
        if text == ">" and self.in_relation:
            bracket = self.close(token, "<")
            self.in_relation -= 1
            column = bracket.column if bracket else 0
            self.open.append(Open("<>", column, PREFIX, [_as_relation(self.done.pop(), token)]))
            return True
        if text == ">":
            self.close(token, "[")
            threshold = self.take_whole()
            self.take_sign("]")
            self.finished(built(token, fo.Compare, _as_number(self.done.pop(), token), threshold))
            return False
        if text == ",":
            return self._next_argument(token)
        if text == ")":
            if self.waiting() == "dist(":
                self.reduce(1)
                bracket = self.open.pop()
                arguments = [*bracket.content, self.done.pop()]
                if len(arguments) != 3:
                    raise wrong(token, "three arguments of dist")
                first, relation, last = arguments
                self.finished(fo.Distance(_as_truth(first, token), relation, _as_truth(last, token)))
            else:
                self.close(token, "(")
                self.finished(self.done.pop())
            return False
        raise wrong(token, "an operator or the end" if not self.open else "an operator or a closing bracket")

    def _next_argument(self, token: Token) -> bool:
        self.reduce(1)
        if self.waiting() != "dist(":
            raise wrong(token, "an operator")
        bracket = self.open[-1]
        bracket.content.append(self.done.pop())
        if len(bracket.content) == 1:
            # The second argument is a relation; it ends at the next comma.
            self.in_relation += 1
        elif len(bracket.content) == 2:
            self.in_relation -= 1
        else:
            raise wrong(token, "three arguments of dist")
        return True

    def finished(self, part: Any) -> None:
        """Complete a part: apply postfix signs after it, then prefix operators before it."""
        self.counted.add(part)
        while self.in_relation and self.next_is("^-1", "+", "*"):
            sign = self.tokens[self.place].text
            if sign == "^-1":
                self.counted.visit(sum(_INVERTED for _ in part.walk()))
            part = _postfixed(part, sign)
            self.counted.add(part)
            self.place += 1
        while self.open and self.open[-1].strength == PREFIX:
            prefix = self.open.pop()
            place = Token("op", prefix.text, prefix.column)
            if prefix.text == "~":
                part = fo.RelationNot(part) if self.in_relation else fo.Not(_as_truth(part, place))
            elif prefix.text == "#":
                part = built(place, fo.Count, _as_truth(part, place))
            else:
                threshold = 0
                if self.next_is(">") and self._has_threshold():
                    self.place += 1
                    threshold = self.take_whole()
                part = built(place, fo.Modal, prefix.content[0], _as_truth(part, place), threshold)
            self.counted.add(part)
        self.done.append(part)

    def joined(self, token: Token, operands: list[Any]) -> Any:
        """Apply an infix operator to its operands."""
        if not self.in_relation:
            found = joined_formulas(token, operands)
        elif token.text == "\\":
            found = fo.RelationAnd(operands[0], fo.RelationNot(operands[1]))
        else:
            found = (fo.RelationAnd if token.text == "&" else fo.RelationOr)(*operands)
        self.counted.add(found)
        return found

    def _has_threshold(self) -> bool:
        """Whether `> t` belongs to the modal; before a closing `]` it belongs to the comparison."""
        after = self.tokens[self.place + 1 : self.place + 3]
        return after[0].is_sign("-") or (after[0].kind == "number" and not after[-1].is_sign("]"))


def parse(text: str) -> Any:
    """Parse a formula about objects or about states.

    Examples
    --------
    >>> parse("<on>(clear & ~holding) > 1")
    <on>(clear & ~holding) > 1
    >>> parse("clear &")
    Traceback (most recent call last):
        ...
    distill.common.errors.InputError: Column 8: expected a formula, not the end.
    """
    return FormulaParser(text).parse()


def parse_relation(text: str) -> fo.Relation:
    """Parse a relation.

    Examples
    --------
    >>> parse_relation("(on_G \\\\ on)^-1")
    on_G^-1 & ~on^-1
    """
    parser = FormulaParser(text)
    parser.in_relation = 1
    return _as_relation(parser.parse(), parser.tokens[-1])


def number_of(token: Token) -> fo.Constant:
    """The constant of a token."""
    value = int(token.text) if token.text.isdigit() and len(token.text) < 16 else float(token.text)
    made: fo.Constant = built(token, fo.Constant, value)
    return made


def joined_formulas(token: Token, operands: list[Any]) -> Any:
    """Formulas or numbers joined by an infix operator."""
    if set(token.text) <= set("*+-"):
        numbers = [_as_number(one, token) for one in operands]
        if token.text == "*":
            return built(token, fo.Product, *numbers)
        signed = zip("+" + token.text, numbers, strict=True)
        return built(token, fo.Sum, *(fo.Scaled(-1, one) if sign == "-" else one for sign, one in signed))
    make = fo.And if token.text == "&" else fo.Or
    return built(token, make, *(_as_truth(one, token) for one in operands))


def _postfixed(relation: fo.Relation, text: str) -> fo.Relation:
    return relation.inverse() if text == "^-1" else fo.Closure(relation, text == "*")


def _as_truth(part: Any, token: Token) -> fo.Truth:
    if isinstance(part, fo.Truth):
        return part
    raise InputError(f"Column {token.column + 1}: {token.text} needs a formula, and this is a number.")


def _as_number(part: Any, token: Token) -> fo.Number:
    if isinstance(part, fo.Truth):
        return built(token, fo.Indicator, part)  # type: ignore[no-any-return]
    return part  # type: ignore[no-any-return]


def _as_relation(part: Any, token: Token) -> fo.Relation:
    if isinstance(part, fo.Relation):
        return part
    raise InputError(f"Column {token.column + 1}: expected a relation.")
