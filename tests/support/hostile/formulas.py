"""Hostile formulas: refused in one sentence, or what is read means the same in every notation."""

import ast
import random
import re
import resource
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from distill.common import InputError
from distill.logic import FORMATS, Evaluator, define_shared, parse, read_formula, simplify, syntax as fo
from distill.logic.notation.defined_parser import parse_defined
from distill.logic.notation.parser import parse_relation
from distill.structures import Predicate, Structures, Vocabulary
from tests.support.hostile import Case
from tests.support.naive import Naive
from tests.support.random_formulas import TEXTS

SECONDS, KILOBYTES = 60, 2**20  # of processor time and of memory that one case may take


def cases(number: int, seed: int) -> Iterator[Case]:
    """Formulas of all kinds in turn."""
    kinds = list(TEXTS)
    for place in range(number):
        kind = kinds[place % len(kinds)]
        yield Case(f"{kind} {place}", TEXTS[kind](random.Random(f"{seed}/{place}")))


def failure(case: Case, folder: Path) -> str | None:
    """What is wrong with how the text is read, written and evaluated; None if nothing is."""
    seconds, memory = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        reason = _wrong(case.data)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"[:300]
    if reason is None and time.process_time() - seconds > SECONDS:
        reason = f"it took more than {SECONDS} seconds"
    if reason is None and resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory > KILOBYTES:
        reason = f"it took more than {KILOBYTES} kilobytes"
    return reason


def _wrong(text: str) -> str | None:
    try:
        formula = read_formula(text)
    except InputError as error:
        return _wrong_sentence(error)
    return _wrong_texts(formula) or _wrong_meaning(formula)


def _wrong_sentence(error: InputError) -> str | None:
    sentence = str(error)
    if not sentence or "\n" in sentence or len(sentence) > 1_000 or not sentence.isprintable():
        return f"the refusal is no sentence: {sentence[:200]!r}"
    return None


def _wrong_texts(formula: fo.Node) -> str | None:
    """The first notation that does not lead back to the formula, or lets a name out."""
    meant = formula.fields[0] if isinstance(formula, fo.Indicator) else formula
    readers = {"ascii": parse, "emlc": parse, "c2": FORMATS["c2"].read, "json": FORMATS["json"].read}
    words = _vocabulary(formula)
    if isinstance(formula, fo.Relation):
        readers = {"ascii": parse_relation, "json": FORMATS["json"].read}
    for form in FORMATS:
        try:
            text = FORMATS[form].write(formula, words)
        except InputError as error:
            if reason := _wrong_sentence(error):
                return f"{form}: {reason}"
            continue
        if form in ("ascii", "emlc", "json") and form in readers:
            reader = readers[form]
            again = [reader(text)] if isinstance(formula, fo.Relation) else [reader(text), read_formula(text)]
            if any(one is not (formula if form == "json" else meant) for one in again):
                return f"{form} does not lead back: {text[:200]}"
        elif form == "c2" and form in readers:
            if reason := _wrong_values(readers["c2"](text), formula):
                return f"c2 means something else: {reason}"
        elif form in _CHECKS and not _CHECKS[form](text):
            return f"a name breaks {form}: {text[:300]}"
    if isinstance(formula, fo.Number) and parse_defined(define_shared(formula).written()) is not formula:
        return "its text with definitions does not lead back"
    return None


_COMMANDS = {
    *(
        "top",
        "bot",
        "neg",
        "wedge",
        "vee",
        "mathbf",
        "cdot",
        "mathrm",
        "text",
        "left",
        "right",
        "exists",
        "geq",
    ),
    *("textbackslash", "textasciicircum", "textasciitilde"),
}


def _safe_latex(text: str) -> bool:
    """Whether there are known commands only, and all braces are closed."""
    plain = re.sub(r"\\[_&%#${},]", "", text)
    levels = 0
    for sign in plain:
        levels += (sign == "{") - (sign == "}")
        if levels < 0:
            return False
    return (
        not levels and set(re.findall(r"\\([A-Za-z]*)", plain)) <= _COMMANDS and not set(plain) & set("$%&#~")
    )


def _safe_pddl(text: str) -> bool:
    """Whether there are lists, names, variables and comments only."""
    code = re.sub(r"^;.*$", "", text, flags=re.MULTILINE)
    words = re.findall(r"[^\s()]+", code)
    return code.count("(") == code.count(")") and all(
        re.fullmatch(r"[:?]?[A-Za-z][\w-]*|[=-]", word, re.ASCII) for word in words
    )


