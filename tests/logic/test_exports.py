"""What holds of all exports alike."""

import pytest

from distill.common import InputError
from distill.logic import (
    FORMATS,
    Atom,
    Count,
    parse,
    read_formula,
    renamed,
    write_defined,
    write_derived,
    write_dlplan,
)
from distill.structures import Predicate, Structures, Vocabulary
from tests.support.exports import by_axioms, by_dlplan, by_python
from tests.support.strategies import WORDS


@pytest.mark.parametrize("export", [by_dlplan, by_axioms, by_python])
@pytest.mark.parametrize(
    ("text", "objects"),
    [
        ("<on+ & ~on>top", [0]),
        ("<on+ \\ on^-1>clear", []),
        ("<on* | on_G>clear", [0, 2]),
        ("<(on+ | on_G)+>clear", [0, 1, 2]),
        ("<~(on*)>top", [1, 2]),
        ("<on & on_G^-1>top", []),
        ("<id & all>clear", [0]),
    ],
)
def test_by_hand(export, text, objects):
    tower = Structures(WORDS, 1, [0] * 3, {"on": [[0, 1], [1, 2]], "clear": [[0]], "on_G": [[2, 0]]})
    assert export(tower, parse(text)) == [objects]


@pytest.mark.parametrize("export", [write_dlplan, write_derived])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<onn>top", "no predicate 'onn'; did you mean on"),
        ("claer", "no predicate 'claer'; did you mean clear"),
        ("on", "on has 2 arguments"),
        ("<between[0,3]>top", "between has 3 arguments"),
        ("<between & on>top", "counts atoms"),
    ],
)
def test_names_are_checked(export, text, message):
    with pytest.raises(InputError, match=message):
        export(parse(text), WORDS)


ODD = [
    "\\input{a}",
    "\\write18{b}",
    "$x$",
    "a}b{",
    "50%",
    "#1",
    "a~b^c",
    "a&b",
    '"',
    'a "b" c',
    "(x",
    "a;b",
    "x = y",
]


@pytest.mark.parametrize("name", [*ODD, "exists", "∃x", "𝐀_on", "T"])
def test_odd_names_are_read_again(name):
    formula = parse("~a & <b+>(a | <b>top > 1)")
    odd = renamed(formula, {"a": name, "b": f"{name}2"})
    for form in ("ascii", "emlc", "json"):
        assert read_formula(FORMATS[form].write(odd, None)) is odd
    guarded = renamed(parse("~a & <b>(a | <b>top > 1)"), {"a": name, "b": f"{name}2"})
    assert FORMATS["c2"].read(FORMATS["c2"].write(guarded, None)) is guarded
    value = Count(odd)
    assert read_formula(write_defined(value)) is value


def test_names_are_escaped_in_latex():
    for notation in ("latex", "latex-c2"):
        text = FORMATS[notation].write(Atom("\\write18{a}$%#&_^~"), None)
        assert text.startswith(
            r"\text{\textbackslash{}write18\{a\}\$\%\#\&\_\textasciicircum{}\textasciitilde{}}"
        )


@pytest.mark.parametrize("name", ODD)
def test_names_that_a_planner_cannot_read_are_refused(name):
    words = Vocabulary([Predicate(name, 1)])
    for form in ("pddl", "dlplan"):
        with pytest.raises(InputError, match=r"cannot (have|read) the name"):
            FORMATS[form].write(Atom(name), words)
    for text in (f"is_{name}", name):
        role = "constant" if text != name else "type"
        with pytest.raises(InputError, match="cannot have the name"):
            FORMATS["pddl"].write(Atom(text), Vocabulary([Predicate(text, 1, role)]))
