"""The semantics of formulas in a state, on sets of objects and pairs."""

from collections.abc import Callable
from typing import Any

from .errors import CannotCheckError
from .nodes import Rows
from .pddl import Atom


class Interpretation:
    """The values of the nodes of a value function in one state: sets of objects, sets of pairs, numbers."""

    def __init__(self, rows: Rows, objects: list[str], atoms: dict[str, set[Atom]]) -> None:
        self.objects, self.atoms = frozenset(objects), atoms
        self.values: list[Any] = []
        self.rows = rows
        for kind, *fields in rows:
            parts = [self.values[f["@"]] if isinstance(f, dict) else f for f in fields]
            self.values.append(getattr(self, f"_{kind}")(*parts, row=fields))

    def value(self) -> float:
        """The value of the last node, a number."""
        return float(self.values[-1])

    def _pairs(self, test: Callable[[str, str], bool]) -> set[tuple[str, str]]:
        return {(x, y) for x in self.objects for y in self.objects if test(x, y)}

    def _id(self, row: Any) -> Any:
        return {(x, x) for x in self.objects}

    def _all(self, row: Any) -> Any:
        return self._pairs(lambda x, y: True)

    def _role(self, name: str, i: int, j: int, row: Any) -> Any:
        return {(atom[i], atom[j]) for atom in self.atoms.get(name, ())}

    def _rnot(self, pairs: Any, row: Any) -> Any:
        return self._pairs(lambda x, y: (x, y) not in pairs)

    def _rand(self, *parts: Any, row: Any) -> Any:
        return set.intersection(*parts)

    def _ror(self, *parts: Any, row: Any) -> Any:
        return set.union(*parts)

    def _closure(self, pairs: Any, reflexive: bool, row: Any) -> Any:
        after: dict[str, set[str]] = {}
        for x, y in pairs:
            after.setdefault(x, set()).add(y)
        closure = {(x, x) for x in self.objects} if reflexive else set()
        for x in after:
            todo = set(after[x])
            reached: set[str] = set()
            while todo:
                y = todo.pop()
                reached.add(y)
                todo |= after.get(y, set()) - reached
            closure |= {(x, y) for y in reached}
        return closure

    def _top(self, row: Any) -> Any:
        return self.objects

    def _atom(self, name: str, row: Any) -> Any:
        atoms = self.atoms.get(name, set())
        # A nullary predicate holds of every object.
        return self.objects if () in atoms else frozenset(atom[0] for atom in atoms)

    def _not(self, part: Any, row: Any) -> Any:
        return not part if isinstance(part, bool) else self.objects - part

    def _and(self, *parts: Any, row: Any) -> Any:
        return all(parts) if isinstance(parts[0], bool) else frozenset.intersection(*parts)

    def _or(self, *parts: Any, row: Any) -> Any:
        return any(parts) if isinstance(parts[0], bool) else frozenset.union(*parts)

    def _modal(self, pairs: Any, inside: Any, threshold: int, row: Any) -> Any:
        kind, *fields = self.rows[row[0]["@"]]
        if kind == "role":  # such a modal counts atoms, which may have more than two objects
            name, i, j = fields
            steps = [(atom[i], atom[j]) for atom in self.atoms.get(name, ())]
        else:
            steps = list(pairs)
        count = dict.fromkeys(self.objects, 0)
        for x, y in steps:
            count[x] += y in inside
        return frozenset(x for x in self.objects if count[x] > threshold)

    def _count(self, part: Any, row: Any) -> Any:
        return len(part)

    def _compare(self, number: Any, threshold: Any, row: Any) -> Any:
        return bool(number > threshold)

    def _indicator(self, truth: Any, row: Any) -> Any:
        return int(truth)

    def _constant(self, number: Any, row: Any) -> Any:
        return number

    def _scaled(self, weight: Any, number: Any, row: Any) -> Any:
        return _finite(weight * number)

    def _sum(self, *parts: Any, row: Any) -> Any:
        return _finite(sum(parts))

    def _product(self, *parts: Any, row: Any) -> Any:
        product = 1
        for part in parts:
            product = _finite(product * part)
        return product

    def _dist(self, first: Any, pairs: Any, last: Any, row: Any) -> Any:
        steps, reached = 0, set(first)
        while not reached & last:
            more = {y for x, y in pairs if x in reached} - reached
            if not more:
                return 0
            reached |= more
            steps += 1
        return steps


def _finite(number: Any) -> Any:
    """A number that fits in a float, so that products of products do not fill the memory."""
    if not abs(number) < 1e300:
        raise CannotCheckError("the value function has a value that is too large")
    return number


def occurs_only_with_goal(rows: Rows, name: str) -> bool:
    """Whether a predicate occurs only in conjunctions with its goal, so that its other atoms are irrelevant.

    Examples
    --------
    >>> occurs_only_with_goal([["atom", "p"], ["atom", "p_G"], ["and", {"@": 0}, {"@": 1}]], "p")
    True
    >>> occurs_only_with_goal([["atom", "p"], ["count", {"@": 0}]], "p")
    False
    """
    goals = (f"{name}_G", f"{name}_G,T", f"{name}_G,F")
    alone: list[set[tuple[Any, ...]]] = []  # for each node the occurrences without their goal
    for kind, *fields in rows:
        parts = [field["@"] for field in fields if isinstance(field, dict)]
        own = set[tuple[Any, ...]]().union(*(alone[part] for part in parts))
        if kind in ("atom", "role") and fields[0] == name:
            own = {(kind, *fields[1:])}
        elif kind in ("and", "rand"):
            own -= {
                (rows[part][0], *rows[part][2:])
                for part in parts
                if rows[part][0] in ("atom", "role") and rows[part][1] in goals
            }
        elif own and kind not in ("or", "not", "ror", "rnot"):
            return False
        alone.append(own)
    return True
