"""The nodes of a value function: which lists of nodes are one, and the text that they stand for."""

import math
import re
from collections.abc import Iterator
from typing import Any

from .errors import CannotCheckError, shown

Rows = list[list[Any]]
_PAIRS, _OBJECTS, _STATES, _NUMBER = "relation", "formula about objects", "formula about states", "number"
_MOST = 100_000
# For each kind the sorts of its fields and its own sort.
_KINDS: dict[str, tuple[tuple[str, ...], str]] = {
    "id": ((), _PAIRS),
    "all": ((), _PAIRS),
    "role": (("name", "place", "place"), _PAIRS),
    "rnot": ((_PAIRS,), _PAIRS),
    "closure": ((_PAIRS, "flag"), _PAIRS),
    "top": ((), _OBJECTS),
    "atom": (("name",), _OBJECTS),
    "modal": ((_PAIRS, _OBJECTS, "threshold"), _OBJECTS),
    "count": ((_OBJECTS,), _NUMBER),
    "compare": ((_NUMBER, "threshold"), _STATES),
    "indicator": ((_STATES,), _NUMBER),
    "constant": (("weight",), _NUMBER),
    "scaled": (("weight", _NUMBER), _NUMBER),
    "dist": ((_OBJECTS, _PAIRS, _OBJECTS), _NUMBER),
}
_JOINED = {"rand": (_PAIRS,), "ror": (_PAIRS,), "sum": (_NUMBER,), "product": (_NUMBER,)}
_ALIKE = {"and": 2, "or": 2, "not": 1}  # formulas about objects or about states, and how many at least


def check_nodes(rows: Rows, vocabulary: dict[str, int]) -> None:
    """Raise an error if a list of nodes is no value function over a vocabulary.

    Examples
    --------
    >>> check_nodes([["atom", "clear"], ["count", {"@": 0}]], {"clear": 1})
    >>> check_nodes([["atom", "clear"], ["count", {"@": 1}]], {"clear": 1})
    Traceback (most recent call last):
        ...
    distill.checker.errors.CannotCheckError: node 1: it refers to {'@': 1}, which is no node before it
    """
    if not 0 < len(rows) <= _MOST:
        raise CannotCheckError(f"the value function has {len(rows)} nodes, not 1 to {_MOST}")
    sorts: list[str] = []
    used = {len(rows) - 1}
    for number, (kind, *fields) in enumerate(rows):
        try:
            own, expected = _expected(kind, fields, sorts)
            for field, sort in zip(fields, expected, strict=True):
                if isinstance(field, dict):
                    used.add(field["@"])
                _check_field(field, sort, sorts)
            _check_predicate(kind, fields, vocabulary)
            if kind in ("rnot", "rand", "ror"):
                _check_pairs([rows[field["@"]] for field in fields], vocabulary)
        except CannotCheckError as error:
            raise CannotCheckError(f"node {number}: {error}") from None
        sorts.append(own)
    if sorts[-1] != _NUMBER:
        raise CannotCheckError(f"the last node is a {sorts[-1]}, not a number")
    if len(used) < len(rows):
        raise CannotCheckError("some nodes are no part of the value function")


def _expected(kind: Any, fields: list[Any], sorts: list[str]) -> tuple[str, tuple[str, ...]]:
    """The sort of a node and those that its fields must have."""
    for field in fields:
        if isinstance(field, dict):
            place = field.get("@")
            if len(field) != 1 or type(place) is not int or not 0 <= place < len(sorts):
                raise CannotCheckError(f"it refers to {shown(field)}, which is no node before it")
    if kind in _ALIKE and fields and isinstance(fields[0], dict):
        own = sorts[fields[0]["@"]]
        if own in (_OBJECTS, _STATES) and (len(fields) == 1) == (_ALIKE[kind] == 1):
            return own, (own,) * len(fields)
    elif kind in _JOINED and len(fields) > 1:
        return _JOINED[kind][0], _JOINED[kind] * len(fields)
    elif kind in _KINDS and len(_KINDS[kind][0]) == len(fields):
        return _KINDS[kind][1], _KINDS[kind][0]
    raise CannotCheckError(f"{shown(kind)} does not take {len(fields)} such fields")


def _check_field(field: Any, sort: str, sorts: list[str]) -> None:
    if isinstance(field, dict):
        right = sorts[field["@"]] == sort
    elif sort == "name":
        right = isinstance(field, str)
    elif sort == "flag":
        right = isinstance(field, bool)
    elif sort == "weight":
        right = type(field) in (int, float) and abs(field) < 1e300 and math.isfinite(field)
    else:
        right = sort in ("place", "threshold") and type(field) is int and 0 <= field < 10**9
    if not right:
        raise CannotCheckError(f"{shown(field)} is no {sort}")


def _check_predicate(kind: str, fields: list[Any], vocabulary: dict[str, int]) -> None:
    if kind not in ("atom", "role"):
        return
    name, *places = fields
    if name not in vocabulary:
        raise CannotCheckError(f"the domain has no predicate {shown(name)}")
    fits = vocabulary[name] > max(places) if places else vocabulary[name] < 2
    if not fits or len(set(places)) < len(places):
        raise CannotCheckError(f"the predicate {name} has {vocabulary[name]} arguments, which does not fit")


def _check_pairs(parts: Rows, vocabulary: dict[str, int]) -> None:
    """Refuse to combine relations of which several atoms may have the same two objects."""
    for kind, *fields in parts:
        if kind == "role" and vocabulary[fields[0]] > 2:
            raise CannotCheckError(f"the relation of {fields[0]} counts atoms and cannot be combined")


