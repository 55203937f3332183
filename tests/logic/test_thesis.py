"""Tables 3.1 and 3.2 of the thesis; Table 3.3 is in `test_minimisation`."""

import numpy as np
import pytest

from distill.logic import EMLC, LATEX, Evaluator, parse, write, write_c2
from distill.structures import Predicate, Structures, Vocabulary

# Figure 3.1: two stars, with v1 and u1 in the middle. Edges have no direction, so they go both ways.
WORDS = Vocabulary([Predicate("red", 1), Predicate("blue", 1), Predicate("E", 2)])
EDGES = [[0, n] for n in range(1, 5)] + [[5, n] for n in range(6, 9)]
GRAPHS = Structures(
    WORDS,
    2,
    [0] * 5 + [1] * 4,
    {"red": [[0], [6]], "blue": [[1], [5]], "E": EDGES + [[b, a] for a, b in EDGES]},
)


@pytest.mark.parametrize(
    ("typed", "emlc", "c2"),
    [
        ("<E>top > 3", "𝐀_E ⊤ > 3", "∃≥4 y E(x, y)"),
        ("blue & <E>~red > 1", "blue ∧ (𝐀_E ¬red > 1)", "blue(x) ∧ ∃≥2 y (E(x, y) ∧ ¬red(y))"),
        (
            "<E>~<E>blue",
            "𝐀_E ¬(𝐀_E blue > 0) > 0",
            # The thesis asks for E(x, y) again where x is the neighbour: the same, as edges go both ways.
            "∃y (E(x, y) ∧ ¬∃x (E(y, x) ∧ blue(x)))",
        ),
    ],
)
def test_table_3_1(typed: str, emlc: str, c2: str) -> None:
    formula = parse(typed)
    assert parse(emlc) is formula
    assert write(formula, EMLC) == emlc
    assert write_c2(formula) == c2


def test_table_3_1_in_latex() -> None:
    formula = parse("blue & <E>~red > 1")
    assert write(formula, LATEX) == (
        r"\text{blue} \wedge \left(\mathbf{A}_{\text{E}}\,\neg \text{red} > 1\right)"
    )
    assert write_c2(formula, latex=True) == (
        r"\text{blue}(x) \wedge \exists^{\geq 2} y\, \left(\text{E}(x, y) \wedge \neg \text{red}(y)\right)"
    )


@pytest.mark.parametrize(
    ("typed", "nodes"), [("<E>top > 3", [0]), ("blue & <E>~red > 1", [5]), ("<E>~<E>blue", [0, 6, 7, 8])]
)
def test_table_3_2(typed: str, nodes: list[int]) -> None:
    assert np.flatnonzero(Evaluator(GRAPHS).holds(parse(typed))).tolist() == nodes
