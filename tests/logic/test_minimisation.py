"""Short disjunctions: right on all rows given, as short as they can be, with what never occurs left free."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from distill.common import InputError
from distill.logic import minimise, parse, syntax as fo

NAMES = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ"


def truth_of(formula, columns, rows):
    """The truth of a Boolean combination on each row."""
    values = {column: rows[:, number] for number, column in enumerate(columns)}
    for node in formula.walk():
        if node not in values:
            parts = [values[part] for part in node.parts if part in values]
            if isinstance(node, fo.Top):
                values[node] = np.ones(len(rows), dtype=bool)
            elif isinstance(node, fo.Not):
                values[node] = ~parts[0]
            elif isinstance(node, fo.And | fo.Or):
                join = np.logical_and if isinstance(node, fo.And) else np.logical_or
                values[node] = join.reduce(parts)
    return values[formula]


@st.composite
def tables(draw, most):
    width = draw(st.integers(1, most))
    codes = draw(st.lists(st.integers(0, 2**width - 1), min_size=1, max_size=20, unique=True))
    rows = np.array(codes)[:, None] >> np.arange(width) & 1 == 1
    wanted = np.array(draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
    return [fo.Atom(name) for name in NAMES[:width]], rows, wanted


@given(tables(12))
def test_right_on_all_rows(table):
    columns, rows, wanted = table
    found = minimise(columns, rows, wanted)
    assert truth_of(found.formula, columns, rows).tolist() == wanted.tolist()
    assert found.classes == len(rows)
    assert found.sentence == f"equivalent on {len(rows)} classes"
    mixed = np.random.default_rng(0).permutation(len(rows))
    assert minimise(columns, rows[mixed], wanted[mixed]).formula is found.formula


def shortest_disjunction(columns, rows, wanted):
    literals = [(column, ~column, None) for column in columns]
    terms = [[one for one in choice if one] for choice in itertools.product(*literals)]
    terms = [fo.And(*term) for term in terms if term]
    truths = [truth_of(term, columns, rows) for term in terms]
    sound = [i for i, truth in enumerate(truths) if not (truth & ~wanted).any()]
    best = 99
    for size in range(1, 2 ** (len(columns) - 1) + 1):
        for chosen in itertools.combinations(sound, size):
            if (np.logical_or.reduce([truths[i] for i in chosen]) == wanted).all():
                best = min(best, sum(terms[i].size for i in chosen) + size - 1)
    return best


@settings(max_examples=40)
@given(tables(3))
def test_as_short_as_by_brute_force(table):
    columns, rows, wanted = table
    found = minimise(columns, rows, wanted).formula
    if wanted.all() or not wanted.any():
        assert found in (fo.Top(), fo.BOTTOM)
        return
    plain, denied = (shortest_disjunction(columns, rows, truth) for truth in (wanted, ~wanted))
    assert found.size <= min(plain, denied + 1)


def test_leaf_sets_of_the_thesis():
    """Table 3.3: the tree of Figure 3.2 asks for blue, then for a red neighbour or for two neighbours."""
    splits = [parse("blue"), parse("<E>red"), parse("<E>top > 1")]
    # A red neighbour is a neighbour; everything else occurs.
    rows = np.array(list(itertools.product([False, True], repeat=3)))
    leaf = np.where(~rows[:, 0], np.where(rows[:, 1], 2, 1), np.where(rows[:, 2], 4, 3))
    expected = {
        (1,): "~(blue | <E>red)",
        (2,): "~blue & <E>red",
        (3,): "blue & ~(<E>top > 1)",
        (4,): "blue & <E>top > 1",
        (1, 2): "~blue",
        (1, 2, 3): "~(blue & <E>top > 1)",
        (1, 2, 3, 4): "top",
    }
    for leaves, text in expected.items():
        assert minimise(splits, rows, np.isin(leaf, leaves)).formula is parse(text)


def test_what_never_occurs_is_free():
    columns = [parse("<on>clear > 4"), parse("holding")]
    assert minimise(columns, [[0, 1], [1, 0]], [0, 1]).formula is parse("~holding")
    assert minimise(columns[:1], [[0], [0]], [1, 1]).formula is parse("top")


def test_states():
    columns = [parse("[#a > 0]"), parse("[#b > 0]")]
    rows = [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert minimise(columns, rows, [0, 0, 0, 1]).formula is parse("[#a > 0] & [#b > 0]")
    assert minimise(columns, rows, [1, 1, 1, 1]).formula is parse("[1 > 0]")


def test_contradictions_are_told():
    with pytest.raises(InputError, match="only one of them is wanted"):
        minimise([parse("a")], [[1], [1]], [0, 1])
    with pytest.raises(InputError, match="table of that shape"):
        minimise([parse("a")], [[1, 0]], [1])


def test_trees_of_usual_size():
    """Leaf sets of a random tree: 30 splits, thousands of rows."""
    random = np.random.default_rng(1)
    rows = np.unique(random.random((3_000, 30)) < random.random(30), axis=0)
    columns = [parse(f"<r{i}>a > {i % 3}") for i in range(30)]
    wanted = np.where(rows[:, 3], np.where(rows[:, 7], rows[:, 11], ~rows[:, 2]), rows[:, 5] & ~rows[:, 20])
    found = minimise(columns, rows, wanted)
    assert (truth_of(found.formula, columns, rows) == wanted).all()
    assert found.formula.size <= 33


def test_random_truth():
    random = np.random.default_rng(2)
    for width in (8, 20):
        rows = np.unique(random.random((800, width)) < 0.5, axis=0)
        wanted = random.random(len(rows)) < 0.5
        columns = [fo.Atom(name) for name in NAMES[:width]]
        found = minimise(columns, rows, wanted)
        assert (truth_of(found.formula, columns, rows) == wanted).all()
