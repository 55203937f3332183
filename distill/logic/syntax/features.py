"""Features of states: counts, comparisons, distances, products, and weighted sums of them."""

from typing import Any, Self

from distill.common import InputError
from distill.logic.syntax.formulas import Truth
from distill.logic.syntax.nodes import Fragment, Node, checked_threshold
from distill.logic.syntax.relations import Relation

_LARGEST_WEIGHT = 10**300
_EXACT = 2**53


class Number(Node):
    """A number that every state has."""

    __slots__ = ()


class Count(Number):
    """#φ: the number of objects of the state that satisfy φ."""

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
    """[n > t]: the number n of the state exceeds t."""

    __slots__ = ()
    kind = "compare"
    accepts = (Number, int)

    def __new__(cls, number: Number, threshold: int = 0) -> Self:
        return super().__new__(cls, number, checked_threshold(threshold))

    @classmethod
    def _about_states(cls, fields: tuple[Any, ...]) -> bool:
        return True

    @classmethod
    def _fragment(cls, fields: tuple[Any, ...], parts: list[Node]) -> Fragment:
        own = Fragment.C2 if isinstance(fields[0], Count | Indicator | Constant) else Fragment.BEYOND
        return max(own, parts[0].fragment)


class Indicator(Number):
    """1 if a formula is true of the state, else 0."""

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


class Constant(Number):
    """The same number in every state."""

    __slots__ = ()
    kind = "constant"
    accepts = (int | float,)

    def __new__(cls, value: float) -> Self:
        return super().__new__(cls, _weight(value))


class Scaled(Number):
    """A number times a weight."""

    __slots__ = ()
    kind = "scaled"
    accepts = (int | float, Number)

    def __new__(cls, weight: float, number: Number) -> Self:
        weight = _weight(weight)
        made: Number
        if isinstance(number, Sum):
            made = Sum(*(Scaled(weight, part) for part in number.fields))
        elif isinstance(number, Constant):
            made = Constant(weight * number.fields[0])
        elif isinstance(number, Scaled):
            made = Scaled(weight * number.fields[0], number.fields[1])
        elif weight in (0, 1):
            made = number if weight else Constant(0)
        else:
            made = super().__new__(cls, weight, number)
        return made  # type: ignore[return-value]


class Sum(Number):
    """A sum; a value function is a sum of weighted features and a constant.

    Examples
    --------
    >>> from distill.logic import parse
    >>> Sum(parse("#holding"), Constant(3), parse("2*#clear"), parse("#holding"))
    2*#clear + 2*#holding + 3
    """

    __slots__ = ()
    kind = "sum"
    accepts = (Number,)
    variadic = True

    def __new__(cls, *numbers: Number) -> Self:
        weights: dict[Number, float] = {}
        total = 0.0
        for one in numbers:
            for weight, number in weighted(one):
                if isinstance(number, Constant):
                    total += weight * number.fields[0]
                else:
                    weights[number] = weights.get(number, 0) + weight
        kept = [number for number, weight in weights.items() if weight]
        kept.sort(key=lambda number: (weights[number] < 0, number.order))
        terms: list[Number] = [Scaled(weights[number], number) for number in kept]
        if total or not terms:
            terms.append(Constant(total))
        return terms[0] if len(terms) == 1 else super().__new__(cls, *terms)  # type: ignore[return-value]

    @classmethod
    def _size(cls, fields: tuple[Any, ...], parts: list[Node]) -> int:
        return len(parts) - 1 + sum(part.size for part in parts)


def weighted(number: Number) -> list[tuple[float, Number]]:
    """The weights and features of a number; a constant is a `Constant` with weight 1.

    Examples
    --------
    >>> from distill.logic import parse
    >>> weighted(parse("2*#clear - #holding + 3"))
    [(2, #clear), (-1, #holding), (1, 3)]
    """
    parts = number.fields if isinstance(number, Sum) else (number,)
    return [part.fields if isinstance(part, Scaled) else (1, part) for part in parts]


def _weight(value: float) -> float:
    """Convert whole numbers to integers, so that equal weights give the same node."""
    if isinstance(value, bool) or not abs(value) < _LARGEST_WEIGHT:
        raise InputError("A weight must be a finite number below 1e300.")
    # Larger whole numbers are no exact floats, and arrays of integers cannot have them.
    return int(value) if value == int(value) and abs(value) <= _EXACT else float(value)


class Product(Number):
    """A product; weights are factored out of it."""

    __slots__ = ()
    kind = "product"
    accepts = (Number,)
    variadic = True

    def __new__(cls, *numbers: Number) -> Self:
        weight: float = 1
        factors: list[Number] = []
        for one in numbers:
            own, number = weighted(one)[0] if isinstance(one, Scaled) else (1, one)
            weight *= own
            if isinstance(number, Constant):
                weight *= number.fields[0]
            else:
                # Equal factors are kept: a square differs from its root.
                factors += number.fields if isinstance(number, Product) else (number,)
        if not factors:
            return Constant(weight)  # type: ignore[return-value]
        factors.sort()
        product = factors[0] if len(factors) == 1 else super().__new__(cls, *factors)
        return Scaled(weight, product)  # type: ignore[return-value]

    @classmethod
    def _size(cls, fields: tuple[Any, ...], parts: list[Node]) -> int:
        return len(parts) - 1 + sum(part.size for part in parts)

    @classmethod
    def _fragment(cls, fields: tuple[Any, ...], parts: list[Node]) -> Fragment:
        return Fragment.BEYOND


class Distance(Number):
    """The length of a shortest path along a relation from an object that satisfies φ to one that satisfies ψ.

    It is 0 if there is no such object or no path.
    """

    __slots__ = ()
    kind = "dist"
    accepts = (Truth, Relation, Truth)

    def __new__(cls, first: Truth, relation: Relation, last: Truth) -> Self:
        if first.of_state or last.of_state:
            raise InputError("A distance is between objects; its ends cannot be about states.")
        return super().__new__(cls, first, relation, last)

    @classmethod
    def _fragment(cls, fields: tuple[Any, ...], parts: list[Node]) -> Fragment:
        return Fragment.BEYOND
