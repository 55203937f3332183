"""The parts of a value function whose names make its text shorter."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from distill.common import InputError
from distill.logic.notation.writer import ASCII, LARGEST, WRITERS, Writer
from distill.logic.syntax.features import Constant, Count, Indicator, Number, Scaled, Sum, weighted
from distill.logic.syntax.formulas import BOTTOM, Not
from distill.logic.syntax.nodes import Node
from distill.logic.syntax.relations import Closure, RelationNot

# Signs before or after a part stay visible outside a name: ~A, A+, #A.
_NEVER_NAMED = (Not, RelationNot, Closure, Count, Indicator, Scaled)
_DEFINING = len(" := \n")  # characters of a definition besides its name and formula
_WORK = 1_000_000  # limit on visited nodes while parts are chosen
_HUGE = 10**1000  # longer texts count as equally long: exact numbers would take most of the time
_CHARACTERS = 10 * LARGEST  # largest text
_GAP = "\0"


def worth_a_name(value: Number, names: Iterator[str], given: Mapping[Node, str] | None = None) -> set[Node]:
    """The parts that occur at least twice and whose names make the typed text shorter.

    Parts that save most come first. In very large functions not all parts are tried, to bound the time.

    Parameters
    ----------
    given : parts that have a name in any case.

    Examples
    --------
    >>> from distill.logic import parse
    >>> worth_a_name(parse("2*#<on+>clear_G - [#(clear & <on+>clear_G) > 0]"), iter("ABC"))
    {<on+>clear_G}
    """
    text = _Text(value)
    given = given or {}
    text.named.update({node: len(name) for node, name in given.items()})
    letters = 1
    for _ in range(1 + _WORK // len(text.nodes)):
        saved = text.saved(letters)
        # A name that saves nothing any more, as its parts have names now, is removed.
        changes = [node for node in saved if (saved[node] > 0) != (node in text.named) and node not in given]
        if not changes:
            break
        below: set[Node] = set()
        above: set[Node] = set()
        for node in sorted(changes, key=lambda node: -abs(saved[node])):
            # The saving of a name depends only on the names of parts and of wholes.
            if node in below or node in above:
                continue
            _reach(node, text.parts, text.named, below)
            _reach(node, text.wholes, text.named, above)
            if text.named.pop(node, None) is None:
                text.named[node] = len(next(names))
                letters = max(letters, text.named[node])
    lengths = text.lengths()
    if lengths[value] + sum(lengths[node] for node in text.named) > _CHARACTERS:
        raise InputError(
            f"Even with its parts named the function has more than {_CHARACTERS:,} characters, which nobody "
            "can read; store it as JSON, which keeps what is shared, or simplify it."
        )
    return set(text.named) - set(given)


class _Outline(NamedTuple):
    own: int  # characters of a node besides those of its parts
    brackets: list[int]  # characters of the brackets around each part


class _Text:
    """The length of the text of a function with some named parts, without writing it.

    Attributes
    ----------
    nodes : all nodes, parts before wholes.
    parts, wholes : of each node the nodes inside its text, in order, and those whose text contains it.
    named : the nodes that have a name, and the length of the name.
    """

    def __init__(self, value: Number) -> None:
        self.nodes = list(value.walk())
        self.parts = {node: _written_parts(node) for node in self.nodes}
        self.wholes: dict[Node, list[Node]] = {node: [] for node in self.nodes}
        self.named: dict[Node, int] = {}
        self.outlines: dict[Node, _Outline] = {}
        writer = Writer(ASCII)
        for node, parts in self.parts.items():
            for part in parts:
                self.wholes[part].append(node)
            text, strength = WRITERS[type(node)](writer, node)
            writer.shown[node] = _GAP, strength
            pieces = pairwise(text.split(_GAP) if parts else [text])
            brackets = [2 * (left.endswith("(") and right.startswith(")")) for left, right in pieces]
            self.outlines[node] = _Outline(len(text) - len(parts) - sum(brackets), brackets)

    def lengths(self) -> dict[Node, int]:
        """The characters of each node's text."""
        found: dict[Node, int] = {}
        for node, parts in self.parts.items():
            total, brackets = self.outlines[node]
            for part, around in zip(parts, brackets, strict=True):
                total += self.named[part] if part in self.named else found[part] + around
            found[node] = min(total, _HUGE)
        return found

    def saved(self, letters: int) -> dict[Node, int]:
        """The characters that the name of each node saves; new names have `letters` letters."""
        times = dict.fromkeys(self.nodes, 0)  # how often it occurs in the text
        around = dict.fromkeys(self.nodes, 0)  # characters of all its brackets
        times[self.nodes[-1]] = 1
        for node in reversed(self.nodes):
            copies = 1 if node in self.named else min(times[node], _HUGE)
            for part, brackets in zip(self.parts[node], self.outlines[node].brackets, strict=True):
                times[part] += copies
                around[part] += copies * brackets
        found: dict[Node, int] = {}
        for node, length in self.lengths().items():
            if node in self.named or (times[node] > 1 and node.parts and not isinstance(node, _NEVER_NAMED)):
                name = self.named.get(node, letters)
                found[node] = times[node] * (length - name) + around[node] - (name + _DEFINING + length)
        return found


def _written_parts(node: Node) -> list[Node]:
    if node is BOTTOM:
        return []
    parts = node.parts
    if isinstance(node, Sum | Scaled):
        parts = tuple(part for _, part in weighted(node) if not isinstance(part, Constant))
    return [part.fields[0] if isinstance(part, Indicator) else part for part in parts]


def _reach(node: Node, neighbours: dict[Node, list[Node]], named: dict[Node, int], found: set[Node]) -> None:
    """Add the nodes that can be reached from a node without passing a named one."""
    todo = [node]
    while todo:
        for other in neighbours[todo.pop()]:
            if other not in found:
                found.add(other)
                if other not in named:
                    todo.append(other)
