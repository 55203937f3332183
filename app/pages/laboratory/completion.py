"""Completions of a typed formula."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from distill.logic import Atom, Role
from distill.structures import ACHIEVED, MISSING, Predicate, Vocabulary

_WORD = re.compile(r'"[^"]*$|[A-Za-z_][\w-]*(?:,[TF]?)?$')
_ENDED = re.compile(r'[\w\])"]$|\^-1$')
_OFFERED = 24
_BEGINS = ("#", "<", "~", "(", "[", "top", "dist(")
_IN_RELATION = ("id", "all", "~", "(")
_AFTER = {
    "formula": (" & ", " | ", " > ", ")", " + ", " - ", " * "),
    "relation": (">", "^-1", "+", "*", " & ", " | ", " \\ "),
    "of dist": (", ", "^-1", "+", "*", " & ", " | ", " \\ "),
}
MEANINGS = {
    "#": "the number of objects",
    "<": "related to an object with",
    "~": "not",
    "[": "a comparison, such as [#clear > 1]",
    "top": "always",
    "dist(": "the length of a shortest path",
    " & ": "and",
    " | ": "or",
    " > ": "more than",
    "^-1": "the inverse",
    "+": "one or more steps",
    "*": "any number of steps",
    " \\ ": "minus",
    "id": "the same object",
    "all": "any two objects",
}


@dataclass(frozen=True)
class Completion:
    """A completion.

    Attributes
    ----------
    text : the text that replaces the unfinished word.
    meaning : an explanation; empty for predicates.
    """

    text: str
    meaning: str = ""


def completions(text: str, vocabulary: Vocabulary, used: Collection[str] = ()) -> list[Completion]:
    """The completions of a typed formula; predicates that continue the last word come first.

    Parameters
    ----------
    vocabulary : the predicates of formulas.
    used : predicates that come before others.

    Examples
    --------
    >>> words = Vocabulary([Predicate("on", 2), Predicate("on-table", 1), Predicate("clear", 1)])
    >>> [[one.text for one in completions(text, words)][:2] for text in ("#<on>cl", "<", "clear")]
    [['clear'], ['on', 'id'], [' & ', ' | ']]
    """
    begun = unfinished_word(text)
    relational = in_relation(text)
    names = [one for one in _names(vocabulary) if (one.arity >= 2) == bool(relational)]
    names.sort(key=lambda one: one.name not in used)
    if begun:
        formula_vocabulary = [_written(one, relational) for one in names]
        wanted = begun.strip('"').lower()
        starting = [one for one in formula_vocabulary if one.strip('"').lower().startswith(wanted)]
        within = [one for one in formula_vocabulary if wanted in one.lower() and one not in starting]
        found = [one for one in (*starting, *within) if one != begun]
        if begun not in formula_vocabulary:
            return [Completion(one) for one in found[:_OFFERED]]
        after = [Completion(sign, MEANINGS.get(sign, "")) for sign in _after(text, relational)]
        return [*(Completion(one) for one in found[:3]), *after]
    if _ENDED.search(text.rstrip()) or (relational and text.rstrip().endswith(("+", "*"))):
        return [Completion(sign, MEANINGS.get(sign, "")) for sign in _after(text, relational)]
    signs = _IN_RELATION if relational else _BEGINS
    return [
        *(Completion(_written(one, relational)) for one in names[:_OFFERED]),
        *(Completion(sign, MEANINGS.get(sign, "")) for sign in signs),
    ]


def insert_completion(text: str, offer: str) -> str:
    """The text with a completion, in place of the unfinished word or at the end.

    Examples
    --------
    >>> insert_completion("#<on>cl", "clear"), insert_completion("#clear", " & ")
    ('#<on>clear', '#clear & ')
    """
    begun = unfinished_word(text)
    continues = begun and (offer[0].isalpha() or offer[0] in '"_')
    return text[: len(text) - len(begun)] + offer if continues else text + offer


def unfinished_word(text: str) -> str:
    """The unfinished name at the end of a text."""
    # A closing quote starts no name.
    if text.count('"') % 2 == 0 and text.endswith('"'):
        return ""
    found = _WORD.search(text)
    return found[0] if found else ""


def in_relation(text: str) -> str:
    """The kind of relation expected at the end: `relation` in angle brackets, `of dist`, or none.

    Examples
    --------
    >>> in_relation("#<on & "), in_relation("dist(clear, "), in_relation("<on>"), in_relation("dist(a, on, ")
    ('relation', 'of dist', '', '')
    """
    plain = re.sub(r'"[^"]*("|$)', "q", text)
    if plain.rfind("<") > plain.rfind(">"):
        return "relation"
    groups: list[list[object]] = []
    for sign in re.finditer(r"dist\(|[()\[\],]", plain):
        if sign[0] in ("(", "[", "dist("):
            groups.append([sign[0], 0])
        elif sign[0] in (")", "]") and groups:
            groups.pop()
        elif sign[0] == "," and groups:
            groups[-1][1] = int(str(groups[-1][1])) + 1
    return "of dist" if groups and groups[-1] == ["dist(", 1] else ""


def _after(text: str, relational: str) -> Sequence[str]:
    signs = _AFTER[relational or "formula"]
    if relational:
        return signs
    depth = text.count("(") - text.count(")")
    within = text.count("[") > text.count("]")
    kept = [sign for sign in signs if sign != ")" or depth > 0]
    return ["]", *kept] if within else kept


def _names(vocabulary: Vocabulary) -> Iterator[Predicate]:
    """All predicates, and for marked goals also the union of achieved and missing ones."""
    for predicate in vocabulary:
        yield predicate
        whole = predicate.name.removesuffix(ACHIEVED)
        if predicate.name.endswith(ACHIEVED) and f"{whole}{MISSING}" in vocabulary:
            yield Predicate(whole, predicate.arity, predicate.role)


def _written(predicate: Predicate, relational: str) -> str:
    return str(Role(predicate.name) if relational else Atom(predicate.name))
