"""Formulas in plain English."""

from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any

from distill.logic import syntax as fo
from distill.logic.notation.texts import Texts
from distill.logic.notation.writer import check_size


def explain(formula: fo.Node, names: Mapping[fo.Node, str] | None = None) -> str:
    """The meaning of a formula in words.

    Parameters
    ----------
    names : parts that are named instead of explained.

    Examples
    --------
    >>> from distill.logic import parse
    >>> explain(parse("clear_G & ~clear"))
    'an object that is clear in the goal and is not clear'
    >>> explain(parse("2*#<on+>clear_G - [#holding > 0]"))  # doctest: +NORMALIZE_WHITESPACE
    '2 times the number of objects that are linked by one or more steps of on to an object
    that is clear in the goal, minus 1 if some object is holding'
    >>> explain(parse("<on>(clear & <on>held)"), {parse("<on>held"): "A"})
    'an object that is linked by on to an object that is clear and is A'
    """
    if not names:
        check_size(formula)
    names = names or {}
    kept = Texts()
    texts: dict[tuple[fo.Node, bool], str] = {}
    for node in _unnamed(formula, names):
        for many in (False, True):
            phrases = _Phrases(texts, many, names)
            if node is not formula and node in names:
                texts[node, many] = phrases.named(node, names[node])
            else:
                texts[node, many] = kept.keep(_WORDS[type(node)](phrases, node))
    about = not isinstance(formula, fo.Number) and not getattr(formula, "of_state", True)
    return kept.whole(f"{'an object that ' if about else ''}{texts[formula, False]}")


def _unnamed(formula: fo.Node, names: Container[fo.Node]) -> Iterator[fo.Node]:
    """The nodes of a formula, parts first, without those inside named parts."""
    seen: set[fo.Node] = set()
    todo = [(formula, False)]
    while todo:
        node, ready = todo.pop()
        if ready:
            yield node
        elif node not in seen:
            seen.add(node)
            todo.append((node, True))
            if node is formula or node not in names:
                todo += [(part, False) for part in reversed(node.parts)]


_GOALS = {"_G,T": " as the goal asks", "_G,F": " in the goal only", "_G": " in the goal"}


class _Phrases:
    """Builds phrases about one object, or about several."""

    def __init__(self, texts: dict[tuple[fo.Node, bool], str], many: bool, names: Container[fo.Node]) -> None:
        self.texts = texts
        self.many = many
        self.names = names
        self.be = "are" if many else "is"

    def named(self, node: fo.Node, name: str) -> str:
        if isinstance(node, fo.Truth):
            return f"{name} holds" if node.of_state else f"{self.be} {name}"
        return name

    def of(self, node: fo.Node) -> str:
        return self.texts[node, self.many]

    def atom(self, node: fo.Atom) -> str:
        return f"{self.be} {_spoken(node.fields[0])}"

    def negation(self, node: fo.Not) -> str:
        inner = node.fields[0]
        while (
            inner not in self.names
            and isinstance(inner, fo.Modal)
            and isinstance(inner.fields[0], fo.Identity)
            and not inner.fields[2]
        ):
            inner = inner.fields[1]
        if node is fo.BOTTOM:
            return "do not exist" if self.many else "does not exist"
        if inner in self.names:
            return (
                f"it is not so that {self.of(inner)}"
                if node.of_state
                else self.of(inner).replace(self.be, f"{self.be} not", 1)
            )
        if isinstance(inner, fo.Atom):
            return f"{self.be} not {_spoken(inner.fields[0])}"
        if isinstance(inner, fo.Compare) and inner.fields[1] == 0 and isinstance(inner.fields[0], fo.Count):
            return f"no object {self.texts[inner.fields[0].fields[0], False]}"
        if isinstance(inner, fo.Modal) and not isinstance(inner.fields[0], fo.Everything | fo.Identity):
            return f"{self.be} not {self.modal(inner).removeprefix(self.be).strip()}"
        such = "it is not so" if node.of_state else f"{self.be} not such"
        return f"{such} that [{self.of(inner)}]"

    def many_of(self, node: fo.And | fo.Or, word: str) -> str:
        parts = [f"[{self.of(p)}]" if isinstance(p, fo.And | fo.Or) else self.of(p) for p in node.fields]
        return f" {word} ".join(parts)

    def modal(self, node: fo.Modal) -> str:
        relation, operand, threshold = node.fields
        other = _objects(self.texts, operand, threshold)
        if isinstance(relation, fo.Everything):
            return f"{self.be} in a state with {other}"
        if isinstance(relation, fo.Identity):
            return self.of(operand) if threshold == 0 else f"{self.be} more than one"
        return f"{self.be} linked by {self.texts[relation, False]} to {other}"

    def compare(self, node: fo.Compare) -> str:
        number, threshold = node.fields
        if not isinstance(number, fo.Count):
            return f"{self.texts[number, False]} is more than {threshold}"
        if threshold == 0:
            return f"some object {self.texts[number.fields[0], False]}"
        return f"{_more_than(threshold)} {self.texts[number.fields[0], threshold > 1]}"

    def count(self, node: fo.Count) -> str:
        [operand] = node.fields
        if isinstance(operand, fo.Top):
            return "the number of objects"
        return f"the number of objects that {self.texts[operand, True]}"

    def distance(self, node: fo.Distance) -> str:
        first, relation, last = (self.texts[part, False] for part in node.fields)
        return f"the least number of steps by {relation} from an object that {first} to one that {last}"

    def if_true(self, node: fo.Indicator) -> str:
        return self.texts[node.fields[0], False]

    def total(self, node: fo.Number) -> str:
        shown = ""
        for weight, feature in fo.weighted(node):
            constant = isinstance(feature, fo.Constant)
            own = weight * feature.fields[0] if constant else weight
            term = f"{abs(own)}" if constant else self.texts[feature, False]
            if not constant and abs(own) != 1:
                if isinstance(feature, fo.Indicator):
                    term = f"{abs(own)} if {self.if_true(feature)}"
                else:
                    term = f"{abs(own)} times {term}"
            if shown:
                shown = f"{shown}, {'minus' if own < 0 else 'plus'} {term}"
            else:
                shown = f"minus {term}" if own < 0 else term
        return shown


