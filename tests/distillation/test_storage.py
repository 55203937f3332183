"""What trees found can be stored between stages: whoever goes on from it goes on the same way."""

from dataclasses import replace

import numpy as np
import pytest

from distill.common import InputError
from distill.distillation import (
    ReadableExtractor,
    RidtFeatures,
    pack_trees,
    trees_from_json,
    trees_to_json,
    unpack_trees,
)
from distill.logic import NodeTable, QuotientEvaluator, parse, read_nodes
from distill.planning import expand, problem_class
from distill.structures import Options
from distill.symmetry import build_quotient_of
from tests.support.learned_trees import SMALL as SMALL_LEARNING, learned_from
from tests.support.read_network import SMALL, embeddings_of, read, tower_quotient


def test_a_reader_goes_on_from_its_file(tmp_path) -> None:
    quotient = tower_quotient()
    first = read(quotient)
    first.save(tmp_path / "extractor.npz")
    again = ReadableExtractor.load(tmp_path / "extractor.npz", quotient, SMALL)
    for extractor in (first, again):
        # later trees draw weights: the state of the generator is part of it
        extractor.extract(embeddings_of(quotient))
        extractor.enumerate()
    (one, values), (other, same) = first.features(), again.features()
    assert [(f.number, f.kind, f.provenance) for f in one] == [
        (f.number, f.kind, f.provenance) for f in other
    ]
    assert np.array_equal(values, same)
    assert [c.relation for c in first.chains] == [c.relation for c in again.chains]
    for extractor, name in ((first, "a"), (again, "b")):
        extractor.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_what_was_learned_is_read_again(tmp_path) -> None:
    learned = learned_from("blocks-clear")
    learned.save(tmp_path / "learned.npz")
    again = RidtFeatures.load(tmp_path / "learned.npz")
    assert list(again.objects.items()) == list(learned.objects.items())
    assert np.array_equal(again.values, learned.values)
    assert [f.number for f in again.states] == [f.number for f in learned.states]
    assert [[t.tree.paths for t in layer] for layer in again.tree_layers] == [
        [t.tree.paths for t in layer] for layer in learned.tree_layers
    ]
    few = replace(again, kinds=("numerical",))
    assert {feature.kind for feature in few.states} == {"numerical"}


def test_kinds_are_chosen_as_if_only_they_had_been_asked_for() -> None:
    """Trees do not depend on the kinds, so choosing later is the same as asking for them at first."""
    whole = learned_from("blocks-clear")
    for kinds in (("combined",), ("boolean", "combined"), ("numerical",)):
        settings = SMALL_LEARNING.replace(features=kinds)
        asked = learned_from("blocks-clear", settings)
        chosen = replace(whole, kinds=kinds)
        assert [f.number for f in chosen.states] == [f.number for f in asked.states]
        assert np.array_equal(chosen.values, asked.values)


def test_trees_are_packed_and_unpacked() -> None:
    grown = [one for layer in learned_from("blocks-clear").tree_layers for one in layer]
    table = NodeTable()
    arrays, rows = pack_trees(grown, table)
    for again in (unpack_trees(arrays, rows, read_nodes(table.rows)), trees_from_json(trees_to_json(grown))):
        assert len(again) == len(grown)
        for one, other in zip(grown, again, strict=True):
            assert one.layer == other.layer
            assert one.formulas == other.formulas
            assert one.tree.paths == other.tree.paths
            assert np.array_equal(one.tree.leaf_values, other.tree.leaf_values)
    assert unpack_trees(*pack_trees([], NodeTable()), []) == []


def test_a_settled_quotient_says_the_same_of_formulas() -> None:
    data = expand(problem_class("blocks-clear").make("train")[2], 10_000)
    whole = build_quotient_of({"train": data}, None, Options(joint=True)).quotient
    settled = whole.fixpoint()
    assert len(settled.rows) == 3
    for text in (
        "#<on><on>clear_G",
        "#<on+>clear_G",
        "#<on_G & on>top",
        "dist(clear_G, on, clear)",
        "#holding",
    ):
        formula = parse(text)
        assert np.array_equal(
            QuotientEvaluator(whole).number(formula), QuotientEvaluator(settled).number(formula)
        )
    with pytest.raises(InputError, match="stable"):
        build_quotient_of({"train": data}, 1).quotient.fixpoint()
