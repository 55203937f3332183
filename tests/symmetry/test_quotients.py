"""The quotient loses nothing: every count on rows is the count on objects."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from distill.common import InputError
from distill.planning import Labelling, label, problem_class
from distill.structures import V_STAR, Options, Quotient, Structures, concatenate, join, write_archive
from distill.symmetry import LabelledBatch, build_quotient, build_quotient_of
from tests.support import oracles
from tests.support.strategies import WORDS, batches


def labelled(batch: Structures) -> LabelledBatch:
    labels = np.arange(len(batch)) % 2
    return LabelledBatch(batch, {V_STAR: labels}, np.zeros(len(batch)), np.arange(1, len(batch) + 1))


@given(batches(min_objects=1, max_objects=5), st.one_of(st.none(), st.integers(0, 3)))
def test_links_count_atoms(batch: Structures, depth: int | None) -> None:
    found = build_quotient([labelled(batch)], depth)
    quotient = found.quotient
    for level in range(1, quotient.depth + 1):
        own, before = found.rows(batch, level), found.rows(batch, level - 1)
        assert np.array_equal(quotient.layers[level].parent[own], before)
        for predicate in WORDS:
            for i in range(predicate.arity):
                for j in range(predicate.arity):
                    if i == j or predicate.arity < 2:
                        continue
                    counts = quotient.link(predicate.name, level, i, j).toarray()
                    direct = np.zeros((batch.n_objects, len(quotient.layers[level - 1])), dtype=int)
                    for atom in batch.relations[predicate.name]:
                        direct[atom[i], before[atom[j]]] += 1
                    assert np.array_equal(counts[own], direct)


@given(batches(min_objects=1, max_objects=5), st.one_of(st.none(), st.integers(0, 2)))
def test_histograms_and_unary_atoms(batch: Structures, depth: int | None) -> None:
    found = build_quotient([labelled(batch)], depth)
    quotient = found.quotient
    given_batch = labelled(batch)
    states = found.state_rows(given_batch)
    assert np.array_equal(quotient.labels[V_STAR][states], given_batch.labels[V_STAR])
    totals = np.bincount(states, weights=given_batch.multiplicity, minlength=quotient.n_state_rows)
    assert np.array_equal(quotient.multiplicity, totals)
    for level, layer in enumerate(quotient.layers):
        rows = found.rows(batch, level)
        direct = np.zeros((len(batch), len(layer)), dtype=int)
        np.add.at(direct, (batch.state_of_object, rows), 1)
        assert np.array_equal(layer.histogram.toarray()[states], direct)
        for name in ("clear", "handempty"):
            assert np.array_equal(quotient.holds(name, level)[rows], oracles.truth(batch, ("is", name)))


@given(batches(min_objects=1, max_objects=5))
def test_joint_quotients_know_derived_relations(batch: Structures) -> None:
    found = build_quotient([labelled(batch)], 2, Options(joint=True))
    quotient = found.quotient
    own, before = found.rows(batch, 2), found.rows(batch, 1)
    pairs = quotient.layers[2].pairs
    assert pairs is not None
    # Columns: on, on_G, then the same backwards.
    difference = quotient.pair_link(pairs.kinds[:, 1] & ~pairs.kinds[:, 0], 2).toarray()
    on, goal = (set(oracles.atoms_of(batch, name)) for name in ("on", "on_G"))
    direct = np.zeros((batch.n_objects, len(quotient.layers[1])), dtype=int)
    for x, y in goal - on:
        direct[x, before[y]] += 1
    assert np.array_equal(difference[own], direct)
    for name, (i, j) in (("on", (0, 1)), ("on_G", (1, 0))):
        single = np.zeros_like(direct)
        for atom in batch.relations[name]:
            single[atom[i], before[atom[j]]] += 1
        assert np.array_equal(quotient.link(name, 2, i, j).toarray()[own], single)


@given(batches(min_objects=1, max_states=6), st.integers(1, 3))
def test_streaming_gives_the_same_quotient(batch: Structures, size: int) -> None:
    labels = labelled(batch)
    parts = [
        LabelledBatch(
            batch[i : i + size],
            {V_STAR: labels.labels[V_STAR][i : i + size]},
            labels.split[i : i + size],
            labels.multiplicity[i : i + size],
        )
        for i in range(0, len(batch), size)
    ]
    whole, streamed = build_quotient([labels]), build_quotient(parts)
    assert [len(layer) for layer in whole.quotient.layers] == [len(x) for x in streamed.quotient.layers]
    assert sorted(whole.quotient.multiplicity) == sorted(streamed.quotient.multiplicity)
    for depth in range(whole.quotient.depth + 1):
        rows = [q.rows(batch, depth) for q in (whole, streamed)]
        assert len(set(zip(*map(np.ndarray.tolist, rows), strict=True))) == len(set(rows[0].tolist()))


def test_a_stable_quotient_ends_where_it_began() -> None:
    data = join(
        label(instance, Labelling(max_states=1000))
        for instance in problem_class("blocks-on").make("train")[:4]
    )
    quotient = build_quotient_of({"train": data}).quotient
    last = quotient.layers[-1]
    assert quotient.stable
    assert np.array_equal(last.parent, np.arange(len(last)))
    assert len(last) == len(quotient.layers[-2]) > len(quotient.layers[-3])
    limited = build_quotient_of({"train": data}, 1).quotient
    assert not limited.stable
    assert limited.depth == 1
    assert limited.n_state_rows <= quotient.n_state_rows
    assert limited.multiplicity.sum() == quotient.multiplicity.sum() == len(data)


def test_splits_and_values_keep_states_apart() -> None:
    batch = Structures(WORDS, 4, [0, 1, 2, 3], {})
    quotient = build_quotient([LabelledBatch(batch, {V_STAR: [0, 0, 1, 0]}, [0, 0, 0, 1])]).quotient
    assert sorted(zip(quotient.labels[V_STAR], quotient.split, quotient.multiplicity, strict=True)) == [
        (0, 0, 2),
        (0, 1, 1),
        (1, 0, 1),
    ]


@given(batches(min_objects=1, max_states=6), st.data())
def test_states_are_merged_only_if_all_their_labels_are_equal(batch: Structures, data: st.DataObject) -> None:
    numbers = st.lists(st.integers(-1, 1), min_size=len(batch), max_size=len(batch))
    labels = {name: np.array(data.draw(numbers), dtype=int) for name in (V_STAR, "class")}
    split = np.zeros(len(batch))
    apart = build_quotient([LabelledBatch(batch, labels, split)])
    for name, given_label in labels.items():
        assert np.array_equal(apart.quotient.labels[name][apart.state_row], given_label)
    # Without labels looks alone decide, so labels split these rows and do nothing else.
    alike = build_quotient([LabelledBatch(batch, {}, split)])
    pairs = set(zip(alike.state_row, *labels.values(), strict=True))
    assert apart.quotient.n_state_rows == len(pairs)
    assert alike.quotient.labels == {}
    other_order = {name: labels[name] for name in ("class", V_STAR)}
    again = build_quotient([LabelledBatch(batch, other_order, split)])
    assert np.array_equal(again.state_row, apart.state_row)


def test_labels_of_all_batches_have_the_same_names_and_are_whole() -> None:
    batch = Structures(WORDS, 1, [0], {})
    with pytest.raises(InputError, match="same labels"):
        build_quotient([LabelledBatch(batch, {V_STAR: [0]}, [0]), LabelledBatch(batch, {"class": [0]}, [0])])
    with pytest.raises(InputError, match="whole numbers"):
        build_quotient([LabelledBatch(batch, {"value": [0.5]}, [0])])


def test_files_keep_labels_and_old_files_open(tmp_path: Path) -> None:
    batch = Structures(WORDS, 3, [0, 1, 2], {"clear": [[0]]})
    labels = {V_STAR: [4, 4, -1], "class": [0, 0, 1]}
    quotient = build_quotient([LabelledBatch(batch, labels, [0, 0, 1])]).quotient
    quotient.save(tmp_path / "new.npz")
    read = Quotient.load(tmp_path / "new.npz")
    assert list(read.labels) == [V_STAR, "class"]
    for name, kept in quotient.labels.items():
        assert np.array_equal(read.labels[name], kept)
    # Files from before labels had names hold V* in an array of this name.
    arrays, metadata = quotient.states.to_arrays()
    arrays |= {f"row{depth}": row for depth, row in enumerate(quotient.rows)}
    arrays |= {"chosen": quotient.chosen, "v_star": quotient.labels[V_STAR]}
    arrays |= {"split": quotient.split, "multiplicity": quotient.multiplicity}
    options = {"sets": False, "joint": False, "nullary": True}
    write_archive(
        tmp_path / "old.npz", arrays, {**metadata, "kind": "quotient", "options": options, "stable": True}
    )
    old = Quotient.load(tmp_path / "old.npz")
    assert list(old.labels) == [V_STAR]
    assert np.array_equal(old.labels[V_STAR], quotient.labels[V_STAR])
    old.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "old.npz").read_bytes()


def test_objects_like_none_before_have_no_row() -> None:
    batch = Structures(WORDS, 1, [0, 0], {"on": [[0, 1]]})
    found = build_quotient([LabelledBatch(batch, {}, [0])], 1)
    stranger = Structures(WORDS, 1, [0, 0], {"on": [[0, 1], [1, 0]]})
    assert found.rows(stranger, 1).tolist() == [-1, -1]
    assert found.state_rows(LabelledBatch(stranger, {}, [0])).tolist() == [-1]
    assert found.state_rows(LabelledBatch(batch, {}, [0])).tolist() == [0]
    both = concatenate([batch, stranger, batch])
    assert found.state_rows(LabelledBatch(both, {}, [0, 0, 0])).tolist() == [0, -1, 0]


def test_sets_have_no_counts() -> None:
    batch = Structures(WORDS, 1, [0, 0, 0], {"on": [[0, 1], [0, 2]]})
    quotient = build_quotient([LabelledBatch(batch, {}, [0])], 1, Options(sets=True)).quotient
    assert quotient.link("on", 1).toarray().max() == 1


def test_mistakes_are_told() -> None:
    quotient = build_quotient([LabelledBatch(Structures(WORDS, 1, [0], {}), {}, [0])], 1).quotient
    with pytest.raises(InputError, match="Links exist at depth 1 to 1, not 0"):
        quotient.link("on", 0)
    with pytest.raises(InputError, match="joint messages"):
        quotient.pair_link(np.zeros(0, dtype=bool), 1)


def test_a_depth_beyond_all_rows_ends_when_the_rows_are_stable() -> None:
    data = label(problem_class("blocks-clear").make("train")[1], Labelling())
    stable = build_quotient_of({"train": data}).quotient
    found = build_quotient_of({"train": data}, 10**9)
    assert found.quotient.stable
    assert found.quotient.depth <= 101
    assert len(found.quotient.layers[-1]) == len(stable.layers[-1])
    states = data.structures()
    assert np.array_equal(found.rows(states, 10**9), found.rows(states, found.quotient.depth))