def _objects(texts: dict[tuple[fo.Node, bool], str], operand: fo.Node, threshold: int) -> str:
    if threshold == 0:
        return "an object" if isinstance(operand, fo.Top) else f"an object that {texts[operand, False]}"
    many = _more_than(threshold)
    return many if isinstance(operand, fo.Top) else f"{many} that {texts[operand, threshold > 1]}"


def _more_than(threshold: int) -> str:
    return f"more than {threshold} object{'s' if threshold > 1 else ''}"


def _spoken(name: str) -> str:
    for ending, meaning in _GOALS.items():
        if name.endswith(ending):
            return name.removesuffix(ending) + meaning
    return name


def _role(node: fo.Role) -> str:
    name, source, target = node.fields
    if {source, target} == {0, 1}:
        return _spoken(name) + (" backwards" if source else "")
    return f"{_spoken(name)} (from argument {source + 1} to {target + 1})"


_WORDS: dict[type[fo.Node], Callable[[_Phrases, Any], str]] = {
    fo.Identity: lambda s, node: "being the same",
    fo.Everything: lambda s, node: "being in one state",
    fo.Role: lambda s, node: _role(node),
    fo.RelationNot: lambda s, node: f"not {s.of(node.fields[0])}",
    fo.RelationAnd: lambda s, node: "[" + " and ".join(s.of(part) for part in node.fields) + "]",
    fo.RelationOr: lambda s, node: "[" + " or ".join(s.of(part) for part in node.fields) + "]",
    fo.Closure: lambda s, n: (
        f"{'any number of' if n.fields[1] else 'one or more'} steps of {s.of(n.fields[0])}"
    ),
    fo.Top: lambda s, node: "exist" if s.many else "exists",
    fo.Atom: _Phrases.atom,
    fo.Not: _Phrases.negation,
    fo.And: lambda s, node: s.many_of(node, "and"),
    fo.Or: lambda s, node: s.many_of(node, "or"),
    fo.Modal: _Phrases.modal,
    fo.Compare: _Phrases.compare,
    fo.Count: _Phrases.count,
    fo.Indicator: lambda s, node: f"1 if {s.if_true(node)}",
    fo.Product: lambda s, node: " times ".join(f"({s.texts[part, False]})" for part in node.fields),
    fo.Constant: _Phrases.total,
    fo.Scaled: _Phrases.total,
    fo.Sum: _Phrases.total,
    fo.Distance: _Phrases.distance,
}
