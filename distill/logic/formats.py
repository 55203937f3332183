"""All forms in which a formula can be shown, and those that can be read again."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from distill.errors import InputError
from distill.logic.c2 import write_c2
from distill.logic.c2_reading import parse_c2
from distill.logic.definitions import has_definitions, parse_defined
from distill.logic.derived import write_derived
from distill.logic.dlplan import write_dlplan
from distill.logic.english import explain
from distill.logic.library import hand_made
from distill.logic.nodes import Node
from distill.logic.python import write_python
from distill.logic.reading import parse
from distill.logic.storage import from_json, to_json
from distill.logic.writing import EMLC, LATEX, write
from distill.structures import Vocabulary

_LOOKS_LIKE_C2 = re.compile(r"[∃∀]|\b(?:exists|forall)\b|\(\s*[a-z]\s*[,)]|[a-z]\s*(?:=|!=|≠)\s*[a-z]")
_CHAIN = 12  # how long the chains of hand-made functions are where nobody says


@dataclass(frozen=True)
class Format:
    """A form of formulas.

    Attributes
    ----------
    description : what it is for.
    write : from a formula, and the vocabulary if it is known.
    read : back again, where that is possible.
    """

    description: str
    write: Callable[[Node, Vocabulary | None], str]
    read: Callable[[str], Any] | None = None


def _derived(formula: Node, vocabulary: Vocabulary | None) -> str:
    if vocabulary is None:
        raise InputError("PDDL needs to know the arguments of predicates; give --domain or a problem class.")
    return write_derived(formula, vocabulary)


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
        lambda text: from_json(_json(text)),
    ),
}


def read_formula(text: str, n: int = _CHAIN) -> Any:
    """Read a formula in any form that can be read, or `@name` for a hand-made value function or formula.

    A text with lines such as `A := <on>top`, and `V = 2*#A`, is a value function with definitions.

    Parameters
    ----------
    n : the number of objects that a hand-made function has to serve.

    Examples
    --------
    >>> read_formula("<on>clear"), read_formula("𝐀_on clear > 0"), read_formula("∃y (on(x, y) ∧ clear(y))")
    (<on>clear, <on>clear, <on>clear)
    >>> read_formula("@visitall-distance"), read_formula("@blocks-clear/eta[1]")
    (dist(visited_G & ~visited, connected, at-robot), <on^-1>clear)
    """
    text = text.strip()
    if text.startswith("@"):
        name, _, part = text[1:].partition("/")
        made = hand_made(name)
        if not part:
            return made.value_function(n)
        family, _, index = part.removesuffix("]").partition("[")
        if index and not index.isdigit():
            raise InputError(f"{text}: the index must be a number, as in @blocks-clear/eta[2].")
        return made.formula(family, n, int(index) if index else None)
    if text.startswith("[["):
        return from_json(_json(text))
    if has_definitions(text):
        return parse_defined(text)
    return parse_c2(text) if _LOOKS_LIKE_C2.search(text) else parse(text)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"This is no JSON ({error}); write it with `distill formula translate`.") from error
