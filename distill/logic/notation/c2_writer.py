"""Writer of C2: first-order logic with two variables, which are reused, and counting quantifiers.

A formula about objects has the free variable `x`; a formula about states is a sentence that binds `x` first.
`parse_c2` is the inverse.
"""

from collections.abc import Callable, Mapping
from typing import Any

from distill.common import InputError, shown
from distill.logic import syntax as fo
from distill.logic.notation.texts import Texts
from distill.logic.notation.writer import EMLC, LATEX, Notation, check_size, written_sum

_OTHER = {"x": "y", "y": "x"}
_ATOMIC, _PREFIX, _EQUATION, _AND, _OR = 9, 8, 3, 2, 1
_Shown = tuple[str, int]
_Key = tuple[fo.Node, str]  # a node, and the variable of its object


def write_c2(formula: fo.Node, *, latex: bool = False) -> str:
    """Write a formula, feature or value function in C2.

    Closures, distances, products and relations of three and more arguments are not in C2 and raise an error.

    Examples
    --------
    >>> from distill.logic import parse
    >>> write_c2(parse("blue & <E>~red > 1"))
    'blue(x) ∧ ∃≥2 y (E(x, y) ∧ ¬red(y))'
    >>> write_c2(parse("[#(clear_G & ~clear) > 0]"))
    '∃x (clear_G(x) ∧ ¬clear(x))'
    """
    if isinstance(formula, fo.Relation):
        raise InputError("C2 has no relations alone; write <relation>top.")
    check_size(formula)
    check_c2(formula)
    writer = C2Writer(LATEX if latex else EMLC)
    writer.write(formula)
    return writer.texts.whole(writer.shown[formula, "x"][0])


def check_c2(formula: fo.Node) -> None:
    """Raise an error that names the first part that C2 cannot express."""
    for node in formula.walk():
        if isinstance(node, fo.Closure):
            raise InputError(f"C2 has no transitive closures; {shown(str(node))} needs a bound (--up-to).")
        if isinstance(node, fo.Role) and max(node.fields[1:]) > 1:
            raise InputError(f"C2 has no relations of three arguments, so it cannot express {node}.")
        if isinstance(node, fo.Compare) and not isinstance(node.fields[0], fo.Count):
            raise InputError(
                f"C2 compares numbers of objects only; {shown(str(node))} needs a bound (--up-to)."
            )
        if isinstance(node, fo.Number) and type(node) not in _WRITERS:
            raise InputError(f"C2 has no {_NAMES[node.kind]}; {shown(str(node))} needs a bound (--up-to).")


_NAMES = {"product": "products", "dist": "distances"}