_NAME = re.compile(r"[A-Za-z_](?:[\w-]*\w)?(?:,[TF])?", re.ASCII)
_WORDS = ("top", "bot", "id", "all", "dist", "exists", "forall")
_ATOMIC, _PREFIX, _TERM, _SUM, _LOOSE = 9, 8, 4, 3, 0  # how strongly texts bind
_STRENGTH = {"rnot": _PREFIX, "not": _PREFIX, "modal": _PREFIX, "count": _PREFIX, "product": _TERM} | {
    "rand": 2,
    "ror": 1,
    "and": 2,
    "or": 1,
    "sum": _SUM,
}
_SIGN = {"rand": " & ", "and": " & ", "ror": " | ", "or": " | ", "product": "*"}
_Piece = str | tuple[int, int]  # a text, or a node and how strongly it must bind


def written(rows: Rows, longest: int) -> str | None:
    """The text of a value function; None if it has more than `longest` characters.

    Examples
    --------
    >>> written([["atom", "clear"], ["not", {"@": 0}], ["count", {"@": 1}], ["scaled", 2, {"@": 2}]], 99)
    '2*#~clear'
    """
    strengths = _strengths(rows)
    modal = _ending_in_modals(rows)
    texts: list[str] = []
    length = 0
    todo: list[_Piece] = [(len(rows) - 1, _LOOSE)]
    while todo:
        piece = todo.pop()
        if isinstance(piece, str):
            texts.append(piece)
            length += len(piece)
            if length > longest:
                return None
            continue
        number, strength = piece
        pieces = list(_pieces(rows, number, strengths, modal))
        todo += reversed(pieces if strengths[number] >= strength else ["(", *pieces, ")"])
    return "".join(texts)


def _strengths(rows: Rows) -> list[int]:
    found: list[int] = []
    for kind, *fields in rows:
        if kind == "not" and rows[fields[0]["@"]] == ["top"]:
            found.append(_ATOMIC)
        elif kind == "indicator":
            found.append(found[fields[0]["@"]])
        elif kind in ("constant", "scaled"):
            alone = _ATOMIC if kind == "constant" else _TERM
            found.append(_SUM if _term([kind, *fields], rows)[0] < 0 else alone)
        else:
            found.append(_STRENGTH.get(kind, _ATOMIC))
    return found


def _ending_in_modals(rows: Rows) -> list[bool]:
    """Which nodes are modals or negations of such: a threshold after them would be read as theirs."""
    found: list[bool] = []
    for kind, *fields in rows:
        found.append(kind == "modal" or (kind == "not" and found[fields[0]["@"]]))
    return found


def _pieces(rows: Rows, number: int, strengths: list[int], modal: list[bool]) -> Iterator[_Piece]:
    kind, *fields = rows[number]
    parts = [field["@"] for field in fields if isinstance(field, dict)]
    if kind in _SIGN:
        for place, part in enumerate(parts):
            yield _SIGN[kind] if place else ""
            yield part, strengths[number] + 1
    elif kind in ("sum", "scaled", "constant"):
        terms = [rows[part] for part in parts] if kind == "sum" else [rows[number]]
        yield from _sum_pieces(terms, parts, rows)
    elif kind in ("not", "rnot"):
        yield "bot" if strengths[number] == _ATOMIC else "~"
        if strengths[number] != _ATOMIC:
            yield parts[0], _PREFIX
    elif kind == "modal":
        threshold = fields[2]
        yield "<"
        yield parts[0], _LOOSE
        yield ">"
        yield parts[1], _ATOMIC if threshold and modal[parts[1]] else _PREFIX
        yield f" > {threshold}" if threshold else ""
    elif kind == "compare":
        yield from ("[", (parts[0], _LOOSE), f" > {fields[1]}]")
    elif kind == "dist":
        yield from ("dist(", (parts[0], 0), ", ", (parts[1], 0), ", ", (parts[2], 0), ")")
    elif kind == "closure":
        yield from ((parts[0], _ATOMIC), "*" if fields[1] else "+")
    elif kind in ("count", "indicator"):
        yield "#" if kind == "count" else ""
        yield parts[0], _PREFIX if kind == "count" else _LOOSE
    else:
        yield _word(kind, fields)


def _sum_pieces(terms: Rows, parts: list[int], rows: Rows) -> Iterator[_Piece]:
    """The pieces of weights, features and constants with signs."""
    for place, term in enumerate(terms):
        weight, feature = _term(term, rows)
        sign = "-" if weight < 0 else "+"
        yield f" {sign} " if place else sign.replace("+", "")
        if feature is None and term[0] in ("constant", "scaled"):
            yield repr(abs(weight))
            continue
        if abs(weight) != 1:
            yield f"{abs(weight)!r}*"
        yield (parts[place] if feature is None else feature), _TERM


def _term(row: list[Any], rows: Rows) -> tuple[float, int | None]:
    """The weight of a term and the node of its feature; None for a constant, or for the term itself."""
    if row[0] == "constant":
        return row[1], None
    if row[0] == "scaled":
        inner = rows[row[2]["@"]]
        return (row[1] * inner[1], None) if inner[0] == "constant" else (row[1], row[2]["@"])
    return 1, None


def _word(kind: str, fields: list[Any]) -> str:
    if kind not in ("atom", "role"):
        return kind
    name, *places = fields
    text = name if _NAME.fullmatch(name) and name not in _WORDS else '"{}"'.format(name.replace('"', '""'))
    marks = {(): "", (0, 1): "", (1, 0): "^-1"}
    return text + marks.get(tuple(places), "[{},{}]".format(*places) if places else "")
