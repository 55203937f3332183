"""Ground actions on states that are whole numbers: bit by bit, which atoms hold.

The bit of an atom follows from its predicate and the places of its objects alone, so scenes that have
their objects in the same order number their atoms alike.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from distill.planning.scenes import Row, Scene, Scenes
from distill.planning.schemas import Condition, Literal

Binding = dict[str, int]


@dataclass(frozen=True)
class Effect:
    """What an action adds and deletes, if some atoms hold and others do not."""

    needs: int
    forbids: int
    adds: int
    deletes: int


@dataclass(frozen=True)
class Action:
    """A ground action: the atoms that must hold, those that must not, and its effects."""

    needs: int
    forbids: int
    effects: tuple[Effect, ...]

    def apply(self, state: int) -> int:
        """The next state; what is added and deleted at once holds."""
        adds = deletes = 0
        for effect in self.effects:
            if state & effect.needs == effect.needs and not state & effect.forbids:
                adds |= effect.adds
                deletes |= effect.deletes
        return (state & ~deletes) | adds


@dataclass(frozen=True, eq=False)
class Task:
    """The ground actions and the goal of a scene.

    Attributes
    ----------
    scenes : how its atoms are to be read.
    scene : the scene.

    Examples
    --------
    >>> from distill.planning import Instance, problem_class
    >>> instance = problem_class("blocks-clear").make("train")[0]
    >>> scenes = Scenes(instance.domain)
    >>> task = Task(scenes, scenes.of_instance(instance))
    >>> [begin] = task.starts
    >>> len(task.actions), len(set(task.successors(begin))), task.is_goal(begin)
    (12, 1, False)
    """

    scenes: Scenes
    scene: Scene

    @cached_property
    def _first_bit(self) -> Mapping[int, int]:
        """Where the atoms of each predicate that changes begin."""
        found, bit = {}, 0
        for number in self.scenes.fluent:
            found[number] = bit
            bit += self._size ** self.scenes.vocabulary.predicates[number].arity
        return found

    @cached_property
    def _size(self) -> int:
        return len(self.scene.objects)

    def bit(self, row: Row) -> int:
        """The state in which only this atom holds."""
        place, size = 0, self._size
        for x in row[1:]:
            place = place * size + x
        return 1 << (self._first_bit[row[0]] + place)

    def predicate_mask(self, number: int) -> int:
        """The state in which all atoms of a predicate hold."""
        arity = self.scenes.vocabulary.predicates[number].arity
        atoms: int = self._size**arity
        return ((1 << atoms) - 1) << self._first_bit[number]

    def state(self, rows: Iterable[Row]) -> int:
        """The state in which these atoms hold."""
        return sum(map(self.bit, rows))

    def rows(self, state: int) -> list[Row]:
        """The atoms that hold in a state, ascending."""
        found = []
        while state:
            lowest = state & -state
            found.append(self._row_of(lowest.bit_length() - 1))
            state ^= lowest
        return sorted(found)

    @cached_property
    def _rows_by_bit(self) -> dict[int, Row]:
        return {}

    def _row_of(self, bit: int) -> Row:
        if bit not in self._rows_by_bit:
            number = max((n for n, first in self._first_bit.items() if first <= bit), key=self._first_bit.get)  # type: ignore[arg-type]
            place, objects = bit - self._first_bit[number], []
            for _ in range(self.scenes.vocabulary.predicates[number].arity):
                place, x = divmod(place, self._size)
                objects.append(x)
            self._rows_by_bit[bit] = (number, *reversed(objects))
        return self._rows_by_bit[bit]

    @cached_property
    def starts(self) -> list[int]:
        """The initial states."""
        return [self.state(start) for start in self.scene.starts]

    @cached_property
    def _goal(self) -> tuple[int, int, bool]:
        """Atoms that shall hold, atoms that shall not, and whether the goal's static atoms are as wanted."""
        words = self.scenes.vocabulary
        wanted = unwanted = 0
        possible = True
        for row in self.scene.fixed:
            predicate = words.predicates[row[0]]
            if predicate.role == "goal":
                base = (words.index(predicate.base), *row[1:])
                if base[0] not in self._first_bit:
                    possible &= (base in self.scene.fixed) != predicate.wants_absence
                elif predicate.wants_absence:
                    unwanted |= self.bit(base)
                else:
                    wanted |= self.bit(base)
        return wanted, unwanted, possible

    @property
    def goal_atoms(self) -> int:
        """The state in which all atoms hold that the goal speaks of."""
        return self._goal[0] | self._goal[1]

    def is_goal(self, state: int) -> bool:
        """Whether a state satisfies the goal."""
        wanted, unwanted, possible = self._goal
        return possible and state & wanted == wanted and not state & unwanted

    def successors(self, state: int) -> list[int]:
        """The states that applicable actions lead to, one for each action."""
        return [
            action.apply(state)
            for action in self.actions
            if state & action.needs == action.needs and not state & action.forbids
        ]

    @cached_property
    def actions(self) -> list[Action]:
        """All ground actions whose static conditions hold."""
        found = []
        for schema in self.scenes.schemas:
            for binding in self._bindings(schema.condition, {}):
                effects = tuple(
                    Effect(*self._masks(change.condition.fluent, inner), *self._masks(change.literals, inner))
                    for change in schema.changes
                    for inner in self._bindings(change.condition, binding)
                )
                found.append(Action(*self._masks(schema.condition.fluent, binding), effects))
        return found

    def _masks(self, literals: Iterable[Literal], binding: Binding) -> tuple[int, int]:
        """The positive and the negative atoms among literals."""
        holds = fails = 0
        for literal in literals:
            bit = self.bit((self.scenes.number[literal.name], *self._objects(literal, binding)))
            if literal.holds:
                holds |= bit
            else:
                fails |= bit
        return holds, fails

    def _bindings(self, condition: Condition, outer: Binding) -> Iterator[Binding]:
        """All ways to bind a condition's variables so that its static part holds."""
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
        """The bindings that make a literal one of the facts, with what that binds."""
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
        for number, *arguments in self.scene.fixed:
            predicate = self.scenes.vocabulary.predicates[number]
            if predicate.role in ("state", "nullary", "type"):
                facts.setdefault(predicate.name, set()).add(tuple(arguments))
        return facts

    def _objects(self, literal: Literal, binding: Binding) -> tuple[int, ...]:
        return tuple([binding[t] if t in binding else self._constant(t) for t in literal.terms])

    def _constant(self, name: str) -> int:
        return self.scene.objects.index(name)
