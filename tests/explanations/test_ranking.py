"""Rankings: keys, terms, files, and the order of transitions."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from distill.common import InputError
from distill.explanations import (
    FORMS,
    Explanation,
    Provenance,
    Ranking,
    StateFeature,
    ValueFunction,
    descends,
)
from distill.logic import parse
from distill.planning import expand, problem_class


@pytest.fixture(scope="module")
def towers():
    return expand(problem_class("blocks-clear").make("train")[1], 1000)


def ranking(*texts: str) -> Ranking:
    numbers = [parse(text) for text in texts]
    features = [StateFeature(parse(text.removeprefix("-")), "numerical", Provenance(0)) for text in texts]
    return Ranking(tuple(numbers), tuple(features))


def test_keys_are_the_levels_and_ranks_are_lexicographic(towers) -> None:
    states = towers.structures()
    found = ranking("#<on+>clear_G", "-#holding")
    levels = [ValueFunction(level, ()).values(states) for level in found.levels]
    assert np.array_equal(found.keys(states), np.stack(levels, axis=1))
    order = np.lexsort((levels[1], levels[0]))
    assert (np.diff(found.rank(states)[order]) >= 0).all()
    assert len(np.unique(found.rank(states))) == len(np.unique(found.keys(states), axis=0)) > 2


def test_a_file_holds_the_same_ranking(towers, tmp_path: Path) -> None:
    found = ranking("#<on+>clear_G", "-#holding")
    found.save(tmp_path / "ranking.json")
    for loaded in (Ranking.load(tmp_path / "ranking.json"), Explanation.load(tmp_path / "ranking.json")):
        assert isinstance(loaded, Ranking)
        assert (loaded.levels, loaded.label) == (found.levels, found.label)
        assert [(weight, term.number) for weight, term in loaded.terms()] == [
            (weight, term.number) for weight, term in found.terms()
        ]
    with pytest.raises(InputError, match="holds a ranking, not a value function; choose another run"):
        ValueFunction.load(tmp_path / "ranking.json")


def test_levels_are_exported_in_their_order(towers) -> None:
    text = ranking("#<on+>clear_G", "-#holding").export("ascii", towers.vocabulary)
    assert text.splitlines() == ["; level 1 of 2", "V = #<on+>clear_G", "; level 2 of 2", "V = -#holding"]
    assert {form for form in FORMS if form != "json"} == {
        form for form in FORMS if form != "json" and ranking("#clear").export(form, towers.vocabulary)
    }
    with pytest.raises(InputError, match="json has no comments"):
        ranking("#clear").export("json", towers.vocabulary)
    with pytest.raises(InputError, match="no form 'word'"):
        ranking("#clear").export("word", towers.vocabulary)


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 6), min_size=1))
def test_descends_is_the_order_of_tuples(rows) -> None:
    table = np.array(rows)
    assert descends(table[:, :3], table[:, 3:]).tolist() == [row[3:] < row[:3] for row in rows]


def test_without_levels_nothing_descends() -> None:
    assert not descends(np.zeros((2, 0)), np.zeros((2, 0))).any()
