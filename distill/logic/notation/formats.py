"""The notations of formulas, and parsing text in any of them."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from distill.common import InputError, parse_json
from distill.logic.notation.c2_parser import parse_c2
from distill.logic.notation.c2_writer import write_c2
from distill.logic.notation.defined_parser import (
    has_definitions,
    looks_like_c2,
    parse_defined,
    without_comments,
)
from distill.logic.notation.dlplan import write_dlplan
from distill.logic.notation.english import explain
from distill.logic.notation.parser import parse
from distill.logic.notation.pddl import write_derived
from distill.logic.notation.python import write_python
from distill.logic.notation.storage import from_json, to_json
from distill.logic.notation.writer import EMLC, LATEX, write
from distill.logic.syntax.nodes import Node
from distill.structures import Vocabulary

_LOOKS_LIKE_JSON = re.compile(r'\[\s*(?:\[\s*"|\])')


@dataclass(frozen=True)
class Format:
    """A notation.

    Attributes
    ----------
    description : one line for users.
    write : from a formula, and its vocabulary if known, to text.
    read : from text to a formula; None if it cannot be parsed.
    """

    description: str
    write: Callable[[Node, Vocabulary | None], str]
    read: Callable[[str], Any] | None = None


def _derived(formula: Node, vocabulary: Vocabulary | None) -> str:
    if vocabulary is None:
        raise InputError("PDDL needs to know the arguments of predicates; give --domain or a problem class.")
    return write_derived(formula, vocabulary)


def _from_json(text: str) -> Node:
    return from_json(parse_json(text, "The formula"))


FORMATS = {
    "ascii": Format("as people type it", lambda f, words: write(f), parse),
    "emlc": Format("as in the thesis", lambda f, words: write(f, EMLC), parse),
    "c2": Format("first-order logic with two variables and counting", lambda f, words: write_c2(f), parse_c2),
    "english": Format("plain English", lambda f, words: explain(f)),
    "latex": Format("LaTeX, as in the thesis", lambda f, words: write(f, LATEX)),
    "latex-c2": Format("LaTeX, in C2", lambda f, words: write_c2(f, latex=True)),
    "dlplan": Format("a feature string of dlplan", write_dlplan),
    "pddl": Format("derived predicates of PDDL", _derived),
    "python": Format("a Python function that needs numpy only", lambda f, words: write_python(f)),
    "json": Format(
        "a list of nodes; what is shared stays shared",
        lambda f, words: json.dumps(to_json(f)),
        _from_json,
    ),
}


def parse_any(text: str) -> Any:
    """Parse a formula in any notation that can be parsed.

    A text with lines such as `A := <on>top`, and `V = 2*#A`, is a value function with definitions. Lines that
    begin with `;` are comments.

    Examples
    --------
    >>> parse_any("<on>clear"), parse_any("𝐀_on clear > 0"), parse_any("∃y (on(x, y) ∧ clear(y))")
    (<on>clear, <on>clear, <on>clear)
    """
    text = text.strip()
    if _LOOKS_LIKE_JSON.match(text):
        return _from_json(text)
    if has_definitions(text):
        return parse_defined(text)
    text = without_comments(text)
    return parse_c2(text) if looks_like_c2(text) else parse(text)
