"""What holds of all exports alike."""

import pytest

from distill.common import InputError
from distill.logic import parse, write_derived, write_dlplan
from distill.structures import Structures
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
