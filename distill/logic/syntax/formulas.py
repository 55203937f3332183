"""Formulas about objects and states. Operands of ∧ and ∨ are flat, distinct and in a fixed order."""

from typing import Any, Self

from distill.common import InputError
from distill.logic.syntax.nodes import Fragment, Node, checked_name, checked_threshold, flattened
from distill.logic.syntax.relations import Relation


class Truth(Node):
    """A formula: true or false of an object, or of a state."""

    __slots__ = ("of_state",)
    of_state: bool  # whether it is about states, not objects

    @classmethod
    def _more(cls, fields: tuple[Any, ...]) -> dict[str, Any]:
        return {"of_state": cls._about_states(fields)}

    @classmethod
    def _about_states(cls, fields: tuple[Any, ...]) -> bool:
        return False

    def __invert__(self) -> "Truth":
        return Not(self)

    def __and__(self, other: "Truth") -> "Truth":
        return And(self, other)

    def __or__(self, other: "Truth") -> "Truth":
        return Or(self, other)


class Top(Truth):
    """True of every object."""

    __slots__ = ()
    kind = "top"


class Atom(Truth):
    """A unary predicate; a nullary one is true of every object of a state in which it holds."""

    __slots__ = ()
    kind = "atom"
    accepts = (str,)

    def __new__(cls, name: str) -> Self:
        return super().__new__(cls, checked_name(name))


class Not(Truth):
    """Negation."""

    __slots__ = ()
    kind = "not"
    accepts = (Truth,)

    @classmethod
    def _about_states(cls, fields: tuple[Any, ...]) -> bool:
        return bool(fields[0].of_state)


class _Many(Truth):
    __slots__ = ()
    accepts = (Truth,)
    variadic = True

    def __new__(cls, *operands: Truth) -> Self:
        flat = flattened(cls, operands)
        if len({part.of_state for part in flat}) > 1:
            raise InputError("A formula about objects and one about states cannot be joined; count objects.")
        return flat[0] if len(flat) == 1 else super().__new__(cls, *flat)

    @classmethod
    def _about_states(cls, fields: tuple[Any, ...]) -> bool:
        return bool(fields[0].of_state)

    @classmethod
    def _size(cls, fields: tuple[Any, ...], parts: list[Node]) -> int:
        return len(parts) - 1 + sum(part.size for part in parts)


class And(_Many):
    """Conjunction."""

    __slots__ = ()
    kind = "and"


class Or(_Many):
    """Disjunction."""

    __slots__ = ()
    kind = "or"


class Modal(Truth):
    """S φ > t: an object is S-related to more than t objects that satisfy φ.

    For a predicate of three and more arguments, atoms are counted.
    """

    __slots__ = ()
    kind = "modal"
    accepts = (Relation, Truth, int)

    def __new__(cls, relation: Relation, operand: Truth, threshold: int = 0) -> Self:
        checked_threshold(threshold)
        if operand.of_state:
            raise InputError("A modal counts objects; its operand cannot be about states.")
        return super().__new__(cls, relation, operand, threshold)

    @classmethod
    def _size(cls, fields: tuple[Any, ...], parts: list[Node]) -> int:
        return sum(part.size for part in parts) + int(fields[2] > 0)

    @classmethod
    def _depth(cls, parts: list[Node]) -> int:
        return 1 + parts[1].depth

    @classmethod
    def _fragment(cls, fields: tuple[Any, ...], parts: list[Node]) -> Fragment:
        own = Fragment.GC2 if fields[0].guarded else Fragment.C2
        return max(own, *(part.fragment for part in parts))


BOTTOM = Not(Top())
