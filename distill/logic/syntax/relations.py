"""Relations between two objects: the parameters of modals."""

from typing import Any, Self

from distill.common import InputError
from distill.logic.syntax.nodes import MAX_ARGUMENT, Fragment, Node, checked_name, flattened


class Relation(Node):
    """A relation between two objects: the parameter of a modal."""

    __slots__ = ("guarded",)
    guarded: bool  # whether related objects are linked by an atom (or equal)

    def inverse(self) -> "Relation":
        """The inverse relation."""
        found: dict[Node, Relation] = {}
        for part in self.walk():
            found[part] = part._inverted([found[one] for one in part.parts])  # type: ignore[attr-defined]
        return found[self]

    def _inverted(self, parts: list[Any]) -> "Relation":
        """The inverse relation, given the inverses of its parts."""
        return self

    @classmethod
    def _more(cls, fields: tuple[Any, ...]) -> dict[str, Any]:
        return {"guarded": cls._guards(fields)}

    @classmethod
    def _guards(cls, fields: tuple[Any, ...]) -> bool:
        return False


class Identity(Relation):
    """The identity: every object with itself."""

    __slots__ = ()
    kind = "id"

    @classmethod
    def _guards(cls, fields: tuple[Any, ...]) -> bool:
        return True


class Everything(Relation):
    """Every pair of objects of a state."""

    __slots__ = ()
    kind = "all"


class Role(Relation):
    """The atoms of a predicate, from one argument to another: A_R, A_Rᵀ, or two of several arguments."""

    __slots__ = ()
    kind = "role"
    accepts = (str, int, int)

    def __new__(cls, name: str, source: int = 0, target: int = 1) -> Self:
        checked_name(name)
        if isinstance(source, bool) or isinstance(target, bool):
            raise TypeError("an argument is given by its number")
        if source == target or min(source, target) < 0:
            raise InputError(f"{name}[{source},{target}] must name two different arguments, from 0 on.")
        if max(source, target) > MAX_ARGUMENT:
            raise InputError(f"{name} must name arguments whose numbers are at most {MAX_ARGUMENT:,}.")
        return super().__new__(cls, name, source, target)

    @classmethod
    def _guards(cls, fields: tuple[Any, ...]) -> bool:
        return True

    def _inverted(self, parts: list[Any]) -> "Relation":
        name, source, target = self.fields
        return Role(name, target, source)

    @classmethod
    def _fragment(cls, fields: tuple[Any, ...], parts: list[Node]) -> Fragment:
        return Fragment.GC2 if max(fields[1:]) == 1 else Fragment.BEYOND


class RelationNot(Relation):
    """The complement: all other pairs of a state."""

    __slots__ = ()
    kind = "rnot"
    accepts = (Relation,)

    def __new__(cls, relation: Relation) -> Self:
        if isinstance(relation, RelationNot):
            return relation.fields[0]  # type: ignore[no-any-return]
        return super().__new__(cls, relation)

    def _inverted(self, parts: list[Any]) -> Relation:
        return RelationNot(*parts)


class _RelationMany(Relation):
    __slots__ = ()
    accepts = (Relation,)
    variadic = True

    def __new__(cls, *relations: Relation) -> Self:
        flat = flattened(cls, relations)
        return flat[0] if len(flat) == 1 else super().__new__(cls, *flat)

    def _inverted(self, parts: list[Any]) -> Relation:
        return type(self)(*parts)

    @classmethod
    def _size(cls, fields: tuple[Any, ...], parts: list[Node]) -> int:
        return len(parts) - 1 + sum(part.size for part in parts)


class RelationAnd(_RelationMany):
    """The intersection of relations."""

    __slots__ = ()
    kind = "rand"

    @classmethod
    def _guards(cls, fields: tuple[Any, ...]) -> bool:
        return any(part.guarded for part in fields)


class RelationOr(_RelationMany):
    """The union of relations."""

    __slots__ = ()
    kind = "ror"

    @classmethod
    def _guards(cls, fields: tuple[Any, ...]) -> bool:
        return all(part.guarded for part in fields)


class Closure(Relation):
    """The transitive closure: one or more steps along a relation, also none if `reflexive`."""

    __slots__ = ()
    kind = "closure"
    accepts = (Relation, bool)

    def __new__(cls, relation: Relation, reflexive: bool = False) -> Self:
        return super().__new__(cls, relation, bool(reflexive))

    def _inverted(self, parts: list[Any]) -> Relation:
        return Closure(parts[0], self.fields[1])

    @classmethod
    def _guards(cls, fields: tuple[Any, ...]) -> bool:
        return bool(fields[0].guarded)

    @classmethod
    def _fragment(cls, fields: tuple[Any, ...], parts: list[Node]) -> Fragment:
        return Fragment.BEYOND
