"""Differences of two states: formulas with different values, and atoms up to renaming of objects."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from distill.logic import Count, Evaluator, Language, Modal, Number, short_formulas
from distill.structures import Options, Structures
from distill.symmetry import LabelledBatch, build_quotient

LARGEST = 6  # cost of candidate formulas
_CANDIDATES = 400
_THRESHOLDS = 10  # of counted neighbours
_OBJECTS = 60  # more are not renamed
_Atom = tuple[str, tuple[object, ...]]


@dataclass(frozen=True, eq=False)
class Distinction:
    """A formula and its values in two states."""

    formula: Number
    first: float
    second: float


def find_distinctions(two: Structures, formulas: Sequence[Number]) -> list[Distinction]:
    """Select the formulas with different values in two states, small ones first."""
    evaluator = Evaluator(two)
    distinctions = []
    for formula in sorted(formulas, key=lambda one: one.order):
        first, second = (float(value) for value in evaluator.number(formula))
        if first != second:
            distinctions.append(Distinction(formula, first, second))
    return distinctions


def find_short_distinctions(two: Structures, at_most: int = 5) -> list[Distinction]:
    """Search short formulas of the readable language whose counts differ in two states.

    Besides the relations of the domain, the language has achieved and missing goals, which 1-WL does not see.
    The result may be empty although longer formulas exist.

    Parameters
    ----------
    two : the two states, with plain goals.
    at_most : the number of formulas returned.

    Examples
    --------
    Two cars, each where it should be or each where the other should be.

    >>> from distill.structures import Predicate, Vocabulary
    >>> words = Vocabulary([Predicate("at", 2), Predicate("at_G", 2, "goal")])
    >>> atoms = {"at": [[0, 2], [1, 3], [4, 7], [5, 6]], "at_G": [[0, 2], [1, 3], [4, 6], [5, 7]]}
    >>> two = Structures(words, 2, [0] * 4 + [1] * 4, atoms)
    >>> best = find_short_distinctions(two)[0]
    >>> best.formula, best.first, best.second
    (#<at & at_G>top, 2.0, 0.0)
    """
    labelled = LabelledBatch(two, {"state": np.arange(2)}, np.zeros(2))
    quotient = build_quotient([labelled], None, Options(joint=True)).quotient
    language = Language.of(quotient)
    everything = np.ones(len(language.holds), dtype=bool)
    formulas, _, _ = short_formulas(language, everything, LARGEST, _CANDIDATES)
    about_objects = [Count(formula) for formula in formulas if not formula.of_state]
    return (find_distinctions(two, about_objects) or find_distinctions(two, _counting(language)))[:at_most]


def _counting(language: Language) -> list[Number]:
    """Numbers of objects with more than t neighbours of a kind, which sets of neighbours do not express."""
    return [
        Count(Modal(relation.relation, concept, threshold))
        for relation in language.relations
        for concept in language.concepts
        for threshold in range(2, _THRESHOLDS)
    ]


def compare_up_to_names(two: Structures, names: Sequence[str]) -> tuple[dict[str, str], list[str], list[str]]:
    """Rename the objects of the second state so that fewer atoms differ.

    Pairs of names are swapped as long as this helps. The result is a local optimum.

    Parameters
    ----------
    two : two states of one instance, goals included.
    names : of its objects.

    Returns
    -------
    The new names of objects of the second state, where they change; then the atoms that only the first state
    has, and those that only the renamed second state has.

    Examples
    --------
    >>> from distill.structures import Predicate, Vocabulary
    >>> words = Vocabulary([Predicate("on", 2), Predicate("clear", 1)])
    >>> atoms = {"on": [[0, 1], [4, 3]], "clear": [[0], [2], [4]]}
    >>> compare_up_to_names(Structures(words, 2, [0, 0, 0, 1, 1, 1], atoms), ["a", "b", "c"])
    ({'a': 'b', 'b': 'a'}, ['(clear c)'], [])
    """
    first: set[_Atom] = set(two.decode(0))
    second: list[_Atom] = list(two.decode(1))
    n = int(np.diff(two.object_offsets)[1])
    renaming = list(range(n))
    atoms_of: list[set[_Atom]] = [{atom for atom in second if one in atom[1]} for one in range(n)]

    def shared(atoms: set[_Atom], order: Sequence[int]) -> int:
        return sum(_rename(atom, order) in first for atom in atoms)

    better = n <= _OBJECTS
    while better:
        better = False
        for one, other in combinations(range(n), 2):
            affected = atoms_of[one] | atoms_of[other]
            candidate = list(renaming)
            candidate[one], candidate[other] = candidate[other], candidate[one]
            if shared(affected, candidate) > shared(affected, renaming):
                renaming, better = candidate, True
    renamed = {_rename(atom, renaming) for atom in second}
    new = {names[old]: names[to] for old, to in enumerate(renaming) if old != to}
    return new, _write(first - renamed, names), _write(renamed - first, names)


def _rename(atom: _Atom, renaming: Sequence[int]) -> _Atom:
    name, arguments = atom
    return name, tuple(renaming[int(str(one))] for one in arguments)


def _write(atoms: set[_Atom], names: Sequence[str]) -> list[str]:
    return sorted(f"({' '.join([name, *(names[int(str(one))] for one in rest)])})" for name, rest in atoms)
