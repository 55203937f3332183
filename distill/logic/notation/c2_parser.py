"""Parser of C2 with at most one free variable; it translates quantifiers into modals.

Under a quantifier `∃≥n y`, a formula in both variables combines three kinds of parts: formulas about `x`,
formulas about `y`, and relations between the two. A conjunction of these is one modal. Otherwise cases are
distinguished, first by the formulas about `x`, then by those about `y`, so that each case contains one
relation. The cases are disjoint, so their counts add up to n.
"""

import re
from itertools import product
from typing import Any

from distill.common import InputError
from distill.logic.notation.c2_parts import (
    Part,
    all_of,
    evaluated,
    in_order,
    joined,
    literals,
    negated,
    related,
)
from distill.logic.notation.operators import PREFIX, Open, OperatorParser, Token, built, tokens_of, wrong
from distill.logic.notation.parser import joined_formulas, number_of
from distill.logic.notation.tokens import NAME, QUOTED
from distill.logic.syntax.features import Compare, Constant, Count, Indicator, Number
from distill.logic.syntax.formulas import BOTTOM, Atom, Modal, Or, Top, Truth
from distill.logic.syntax.nodes import PartCount
from distill.logic.syntax.relations import Everything, Identity, Relation, RelationAnd, Role

_MOST_CASES = 4096
_SIGNS = {
    "¬": "~",
    "∧": "&",
    "∨": "|",
    "→": "->",
    "↔": "<->",
    "≠": "!=",
    "≥": ">=",
    "≤": "<=",
    "·": "*",
    "−": "-",
    "exists": "∃",
    "forall": "∀",
    "⊤": "top",
    "⊥": "bot",
}
_TOKEN = re.compile(
    rf"""\s*(?:(?P<op><->|->|!=|>=|<=|[~&|()\[\],=\#*+∃∀¬∧∨→↔≠≥≤·−-]|(?:exists|forall)\b)
    |(?P<name>{NAME.pattern}|[⊤⊥])|"(?P<quoted>{QUOTED})"
    |(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|(?P<bad>\S))""",
    re.VERBOSE | re.ASCII,
)
_INFIX = {"<->": 1, "->": 2, "|": 3, "&": 4, "+": 5, "-": 5, "*": 6}


def parse_c2(text: str) -> Any:
    """Parse a formula of C2, or a number with `#x` and `[ ]`, as modals.

    Signs may be typed: `exists>=2 y (E(x,y) & ~red(y))`, `forall`, `->`, `<->`, `!=`. A quantifier binds the
    part directly after it; brackets extend its scope. `∃x, y` abbreviates two quantifiers.

    Examples
    --------
    >>> parse_c2("blue(x) ∧ ∃≥2 y (E(x, y) ∧ ¬red(y))")
    blue & <E>~red > 1
    >>> parse_c2("exists y (at_G(x,y) & ~at(x,y))")
    <at_G & ~at>top
    >>> parse_c2("∃x clear(x)")
    [#clear > 0]
    """
    return C2Parser(text).formula()


