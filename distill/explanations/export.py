"""Export of value functions to files in several forms.

Most forms express a whole function, and name what is shared. C2 expresses closures, distances and products
up to a bound. dlplan and PDDL have no sums: there each term is written after a comment with its weight, and a
comment explains why a term is missing, as in C2 if a term is beyond it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Literal

from distill.common import InputError
from distill.logic import (
    ASCII,
    EMLC,
    FORMATS,
    LATEX,
    Atom,
    Bounds,
    Constant,
    Count,
    Distance,
    Indicator,
    Notation,
    Number,
    Product,
    Role,
    Truth,
    check_c2,
    define_shared,
    unroll,
    weighted,
    write_c2,
    write_derived,
    write_dlplan,
)
from distill.structures import ACHIEVED, MISSING, Vocabulary

LARGEST = 20_000  # symbols of a function that is written out
LARGEST_PARTS = 20_000  # distinct parts of a function that is written with definitions
Chains = Sequence[Sequence[Truth]]


@dataclass(frozen=True)
class Form:
    """A file format of value functions.

    Attributes
    ----------
    file : its name in a run's folder.
    comment : the prefix of comment lines; empty if there are no comments.
    write : from a function, the chains of its bounded form, and its vocabulary.
    limit : what is limited: the symbols when written out, the distinct parts, or nothing.
    two_variables : whether it needs bounded forms of closures, distances and products.
    """

    file: str
    comment: str
    write: Callable[[Number, Chains, Vocabulary], str]
    limit: Literal["symbols", "parts", ""] = "parts"
    two_variables: bool = False


def file_text(value: Number, form: str, vocabulary: Vocabulary, bounds: Bounds | None = None) -> str:
    """The text of a file with the value function; comments explain what cannot be expressed.

    Parameters
    ----------
    form : one of `FORMS`.
    vocabulary : of the states.
    bounds : write its bounded form, with comments that say in which states it is equal; see `unroll`.

    Examples
    --------
    >>> from distill.logic import parse
    >>> from distill.structures import Predicate
    >>> words = Vocabulary([Predicate("on", 2), Predicate("clear", 1)])
    >>> print(file_text(parse("2*#<on+>clear + 1"), "dlplan", words))
    ; A sum of terms: each a weight times a feature, or times several features.
    ; weight 2
    n_count(c_some(r_transitive_closure(r_primitive(on,0,1)),c_primitive(clear,0)))
    ; constant 1
    >>> print(file_text(parse("#<on+>clear"), "c2", words))
    ; Nothing of it can be said here: C2 has no transitive closures; on+ needs a bound (--up-to).
    >>> print(file_text(parse("2*#<on+>clear + 1"), "c2", words, bounds=2))
    ; Bounded form, equal to the unbounded one in every state in which
    ; - on+ leads to clear within 2 steps, wherever it leads there.
    ; These are, among others, all states of at most 2 objects.
    V = 2·#x ∃y (on(x, y) ∧ (clear(y) ∨ ∃x (on(y, x) ∧ clear(x)))) + 1
    """
    try:
        return express(value, form, vocabulary, bounds)
    except InputError as error:
        if form not in FORMS:
            raise
        return _comment(FORMS[form].comment, str(error))


def express(value: Number, form: str, vocabulary: Vocabulary, bounds: Bounds | None = None) -> str:
    """A value function in one of `FORMS`; an error if no term can be expressed.

    Parameters
    ----------
    bounds : see `file_text`.

    Examples
    --------
    >>> from distill.logic import parse
    >>> express(parse("2*#clear - [#holding > 0]"), "c2", Vocabulary([]))
    'V = 2·#x clear(x) − [∃x holding(x)]'
    """
    chosen = _checked(value, form)
    words = _with_halves(value, vocabulary)
    if bounds is None and not chosen.two_variables:
        return chosen.write(value, (), words).rstrip("\n")
    if not chosen.comment:
        raise InputError(f"{form} has no comments that could tell a bound, and needs none; leave it out.")
    try:
        bounded = unroll(value, {} if bounds is None else bounds, counting=chosen.two_variables)
        if chosen.two_variables:
            check_c2(bounded.formula)
    except InputError:
        if not chosen.two_variables:
            raise
        return _by_terms(value, chosen.comment, partial(_c2_term, form, bounds))
    text = chosen.write(_checked_size(bounded.formula, chosen), bounded.chains, words).rstrip("\n")
    return "\n".join([*(_comment(chosen.comment, line) for line in bounded.conditions), text])


def express_term(feature: Number, form: str, vocabulary: Vocabulary, bounds: Bounds | None = None) -> str:
    """One feature of a value function; in PDDL the formula inside it; a product possibly by its factors.

    Parameters
    ----------
    bounds : see `file_text`. A feature with chains, or a large one, is written with definitions.

    Examples
    --------
    >>> from distill.logic import parse
    >>> express_term(parse("#<on>clear"), "english", Vocabulary([]))
    'the number of objects that are linked by on to an object that is clear'
    """
    chosen = _checked(feature, form)
    vocabulary = _with_halves(feature, vocabulary)
    try:
        chains = bounds is not None and unroll(feature, bounds, counting=chosen.two_variables).chains
        if chains or (chosen.limit == "parts" and feature.size > LARGEST):
            return express(feature, form, vocabulary, bounds)
        if chosen.two_variables:
            return _c2_term(form, bounds, feature)
        if form == "pddl":
            inner = feature.fields[0] if isinstance(feature, Count | Indicator) else feature
            return write_derived(inner, vocabulary, _free_name(vocabulary, "feature"))
        return FORMATS[form].write(feature, vocabulary).rstrip("\n")
    except InputError:
        if not isinstance(feature, Product):
            raise
        if chosen.two_variables:
            return _by_terms(feature, chosen.comment, partial(_c2_term, form, bounds))
        return chosen.write(feature, (), vocabulary)


def ordered_terms(value: Number) -> list[tuple[float, Number]]:
    """Weights and features in the order in which they are written: heavy ones first, the constant last.

    Examples
    --------
    >>> from distill.logic import parse
    >>> ordered_terms(parse("#clear - 2*#holding + 3"))
    [(-2, #holding), (1, #clear), (1, 3)]
    """
    return sorted(
        weighted(value), key=lambda term: (isinstance(term[1], Constant), -abs(term[0]), term[1].order)
    )


def _checked(value: Number, form: str) -> Form:
    if form not in FORMS:
        raise InputError(f"There is no form {form!r}; choose from {', '.join(FORMS)}.")
    _checked_size(value, FORMS[form])
    return FORMS[form]


def _checked_size(value: Number, form: Form) -> Number:
    """The function, if it is not too large."""
    if form.limit == "symbols":
        _check_symbols(value)
    parts = sum(1 for _ in value.walk()) if form.limit == "parts" else 0
    if parts > LARGEST_PARTS:
        others = ", ".join(name for name, one in FORMS.items() if not one.limit)
        raise InputError(
            f"It has {parts:,} distinct parts, and at most {LARGEST_PARTS:,} are written with definitions; "
            f"take {others}."
        )
    return value


def _check_symbols(value: Number) -> None:
    if value.size > LARGEST:
        others = ", ".join(name for name, one in FORMS.items() if one.limit != "symbols")
        raise InputError(
            f"Written out it has {value.size:,} symbols, and at most {LARGEST:,} are written; take a form "
            f"that keeps what is shared: {others}."
        )


def _with_halves(value: Number, vocabulary: Vocabulary) -> Vocabulary:
    """The vocabulary with achieved and missing goals, if the function refers to them."""
    halves = (ACHIEVED, MISSING)
    spoken = (node.fields[0] for node in value.walk() if isinstance(node, Atom | Role))
    if any(p.name.endswith(halves) for p in vocabulary) or not any(n.endswith(halves) for n in spoken):
        return vocabulary
    return vocabulary.marked()


def _defined(notation: Notation, value: Number, chains: Chains, vocabulary: Vocabulary) -> str:
    return define_shared(value, chains).written(notation)


def _emlc(value: Number, chains: Chains, vocabulary: Vocabulary) -> str:
    """The notation of the thesis; only formulas are defined, as `𝐀_A` is not parsed as a defined relation."""
    return define_shared(value, chains, relations=False).written(EMLC)


def _english(value: Number, chains: Chains, vocabulary: Vocabulary) -> str:
    return define_shared(value, chains).written(english=True)


def _c2(latex: bool, value: Number, chains: Chains, vocabulary: Vocabulary) -> str:
    return define_shared(value, chains).written_c2(latex=latex)


def _c2_term(form: str, bounds: Bounds | None, feature: Number) -> str:
    try:
        bounded = unroll(feature, {} if bounds is None else bounds, counting=True)
    except InputError:
        if bounds is None:
            check_c2(feature)  # its reason is the better one
        raise
    _check_symbols(bounded.formula)
    text = write_c2(bounded.formula, latex=form == "latex-c2")
    return "\n".join([*(_comment(FORMS[form].comment, line) for line in bounded.conditions), text])


def _dlplan(value: Number, chains: Chains, vocabulary: Vocabulary) -> str:
    def write(feature: Number) -> str:
        text = write_dlplan(feature, vocabulary)
        if isinstance(feature, Distance):
            return f"; where there is no way, dlplan says 2147483647, and V counts 0\n{text}"
        return text

    return _by_terms(value, ";", write)


def _pddl(value: Number, chains: Chains, vocabulary: Vocabulary) -> str:
    names = map(f"{_free_name(vocabulary, 'term')}{{}}".format, count(1))

    def write(feature: Number) -> str:
        name = next(names)
        if isinstance(feature, Count):
            return f"; how many have ({name} ?x)\n{write_derived(feature.fields[0], vocabulary, name)}"
        inner = feature.fields[0] if isinstance(feature, Indicator) else feature
        return f"; 1 if ({name}), otherwise 0\n{write_derived(inner, vocabulary, name)}"

    return f"{_REQUIREMENTS}\n{_declared_first(_by_terms(value, ';', write))}"


def _by_terms(value: Number, comment: str, write: Callable[[Number], str]) -> str:
    """The terms one by one, as far as they can be expressed."""
    found = [_comment(comment, _HEADING)]
    reasons = []
    expressed = False
    for weight, feature in ordered_terms(value):
        if isinstance(feature, Constant):
            found.append(_comment(comment, f"constant {feature.fields[0]!r}"))
            continue
        factors = feature.fields if isinstance(feature, Product) else (feature,)
        try:
            texts = [write(factor) for factor in factors]
        except InputError as error:
            reasons.append(str(error))
            found.append(_comment(comment, f"weight {weight!r}, not written: {feature}\n{error}"))
            continue
        expressed = True
        times = f", times {len(factors)} features" if len(factors) > 1 else ""
        found += [_comment(comment, f"weight {weight!r}{times}"), *texts]
    if not expressed:
        raise InputError(f"Nothing of it can be said here: {[*reasons, 'it has no features.'][0]}")
    return "\n".join(found)


_HEADING = "A sum of terms: each a weight times a feature, or times several features."
_REQUIREMENTS = "; Add to (:requirements ...): :adl :derived-predicates"
_DECLARED = ("; Add to (:predicates ...): ", "; Add to (:init ...) the atoms of the goal, called: ")


def _declared_first(text: str) -> str:
    """Move the declarations of all axioms to the beginning, each once."""
    lines = text.splitlines()
    found = []
    for start in _DECLARED:
        own = [line.removeprefix(start) for line in lines if line.startswith(start)]
        parts = dict.fromkeys(re.findall(r"\([^()]*\)|[^\s()]+", " ".join(own)))
        found += [start + " ".join(parts)] if parts else []
    return "\n".join([*found, *(line for line in lines if not line.startswith(_DECLARED))])


def _free_name(vocabulary: Vocabulary, wanted: str) -> str:
    """A name that no predicate of the domain begins with."""
    while any(predicate.name.lower().startswith(wanted) for predicate in vocabulary):
        wanted = f"v-{wanted}"
    return wanted


def _comment(sign: str, text: str) -> str:
    return "\n".join(f"{sign} {line}" for line in text.splitlines())


def _of_programs(form: str) -> Callable[[Number, Chains, Vocabulary], str]:
    return lambda value, chains, vocabulary: FORMATS[form].write(value, vocabulary)


FORMS: Mapping[str, Form] = {
    "ascii": Form("value.txt", ";", partial(_defined, ASCII)),
    "emlc": Form("value.emlc.txt", ";", _emlc),
    "c2": Form("value.c2.txt", ";", partial(_c2, False), two_variables=True),
    "english": Form("value.en.txt", ";", _english),
    "latex": Form("value.tex", "%", partial(_defined, LATEX)),
    "latex-c2": Form("value.c2.tex", "%", partial(_c2, True), two_variables=True),
    "dlplan": Form("value.dlplan.txt", ";", _dlplan, "symbols"),
    "pddl": Form("value.pddl", ";", _pddl, "symbols"),
    "python": Form("value.py", "#", _of_programs("python"), ""),
    "json": Form("value.json", "", _of_programs("json"), ""),
}
