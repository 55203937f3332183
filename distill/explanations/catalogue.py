"""All formulas of a run: the features of its pool and the formulas about objects inside them.

Formulas share most of their parts, so each part is visited once, whatever the size of the formulas.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from distill.common import InputError
from distill.explanations.provenance import Provenance, StateFeature
from distill.explanations.value_function import ValueFunction
from distill.logic import (
    ASCII,
    WRITERS,
    Atom,
    Compare,
    Count,
    Indicator,
    Node,
    Number,
    Role,
    Truth,
    Writer,
    read_formula,
    walk,
    write,
)

OBJECTS = "objects"  # the kind of formulas about objects
TYPED = 600  # largest size of a formula that is typed in an address
_WRITTEN = 300  # largest size of formulas whose text is searched; larger ones are searched part by part
_BY_NUMBER = re.compile(r"no:(\d{1,9})")


@dataclass(frozen=True, eq=False)
class Entry:
    """A formula of a run.

    Attributes
    ----------
    number : its place in the catalogue.
    formula : about objects, or a feature of states.
    kind : of a feature: `numerical`, `boolean`, `combined`, `distance` or `product`; otherwise `objects`.
    weight : in the value function; 0 if it is not a term.
    used : whether the value function contains it, as a term or inside one.
    provenance : of the formula; None for a part of features that is no leaf set by itself.
    predicates : the names in it.
    features : the number of features of the pool that contain it.
    """

    number: int
    formula: Node
    kind: str
    weight: float
    used: bool
    provenance: Provenance | None
    predicates: frozenset[str]
    features: int

    @property
    def layer(self) -> int | None:
        """The layer of its provenance."""
        return None if self.provenance is None else self.provenance.layer


class Catalogue:
    """All formulas of a run: terms of the value function first, then their parts, then the others.

    Within each of these, small formulas come first.

    Examples
    --------
    >>> from distill.logic import parse
    >>> count, other = parse("#<on>clear"), parse("[#holding > 0]")
    >>> first = StateFeature(count, "numerical", Provenance(1))
    >>> second = StateFeature(other, "boolean", Provenance(0))
    >>> found = Catalogue(ValueFunction(parse("2*#<on>clear + 1"), (first, second)))
    >>> [(entry.formula, entry.weight, entry.used) for entry in found]  # doctest: +NORMALIZE_WHITESPACE
    [(#<on>clear, 2, True), (clear, 0, True), (<on>clear, 0, True), (holding, 0, False),
     ([#holding > 0], 0, False)]
    >>> [str(entry.formula) for entry in found.find("clear", kinds=["objects"])]
    ['clear', '<on>clear']
    """

    def __init__(self, function: ValueFunction) -> None:
        pool: dict[Node, StateFeature] = {feature.number: feature for feature in function.pool}
        weights: dict[Node, float] = {feature.number: weight for weight, feature in function.terms()}
        used = set(function.value.walk())
        self._nodes = tuple(walk(pool))
        self._predicates = _predicates(self._nodes)
        containing = _containing(self._nodes, tuple(pool))
        provenances = _provenances(function.pool)
        listed = [
            node for node in self._nodes if node in pool or (isinstance(node, Truth) and not node.of_state)
        ]
        listed.sort(key=lambda node: (node not in weights, node not in used, node.order))
        self._entries = tuple(
            Entry(
                number,
                node,
                pool[node].kind if node in pool else OBJECTS,
                weights.get(node, 0),
                node in used,
                pool[node].provenance if node in pool else provenances.get(node),
                self._predicates[node],
                containing[node],
            )
            for number, node in enumerate(listed)
        )

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def __getitem__(self, number: int) -> Entry:
        return self._entries[number]

    @cached_property
    def _entry_of(self) -> dict[Node, Entry]:
        return {entry.formula: entry for entry in self._entries}

    @cached_property
    def predicates(self) -> list[str]:
        """The names that occur, in alphabetical order."""
        return sorted({name for entry in self for name in entry.predicates})

    @cached_property
    def layers(self) -> list[int]:
        """The layers that occur."""
        return sorted({entry.provenance.layer for entry in self if entry.provenance is not None})

    @cached_property
    def kinds(self) -> list[str]:
        """The kinds that occur, features first."""
        return sorted({entry.kind for entry in self}, key=lambda kind: (kind == OBJECTS, kind))

    @cached_property
    def _texts(self) -> dict[Node, str]:
        """The typed text of each part without spaces, for searches; large parts have none."""
        writer = Writer(ASCII)
        for node in self._nodes:
            if node.size <= _WRITTEN:
                writer.shown[node] = WRITERS[type(node)](writer, node)
        return {node: _searched(text) for node, (text, _) in writer.shown.items()}

    def entry(self, formula: Node) -> Entry | None:
        """The entry of a formula; None if the run has no such formula."""
        return self._entry_of.get(formula)

    def find(
        self,
        text: str = "",
        *,
        predicates: Collection[str] = (),
        layers: Collection[int] = (),
        kinds: Collection[str] = (),
        used: bool | None = None,
        smallest: int = 0,
        largest: int | None = None,
    ) -> list[Entry]:
        """The formulas that satisfy all conditions, in the order of the catalogue.

        Parameters
        ----------
        text : words that the typed formula must contain, upper or lower case; of formulas of more than 300
            symbols one of their parts must contain them all.
        predicates : all of these must occur.
        layers, kinds : one of these; any if there are none.
        used : whether the value function must, or must not, contain it.
        smallest, largest : symbols.
        """
        matching = self._matching(text) if text.strip() else None
        wanted = set(predicates)
        return [
            entry
            for entry in self
            if wanted <= entry.predicates
            and (not kinds or entry.kind in kinds)
            and (not layers or entry.layer in layers)
            and (used is None or entry.used == used)
            and smallest <= entry.formula.size
            and (largest is None or entry.formula.size <= largest)
            and (matching is None or entry.formula in matching)
        ]

    def _matching(self, text: str) -> set[Node]:
        words = [_searched(word) for word in text.split()]
        found: set[Node] = set()
        for node in self._nodes:
            own = self._texts.get(node)
            if own is None:
                matches = any(part in found for part in node.parts)
            else:
                matches = all(word in own for word in words)
            if matches:
                found.add(node)
        return found

    def address(self, formula: Node) -> str | None:
        """A formula in an address: typed, or, if it is too long, by its number."""
        if formula.size <= TYPED:
            return write(formula)
        entry = self.entry(formula)
        return None if entry is None else f"no:{entry.number}"

    def read(self, text: str) -> Truth | Number:
        """The formula of an address or of typed text; see `read_formula`.

        Examples
        --------
        >>> from distill.logic import parse
        >>> nothing = Catalogue(ValueFunction(parse("#clear"), ()))
        >>> nothing.read("<on> clear")
        <on>clear
        >>> nothing.read("no:7")
        Traceback (most recent call last):
            ...
        distill.common.errors.InputError: There is no formula 7 among 0; choose one in the list.
        """
        by_number = _BY_NUMBER.fullmatch(text.strip())
        if by_number:
            number = int(by_number[1])
            if number >= len(self):
                raise InputError(f"There is no formula {number} among {len(self)}; choose one in the list.")
            formula = self[number].formula
        else:
            formula = read_formula(text)
        if not isinstance(formula, Truth | Number):
            raise InputError(f"{formula} is a relation; put a formula after it, as in <{formula}>top.")
        return formula


def as_number(formula: Node) -> Number:
    """A formula as a feature of states: the count of a concept, the indicator of a condition, or itself.

    Examples
    --------
    >>> from distill.logic import parse
    >>> as_number(parse("clear")), as_number(parse("[#clear > 1]")), as_number(parse("2*#clear"))
    (#clear, [#clear > 1], 2*#clear)
    """
    if isinstance(formula, Number):
        return formula
    if not isinstance(formula, Truth):
        raise InputError(f"{formula} is a relation; put a formula after it, as in <{formula}>top.")
    return Indicator(formula) if formula.of_state else Count(formula)


def counted_concept(formula: Node) -> Truth | None:
    """The concept that a feature counts or tests for emptiness; None for other features.

    Examples
    --------
    >>> from distill.logic import parse
    >>> [counted_concept(parse(text)) for text in ("#clear", "[#clear > 0]", "#clear * #holding")]
    [clear, clear, None]
    """
    if isinstance(formula, Truth) and not formula.of_state:
        return formula
    inner: Node = formula.fields[0] if isinstance(formula, Indicator) else formula
    inner = inner.fields[0] if isinstance(inner, Compare) else inner
    return inner.fields[0] if isinstance(inner, Count) else None


def _searched(text: str) -> str:
    return "".join(text.split()).casefold()


def _predicates(nodes: Sequence[Node]) -> dict[Node, frozenset[str]]:
    found: dict[Node, frozenset[str]] = {}
    for node in nodes:
        if isinstance(node, Atom | Role):
            found[node] = frozenset((node.fields[0],))
        else:
            found[node] = frozenset().union(*(found[part] for part in node.parts))
    return found


def _containing(nodes: Sequence[Node], features: Sequence[Node]) -> dict[Node, int]:
    """The number of features that contain each node; sets of features are bits of integers."""
    within = dict.fromkeys(nodes, 0)
    for number, feature in enumerate(features):
        within[feature] |= 1 << number
    for node in reversed(nodes):
        for part in node.parts:
            within[part] |= within[node]
    return {node: bits.bit_count() for node, bits in within.items()}


def _provenances(pool: Sequence[StateFeature]) -> dict[Node, Provenance]:
    """The provenance of the concepts that features count."""
    found: dict[Node, Provenance] = {}
    for feature in pool:
        # A combined feature comes from a tree about states, as a whole.
        inner = counted_concept(feature.number) if feature.kind in ("numerical", "boolean") else None
        if inner is not None:
            found.setdefault(inner, feature.provenance)
    return found
