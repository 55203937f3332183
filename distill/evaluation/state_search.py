"""Search for states by their atoms."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from distill.common import InputError
from distill.logic import resolve_predicate
from distill.structures import DataSet

_ATOM = re.compile(r"\(([^()]*)\)")


def states_with(data: DataSet, text: str) -> NDArray[np.bool_]:
    """(n_states,) whether all given atoms hold; `?` matches any object.

    Examples
    --------
    >>> from distill.planning import expand, problem_class
    >>> data = expand(problem_class("blocks-clear").make("train")[0], 100)
    >>> states_with(data, "(holding ?)").sum(), states_with(data, "(on b1 b2) (handempty)").sum()
    (np.int64(2), np.int64(1))
    """
    holds = np.ones(len(data), dtype=bool)
    rest = _ATOM.sub("", text).strip()
    if rest:
        raise InputError(f"“{rest}” is no atom; write atoms in parentheses, such as (on a b) (clear c).")
    for atom in _ATOM.findall(text):
        holds &= _states_with_atom(data, atom.split())
    return holds


def _states_with_atom(data: DataSet, words: Sequence[str]) -> NDArray[np.bool_]:
    if not words:
        raise InputError("There is an empty atom (); give it a predicate, such as (clear a).")
    name = words[0] if words[0] in data.vocabulary else words[0].lower()
    arguments = [word.lower() for word in words[1:]]
    [predicate, *_] = resolve_predicate(data.vocabulary, name)
    if len(arguments) != predicate.arity:
        raise InputError(f"{name} takes {predicate.arity} objects, not {len(arguments)}.")
    number = data.vocabulary.index(name)
    owner = np.repeat(np.arange(len(data.instances)), np.diff(data.atom_offsets))
    matches = data.atom_predicate == number
    for place, argument in enumerate(arguments):
        if argument.startswith("?"):
            continue
        places = [_place(instance["objects"], argument) for instance in data.instances]
        if all(one < 0 for one in places):
            raise InputError(f"No instance of this split has an object {argument}; check the name.")
        # Objects missing in an instance must not match the padding of shorter atoms.
        meant = np.array([one if one >= 0 else -2 for one in places])
        matches &= data.atom_arguments[:, place] == meant[owner]
    fixed = np.arange(len(owner)) - data.atom_offsets[owner] < data.n_fixed[owner]
    holds = np.isin(data.state_instance, owner[matches & fixed])
    entries = np.flatnonzero(matches[data.state_atoms])
    holds[np.searchsorted(data.state_offsets, entries, side="right") - 1] = True
    return holds


def _place(names: Sequence[str], name: str) -> int:
    return names.index(name) if name in names else -1
