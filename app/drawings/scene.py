"""The scene: a state for drawings, with names, atoms, goals and highlighted objects."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from app.drawings.layout import VertexLayout
from distill.structures import Structures, Vocabulary

Arguments = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Scene:
    """One state.

    Attributes
    ----------
    names : of the objects.
    atoms : what holds: for each predicate the objects, by their places among the names.
    goals : what shall hold, by the same names.
    unwanted : what shall not hold.
    static : predicates that never change.
    held : the objects that stand out.
    layout : where objects stand in all states of the instance, for drawings that do not know it themselves.
    """

    names: tuple[str, ...]
    atoms: Mapping[str, Sequence[Arguments]]
    goals: Mapping[str, Sequence[Arguments]] = field(default_factory=dict)
    unwanted: Mapping[str, Sequence[Arguments]] = field(default_factory=dict)
    static: frozenset[str] = frozenset()
    held: frozenset[int] = frozenset()
    layout: VertexLayout | None = None

    @staticmethod
    def of(
        structure: Structures,
        names: Sequence[str],
        static: Iterable[str] = (),
        held: Iterable[int] = (),
        layout: VertexLayout | None = None,
    ) -> "Scene":
        """The scene of a structure with one state; goals may be marked or plain."""
        kept: dict[str, dict[str, list[Arguments]]] = {"atoms": {}, "goals": {}, "unwanted": {}}
        for predicate in structure.vocabulary:
            kind = "atoms"
            if predicate.role == "goal":
                kind = "unwanted" if predicate.wants_absence else "goals"
            width = predicate.arity
            rows = [tuple(row[:width]) for row in structure.relations[predicate.name].tolist()]
            kept[kind].setdefault(predicate.base, []).extend(sorted(rows))
        fixed = {p.name for p in structure.vocabulary if p.role in ("type", "constant")}
        return Scene(
            tuple(names),
            **{kind: {name: tuple(rows) for name, rows in found.items()} for kind, found in kept.items()},
            static=frozenset(static) | fixed,
            held=frozenset(int(one) for one in held),
            layout=layout,
        )

    def rows(self, words: "Words") -> list[Arguments]:
        """The atoms of a predicate under any of its names."""
        return words.among(self.atoms)

    def wanted(self, words: "Words") -> list[Arguments]:
        """The goals of a predicate under any of its names."""
        return words.among(self.goals)

    def holds(self, name: str, arguments: Arguments) -> bool:
        """Whether an atom holds."""
        return arguments in self.atoms.get(name, ())


@dataclass(frozen=True)
class Words:
    """The names of a predicate in different domains, and its arity."""

    names: tuple[str, ...]
    arity: int

    def within(self, vocabulary: Vocabulary) -> bool:
        """Whether a vocabulary has the predicate."""
        return any(p.name in self.names and p.arity == self.arity for p in vocabulary)

    def among(self, atoms: Mapping[str, Sequence[Arguments]]) -> list[Arguments]:
        """Its atoms."""
        return [row for name in self.names for row in atoms.get(name, ()) if len(row) == self.arity]
