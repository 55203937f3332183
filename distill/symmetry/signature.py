"""Signatures of predicates and states that are invariant under renaming and reordering.

Ties that are broken by signatures do not depend on the names of predicates or on the order of declarations,
objects and states.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray

from distill.common import scramble
from distill.structures import Predicate, Structures

Codes = NDArray[np.uint64]

_ROUNDS = 3


def signatures(states: Structures) -> tuple[dict[str, int], Codes]:
    """Signatures of the names of predicates (goal versions share that of their base), and of states.

    A few rounds colour objects by their atoms, as in 1-WL but with sums of hashes, and predicates by the
    colours of their arguments. Equal signatures do not prove isomorphism.

    Returns
    -------
    For each name a number; and (n_states,) numbers.

    Examples
    --------
    >>> from distill.structures import Vocabulary
    >>> def tower(one, other):
    ...     words = Vocabulary([Predicate(one, 2), Predicate(other, 1)])
    ...     return Structures(words, 1, [0, 0, 0], {one: [[0, 1], [1, 2]], other: [[0]]})
    >>> first, state = signatures(tower("on", "clear"))
    >>> second, same = signatures(tower("b", "a"))
    >>> first["on"] == second["b"], first["clear"] == second["a"], bool((state == same).all())
    (True, True, True)
    """
    codes = {predicate.name: _first_code(states, predicate) for predicate in states.vocabulary}
    objects = np.zeros(states.n_objects, dtype=np.uint64)
    state_codes = np.zeros(len(states), dtype=np.uint64)
    for _ in range(_ROUNDS):
        objects, state_codes, codes = _next_round(states, objects, state_codes, codes)
    totals: dict[str, Codes] = {}
    for predicate in states.vocabulary:
        before = totals.get(predicate.base, np.zeros(1, dtype=np.uint64))
        totals[predicate.base] = before + scramble(codes[predicate.name] + _version(predicate))
    return {name: int(code[0]) for name, code in totals.items()}, state_codes


def _version(predicate: Predicate) -> Codes:
    """A code of the role of a predicate and of its goal version, independent of its name."""
    ending = predicate.name[len(predicate.base) :] if predicate.role == "goal" else ""
    digest = hashlib.blake2b(f"{predicate.role}{ending}".encode(), digest_size=8).digest()
    return np.frombuffer(digest, dtype="<u8").astype(np.uint64)


def _first_code(states: Structures, predicate: Predicate) -> Codes:
    atoms = len(states.relations[predicate.name])
    return scramble(scramble(_version(predicate) + np.uint64(predicate.arity)) + np.uint64(atoms))


def _next_round(
    states: Structures, objects: Codes, state_codes: Codes, codes: dict[str, Codes]
) -> tuple[Codes, Codes, dict[str, Codes]]:
    next_objects, next_states, next_codes = scramble(objects), scramble(state_codes), {}
    for predicate in states.vocabulary:
        atoms = states.relations[predicate.name]
        code = codes[predicate.name]
        ends = [state_codes[atoms[:, 0]]] if predicate.arity == 0 else [objects[column] for column in atoms.T]
        messages = np.repeat(code, len(atoms))
        for place, end in enumerate(ends):
            messages = messages + scramble(scramble(end) + np.uint64(place))
        messages = scramble(messages)
        for place, column in enumerate(atoms.T):
            receivers = next_states if predicate.arity == 0 else next_objects
            np.add.at(receivers, column, scramble(messages + np.uint64(place)))
        next_codes[predicate.name] = scramble(code + messages.sum(dtype=np.uint64, keepdims=True))
    np.add.at(next_states, states.state_of_object, scramble(next_objects))
    return next_objects, next_states, next_codes
