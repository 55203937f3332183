"""Random relational structures for property tests."""

import numpy as np
from hypothesis import strategies as st

from distill.structures import Predicate, Structures, Vocabulary

WORDS = Vocabulary(
    [
        Predicate("clear", 1),
        Predicate("on", 2),
        Predicate("between", 3),
        Predicate("handempty", 0, "nullary"),
        Predicate("on_G", 2, "goal"),
    ]
)


@st.composite
def batches(
    draw: st.DrawFn, *, min_objects: int = 0, max_objects: int = 4, max_states: int = 5
) -> Structures:
    """Random batches: states of different sizes."""
    sizes = draw(st.lists(st.integers(min_objects, max_objects), min_size=1, max_size=max_states))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    relations: dict[str, list[list[int]]] = {p.name: [] for p in WORDS}
    for state, size in enumerate(sizes):
        for predicate in WORDS:
            if predicate.arity == 0:
                relations[predicate.name] += [[state]] * draw(st.integers(0, 1))
            elif size:
                objects = st.integers(int(starts[state]), int(starts[state]) + size - 1)
                atom = st.lists(objects, min_size=predicate.arity, max_size=predicate.arity)
                relations[predicate.name] += draw(st.lists(atom, max_size=4, unique_by=tuple))
    return Structures(WORDS, len(sizes), np.repeat(np.arange(len(sizes)), sizes), relations)


@st.composite
def permutations(draw: st.DrawFn, batch: Structures) -> np.ndarray:
    """A permutation that maps each state's objects onto themselves."""
    parts = [
        np.array(draw(st.permutations(range(int(begin), int(end)))), dtype=np.int64)
        for begin, end in zip(batch.object_offsets, batch.object_offsets[1:], strict=False)
    ]
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


WISHES = Vocabulary([*WORDS, Predicate("clear_G", 1, "goal")])


@st.composite
def wishes(draw: st.DrawFn, max_objects: int = 4, max_states: int = 5) -> Structures:
    """Random states that have goals of one argument as well."""
    batch = draw(batches(min_objects=1, max_objects=max_objects, max_states=max_states))
    wanted = draw(st.sets(st.integers(0, batch.n_objects - 1)))
    atoms = {**batch.relations, "clear_G": [[x] for x in sorted(wanted)]}
    return Structures(WISHES, len(batch), batch.state_of_object, atoms)
