"""Vocabularies: the predicates of structures."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from distill.common import InputError

ROLES = ("state", "nullary", "goal", "type", "constant")
GOAL, GOAL_ABSENT = "_G", "_nG"
ACHIEVED, MISSING = ",T", ",F"


@dataclass(frozen=True)
class Predicate:
    """A named relation.

    Attributes
    ----------
    name : as written in formulas; goal versions end in `_G`, or `_nG` where the goal is a negated atom.
    arity : the number of arguments in the PDDL; 0 for a nullary predicate.
    role : `state` (fluent, derived or static facts), `nullary`, `goal`, `type`, or `constant`
        (true of one named object only).
    """

    name: str
    arity: int
    role: str = "state"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not isinstance(self.arity, int) or self.arity < 0:
            raise ValueError(f"{self.name!r} with arity {self.arity!r} is no predicate")
        if self.role not in ROLES:
            raise ValueError(f"role {self.role!r} is none of {', '.join(ROLES)}")

    @property
    def base(self) -> str:
        """The predicate of a goal version: `on` for `on_G`; the name itself otherwise."""
        if self.role != "goal":
            return self.name
        return self.name.partition(",")[0].removesuffix(GOAL_ABSENT).removesuffix(GOAL)

    @property
    def wants_absence(self) -> bool:
        """Whether the goal is a negated atom."""
        return self.role == "goal" and self.name.partition(",")[0].endswith(GOAL_ABSENT)


@dataclass(frozen=True)
class Vocabulary:
    """An ordered set of predicates.

    Examples
    --------
    >>> words = Vocabulary([Predicate("on", 2), Predicate("on_G", 2, "goal")])
    >>> words["on_G"].base, words.index("on_G"), len(words)
    ('on', 1, 2)
    """

    predicates: tuple[Predicate, ...]

    def __init__(self, predicates: Iterable[Predicate]) -> None:
        object.__setattr__(self, "predicates", tuple(predicates))
        counts = Counter(predicate.name for predicate in self.predicates)
        if repeated := [name for name, count in counts.items() if count > 1]:
            raise InputError(f"Two predicates have the name {repeated[0]!r}; rename one in the domain.")

    def __iter__(self) -> Iterator[Predicate]:
        return iter(self.predicates)

    def __len__(self) -> int:
        return len(self.predicates)

    def __contains__(self, name: object) -> bool:
        return name in self._numbers

    def __getitem__(self, name: str) -> Predicate:
        return self.predicates[self.index(name)]

    def index(self, name: str) -> int:
        """The position of the predicate `name`."""
        if name not in self._numbers:
            raise InputError(f"There is no predicate {name!r}; choose from {', '.join(self._numbers)}.")
        return self._numbers[name]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {predicate.name: number for number, predicate in enumerate(self.predicates)}

    def marked(self) -> "Vocabulary":
        """Split every goal predicate `p_G` into `p_G,T` (achieved) and `p_G,F` (missing).

        Examples
        --------
        >>> [p.name for p in Vocabulary([Predicate("on_G", 2, "goal")]).marked()]
        ['on_G,T', 'on_G,F']
        """
        split: list[Predicate] = []
        for predicate in self.predicates:
            if predicate.role == "goal":
                names = (predicate.name + ACHIEVED, predicate.name + MISSING)
                split += [Predicate(name, predicate.arity, "goal") for name in names]
            else:
                split.append(predicate)
        return Vocabulary(split)

    @property
    def is_marked(self) -> bool:
        """Whether goals are split into achieved and missing ones."""
        return any(predicate.name.endswith((ACHIEVED, MISSING)) for predicate in self.predicates)

    @staticmethod
    def in_order(predicates: Iterable[Predicate]) -> "Vocabulary":
        """The canonical order: by role, then by name."""
        return Vocabulary(sorted(predicates, key=lambda p: (ROLES.index(p.role), p.name)))

    def to_json(self) -> list[list[Any]]:
        """Plain lists `[name, arity, role]`, for storage."""
        return [[predicate.name, predicate.arity, predicate.role] for predicate in self.predicates]

    @staticmethod
    def from_json(rows: list[list[Any]]) -> "Vocabulary":
        """Undo `to_json`."""
        return Vocabulary(Predicate(name, arity, role) for name, arity, role in rows)
