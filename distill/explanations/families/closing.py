"""Finding the families of a value function, and replacing them by closed forms (thesis 5.6.1).

A finite family is right up to the length of the chains in the training states; its closed form extrapolates
to all lengths. On states within that length both must be equal. Beyond it, only V* can decide whether the
closed form is right.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.common import InputError
from distill.explanations.families.distances import find_distances
from distill.explanations.families.family import CLOSE, Term, TermFamily, values_of
from distill.explanations.families.iteration import find_iterated
from distill.explanations.families.levels import StateSample, find_levels
from distill.logic import Constant, Number, Scaled, Sum, weighted
from distill.structures import Structures, concatenate

_SAMPLE = 400  # states on which candidates are searched before they are checked on all states
EQUAL_ON = ("all", "train")


@dataclass(frozen=True)
class FamilyCheck:
    """Comparison of a closed form with its family on some states.

    Attributes
    ----------
    states : number of states.
    differing : states within the last member in which the two differ, and states in which the family counts
        an object twice, which a closure never does.
    beyond : states beyond the last member.
    changed : those of them in which the two differ.
    """

    states: int
    differing: int
    beyond: int
    changed: int


@dataclass(frozen=True, eq=False)
class Closing:
    """The result for one family.

    Attributes
    ----------
    family : the family.
    checks : for each split, the comparison of closed form and family.
    refused : why it was not replaced; empty if it was.
    """

    family: TermFamily
    checks: Mapping[str, FamilyCheck]
    refused: str = ""

    @property
    def replaced(self) -> bool:
        """Whether the family was replaced by its closed form."""
        return not self.refused

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        checks = {name: vars(check) for name, check in self.checks.items()}
        result = {"replaced": self.replaced, "refused": self.refused, "checks": checks}
        return {**self.family.to_json(), **result}


def find_families(value: Number, states: Structures, further: Sequence[Structures] = ()) -> list[TermFamily]:
    """All families of a value function on some states. They may overlap; those with most terms come first.

    Parameters
    ----------
    states : the states that the function was fitted to.
    further : other states; sums without a closed form are extended to cover them.

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
        raise InputError("There are no states on which to search families; give some.")
    terms: list[Term] = [term for term in weighted(value) if not isinstance(term[1], Constant)]
    if not terms:
        return []
    every = concatenate([states, *further]) if further else states
    found = find_iterated(terms, every)
    values = values_of([feature for _, feature in terms], states)
    chosen = _some(values, np.array([weight for weight, _ in terms]))
    sample = StateSample(terms, value, states[chosen])
    found += find_distances(terms, values, sample, states)
    found += find_levels(terms, values, sample, states)
    for family in [one for one in found if one.how == "iterated" and not one.is_closed]:
        # Other terms may depend on the same distance and hide the line of these.
        mine = [terms.index(term) for term in family.terms]
        if len(mine) < len(terms):
            own = StateSample(family.terms, value, states[chosen])
            found += find_distances(family.terms, values[:, mine], own, states)
    return sorted(found, key=lambda one: (-len(one.terms), not one.is_closed, one.closed.size, one.notation))


def _some(values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Numbers of states, ascending, spread evenly over the total values."""
    total = np.rint(values @ weights).astype(np.int64)
    order = np.argsort(total, kind="stable")
    begins = np.searchsorted(total[order], total[order])
    rank = np.empty(len(total), dtype=np.int64)
    rank[order] = np.arange(len(total)) - begins
    return np.sort(np.argsort(rank, kind="stable")[:_SAMPLE])


def check_family(family: TermFamily, states: Structures) -> FamilyCheck:
    """Compare a closed form with the finite family on some states."""
    finite = Sum(*(Scaled(weight, feature) for weight, feature in family.terms))
    table = values_of([finite, family.closed, family.beyond, family.once or finite], states)
    differ = np.abs(table[:, 0] - table[:, 1]) > CLOSE
    beyond = table[:, 2] != 0
    wrong = np.where(beyond, np.abs(table[:, 0] - table[:, 3]) > CLOSE, differ)
    return FamilyCheck(len(states), int(wrong.sum()), int(beyond.sum()), int((differ & beyond).sum()))


def close_families(
    value: Number,
    data: Mapping[str, Structures],
    target: NDArray[np.float64] | None = None,
    *,
    equal_on: str = "all",
) -> tuple[Number, list[Closing]]:
    """Replace families by their closed forms if both are equal within the length of the families.

    Parameters
    ----------
    data : states of each split; the function was fitted to the first.
    target : (n_states,) of the fit; nan if unknown. For states beyond the last member the closed form changes
        values; that must not increase the mean error.
    equal_on : `all`: the two must be equal on all states within the last member; `train`: on those of the
        first split only, as the values of trees on other states may be wrong.

    Returns
    -------
    The new function, and the result for each family; those that overlap with a replaced one are left out.
    """
    if equal_on not in EQUAL_ON:
        raise InputError(f"There is no comparison {equal_on!r}; choose from {', '.join(EQUAL_ON)}.")
    if not data:
        raise InputError("There are no states on which to search families; give some.")
    first, *others = data
    closings: list[Closing] = []
    taken: set[Number] = set()
    for family in find_families(value, data[first], [data[name] for name in others]):
        if _features(family) & taken or family.closed.size >= family.size:
            continue
        checks = {name: check_family(family, states) for name, states in data.items()}
        required = data if equal_on == "all" else [first]
        new = Sum(value, *(Scaled(-weight, feature) for weight, feature in family.terms), family.closed)
        refused = _objection({name: checks[name] for name in required})
        if not refused and checks[first].changed:
            refused = _worse([value, new], data[first], first, target)
        closings.append(Closing(family, checks, refused))
        if not refused:
            value = new
            taken |= _features(family)
    return value, _apart(closings, taken)


def _apart(closings: Sequence[Closing], taken: set[Number]) -> list[Closing]:
    """The replaced families, and of the others the first of those that overlap."""
    seen, kept = set(taken), []
    for one in closings:
        if one.replaced or not seen & _features(one.family):
            kept.append(one)
            seen |= _features(one.family)
    return kept


def _features(family: TermFamily) -> set[Number]:
    return {feature for _, feature in family.terms}


def _objection(checks: Mapping[str, FamilyCheck]) -> str:
    """Why the closed form is rejected: it differs within the length of the family."""
    wrong = [f"{check.differing} states of {name}" for name, check in checks.items() if check.differing]
    return f"the two differ in {', '.join(wrong)}" if wrong else ""


def _worse(
    functions: Sequence[Number], states: Structures, name: str, target: NDArray[np.float64] | None
) -> str:
    """Why the second of two functions must not replace the first: its error on the target is larger."""
    if target is None:
        return (
            f"the family ends before the states of {name} do, and without a target nobody knows who is right"
        )
    old, new = np.nanmean(np.abs(values_of(functions, states) - target[:, None]), axis=0)
    return f"the error on {name} would grow from {old:.4f} to {new:.4f}" if new > old + 1e-9 else ""