class C2Parser(OperatorParser):
    """Parses one formula; a subclass with further names overrides `applied`."""

    def __init__(self, text: str, counted: PartCount | None = None) -> None:
        super().__init__(tokens_of(text, _TOKEN, _SIGNS), counted)
        self.variables: set[str] = set()

    def formula(self) -> Any:
        """Parse the text, and translate it into modals."""
        found = self.parse()
        if isinstance(found, Number):
            return found
        if found.truth is None:
            both = " and ".join(sorted(self.variables))
            raise InputError(f"The formula has two free variables, {both}; bind one with ∃ or ∀.")
        # As in `write_c2`, a sentence about states binds the first variable before the other.
        first = min(self.variables | {"x"} if self.variables <= {"x", "y"} else self.variables, default="x")
        return found.sentence if found.sentence is not None and first in found.outer else found.truth

    def begin(self, token: Token) -> bool:
        """A part begins; whether another one is still expected."""
        if token.is_sign("~", "("):
            self.open.append(Open(token.text, token.column, PREFIX if token.text == "~" else 0))
            return True
        if token.is_sign("["):
            self.open.append(Open("[", token.column, 0))
            return True
        if token.is_sign("-") and not self.follows_prefix:
            self.done.append(Constant(0))
            self.open.append(Open("-", token.column, _INFIX["-"]))
            return True
        if token.is_sign("∃", "∀", "#"):
            self._quantifier(token)
            return True
        if token.kind == "number":
            self.finished(number_of(token))
            return False
        if token.kind in ("name", "quoted"):
            self.finished(self._atom(token))
            return False
        raise wrong(token, "a formula")

    def go_on(self, token: Token) -> bool:
        """After a finished part; whether another one is expected."""
        if token.kind == "op" and token.text in _INFIX:
            return self.infix(token, _INFIX[token.text])
        if token.is_sign(")"):
            self.close(token, "(")
            self.finished(self.done.pop())
            return False
        if token.is_sign("]"):
            self.close(token, "[")
            inside = self._as_part(self.done.pop(), token)
            if inside.sentence is None:
                raise InputError(f"Column {token.column + 1}: [ ] needs a formula without free variables.")
            self.finished(Indicator(inside.sentence))
            return False
        raise wrong(token, "an operator or the end" if not self.open else "an operator or a closing bracket")

    def finished(self, part: Any) -> None:
        """Complete a part: apply the prefix operators before it."""
        self._counted_part(part)
        while self.open and self.open[-1].strength == PREFIX:
            prefix = self.open.pop()
            token = Token("op", prefix.text, prefix.column)
            inside = self._as_part(part, token)
            if prefix.text == "~":
                part = negated(inside)
            elif prefix.text == "#":
                part = self._counted(inside, prefix.content[0], token)
            else:
                part = self._quantified(inside, prefix)
            self._counted_part(part)
        self.done.append(part)

    def _counted_part(self, part: Any) -> Any:
        if isinstance(part, Number):
            self.counted.add(part)
            return part
        for node in (part.truth, part.sentence, part.relation):
            if node is not None:
                self.counted.add(node)
        self.counted.visit(1 + len(part.parts))
        return part

    def _joined(self, operator: str, parts: list[Part]) -> Part:
        found: Part = self._counted_part(joined(operator, parts))
        return found

    def joined(self, token: Token, operands: list[Any]) -> Any:
        """Apply an infix operator to its operands."""
        if set(token.text) <= set("*+-"):
            for one in operands:
                if not isinstance(one, Number):
                    raise InputError(
                        f"Column {token.column + 1}: {token.text[0]} cannot join numbers; use # or [ ]."
                    )
            return self._counted_part(joined_formulas(token, operands))
        parts = [self._as_part(one, token) for one in operands]
        if token.text == "->":
            # a → b → c is a → (b → c).
            found = parts[-1]
            for part in reversed(parts[:-1]):
                found = self._joined("|", [negated(part), found])
            return found
        if token.text == "<->":
            found = parts[0]
            for part in parts[1:]:
                both, none = [found, part], [negated(found), negated(part)]
                found = self._joined("|", [joined("&", both), joined("&", none)])
            return found
        return self._joined(token.text, parts)

    def _as_part(self, part: Any, token: Token) -> Part:
        if isinstance(part, Part):
            return part
        raise InputError(f"Column {token.column + 1}: {token.text} needs a formula, and this is a number.")

    def _variable(self) -> str:
        token = self.take(("name",), "a variable")
        self.variables.add(token.text)
        if len(self.variables) > 2:
            raise InputError(
                f"Column {token.column + 1}: {token.text} is a third variable besides "
                f"{' and '.join(sorted(self.variables - {token.text}))}; C2 has two, which are used again."
            )
        return token.text

    def _quantifier(self, token: Token) -> None:
        compare, number = ">=", 1
        if token.text == "∃" and self.next_is(">=", "<=", "="):
            compare = self.take(("op",), "a sign").text
            number = self.take_whole()
        self.open.append(Open(token.text, token.column, PREFIX, [self._variable(), compare, number]))
        while token.text != "#" and self.next_is(","):
            if (compare, number) != (">=", 1):
                raise wrong(self.tokens[self.place], "one variable, as pairs are not counted")
            self.place += 1
            self.open.append(Open(token.text, token.column, PREFIX, [self._variable(), compare, number]))

    def _atom(self, token: Token) -> Any:
        if token.kind == "name" and token.text in ("top", "bot") and not self.next_is("("):
            truth = Top() if token.text == "top" else BOTTOM
            return Part(truth=truth, sentence=Compare(Constant(int(truth is not BOTTOM)), 0))
        if self.next_is("=", "!="):
            sign = self.tokens[self.place].text
            self.place -= 1
            one = self._variable()
            self.place += 1
            other = self._variable()
            equal = Part(variable=other, truth=Top()) if one == other else Part(relation=Identity())
            return equal if sign == "=" else negated(equal)
        arguments: list[str] = []
        if self.next_is("("):
            self.place += 1
            while not self.next_is(")"):
                arguments.append(self._variable())
                if not self.next_is(")"):
                    self.take_sign(",")
            self.place += 1
        return self.applied(token, arguments)

    def applied(self, token: Token, arguments: list[str]) -> Any:
        """A name with its arguments."""
        if len(arguments) > 2:
            raise InputError(
                f"Column {token.column + 1}: C2 has no atoms of three arguments, such as {token.text}."
            )
        if not arguments:
            return Part(truth=Atom(token.text), sentence=Compare(Count(Atom(token.text)), 0))
        if len(arguments) == 1:
            return Part(variable=arguments[0], truth=Atom(token.text))
        everything = token.kind == "name" and token.text == "top"
        relation = Everything() if everything else Role(token.text)
        return related(relation, arguments)

    def _counted(self, inside: Part, variable: str, token: Token) -> Number:
        if inside.truth is None or inside.variable not in (None, variable):
            raise InputError(f"Column {token.column + 1}: #{variable} counts what holds of {variable} alone.")
        found: Number = built(token, Count, inside.truth)
        return found

    def _quantified(self, inside: Part, prefix: Open) -> Part:
        variable, compare, number = prefix.content
        if prefix.text == "∀":
            return negated(self._at_least(negated(inside), variable, 1))
        if compare == ">=":
            return self._at_least(inside, variable, number)
        more = negated(self._at_least(inside, variable, number + 1))
        return more if compare == "<=" else joined("&", [more, self._at_least(inside, variable, number)])

    def _at_least(self, inside: Part, variable: str, number: int) -> Part:
        """∃≥n over a variable."""
        if number == 0:
            return Part(truth=Top(), sentence=Compare(Constant(1), 0))
        if inside.truth is not None and inside.variable in (None, variable):
            return Part(
                truth=Modal(Everything(), inside.truth, number - 1),
                sentence=Compare(Count(inside.truth), number - 1),
                outer=frozenset([variable]),
            )
        conjuncts = inside.parts if inside.operator == "&" else (inside,)
        if any(part.operator for part in conjuncts):
            truth = self._by_cases(inside, variable, number)
        else:
            here = [p.truth for p in conjuncts if p.truth is not None and p.variable not in (None, variable)]
            there = [p.truth for p in conjuncts if p.truth is not None and p.variable in (None, variable)]
            linked = [p.relation for p in conjuncts if p.relation is not None]
            relation = RelationAnd(*linked) if linked else Everything()
            found = [self._modal(relation, all_of(there), variable, number)]
            # That some object exists is trivial if the formula is about an object.
            truth = all_of(here if number == 1 and not linked and not there else here + found)
        return Part(variable=self._other(variable), truth=truth)

    def _other(self, variable: str) -> str:
        [other] = self.variables - {variable}
        return other

    def _modal(self, relation: Relation, operand: Truth, variable: str, number: int) -> Truth:
        """∃≥n over a variable, of a relation between the two variables."""
        forwards = self._other(variable) < variable
        return Modal(relation if forwards else relation.inverse(), operand, number - 1)

    def _by_cases(self, inside: Part, variable: str, number: int) -> Truth:
        order = in_order(inside)
        # A sentence may be evaluated at either object; evaluated here, it splits no case.
        truths = {(p.truth, p.variable == variable): None for p in order if p.truth is not None}
        there = [truth for truth, is_there in truths if is_there]
        here = [truth for truth, is_there in truths if not is_there]
        if 2 ** len(truths) > _MOST_CASES:
            raise InputError(
                f"Under a quantifier of {variable} {len(truths)} formulas in one variable are not joined by "
                "∧: too many cases; write a disjunction of quantifiers instead."
            )
        found = []
        for holds_here in product((True, False), repeat=len(here)):
            self.counted.visit(len(truths) + 2 ** len(there) * len(order))
            known = {(truth, False): own for truth, own in zip(here, holds_here, strict=True)}
            operands: dict[Relation, list[Truth]] = {}
            for holds_there in product((True, False), repeat=len(there)):
                known |= {(truth, True): own for truth, own in zip(there, holds_there, strict=True)}
                relation = evaluated(order, known, variable)
                if relation is not False:
                    between = Everything() if relation is True else relation
                    operands.setdefault(between, []).append(all_of(literals(there, holds_there)))
            whole = 2 ** len(there)
            terms: list[tuple[Relation, Truth]] = [
                (r, Top() if len(cubes) == whole else Or(*cubes)) for r, cubes in operands.items()
            ]
            if terms:
                found.append(all_of([*literals(here, holds_here), self._together(terms, variable, number)]))
        return Or(*found) if found else BOTTOM

    def _together(self, terms: list[tuple[Relation, Truth]], variable: str, number: int) -> Truth:
        """∃≥n over disjoint cases."""
        if (number + 1) ** len(terms) > _MOST_CASES:
            raise InputError(f"∃≥{number} over {len(terms)} cases is too long to write; use smaller numbers.")
        self.counted.visit((number + 1) ** len(terms))
        shares = product(range(number + 1), repeat=len(terms))
        ways = [
            all_of([self._modal(*term, variable, n) for term, n in zip(terms, share, strict=True) if n])
            for share in shares
            if sum(share) == number
        ]
        return Or(*ways)
