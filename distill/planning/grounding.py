"""Ground actions on states that are bit sets of atoms, stored as integers.

The bit of an atom depends only on its predicate and on the positions of its objects.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from distill.planning.instance_families import InstanceFamilies, InstanceFamily, Row
from distill.planning.schemas import Condition, Literal

Binding = dict[str, int]


@dataclass(frozen=True)
class GroundEffect:
    """The atoms that an action adds and deletes if `needs` hold and `forbids` do not."""

    needs: int
    forbids: int
    adds: int
    deletes: int


@dataclass(frozen=True)
class GroundAction:
    """A ground action: atoms that must hold, atoms that must not hold, and effects."""

    needs: int
    forbids: int
    effects: tuple[GroundEffect, ...]

    def apply(self, state: int) -> int:
        """The next state; an atom that is both added and deleted holds."""
        adds = deletes = 0
        for effect in self.effects:
            if state & effect.needs == effect.needs and not state & effect.forbids:
                adds |= effect.adds
                deletes |= effect.deletes
        return (state & ~deletes) | adds


@dataclass(frozen=True, eq=False)
class Task:
    """The ground actions and the goal of a family.

    Attributes
    ----------
    families : the numbering of atoms.
    family : the family.

    Examples
    --------
    >>> from distill.planning import Instance, problem_class
    >>> instance = problem_class("blocks-clear").make("train")[0]
    >>> families = InstanceFamilies(instance.domain)
    >>> task = Task(families, families.of_instance(instance))
    >>> [start] = task.starts
    >>> len(task.actions), len(set(task.successors(start))), task.is_goal(start)
    (12, 1, False)
    """

    families: InstanceFamilies
    family: InstanceFamily

    @cached_property
    def _first_bit(self) -> Mapping[int, int]:
        """The first bit of each predicate that actions change."""
        first, bit = {}, 0
        for number in self.families.fluent:
            first[number] = bit
            bit += self._size ** self.families.vocabulary.predicates[number].arity
        return first

    @cached_property
    def _size(self) -> int:
        return len(self.family.objects)

    def bit(self, row: Row) -> int:
        """The state in which only this atom holds."""
        place, size = 0, self._size
        for x in row[1:]:
            place = place * size + x
        return 1 << (self._first_bit[row[0]] + place)

    def predicate_mask(self, number: int) -> int:
        """The state in which all atoms of a predicate hold."""
        arity = self.families.vocabulary.predicates[number].arity
        atoms: int = self._size**arity
        return ((1 << atoms) - 1) << self._first_bit[number]

    def state(self, rows: Iterable[Row]) -> int:
        """The state in which these atoms hold."""
        return sum(map(self.bit, rows))

    def rows(self, state: int) -> list[Row]:
        """The atoms that hold in a state, ascending."""
        rows = []
        while state:
            lowest = state & -state
            rows.append(self._row_of(lowest.bit_length() - 1))
            state ^= lowest
        return sorted(rows)

    @cached_property
    def _rows_by_bit(self) -> dict[int, Row]:
        return {}

    def _row_of(self, bit: int) -> Row:
        if bit not in self._rows_by_bit:
            number = max((n for n, first in self._first_bit.items() if first <= bit), key=self._first_bit.get)  # type: ignore[arg-type]
            place, objects = bit - self._first_bit[number], []
            for _ in range(self.families.vocabulary.predicates[number].arity):
                place, x = divmod(place, self._size)
                objects.append(x)
            self._rows_by_bit[bit] = (number, *reversed(objects))
        return self._rows_by_bit[bit]

    @cached_property
    def starts(self) -> list[int]:
        """The initial states."""
        return [self.state(start) for start in self.family.starts]

    @cached_property
    def _goal(self) -> tuple[int, int, bool]:
        """Positive atoms, negated atoms, and whether the static literals of the goal hold."""
        words = self.families.vocabulary
        wanted = unwanted = 0
        possible = True
        for row in self.family.fixed:
            predicate = words.predicates[row[0]]
            if predicate.role == "goal":
                base = (words.index(predicate.base), *row[1:])
                if base[0] not in self._first_bit:
                    possible &= (base in self.family.fixed) != predicate.wants_absence
                elif predicate.wants_absence:
                    unwanted |= self.bit(base)
                else:
                    wanted |= self.bit(base)
        return wanted, unwanted, possible

    @property
    def goal_atoms(self) -> int:
        """The state in which all atoms of the goal hold, negated ones included."""
        return self._goal[0] | self._goal[1]

    def is_goal(self, state: int) -> bool:
        """Whether a state satisfies the goal."""
        wanted, unwanted, possible = self._goal
        return possible and state & wanted == wanted and not state & unwanted

    def successors(self, state: int) -> list[int]:
        """The successors of a state, one for each applicable action."""
        return [
            action.apply(state)
            for action in self.actions
            if state & action.needs == action.needs and not state & action.forbids
        ]

    @cached_property
    def actions(self) -> list[GroundAction]:
        """All ground actions whose static conditions hold."""
        actions = []
        for schema in self.families.schemas:
            for binding in self._bindings(schema.condition, {}):
                effects = tuple(
                    GroundEffect(
                        *self._masks(change.condition.fluent, inner), *self._masks(change.literals, inner)
                    )
                    for change in schema.changes
                    for inner in self._bindings(change.condition, binding)
                )
                actions.append(GroundAction(*self._masks(schema.condition.fluent, binding), effects))
        return actions

    def _masks(self, literals: Iterable[Literal], binding: Binding) -> tuple[int, int]:
        """The positive and the negative atoms among literals."""
        holds = fails = 0
        for literal in literals:
            bit = self.bit((self.families.number[literal.name], *self._objects(literal, binding)))
            if literal.holds:
                holds |= bit
            else:
                fails |= bit
        return holds, fails

    def _bindings(self, condition: Condition, outer: Binding) -> Iterator[Binding]:
        """All bindings of a condition's variables under which its static part holds."""
        if not condition.variables and not condition.static:
            yield outer
            return
        bindings = [outer]
        for literal in condition.static:
            if literal.holds and literal.name != "=":
                facts = self._static_facts.get(literal.name, ())
                bindings = list(self._extended(bindings, literal, facts))
        others = [one for one in condition.static if not one.holds or one.name == "="]
        for partial in bindings:
            free = [name for name in condition.variables if name not in partial]
            if not free and not others:
                yield partial
                continue
            for objects in product(range(self._size), repeat=len(free)):
                binding = {**partial, **dict(zip(free, objects, strict=True))}
                if all(self._static_holds(literal, binding) for literal in others):
                    yield binding

    def _extended(
        self, bindings: Iterable[Binding], literal: Literal, facts: Collection[tuple[int, ...]]
    ) -> Iterator[Binding]:
        """The extensions of bindings that make a literal one of the facts."""
        for old in bindings:
            if all(term in old or not term.startswith("?") for term in literal.terms):
                if self._objects(literal, old) in facts:
                    yield old
                continue
            for fact in facts:
                new = dict(old)
                pairs = zip(literal.terms, fact, strict=True)
                if all(
                    (new.setdefault(t, x) if t.startswith("?") else self._constant(t)) == x for t, x in pairs
                ):
                    yield new

    def _static_holds(self, literal: Literal, binding: Binding) -> bool:
        arguments = self._objects(literal, binding)
        if literal.name == "=":
            return (arguments[0] == arguments[1]) == literal.holds
        return (arguments in self._static_facts.get(literal.name, ())) == literal.holds

    @cached_property
    def _static_facts(self) -> dict[str, set[tuple[int, ...]]]:
        facts: dict[str, set[tuple[int, ...]]] = {}
        for number, *arguments in self.family.fixed:
            predicate = self.families.vocabulary.predicates[number]
            if predicate.role in ("state", "nullary", "type"):
                facts.setdefault(predicate.name, set()).add(tuple(arguments))
        return facts

    def _objects(self, literal: Literal, binding: Binding) -> tuple[int, ...]:
        return tuple([binding[t] if t in binding else self._constant(t) for t in literal.terms])

    def _constant(self, name: str) -> int:
        return self.family.objects.index(name)
