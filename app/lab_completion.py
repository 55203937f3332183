"""Completing a formula that is being typed: what may come next, and where it goes."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from distill.logic import Atom, Role
from distill.structures import Predicate, Vocabulary
from distill.structures.vocabulary import ACHIEVED, MISSING

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
    "#": "how many objects",
    "<": "a relation leads to",
    "~": "not",
    "[": "a comparison, such as [#clear > 1]",
    "top": "always",
    "dist(": "the least number of steps",
    " & ": "and",
    " | ": "or",
    " > ": "more than",
    "^-1": "backwards",
    "+": "one or more steps",
    "*": "any number of steps",
    " \\ ": "without",
    "id": "the same object",
    "all": "any two objects",
}


@dataclass(frozen=True)
class Offer:
    """Something that may come next.

    Attributes
    ----------
    text : what is inserted in place of the word that was begun.
    meaning : for people; empty for predicates.
    """

    text: str
    meaning: str = ""


def offers(text: str, vocabulary: Vocabulary, used: Collection[str] = ()) -> list[Offer]:
    """What may come next in a typed formula; predicates that continue the last word first.

    Parameters
    ----------
    vocabulary : the predicates as formulas see them.
    used : predicates that are offered before others.

    Examples
    --------
    >>> words = Vocabulary([Predicate("on", 2), Predicate("on-table", 1), Predicate("clear", 1)])
    >>> [offer.text for offer in offers("#<on>cl", words)], [offer.text for offer in offers("<", words)][:2]
    (['clear'], ['on', 'id'])
    >>> [offer.text for offer in offers("clear", words)][:2]
    [' & ', ' | ']
    """
    begun = word_begun(text)
    relational = in_relation(text)
    names = [one for one in _names(vocabulary) if (one.arity >= 2) == bool(relational)]
    names.sort(key=lambda one: one.name not in used)
    if begun:
        spoken = [_written(one, relational) for one in names]
        wanted = begun.strip('"').lower()
        starting = [one for one in spoken if one.strip('"').lower().startswith(wanted)]
        within = [one for one in spoken if wanted in one.lower() and one not in starting]
        found = [one for one in (*starting, *within) if one != begun]
        if begun not in spoken:
            return [Offer(one) for one in found[:_OFFERED]]
        after = [Offer(sign, MEANINGS.get(sign, "")) for sign in _after(text, relational)]
        return [*(Offer(one) for one in found[:3]), *after]
    if _ENDED.search(text.rstrip()) or (relational and text.rstrip().endswith(("+", "*"))):
        return [Offer(sign, MEANINGS.get(sign, "")) for sign in _after(text, relational)]
    signs = _IN_RELATION if relational else _BEGINS
    return [
        *(Offer(_written(one, relational)) for one in names[:_OFFERED]),
        *(Offer(sign, MEANINGS.get(sign, "")) for sign in signs),
    ]


def inserted(text: str, offer: str) -> str:
    """The text with an offer in it: instead of the word that was begun, or after all.

    Examples
    --------
    >>> inserted("#<on>cl", "clear"), inserted("#clear", " & ")
    ('#<on>clear', '#clear & ')
    """
    begun = word_begun(text)
    continues = begun and (offer[0].isalpha() or offer[0] in '"_')
    return text[: len(text) - len(begun)] + offer if continues else text + offer


def word_begun(text: str) -> str:
    """The name at the end of a text, as far as it is typed."""
    # A quote that closes a name begins none.
    if text.count('"') % 2 == 0 and text.endswith('"'):
        return ""
    found = _WORD.search(text)
    return found[0] if found else ""


def in_relation(text: str) -> str:
    """Whether a relation is expected at the end: `relation` between angle brackets, `of dist`, or neither.

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
    """All predicates; goals whose two halves are told apart also as a whole."""
    for predicate in vocabulary:
        yield predicate
        whole = predicate.name.removesuffix(ACHIEVED)
        if predicate.name.endswith(ACHIEVED) and f"{whole}{MISSING}" in vocabulary:
            yield Predicate(whole, predicate.arity, predicate.role)


def _written(predicate: Predicate, relational: str) -> str:
    return str(Role(predicate.name) if relational else Atom(predicate.name))
