"""Relations between two objects: the parameters of modals."""

from typing import Any, Self

from distill.errors import InputError
from distill.logic.nodes import Fragment, Node, flattened


class Relation(Node):
    """A relation between two objects: the parameter of a modal."""

    __slots__ = ()

    @property
    def guarded(self) -> bool:
        """Whether related objects are linked by an atom (or equal)."""
        return False

    def inverse(self) -> "Relation":
        """The relation read backwards."""
        return self


class Identity(Relation):
    """Every object and itself."""

    __slots__ = ()
    kind = "id"

    @property
    def guarded(self) -> bool:
        """An object is linked to itself."""
        return True


class Everything(Relation):
    """Every pair of objects of a state."""

    __slots__ = ()
    kind = "all"


class Role(Relation):
    """The atoms of a predicate, from one argument to another: A_R, A_Rᵀ, or a pair of places of more."""

    __slots__ = ()
    kind = "role"
    accepts = (str, int, int)

    def __new__(cls, name: str, source: int = 0, target: int = 1) -> Self:
        if source == target or min(source, target) < 0:
            raise InputError(f"{name}[{source},{target}] must name two different arguments, from 0 on.")
        return super().__new__(cls, name, source, target)

    @property
    def guarded(self) -> bool:
        """An atom links them."""
        return True

    def inverse(self) -> "Role":
        """From the other argument."""
        name, source, target = self.fields
        return Role(name, target, source)

    @classmethod
    def _fragment(cls, fields: tuple[Any, ...], parts: list[Node]) -> Fragment:
        return Fragment.GC2 if max(fields[1:]) == 1 else Fragment.BEYOND


class RelationNot(Relation):
    """All pairs but these."""

    __slots__ = ()
    kind = "rnot"
    accepts = (Relation,)

    def __new__(cls, relation: Relation) -> Self:
        if isinstance(relation, RelationNot):
            return relation.fields[0]  # type: ignore[no-any-return]
        return super().__new__(cls, relation)

    def inverse(self) -> Relation:
        """Of what it denies."""
        return RelationNot(self.fields[0].inverse())


class _RelationMany(Relation):
    __slots__ = ()
    accepts = (Relation,)
    variadic = True

    def __new__(cls, *relations: Relation) -> Self:
        flat = flattened(cls, relations)
        return flat[0] if len(flat) == 1 else super().__new__(cls, *flat)

    def inverse(self) -> Relation:
        """Of every part."""
        return type(self)(*(part.inverse() for part in self.fields))

    @classmethod
    def _size(cls, fields: tuple[Any, ...], parts: list[Node]) -> int:
        return len(parts) - 1 + sum(part.size for part in parts)


class RelationAnd(_RelationMany):
    """Pairs that stand in all of several relations."""

    __slots__ = ()
    kind = "rand"

    @property
    def guarded(self) -> bool:
        """One guard is enough."""
        return any(part.guarded for part in self.fields)


class RelationOr(_RelationMany):
    """Pairs that stand in one of several relations."""

    __slots__ = ()
    kind = "ror"

    @property
    def guarded(self) -> bool:
        """Each needs a guard."""
        return all(part.guarded for part in self.fields)


class Closure(Relation):
    """One or more steps along a relation; no step as well if `reflexive`."""

    __slots__ = ()
    kind = "closure"
    accepts = (Relation, bool)

    def __new__(cls, relation: Relation, reflexive: bool = False) -> Self:
        return super().__new__(cls, relation, bool(reflexive))

    def inverse(self) -> Relation:
        """The same steps backwards."""
        return Closure(self.fields[0].inverse(), self.fields[1])

    @property
    def guarded(self) -> bool:
        """If its steps are."""
        return bool(self.fields[0].guarded)

    @classmethod
    def _fragment(cls, fields: tuple[Any, ...], parts: list[Node]) -> Fragment:
        return Fragment.BEYOND
