"""Numbers that tell predicates and states apart without their names and without the order of anything.

Whoever decides ties by them decides alike in a domain whose predicates are renamed and whose declarations,
objects and states come in another order.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray

from distill.structures import Predicate, Structures
from distill.structures.ranges import mixed

Codes = NDArray[np.uint64]

_ROUNDS = 3


def signatures(states: Structures) -> tuple[dict[str, int], Codes]:
    """Signatures of the names of predicates (goal versions share that of their base), and of states.

    Objects are coloured a few times by their atoms, as in 1-WL but with sums of hashes, and predicates by the
    colours of their arguments. Equal signatures are no proof that two look the same.

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
    found = np.zeros(len(states), dtype=np.uint64)
    for _ in range(_ROUNDS):
        objects, found, codes = _next_round(states, objects, found, codes)
    totals: dict[str, Codes] = {}
    for predicate in states.vocabulary:
        before = totals.get(predicate.base, np.zeros(1, dtype=np.uint64))
        totals[predicate.base] = before + mixed(codes[predicate.name] + _version(predicate))
    return {name: int(code[0]) for name, code in totals.items()}, found


def _version(predicate: Predicate) -> Codes:
    """Whether a predicate is about goals, and which; its name tells no more."""
    ending = predicate.name[len(predicate.base) :] if predicate.role == "goal" else ""
    digest = hashlib.blake2b(f"{predicate.role}{ending}".encode(), digest_size=8).digest()
    return np.frombuffer(digest, dtype="<u8").astype(np.uint64)


def _first_code(states: Structures, predicate: Predicate) -> Codes:
    atoms = len(states.relations[predicate.name])
    return mixed(mixed(_version(predicate) + np.uint64(predicate.arity)) + np.uint64(atoms))


def _next_round(
    states: Structures, objects: Codes, found: Codes, codes: dict[str, Codes]
) -> tuple[Codes, Codes, dict[str, Codes]]:
    next_objects, next_states, next_codes = mixed(objects), mixed(found), {}
    for predicate in states.vocabulary:
        atoms = states.relations[predicate.name]
        code = codes[predicate.name]
        ends = [found[atoms[:, 0]]] if predicate.arity == 0 else [objects[column] for column in atoms.T]
        messages = np.repeat(code, len(atoms))
        for place, end in enumerate(ends):
            messages = messages + mixed(mixed(end) + np.uint64(place))
        messages = mixed(messages)
        for place, column in enumerate(atoms.T):
            receivers = next_states if predicate.arity == 0 else next_objects
            np.add.at(receivers, column, mixed(messages + np.uint64(place)))
        next_codes[predicate.name] = mixed(code + messages.sum(dtype=np.uint64, keepdims=True))
    np.add.at(next_states, states.state_of_object, mixed(next_objects))
    return next_objects, next_states, next_codes
