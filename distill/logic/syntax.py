"""Formulas: what holds of an object, what a state has, and value functions made of that.

Nodes are immutable, and equal ones are the same object (hash-consed), so that formulas which nest each other
stay small in memory and are compared at once. Operands of ∧ and ∨ are flat, distinct and in a fixed order.
Nothing here recurses: formulas may be nested as deeply as memory allows.
"""

import hashlib
from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Any, ClassVar, Self
from weakref import WeakValueDictionary

from distill.errors import InputError


class Fragment(IntEnum):
    """What a formula belongs to, each containing the one before."""

    GC2 = 0  # guarded C2: what a relational GNN sees of an object
    C2 = 1  # first-order logic with two variables and counting
    BEYOND = 2  # closures, distances, products, relations of three and more arguments


_known: "WeakValueDictionary[tuple[Any, ...], Node]" = WeakValueDictionary()
_HEAD = 80


class Node:
    """A part of a formula.

    Attributes
    ----------
    fields : what it is made of: names, numbers and other nodes.
    size : symbols when written out.
    depth : how deeply modals are nested.
    fragment : the smallest fragment it belongs to.
    """

    __slots__ = ("__weakref__", "_digest", "_head", "depth", "fields", "fragment", "size")
    kind: ClassVar[str] = ""
    accepts: ClassVar[tuple[type, ...]] = ()  # the types of its fields
    variadic: ClassVar[bool] = False  # whether there may be any number of them
    fields: tuple[Any, ...]
    _digest: bytes
    _head: str
    size: int
    depth: int
    fragment: Fragment

    def __new__(cls, *fields: Any) -> Self:
        expected = cls.accepts * (len(fields) if cls.variadic else 1)
        if len(fields) != len(expected) or not all(map(isinstance, fields, expected)):
            raise TypeError(f"{cls.kind} takes {', '.join(kind.__name__ for kind in cls.accepts)}")
        key = (cls, *fields)
        found = _known.get(key)
        if found is None:
            found = object.__new__(cls)
            parts = [field for field in fields if isinstance(field, Node)]
            texts = [f._digest if isinstance(f, Node) else repr(f).encode() for f in fields]
            digest = hashlib.blake2b(b"\x00".join([cls.kind.encode(), *texts]), digest_size=16).digest()
            heads = [f._head if isinstance(f, Node) else str(f) for f in fields]
            found._fill(
                fields=fields,
                _digest=digest,
                _head=f"{cls.kind}({' '.join(heads)})"[:_HEAD],
                size=cls._size(fields, parts),
                depth=cls._depth(parts),
                fragment=cls._fragment(fields, parts),
            )
            _known[key] = found
        return found  # type: ignore[return-value]

    def _fill(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("formulas cannot be changed")

    def __reduce__(self) -> Any:
        from distill.logic.storage import from_json, to_json

        return from_json, (to_json(self),)

    @property
    def parts(self) -> tuple["Node", ...]:
        """The nodes it is made of."""
        return tuple(field for field in self.fields if isinstance(field, Node))

    @property
    def order(self) -> tuple[int, str, bytes]:
        """The canonical order: small ones first, then by how they begin."""
        return self.size, self._head, self._digest

    def __lt__(self, other: "Node") -> bool:
        return self.order < other.order

    def walk(self) -> "Iterator[Node]":
        """All nodes it contains, each once, parts before what they are part of."""
        seen: set[Node] = set()
        todo: list[tuple[Node, bool]] = [(self, False)]
        while todo:
            node, done = todo.pop()
            if done:
                yield node
            elif node not in seen:
                seen.add(node)
                todo.append((node, True))
                todo += [(part, False) for part in reversed(node.parts)]

    def __repr__(self) -> str:
        from distill.logic.ascii import write

        return write(self)

    @classmethod
    def _size(cls, fields: tuple[Any, ...], parts: list["Node"]) -> int:
        return 1 + sum(part.size for part in parts)

    @classmethod
    def _depth(cls, parts: list["Node"]) -> int:
        return max((part.depth for part in parts), default=0)

    @classmethod
    def _fragment(cls, fields: tuple[Any, ...], parts: list["Node"]) -> Fragment:
        return max((part.fragment for part in parts), default=Fragment.GC2)


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
        flat = _flattened(cls, relations)
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


class Truth(Node):
    """What is true or false, of an object or of a state."""

    __slots__ = ()
    of_state: bool = False

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


class Not(Truth):
    """What does not hold."""

    __slots__ = ()
    kind = "not"
    accepts = (Truth,)

    @property
    def of_state(self) -> bool:  # type: ignore[override]
        """As what it denies."""
        return bool(self.fields[0].of_state)


class _Many(Truth):
    __slots__ = ()
    accepts = (Truth,)
    variadic = True

    def __new__(cls, *operands: Truth) -> Self:
        flat = _flattened(cls, operands)
        if len({part.of_state for part in flat}) > 1:
            raise InputError("A formula about objects and one about states cannot be joined; count objects.")
        return flat[0] if len(flat) == 1 else super().__new__(cls, *flat)

    @property
    def of_state(self) -> bool:  # type: ignore[override]
        """As its operands."""
        return bool(self.fields[0].of_state)

    @classmethod
    def _size(cls, fields: tuple[Any, ...], parts: list[Node]) -> int:
        return len(parts) - 1 + sum(part.size for part in parts)


class And(_Many):
    """All hold."""

    __slots__ = ()
    kind = "and"


class Or(_Many):
    """At least one holds."""

    __slots__ = ()
    kind = "or"


class Modal(Truth):
    """S φ > t: more than t objects with φ stand in relation S to this one.

    For a predicate of three and more arguments, it is atoms that are counted.
    """

    __slots__ = ()
    kind = "modal"
    accepts = (Relation, Truth, int)

    def __new__(cls, relation: Relation, operand: Truth, threshold: int = 0) -> Self:
        if threshold < 0:
            raise InputError(f"A threshold must be at least 0, not {threshold}.")
        if operand.of_state:
            raise InputError("A modal speaks about objects; what it counts cannot be about states.")
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


class Number(Node):
    """What a state has: a number."""

    __slots__ = ()


class Count(Number):
    """#φ: how many objects of the state have φ."""

    __slots__ = ()
    kind = "count"
    accepts = (Truth,)

    def __new__(cls, operand: Truth) -> Self:
        if operand.of_state:
            raise InputError("Only objects can be counted; the formula is about states.")
        return super().__new__(cls, operand)

    @classmethod
    def _fragment(cls, fields: tuple[Any, ...], parts: list[Node]) -> Fragment:
        return max(Fragment.C2, parts[0].fragment)


class Compare(Truth):
    """[n > t]: the state has more than t."""

    __slots__ = ()
    kind = "compare"
    accepts = (Number, int)
    of_state = True

    def __new__(cls, number: Number, threshold: int = 0) -> Self:
        if threshold < 0:
            raise InputError(f"A threshold must be at least 0, not {threshold}.")
        return super().__new__(cls, number, threshold)


class Indicator(Number):
    """1 if something is true of the state, 0 if not."""

    __slots__ = ()
    kind = "indicator"
    accepts = (Truth,)

    def __new__(cls, operand: Truth) -> Self:
        if not operand.of_state:
            raise InputError("What is true of objects is no number of a state; count it with #.")
        return super().__new__(cls, operand)

    @classmethod
    def _size(cls, fields: tuple[Any, ...], parts: list[Node]) -> int:
        return parts[0].size


class Product(Number):
    """Numbers multiplied."""

    __slots__ = ()
    kind = "product"
    accepts = (Number,)
    variadic = True

    def __new__(cls, *numbers: Number) -> Self:
        # Squares are no repetition, so equal factors stay.
        flat = sorted(f for n in numbers for f in (n.fields if isinstance(n, Product) else (n,)))
        return flat[0] if len(flat) == 1 else super().__new__(cls, *flat)

    @classmethod
    def _size(cls, fields: tuple[Any, ...], parts: list[Node]) -> int:
        return len(parts) - 1 + sum(part.size for part in parts)

    @classmethod
    def _fragment(cls, fields: tuple[Any, ...], parts: list[Node]) -> Fragment:
        return Fragment.BEYOND


class Distance(Number):
    """The least number of steps along a relation from an object with φ to one with ψ.

    0 if there is no such object or no way.
    """

    __slots__ = ()
    kind = "dist"
    accepts = (Truth, Relation, Truth)

    @classmethod
    def _fragment(cls, fields: tuple[Any, ...], parts: list[Node]) -> Fragment:
        return Fragment.BEYOND


def _flattened(cls: type[Node], operands: Iterable[Any]) -> list[Any]:
    """The operands without nesting and repetition, in canonical order."""
    flat = {part: None for one in operands for part in (one.fields if isinstance(one, cls) else (one,))}
    if not flat:
        raise InputError(f"{cls.__name__} needs at least one operand.")
    return sorted(flat)


BOTTOM = Not(Top())
NODES: dict[str, type[Node]] = {
    node.kind: node
    for node in (
        Identity,
        Everything,
        Role,
        RelationNot,
        RelationAnd,
        RelationOr,
        Closure,
        Top,
        Atom,
        Not,
        And,
        Or,
        Modal,
        Count,
        Compare,
        Indicator,
        Product,
        Distance,
    )
}
