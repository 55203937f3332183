"""Immutable, hash-consed nodes: equal nodes are the same object.

Shared parts are stored once, and comparing two formulas takes constant time. Nothing here recurses: what
depends on all parts of a node is computed from the values of its direct parts when the node is made.
"""

import hashlib
from collections.abc import Iterable, Iterator
from enum import IntEnum
from operator import attrgetter
from typing import Any, ClassVar, Self
from weakref import WeakValueDictionary

from distill.common import InputError


class Fragment(IntEnum):
    """Fragments of logic; each contains the one before."""

    GC2 = 0  # guarded C2: what a relational GNN sees of an object
    C2 = 1  # first-order logic with two variables and counting
    BEYOND = 2  # closures, distances, products, relations of three and more arguments


MAX_PARTS = 1_000_000
"""Number of parts, at most, that a formula from a file or a user is made of: nodes and their operands."""
MAX_LEVELS = 10_000
"""Number of nodes, at most, that contain each other in such a formula."""
MOST_STEPS = 1_000
"""The largest bound of a bounded form; longer chains nest too deeply to be read back."""
MAX_NAME = 250
"""Number of characters of a predicate's name, at most."""
MAX_THRESHOLD = 10**9 - 1
"""Largest threshold of a modal or a comparison."""
MAX_ARGUMENT = 10**9 - 1
"""Largest number of an argument of a relation."""
_MOST_SYMBOLS = 10**100  # larger sizes are not exact: exact numbers would take most of the memory

_known: "WeakValueDictionary[tuple[Any, ...], Node]" = WeakValueDictionary()
_HEAD = 80


class Node:
    """A formula or a part of one.

    Attributes
    ----------
    fields : names, numbers and other nodes.
    size : number of symbols when written out.
    depth : number of nested modals.
    height : number of nodes that contain each other, besides itself.
    order : key of the canonical order: by size, then by text.
    fragment : the smallest fragment that contains it.
    """

    __slots__ = ("__weakref__", "_digest", "_head", "depth", "fields", "fragment", "height", "order", "size")
    kind: ClassVar[str] = ""
    accepts: ClassVar[tuple[Any, ...]] = ()  # the types of its fields
    variadic: ClassVar[bool] = False  # whether there may be any number of them
    fields: tuple[Any, ...]
    _digest: bytes
    _head: str
    size: int
    depth: int
    height: int
    order: tuple[int, str, bytes]
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
            head = f"{cls.kind}({' '.join(heads)})"[:_HEAD]
            height = 1 + max([part.height for part in parts], default=-1)
            # Even such sizes grow from parts to wholes.
            size = min(cls._size(fields, parts), _MOST_SYMBOLS + height)
            found._fill(
                fields=fields,
                _digest=digest,
                _head=head,
                size=size,
                order=(size, head, digest),
                depth=cls._depth(parts),
                height=height,
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

    def __lt__(self, other: "Node") -> bool:
        return self.order < other.order

    def walk(self) -> Iterator["Node"]:
        """All nodes it contains, each once, parts first."""
        return walk((self,))

    def __repr__(self) -> str:
        from distill.logic.notation.writer import LARGEST, write

        return write(self) if self.size <= LARGEST else f"a formula of {self.size:,} symbols"

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


def walk(formulas: Iterable[Node]) -> Iterator[Node]:
    """All nodes that some formulas contain, each once, parts first.

    Examples
    --------
    >>> from distill.logic import parse
    >>> list(walk([parse("a & b"), parse("#(a & b)"), parse("~b")]))
    [a, b, a & b, #(a & b), ~b]
    """
    seen: set[Node] = set()
    todo = [(formula, False) for formula in reversed(list(formulas))]
    while todo:
        node, done = todo.pop()
        if done:
            yield node
        elif node not in seen:
            seen.add(node)
            todo.append((node, True))
            todo += [(part, False) for part in reversed(node.parts)]


def flattened(cls: type[Node], operands: Iterable[Any]) -> list[Any]:
    """The operands without nesting and repetition, in canonical order."""
    flat = {part: None for one in operands for part in (one.fields if isinstance(one, cls) else (one,))}
    if not flat:
        raise InputError(f"{cls.__name__} needs at least one operand.")
    return sorted(flat, key=attrgetter("order"))


class PartCount:
    """Counts the parts of a formula while it is read; too many parts or levels raise an error.

    Examples
    --------
    >>> from distill.logic import parse
    >>> counted = PartCount()
    >>> counted.add(parse("a & b"))
    >>> counted.parts
    3
    """

    def __init__(self) -> None:
        self.parts = 0

    def visit(self, parts: int) -> None:
        """Count parts that are visited to make others."""
        self.parts += parts
        if self.parts > MAX_PARTS:
            raise InputError(
                f"The formula has more than {MAX_PARTS:,} parts, which is the limit; give a smaller one."
            )

    def add(self, node: Node) -> None:
        """Count a new node with its operands."""
        self.visit(1 + len(node.parts))
        if node.height > MAX_LEVELS:
            raise InputError(
                f"The formula is nested in more than {MAX_LEVELS:,} levels, which is the limit; give a "
                "flatter one."
            )


def checked_threshold(threshold: int) -> int:
    """The threshold of a modal or a comparison."""
    if isinstance(threshold, bool):
        raise TypeError("a threshold is a number")
    if not 0 <= threshold <= MAX_THRESHOLD:
        raise InputError(
            f"A threshold must be at least 0{'' if threshold < 0 else f' and at most {MAX_THRESHOLD:,}'}, "
            f"not {threshold}."
        )
    return threshold


def checked_name(name: str) -> str:
    """The name of a predicate; it must be printable, so that it can be written on one line.

    Examples
    --------
    >>> checked_name("at-robby")
    'at-robby'
    >>> checked_name("a\\nb")
    Traceback (most recent call last):
        ...
    distill.common.errors.InputError: 'a\\nb' cannot be the name of a predicate: it is not printable.
    """
    if not name or len(name) > MAX_NAME:
        raise InputError(
            f"A name of {len(name):,} characters cannot be the name of a predicate; take 1 to {MAX_NAME}."
        )
    if not name.isprintable():
        raise InputError(f"{name!r} cannot be the name of a predicate: it is not printable.")
    return name