class C2Writer:
    """Writes nodes from the texts of their parts.

    Parameters
    ----------
    names : parts that are written by name, and the texts of the names.

    Attributes
    ----------
    shown : the text and its binding strength of each node at each variable.
    defined : the text of each named part, a formula about `x`.
    """

    def __init__(self, notation: Notation, names: Mapping[fo.Node, str] | None = None) -> None:
        self.notation = notation
        self.signs = notation.signs
        self.latex = notation is LATEX
        self.texts = Texts()
        self.shown: dict[_Key, _Shown] = {}
        self.names = names or {}
        self.defined: dict[fo.Node, str] = {}
        for part in self.names:
            if isinstance(part, fo.Relation):
                self.defined[part] = self.texts.whole(self.relation(part, "x", named=False)[0])

    def write(self, formula: fo.Node) -> None:
        """Write a formula about `x` or about states, with all its parts."""
        todo: list[tuple[_Key, bool]] = [((formula, "x"), False)]
        while todo:
            key, ready = todo.pop()
            node, variable = key
            if ready:
                text, strength = _WRITERS[type(node)](self, *key)
                if node in self.names:
                    self.defined[node] = self.texts.whole(text)
                    for own in _OTHER:
                        self.shown[node, own] = (
                            self.atom(self.names[node], *self.arguments(node, own)),
                            _ATOMIC,
                        )
                else:
                    self.shown[key] = self.texts.keep(text), strength
            elif key not in self.shown:
                if node in self.names:
                    variable = "x"
                todo.append(((node, variable), True))
                after = _OTHER[variable] if isinstance(node, fo.Modal) else variable
                todo += [((part, after), False) for part in node.parts if not isinstance(part, fo.Relation)]

    def arguments(self, part: fo.Node, variable: str = "x") -> tuple[str, ...]:
        """The variables after the name of a part."""
        if isinstance(part, fo.Relation):
            return variable, _OTHER[variable]
        return (variable,) if isinstance(part, fo.Truth) and not part.of_state else ()

    def head(self, part: fo.Node) -> str:
        """The left side of the definition of a named part."""
        return self.atom(self.names[part], *self.arguments(part))

    def bracketed(self, shown: _Shown, strength: int) -> str:
        """A text, in brackets if it binds less strongly than `strength`."""
        text, own = shown
        return text if own >= strength else text.join(self.notation.brackets)

    def negated(self, shown: _Shown) -> _Shown:
        """The negation of a text."""
        return self.signs["not"] + self.bracketed(shown, _PREFIX), _PREFIX

    def joined(self, parts: list[_Shown], kind: str) -> _Shown:
        """Texts joined by a sign."""
        strength = _AND if kind == "and" else _OR
        return self.signs[kind].join(self.bracketed(part, strength + 1) for part in parts), strength

    def atom(self, name: str, *variables: str) -> str:
        """A name applied to variables, if there are any."""
        return f"{name}({', '.join(variables)})" if variables else name

    def quantified(self, least: int, variable: str, body: _Shown) -> _Shown:
        """`∃≥n` before a text."""
        if self.latex:
            count = f"^{{\\geq {least}}}" if least > 1 else ""
            return f"\\exists{count} {variable}\\, {self.bracketed(body, _PREFIX)}", _PREFIX
        count = f"≥{least} " if least > 1 else ""
        return f"∃{count}{variable} {self.bracketed(body, _PREFIX)}", _PREFIX

    def relation(self, relation: fo.Relation, source: str, *, named: bool = True) -> _Shown:
        """A relation as a formula in both variables; by its name if it may be `named`."""
        both = (source, _OTHER[source])
        found: dict[fo.Node, _Shown] = {}
        for part in relation.walk():
            if part in self.names and (named or part is not relation):
                shown = self.atom(self.names[part], *both), _ATOMIC
            elif isinstance(part, fo.Identity):
                shown = (f"{both[0]} = {both[1]}", _EQUATION)
            elif isinstance(part, fo.Everything):
                shown = self.atom(self.signs["top"], *both), _ATOMIC
            elif isinstance(part, fo.Role):
                name = self.notation.name(part.fields[0])
                shown = self.atom(name, *(both if part.fields[1] == 0 else both[::-1])), _ATOMIC
            elif isinstance(part, fo.RelationNot):
                shown = self.negated(found[part.fields[0]])
            else:
                kind = "and" if isinstance(part, fo.RelationAnd) else "or"
                shown = self.joined([found[one] for one in part.fields], kind)
            found[part] = self.texts.keep(shown[0]), shown[1]
        return found[relation]

    def modal(self, node: fo.Modal, variable: str) -> _Shown:
        """A modal as a quantifier."""
        relation, operand, threshold = node.fields
        other = _OTHER[variable]
        if isinstance(relation, fo.Everything):
            return self.quantified(threshold + 1, other, self.shown[operand, other])
        links, inside = self.relation(relation, variable), self.shown[operand, other]
        if isinstance(operand, fo.Top):
            return self.quantified(threshold + 1, other, links)
        # Both may be conjunctions, which are flattened.
        flat = [(text, _AND + 1 if strength == _AND else strength) for text, strength in (links, inside)]
        return self.quantified(threshold + 1, other, self.joined(flat, "and"))

    def negation(self, node: fo.Not, variable: str) -> _Shown:
        """A negated formula."""
        return (
            (self.signs["bottom"], _ATOMIC)
            if node is fo.BOTTOM
            else self.negated(self.shown[node.fields[0], variable])
        )

    def compare(self, node: fo.Compare, variable: str) -> _Shown:
        """A comparison as a quantifier."""
        count, threshold = node.fields
        return self.quantified(threshold + 1, variable, self.shown[count.fields[0], variable])

    def count(self, node: fo.Count, variable: str) -> _Shown:
        """The number of objects with a formula."""
        inside = self.bracketed(self.shown[node.fields[0], variable], _PREFIX)
        return f"{self.signs['count']}{variable} {inside}", _PREFIX

    def total(self, node: fo.Number, variable: str) -> _Shown:
        """A sum, a weighted number or a constant."""
        return written_sum(node, self.signs, lambda part: self.shown[part, variable][0]), _EQUATION


_WRITERS: dict[type[fo.Node], Callable[[C2Writer, Any, str], _Shown]] = {
    fo.Top: lambda w, node, v: (w.signs["top"], _ATOMIC),
    fo.Atom: lambda w, node, v: (w.atom(w.notation.name(node.fields[0]), v), _ATOMIC),
    fo.Not: C2Writer.negation,
    fo.And: lambda w, node, v: w.joined([w.shown[part, v] for part in node.fields], "and"),
    fo.Or: lambda w, node, v: w.joined([w.shown[part, v] for part in node.fields], "or"),
    fo.Modal: C2Writer.modal,
    fo.Compare: C2Writer.compare,
    fo.Count: C2Writer.count,
    fo.Indicator: lambda w, node, v: (w.shown[node.fields[0], v][0].join(w.notation.square), _ATOMIC),
    fo.Constant: C2Writer.total,
    fo.Scaled: C2Writer.total,
    fo.Sum: C2Writer.total,
}
