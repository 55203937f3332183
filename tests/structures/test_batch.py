import numpy as np
import pytest
from hypothesis import given, strategies as st

from distill.common import InputError
from distill.structures import Predicate, Structures, Vocabulary, concatenate
from tests.support.strategies import WORDS, batches, permutations


def decoded(batch: Structures) -> list[list]:
    return [batch.decode(state) for state in range(len(batch))]


@given(batches(), st.data())
def test_slicing_picks_whole_states(batch: Structures, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(batch) - 1), max_size=6))
    picked = batch[np.array(chosen, dtype=int)]
    assert decoded(picked) == [decoded(batch)[state] for state in chosen]
    assert np.diff(picked.object_offsets).tolist() == np.diff(batch.object_offsets)[chosen].tolist()


@given(batches())
def test_masks_slices_and_numbers_agree(batch: Structures) -> None:
    mask = np.arange(len(batch)) % 2 == 0
    assert batch[::2] == batch[mask] == batch[np.flatnonzero(mask)]


@given(batches(), batches())
def test_concatenation_is_undone_by_slicing(first: Structures, second: Structures) -> None:
    both = concatenate([first, second])
    assert both[: len(first)] == first
    assert both[len(first) :] == second


@given(st.data())
def test_relabelling_there_and_back(data: st.DataObject) -> None:
    batch = data.draw(batches())
    permutation = data.draw(permutations(batch))
    moved = batch.relabel(permutation)
    assert moved.relabel(np.argsort(permutation)) == batch
    for name, atoms in batch.relations.items():
        expected = sorted(map(tuple, permutation[atoms].tolist() if WORDS[name].arity else atoms.tolist()))
        assert sorted(map(tuple, moved.relations[name].tolist())) == expected


def test_relabelling_across_states_is_refused() -> None:
    batch = Structures(WORDS, 2, [0, 1], {"clear": [[0]]})
    with pytest.raises(ValueError, match="each state"):
        batch.relabel([1, 0])


@given(batches())
def test_save_and_load(tmp_path_factory: pytest.TempPathFactory, batch: Structures) -> None:
    file = tmp_path_factory.mktemp("batch") / "batch.npz"
    batch.save(file)
    assert Structures.load(file) == batch


def test_equality_sees_every_atom() -> None:
    one = Structures(WORDS, 1, [0, 0], {"on": [[0, 1]]})
    assert one != Structures(WORDS, 1, [0, 0], {"on": [[1, 0]]})
    assert one != Structures(WORDS, 1, [0, 0], {"on": [[0, 1]], "handempty": [[0]]})


def test_the_union_of_marked_goals_stays_available() -> None:
    marked = Structures(
        WORDS.marked(), 2, [0, 0, 1, 1], {"on_G,T": [[2, 3]], "on_G,F": [[1, 0], [3, 2]], "handempty": [[1]]}
    )
    assert marked.atoms("on_G").tolist() == [[1, 0], [2, 3], [3, 2]]
    assert marked.states_of_atoms("on_G").tolist() == [0, 1, 1]
    assert marked.states_of_atoms("handempty").tolist() == [1]


def test_vocabularies_are_not_mixed() -> None:
    one = Structures(WORDS, 1, [0], {})
    with pytest.raises(InputError, match="different vocabularies"):
        concatenate([one, Structures(WORDS.marked(), 1, [0], {})])


def test_unknown_and_repeated_predicates_are_refused() -> None:
    with pytest.raises(ValueError, match="outside the vocabulary: off"):
        Structures(WORDS, 1, [0], {"off": [[0]]})
    with pytest.raises(InputError, match="Two predicates have the name 'on'"):
        Vocabulary([Predicate("on", 2), Predicate("on", 1)])
    with pytest.raises(InputError, match="no predicate 'off'; choose from clear"):
        WORDS["off"]
