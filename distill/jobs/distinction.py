"""What tells two states apart: formulas that say different things of them, and atoms up to names."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from distill.logic import Count, Evaluator, Modal, Number
from distill.structures import Options, Structures
from distill.symmetry import Labelled, build_quotient
from distill.trees.enumeration import short_formulas
from distill.trees.language import Language

LARGEST = 6  # cost of formulas that are tried
_MADE = 400  # formulas that are tried
_THRESHOLDS = 10  # up to which neighbours are counted
_OBJECTS = 60  # whose names are exchanged
_Atom = tuple[str, tuple[object, ...]]


@dataclass(frozen=True, eq=False)
class Distinction:
    """A formula and what it says of two states."""

    formula: Number
    first: float
    second: float


def differing(two: Structures, formulas: Sequence[Number]) -> list[Distinction]:
    """Those of some formulas that say different things of two states, small ones first."""
    evaluator = Evaluator(two)
    found = []
    for formula in sorted(formulas, key=lambda one: one.order):
        first, second = (float(value) for value in evaluator.number(formula))
        if first != second:
            found.append(Distinction(formula, first, second))
    return found


def shortest_differing(two: Structures, at_most: int = 5) -> list[Distinction]:
    """Short formulas of the readable language, counted, that say different things of two states.

    The language has, besides the relations of the domain, what is achieved and what is missing of goals: more
    than 1-WL sees. None may be found though there are longer ones.

    Parameters
    ----------
    two : the two states, with plain goals.
    at_most : formulas that are given.

    Examples
    --------
    Two cars, each where it should be or each where the other should be.

    >>> from distill.structures import Predicate, Vocabulary
    >>> words = Vocabulary([Predicate("at", 2), Predicate("at_G", 2, "goal")])
    >>> atoms = {"at": [[0, 2], [1, 3], [4, 7], [5, 6]], "at_G": [[0, 2], [1, 3], [4, 6], [5, 7]]}
    >>> two = Structures(words, 2, [0] * 4 + [1] * 4, atoms)
    >>> best = shortest_differing(two)[0]
    >>> best.formula, best.first, best.second
    (#<at & at_G>top, 2.0, 0.0)
    """
    labelled = Labelled(two, np.arange(2), np.zeros(2, dtype=np.int64))
    quotient = build_quotient([labelled], None, Options(joint=True)).quotient
    language = Language.of(quotient)
    everything = np.ones(len(language.holds), dtype=bool)
    formulas, _, _ = short_formulas(language, everything, LARGEST, _MADE)
    about_objects = [Count(formula) for formula in formulas if not formula.of_state]
    return (differing(two, about_objects) or differing(two, _counting(language)))[:at_most]


def _counting(language: Language) -> list[Number]:
    """How many objects have more than t neighbours of a kind: what a set of neighbours does not show."""
    return [
        Count(Modal(way.relation, concept, threshold))
        for way in language.ways
        for concept in language.concepts
        for threshold in range(2, _THRESHOLDS)
    ]


def renamed_difference(two: Structures, names: Sequence[str]) -> tuple[dict[str, str], list[str], list[str]]:
    """Call the objects of the second state otherwise, so that fewer atoms differ.

    Names are exchanged two by two as long as that helps, so other names may do even better.

    Parameters
    ----------
    two : two states of one instance, goals included.
    names : of its objects.

    Returns
    -------
    What objects of the second state are called now, where that is new; then the atoms that only the first
    has, and those that only the second has under its new names.

    Examples
    --------
    >>> from distill.structures import Predicate, Vocabulary
    >>> words = Vocabulary([Predicate("on", 2), Predicate("clear", 1)])
    >>> atoms = {"on": [[0, 1], [4, 3]], "clear": [[0], [2], [4]]}
    >>> renamed_difference(Structures(words, 2, [0, 0, 0, 1, 1, 1], atoms), ["a", "b", "c"])
    ({'a': 'b', 'b': 'a'}, ['(clear c)'], [])
    """
    first: set[_Atom] = set(two.decode(0))
    second: list[_Atom] = list(two.decode(1))
    n = int(np.diff(two.object_offsets)[1])
    called = list(range(n))
    atoms_of: list[set[_Atom]] = [{atom for atom in second if one in atom[1]} for one in range(n)]

    def shared(atoms: set[_Atom], order: Sequence[int]) -> int:
        return sum(_with(atom, order) in first for atom in atoms)

    better = n <= _OBJECTS
    while better:
        better = False
        for one, other in combinations(range(n), 2):
            touched = atoms_of[one] | atoms_of[other]
            tried = list(called)
            tried[one], tried[other] = tried[other], tried[one]
            if shared(touched, tried) > shared(touched, called):
                called, better = tried, True
    now_second = {_with(atom, called) for atom in second}
    new = {names[old]: names[to] for old, to in enumerate(called) if old != to}
    return new, _written(first - now_second, names), _written(now_second - first, names)


def _with(atom: _Atom, called: Sequence[int]) -> _Atom:
    name, arguments = atom
    return name, tuple(called[int(str(one))] for one in arguments)


def _written(atoms: set[_Atom], names: Sequence[str]) -> list[str]:
    return sorted(f"({' '.join([name, *(names[int(str(one))] for one in rest)])})" for name, rest in atoms)
