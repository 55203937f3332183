"""The texts of `distill formula translate`."""

from typing import TYPE_CHECKING, Any

from distill.common import InputError
from distill.explanations import FORMS as FORMS, express
from distill.logic import ASCII, EMLC, FORMATS, LATEX, Indicator, Number, Truth, define_shared, unroll
from distill.structures import Vocabulary

if TYPE_CHECKING:
    from distill.logic import Node, Unrolled

_NOTATIONS = {"ascii": ASCII, "emlc": EMLC, "english": ASCII, "latex": LATEX}


def in_form(formula: "Node", form: str, vocabulary: Vocabulary | None, up_to: int | None = None) -> str:
    """The text of a formula, in bounded form with a bound; numbers then have definitions."""
    value = _number(formula)
    if up_to is not None and isinstance(value, Number) and (vocabulary or form != "pddl"):
        return express(value, form, vocabulary or Vocabulary([]), up_to)
    bounded = _bounded(formula, form, up_to)
    text = FORMATS[form].write(bounded.formula if bounded else formula, vocabulary)
    return "\n".join([*_comments(bounded, form), text])


def with_definitions(formula: "Node", form: str, up_to: int | None = None) -> str:
    """The text of a value function with definitions."""
    if form not in _NOTATIONS and not FORMS[form].two_variables:
        choices = [name for name in FORMS if name in _NOTATIONS or FORMS[name].two_variables]
        raise InputError(f"--define writes {', '.join(choices)}, not {form!r}.")
    bounded = _bounded(formula, form, up_to)
    found = bounded.formula if bounded else formula
    value: Any = Indicator(found) if isinstance(found, Truth) else found
    function = define_shared(value, bounded.chains if bounded else ())
    if form in _NOTATIONS:
        text = function.written(_NOTATIONS[form], english=form == "english")
    else:
        text = function.written_c2(latex=form == "latex-c2")
    return "\n".join([*_comments(bounded, form), text])


def _number(formula: "Node") -> "Node":
    return Indicator(formula) if isinstance(formula, Truth) and formula.of_state else formula


def _bounded(formula: "Node", form: str, up_to: int | None) -> "Unrolled | None":
    """The bounded form; in C2 without a bound only products and comparisons are rewritten."""
    if up_to is not None:
        if not FORMS[form].comment:
            raise InputError(f"{form} has no comments that could tell a bound, and needs none; leave it out.")
        return unroll(formula, up_to, counting=FORMS[form].two_variables)
    if not FORMS[form].two_variables:
        return None
    try:
        return unroll(formula, {}, counting=True)
    except InputError:
        return None  # the writer of C2 tells what it cannot express


def _comments(bounded: "Unrolled | None", form: str) -> list[str]:
    return [f"{FORMS[form].comment} {line}" for line in (bounded.conditions if bounded else ())]
