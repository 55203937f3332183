"""Immutable, hash-consed nodes: equal nodes are the same object.

Shared parts are stored once, and comparing two formulas takes constant time. Nothing here recurses, so the
depth of a formula is limited by memory only.
"""

import hashlib
from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Any, ClassVar, Self
from weakref import WeakValueDictionary

from distill.common import InputError


class Fragment(IntEnum):
    """Fragments of logic; each contains the one before."""

    GC2 = 0  # guarded C2: what a relational GNN sees of an object
    C2 = 1  # first-order logic with two variables and counting
    BEYOND = 2  # closures, distances, products, relations of three and more arguments


_known: "WeakValueDictionary[tuple[Any, ...], Node]" = WeakValueDictionary()
_HEAD = 80


class Node:
    """A formula or a part of one.

    Attributes
    ----------
    fields : names, numbers and other nodes.
    size : number of symbols when written out.
    depth : number of nested modals.
    fragment : the smallest fragment that contains it.
    """

    __slots__ = ("__weakref__", "_digest", "_head", "depth", "fields", "fragment", "size")
    kind: ClassVar[str] = ""
    accepts: ClassVar[tuple[Any, ...]] = ()  # the types of its fields
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
            raise TypeError(f"{cls.kind} takes {', '.join(map(str, cls.accepts))}")
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
                **cls._more(fields),
            )
            _known[key] = found
        return found  # type: ignore[return-value]

    def _fill(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("formulas cannot be changed")

    def __reduce__(self) -> Any:
        from distill.logic.notation.storage import from_json, to_json

        return from_json, (to_json(self),)

    @property
    def parts(self) -> tuple["Node", ...]:
        """The nodes among its fields."""
        return tuple(field for field in self.fields if isinstance(field, Node))

    @property
    def order(self) -> tuple[int, str, bytes]:
        """Key of the canonical order: by size, then by text."""
        return self.size, self._head, self._digest

    def __lt__(self, other: "Node") -> bool:
        return self.order < other.order

    def walk(self) -> "Iterator[Node]":
        """All nodes it contains, each once, parts first."""
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
        from distill.logic.notation.writer import write

        return write(self)

    @classmethod
    def _size(cls, fields: tuple[Any, ...], parts: list["Node"]) -> int:
        return 1 + sum(part.size for part in parts)

    @classmethod
    def _depth(cls, parts: list["Node"]) -> int:
        return max((part.depth for part in parts), default=0)

    @classmethod
    def _more(cls, fields: tuple[Any, ...]) -> dict[str, Any]:
        """Further attributes, computed once when a node is made, so that deep formulas need no recursion."""
        return {}

    @classmethod
    def _fragment(cls, fields: tuple[Any, ...], parts: list["Node"]) -> Fragment:
        return max((part.fragment for part in parts), default=Fragment.GC2)


def flattened(cls: type[Node], operands: Iterable[Any]) -> list[Any]:
    """The operands without nesting and repetition, in canonical order."""
    flat = {part: None for one in operands for part in (one.fields if isinstance(one, cls) else (one,))}
    if not flat:
        raise InputError(f"{cls.__name__} needs at least one operand.")
    return sorted(flat)