def _safe_python(text: str) -> bool:
    """Whether there are only functions that call each other, numpy and methods of arrays."""
    tree = ast.parse(text)
    own = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    if not all(isinstance(node, ast.FunctionDef | ast.Import) for node in tree.body):
        return False
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    return called <= own | {"int", "sum", "all", "any", "tuple", "len", "float"}


_CHECKS: dict[str, Callable[[str], bool]] = {
    "latex": _safe_latex,
    "latex-c2": _safe_latex,
    "pddl": _safe_pddl,
    "dlplan": lambda text: re.fullmatch(r"[A-Za-z0-9_(),-]+", text) is not None,
    "python": _safe_python,
    "english": str.isprintable,
}


def _vocabulary(formula: fo.Node) -> Vocabulary:
    """The predicates of a formula, with as many arguments as it needs."""
    arities: dict[str, int] = {"handempty": 0}
    for node in formula.walk():
        if isinstance(node, fo.Role):
            name, *places = node.fields
            arities[name] = max(arities.get(name, 2), 1 + max(places))
        elif isinstance(node, fo.Atom):
            arities.setdefault(node.fields[0], 1)
    return Vocabulary(
        [
            Predicate(name, min(arity, 4), "nullary" if arity == 0 else "state")
            for name, arity in sorted(arities.items())
        ]
    )


def _structure(formula: fo.Node) -> Structures:
    """Two states of two and three objects, with random atoms."""
    chance = random.Random(1)
    words = _vocabulary(formula)
    atoms: dict[str, list[list[int]]] = {}
    for predicate in words:
        rows = {
            tuple(chance.choice(own) for _ in range(predicate.arity))
            for own in ([0, 1], [2, 3, 4])
            for _ in range(3)
        }
        atoms[predicate.name] = [[0]] if predicate.arity == 0 else [list(row) for row in sorted(rows)]
    return Structures(words, 2, [0, 0, 1, 1, 1], atoms)


def _wrong_meaning(formula: fo.Node) -> str | None:
    return _wrong_values(formula, formula) or _wrong_values(simplify(formula), formula)


def _wrong_values(found: fo.Node, formula: fo.Node) -> str | None:
    """Compare our evaluation of one formula with a naive one of another."""
    if isinstance(formula, fo.Relation):
        return None
    batch = _structure(formula)
    evaluator = Evaluator(batch)
    exact = _Exact(batch)
    try:
        ours = evaluator.number(found) if isinstance(found, fo.Number) else evaluator.holds(found)
    except InputError as error:
        return _wrong_sentence(error)
    exact.known_parts(formula)
    if exact.is_close:
        return None  # a comparison of rounded numbers may come out either way
    if isinstance(formula, fo.Number):
        if not isinstance(found, fo.Number):
            ours = ours.astype(np.int64)
        theirs = [exact.value(formula, state) for state in range(2)]
        right = all(abs(Fraction(float(a)) - b) <= exact.rounding for a, b in zip(ours, theirs, strict=True))
    else:
        theirs = (
            [bool(exact.value(formula, state)) for state in range(2)]
            if formula.of_state
            else [exact.holds(formula, x) for x in range(5)]
        )
        right = ours.tolist() == theirs
    return None if right else f"the values are {ours.tolist()}, not {[*map(float, theirs)]}"


class _Exact(Naive):
    """Naive evaluation with exact fractions; it notes how much rounding may matter."""

    def __init__(self, batch: Structures) -> None:
        super().__init__(batch)
        self.largest = Fraction(1)
        self.is_close = False

    @property
    def rounding(self) -> Fraction:
        return self.largest / 10**9

    def _value(self, f: Any, state: int) -> Any:
        if isinstance(f, fo.Constant):
            found: Any = Fraction(f.fields[0])
        elif isinstance(f, fo.Scaled):
            found = Fraction(f.fields[0]) * self.value(f.fields[1], state)
        else:
            found = super()._value(f, state)
        if isinstance(f, fo.Compare):
            number = self.value(f.fields[0], state)
            self.is_close |= self.largest > 2**50 and abs(number - f.fields[1]) <= self.rounding
        if isinstance(f, fo.Number) and not isinstance(f, fo.Indicator):
            self.largest = max(self.largest, abs(Fraction(found)))
        return found
