"""Families of a value function found, closed, and held against the states (thesis 5.6.1).

What a finite family says of chains as long as those seen in training, a closed form says of all. That is a
guess about what comes after the last member: on states that go no further it must say the same, and beyond
them only V* can tell whether it is right.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.errors import InputError
from distill.logic import Constant, Number, Scaled, Sum, weighted
from distill.regression.distances import find_distances
from distill.regression.family import CLOSE, Family, Term, values_of
from distill.regression.iteration import find_iterated
from distill.regression.levels import Sample, find_levels
from distill.structures import Structures, concatenate

_SAMPLE = 400  # states on which candidates are looked for, before all states are asked
EQUAL_ON = ("all", "train")


@dataclass(frozen=True)
class Check:
    """A closed form beside its family on some states.

    Attributes
    ----------
    states : how many.
    differing : those that go no further than the last member, but in which the two differ; and those in which
        the family counts an object twice, which no closure does.
    beyond : states that go further.
    changed : those of them in which the two differ.
    """

    states: int
    differing: int
    beyond: int
    changed: int


@dataclass(frozen=True, eq=False)
class Closing:
    """What became of a family.

    Attributes
    ----------
    family : what was found.
    checks : for each split, the closed form beside the family.
    refused : why it was not replaced; empty if it was.
    """

    family: Family
    checks: Mapping[str, Check]
    refused: str = ""

    @property
    def replaced(self) -> bool:
        """Whether the closed form stands in its place."""
        return not self.refused

    def to_json(self) -> dict[str, Any]:
        """It as plain data."""
        checks = {name: vars(check) for name, check in self.checks.items()}
        told = {"replaced": self.replaced, "refused": self.refused, "checks": checks}
        return {**self.family.to_json(), **told}


def find_families(value: Number, states: Structures, further: Sequence[Structures] = ()) -> list[Family]:
    """All families of a value function on some states; they may overlap, those with most terms come first.

    Parameters
    ----------
    states : those that the function was fitted to.
    further : others; sums without a closed form are carried on as far as these go.

    Examples
    --------
    >>> from distill.logic import parse
    >>> from distill.structures import Predicate, Vocabulary
    >>> words = Vocabulary([Predicate("on", 2), Predicate("clear_G", 1, "goal")])
    >>> tower = Structures(words, 1, [0] * 4, {"on": [[0, 1], [1, 2], [2, 3]], "clear_G": [[3]]})
    >>> value = parse("2*#<on>clear_G + 2*#<on><on>clear_G + 2*#<on><on><on>clear_G")
    >>> family = find_families(value, tower)[0]
    >>> family.closed, family.label
    (2*#<on+>clear_G, 'closed form; extends beyond k=3')
    """
    if not len(states):
        raise InputError("There are no states on which families could be looked for; give some.")
    terms: list[Term] = [term for term in weighted(value) if not isinstance(term[1], Constant)]
    if not terms:
        return []
    every = concatenate([states, *further]) if further else states
    found = find_iterated(terms, every)
    values = values_of([feature for _, feature in terms], states)
    chosen = _some(values, np.array([weight for weight, _ in terms]))
    sample = Sample(terms, value, states[chosen])
    found += find_distances(terms, values, sample, states)
    found += find_levels(terms, values, sample, states)
    for family in [one for one in found if one.how == "iterated" and not one.is_closed]:
        # Other terms may depend on the same distance and hide that these alone are on a line.
        mine = [terms.index(term) for term in family.terms]
        if len(mine) < len(terms):
            own = Sample(family.terms, value, states[chosen])
            found += find_distances(family.terms, values[:, mine], own, states)
    return sorted(found, key=lambda one: (-len(one.terms), not one.is_closed, one.closed.size, one.notation))


def _some(values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Numbers of states, ascending, as many of each total value as there may be."""
    total = np.rint(values @ weights).astype(np.int64)
    order = np.argsort(total, kind="stable")
    begins = np.searchsorted(total[order], total[order])
    rank = np.empty(len(total), dtype=np.int64)
    rank[order] = np.arange(len(total)) - begins
    return np.sort(np.argsort(rank, kind="stable")[:_SAMPLE])


def check_family(family: Family, states: Structures) -> Check:
    """Hold a closed form against the finite family, on any states."""
    finite = Sum(*(Scaled(weight, feature) for weight, feature in family.terms))
    table = values_of([finite, family.closed, family.beyond, family.once or finite], states)
    differ = np.abs(table[:, 0] - table[:, 1]) > CLOSE
    beyond = table[:, 2] != 0
    wrong = np.where(beyond, np.abs(table[:, 0] - table[:, 3]) > CLOSE, differ)
    return Check(len(states), int(wrong.sum()), int(beyond.sum()), int((differ & beyond).sum()))


def close_families(
    value: Number,
    data: Mapping[str, Structures],
    target: NDArray[np.float64] | None = None,
    *,
    equal_on: str = "all",
) -> tuple[Number, list[Closing]]:
    """Replace families by their closed forms, where these say the same as far as the families go.

    Parameters
    ----------
    data : states of each split; the first are those that the function was fitted to.
    target : (n_states,) what it was fitted to, nan where that is not known. Where a family ends before these
        states do, its closed form changes their values; that must not make the mean error larger.
    equal_on : `all`: on all states that go no further than the last member, the two must be equal; `train`:
        on those of the first split only. What trees say of other states may be just what went wrong.

    Returns
    -------
    The new function, and what became of each family; those that overlap with a replaced one are left out.
    """
    if equal_on not in EQUAL_ON:
        raise InputError(f"There is no way {equal_on!r} to compare; choose from {', '.join(EQUAL_ON)}.")
    if not data:
        raise InputError("There are no states on which families could be looked for; give some.")
    first, *others = data
    closings: list[Closing] = []
    taken: set[Number] = set()
    for family in find_families(value, data[first], [data[name] for name in others]):
        if _features(family) & taken or family.closed.size >= family.size:
            continue
        checks = {name: check_family(family, states) for name, states in data.items()}
        asked = data if equal_on == "all" else [first]
        new = Sum(value, *(Scaled(-weight, feature) for weight, feature in family.terms), family.closed)
        refused = _objection({name: checks[name] for name in asked})
        if not refused and checks[first].changed:
            refused = _worse([value, new], data[first], first, target)
        closings.append(Closing(family, checks, refused))
        if not refused:
            value = new
            taken |= _features(family)
    return value, _apart(closings, taken)


def _apart(closings: Sequence[Closing], taken: set[Number]) -> list[Closing]:
    """Those that were replaced, and of the others the first of those that overlap."""
    seen, kept = set(taken), []
    for one in closings:
        if one.replaced or not seen & _features(one.family):
            kept.append(one)
            seen |= _features(one.family)
    return kept


def _features(family: Family) -> set[Number]:
    return {feature for _, feature in family.terms}


def _objection(checks: Mapping[str, Check]) -> str:
    """Where the closed form says something else though the family has not ended."""
    wrong = [f"{check.differing} states of {name}" for name, check in checks.items() if check.differing]
    return f"the two differ in {', '.join(wrong)}" if wrong else ""


def _worse(
    functions: Sequence[Number], states: Structures, name: str, target: NDArray[np.float64] | None
) -> str:
    """Why the second of two functions must not replace the first, where they differ on what was fitted."""
    if target is None:
        return (
            f"the family ends before the states of {name} do, and without a target nobody knows who is right"
        )
    old, new = np.nanmean(np.abs(values_of(functions, states) - target[:, None]), axis=0)
    return f"the error on {name} would grow from {old:.4f} to {new:.4f}" if new > old + 1e-9 else ""
