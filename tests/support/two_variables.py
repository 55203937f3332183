"""C2 by its definition: plain loops over the objects of one state, for formulas in two variables only."""

from collections import Counter
from typing import Any

from distill.logic import syntax as fo
from distill.structures import Structures

Atoms = dict[str, set[tuple[int, ...]]]


class State:
    """The objects 0, …, n - 1 and the atoms of a state."""

    def __init__(self, n: int, atoms: Atoms) -> None:
        self.n = n
        self.atoms = atoms
        self.known: dict[Any, Any] = {}
        self.after: dict[tuple[str, int], list[list[int]]] = {}

    def holds(self, formula: Any, a: int) -> bool:
        """Whether a formula in one free variable holds of an object; of any object, if it is a sentence."""
        key = formula, a
        if key not in self.known:
            self.known[key] = self._holds(formula, a)
        return self.known[key]

    def _holds(self, formula: Any, a: int) -> bool:
        match formula:
            case fo.Top():
                return True
            case fo.Atom():
                there = self.atoms.get(formula.fields[0], set())
                return (a,) in there or () in there
            case fo.Not():
                return not self.holds(formula.fields[0], a)
            case fo.And():
                return all(self.holds(part, a) for part in formula.fields)
            case fo.Or():
                return any(self.holds(part, a) for part in formula.fields)
            case fo.Modal():
                relation, operand, threshold = formula.fields
                left = threshold + 1
                for b in self.candidates(relation, a):
                    if self.related(relation, a, b) and self.holds(operand, b):
                        left -= 1
                        if left == 0:
                            return True
                return False
            case fo.Compare():
                return self.value(formula.fields[0]) > formula.fields[1]
        raise AssertionError(f"{formula} is not in C2")

    def candidates(self, relation: Any, a: int) -> Any:
        """Objects that may be related to one: for a predicate those in its atoms, otherwise all."""
        if isinstance(relation, fo.RelationAnd):
            roles = [part for part in relation.fields if isinstance(part, fo.Role)]
            relation = roles[0] if roles else relation
        if not isinstance(relation, fo.Role):
            return range(self.n)
        name, source, target = relation.fields
        if (name, source) not in self.after:
            lists: list[list[int]] = [[] for _ in range(self.n)]
            for atom in sorted(self.atoms.get(name, set())):
                lists[atom[source]].append(atom[target])
            self.after[name, source] = lists
        return self.after[name, source][a]

    def related(self, relation: Any, a: int, b: int) -> bool:
        match relation:
            case fo.Identity():
                return a == b
            case fo.Everything():
                return True
            case fo.Role():
                name, source, target = relation.fields
                assert {source, target} == {0, 1}, f"{relation} is not in C2"
                return ((a, b) if source == 0 else (b, a)) in self.atoms.get(name, set())
            case fo.RelationNot():
                return not self.related(relation.fields[0], a, b)
            case fo.RelationAnd():
                return all(self.related(part, a, b) for part in relation.fields)
            case fo.RelationOr():
                return any(self.related(part, a, b) for part in relation.fields)
        raise AssertionError(f"{relation} is not in C2")

    def value(self, number: Any) -> float:
        match number:
            case fo.Count():
                return sum(self.holds(number.fields[0], a) for a in range(self.n))
            case fo.Indicator():
                return int(self.holds(number.fields[0], 0))
            case fo.Constant():
                return number.fields[0]
            case fo.Scaled():
                return number.fields[0] * self.value(number.fields[1])
            case fo.Sum():
                return sum(self.value(part) for part in number.fields)
        raise AssertionError(f"{number} is not in C2")


def states_of(batch: Structures) -> list[State]:
    sizes = Counter(batch.state_of_object.tolist())
    found = []
    for place in range(len(batch)):
        atoms: Atoms = {}
        for name, row in batch.decode(place):
            nullary = batch.vocabulary[name].arity == 0
            atoms.setdefault(name, set()).add(() if nullary else tuple(row))
        found.append(State(sizes[place], atoms))
    return found
