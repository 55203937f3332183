"""The contract of explanations: value functions keep it, and so does a kind that is no value function."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from distill.common import InputError
from distill.evaluation import greedy_policy
from distill.explanations import (
    KINDS,
    Explanation,
    Provenance,
    StateFeature,
    ValueFunction,
    explanation_from_json,
    express_term,
    register,
)
from distill.logic import Bounds, Evaluator, NodeTable, Number, parse, read_nodes
from distill.planning import GAVE_UP, problem_class, validate
from distill.structures import Structures, Vocabulary
from tests.support.naive import numbers
from tests.support.strategies import WORDS, batches


@dataclass(frozen=True, eq=False)
class Ranking(Explanation):
    """Features that are compared one after the other; a toy."""

    kind: ClassVar[str] = "toy ranking"

    levels: tuple[StateFeature, ...]
    pool: tuple[StateFeature, ...] = ()
    goal_marking: bool = False
    label: str = "toy"

    @property
    def size(self) -> int:
        return sum(level.number.size for level in self.levels)

    def keys(self, states: Structures) -> Any:
        evaluator = Evaluator(states)
        return np.column_stack([evaluator.number(level.number) for level in self.levels]).astype(float)

    def terms(self) -> list[tuple[float, StateFeature]]:
        return [(1, level) for level in self.levels]

    def export(self, form: str, vocabulary: Vocabulary, bounds: Bounds | None = None) -> str:
        return "\n".join(express_term(level.number, form, vocabulary, bounds) for level in self.levels)

    def to_json(self) -> dict[str, Any]:
        table = NodeTable()
        levels = [level.to_json(table) for level in self.levels]
        return {"kind": self.kind, "nodes": table.rows, "levels": levels}

    @classmethod
    def from_json(cls, whole: Mapping[str, Any]) -> "Ranking":
        nodes = read_nodes(whole["nodes"])
        return cls(tuple(StateFeature.from_json(row, nodes) for row in whole["levels"]))


@pytest.fixture
def kinds() -> Iterator[None]:
    register(Ranking)
    yield
    del KINDS[Ranking.kind]


def feature(number: Number | str) -> StateFeature:
    number = parse(number) if isinstance(number, str) else number
    return StateFeature(number, "numerical", Provenance(2, 3, (0, 4)))


def ranking(*texts: Number | str) -> Ranking:
    return Ranking(tuple(map(feature, texts)))


@given(batches(), st.lists(numbers, min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_ranks_order_states_as_their_keys_do(batch: Structures, levels: list[Number]) -> None:
    for explanation in (ranking(*levels), ValueFunction(levels[0], ())):
        keys = [tuple(row) for row in explanation.keys(batch).tolist()]
        ranks = explanation.rank(batch)
        assert ranks.shape == (len(batch),)
        for one, rank in zip(keys, ranks, strict=True):
            assert [one < other for other in keys] == (rank < ranks).tolist()
            assert [one == other for other in keys] == (rank == ranks).tolist()


@given(batches(), numbers)
@settings(max_examples=30, deadline=None)
def test_the_key_of_a_value_function_is_its_value(batch: Structures, number: Number) -> None:
    function = ValueFunction(number, ())
    assert function.keys(batch).shape == (len(batch), 1)
    assert function.rank(batch).tolist() == function.values(batch).tolist()


def test_later_columns_decide_only_between_equal_ones() -> None:
    class Fixed(Ranking):
        def keys(self, states: Structures) -> Any:
            return np.array([[1.0, 5.0], [0.0, 9.0], [1.0, 2.0], [0.0, 9.0]])

    assert Fixed(()).rank(None).tolist() == [2, 0, 1, 0]


@pytest.mark.usefixtures("kinds")
def test_a_second_kind_is_saved_and_loaded(tmp_path: Path) -> None:
    made = ranking("#clear", "#<on>clear")
    made.save(tmp_path / "model.json")
    again = Explanation.load(tmp_path / "model.json")
    assert isinstance(again, Ranking)
    assert [(w, f.number, f.provenance) for w, f in again.terms()] == [
        (w, f.number, f.provenance) for w, f in made.terms()
    ]
    assert again.export("ascii", WORDS) == "#clear\n#<on>clear"
    assert again.size == made.size
    with pytest.raises(InputError, match="holds a toy ranking, not a value function"):
        ValueFunction.load(tmp_path / "model.json")


@pytest.mark.usefixtures("kinds")
def test_a_file_without_a_kind_is_a_value_function(tmp_path: Path) -> None:
    made = ValueFunction(parse("2*#clear + 1"), (feature("#clear"),), True, "both")
    made.save(tmp_path / "model.json")
    assert "kind" not in json.loads((tmp_path / "model.json").read_text())
    for again in (Explanation.load(tmp_path / "model.json"), ValueFunction.load(tmp_path / "model.json")):
        assert isinstance(again, ValueFunction)
        assert again.value is made.value
        assert (again.goal_marking, again.label) == (True, "both")
        assert again.to_json() == made.to_json()


def test_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no kind of explanation 'oracle'; choose from value function"):
        explanation_from_json({"kind": "oracle"})
    (tmp_path / "model.json").write_text('{"kind": "oracle"}')
    with pytest.raises(InputError, match=r"holds no value function .*oracle"):
        Explanation.load(tmp_path / "model.json")


def test_the_greedy_policy_follows_any_kind() -> None:
    value = "2*#<on+>clear_G - #<on>clear_G + #holding * #(clear_G & ~clear)"
    instance = problem_class("blocks-clear").make("train")[5]
    by_value = greedy_policy(ValueFunction(parse(value), ()))(instance)
    by_rank = greedy_policy(ranking(value, "#ontable"))(instance)
    assert len(by_value.plan) == len(by_rank.plan) == 3
    assert validate(instance, by_rank.plan).valid
    # The first level decides: this one keeps what stands above the block.
    away = ranking("0 - #<on+>clear_G", value)
    assert greedy_policy(away, 5)(instance).status == GAVE_UP


@pytest.mark.parametrize(
    ("provenance", "words"),
    [
        (Provenance(2, 3), "layer 2, tree 3, a split"),
        (Provenance(-1, 0, (4, 5)), "the final layer, tree 0, leaves 4, 5"),
        (Provenance(0), "the domain itself"),
        (Provenance(0, pool="enumerate"), "no network"),
        (Provenance(0, pool="polish"), "formulas that are used"),
    ],
)
def test_provenance_in_words(provenance: Provenance, words: str) -> None:
    assert provenance.words == words
    assert provenance.sentences[0] == f"Provenance: {words}."
