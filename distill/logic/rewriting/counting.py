"""Products and comparisons of several numbers as sentences and counts of C2.

A sentence times a count counts the objects under the condition of the sentence: [s]·#φ is #(φ ∧ s). A count
times another one becomes a sum of such terms, one for each value that the first may have. What compares sums
becomes a disjunction over the values of all terms but the last.
"""

from collections.abc import Callable, Sequence
from typing import Any

from distill.common import InputError
from distill.logic import syntax as fo

_MOST_CASES = 100_000  # of values, when numbers are multiplied or compared


def never() -> fo.Truth:
    """A sentence that is false in every state, in C2."""
    return fo.Compare(fo.Count(fo.BOTTOM), 0)


class Counting:
    """Rewrites products and comparisons of numbers that have no products and comparisons of sums inside.

    Parameters
    ----------
    bound : the largest value of a count.

    Examples
    --------
    >>> from distill.logic import parse
    >>> counting = Counting(lambda count: 2)
    >>> counting.product([parse("#a"), parse("#<on>b")])
    #(<all>a & <on>b) + #(<on>b & <all>a > 1)
    >>> counting.compare(parse("#a - #b"), 0)
    [#a > 2] | [#a > 0] & ~[#b > 0] | [#a > 1] & ~[#b > 1]
    """

    def __init__(self, bound: Callable[[fo.Count], int]) -> None:
        self.bound = bound
        self.cases = 0
        self.known: dict[fo.Node, fo.Truth] = {}

    def product(self, factors: Sequence[fo.Number]) -> fo.Number:
        """A product as a sum of counts and sentences."""
        counted = [one for one in factors if any(isinstance(part, fo.Count) for _, part in fo.weighted(one))]
        kept = max(range(len(factors)), key=lambda n: (factors[n] in counted, factors[n].order))
        found = factors[kept]
        for number, factor in enumerate(factors):
            if number != kept:
                found = self._times(self._sentences(factor), found)
        return found

    def compare(self, number: fo.Number, threshold: int) -> fo.Truth:
        """That a number exceeds a threshold."""
        if isinstance(number, fo.Count):
            return fo.Compare(number, threshold)
        terms = [term for term in fo.weighted(number) if not isinstance(term[1], fo.Constant)]
        constant = sum(w * one.fields[0] for w, one in fo.weighted(number) if isinstance(one, fo.Constant))
        if not all(isinstance(weight, int) for weight in (constant, *(weight for weight, _ in terms))):
            raise InputError(
                "C2 compares whole numbers of objects only, so it cannot express weights such as 0.5."
            )
        terms.sort(key=lambda term: term[0] > 0)
        first = sum(weight < 0 for weight, _ in terms)
        levels: list[dict[int, dict[int, int]]] = []  # what must be exceeded: for each value, what remains
        remaining = {threshold - int(constant)}
        for place, (weight, one) in enumerate(terms):
            levels.append(
                {rest: self._remaining(weight, one, rest) for rest in remaining if place < first or rest >= 0}
            )
            remaining = {rest for after in levels[-1].values() for rest in after.values()}
        known: dict[int, Any] = {}
        for place in reversed(range(len(terms))):
            weight, one = terms[place]
            known = {
                rest: _either(
                    [
                        self._case(weight, one, value, max(after), _known(known, left))
                        for value, left in after.items()
                    ]
                )
                for rest, after in levels[place].items()
            }
        found = _known(known, threshold - int(constant))
        return (fo.Not(never()) if found else never()) if isinstance(found, bool) else found

    def _spend(self, cases: int) -> None:
        self.cases += cases
        if self.cases > _MOST_CASES:
            raise InputError(
                f"Products and comparisons have more than {_MOST_CASES:,} cases in C2, which is the limit; "
                "give a smaller bound."
            )

    def _times(self, sentences: fo.Number, number: fo.Number) -> fo.Number:
        terms = []
        self._spend(len(fo.weighted(sentences)) * len(fo.weighted(number)))
        for own, one in fo.weighted(sentences):
            for weight, other in fo.weighted(number):
                terms.append(fo.Scaled(own * weight, self._term(one, other)))
        return fo.Sum(*terms)

    def _term(self, one: fo.Number, other: fo.Number) -> fo.Number:
        if isinstance(one, fo.Constant):
            return fo.Scaled(one.fields[0], other)
        if isinstance(other, fo.Constant):
            return fo.Scaled(other.fields[0], one)
        if isinstance(other, fo.Indicator):
            return fo.Indicator(fo.And(one.fields[0], other.fields[0]))
        return fo.Count(fo.And(other.fields[0], self._here(one.fields[0])))

    def _sentences(self, number: fo.Number) -> fo.Number:
        """A number with each count as the sum of the sentences that it is at least k, for all k."""
        found: list[fo.Number] = []
        for weight, one in fo.weighted(number):
            if isinstance(one, fo.Count):
                most = self.bound(one)
                self._spend(most)
                found += (fo.Scaled(weight, fo.Indicator(fo.Compare(one, value))) for value in range(most))
            else:
                found.append(fo.Scaled(weight, one))
        return fo.Sum(*found)

    def _here(self, sentence: fo.Truth) -> fo.Truth:
        """A sentence as a formula about an object, any one of the state."""
        todo = [sentence]
        while todo:
            node = todo[-1]
            if isinstance(node, fo.Compare):
                count, threshold = node.fields
                self.known[node] = fo.Modal(fo.Everything(), count.fields[0], threshold)
            missing = [part for part in node.parts if node not in self.known and part not in self.known]
            if missing:
                todo += missing  # type: ignore[arg-type]
                continue
            if node not in self.known:
                self.known[node] = type(node)(*(self.known[part] for part in node.parts))
            todo.pop()
        return self.known[sentence]

    def _remaining(self, weight: float, one: fo.Number, rest: int) -> dict[int, int]:
        """For each value of a term that matters, what the terms after it must exceed."""
        most = 1 if isinstance(one, fo.Indicator) else None
        if weight > 0:
            enough = int(rest // weight) + 1
            most = enough if most is None else min(most, enough)
        elif most is None:
            most = self.bound(one)  # type: ignore[arg-type]
        self._spend(most + 1)
        return {value: rest - int(weight) * value for value in range(most + 1)}

    def _case(self, weight: float, one: fo.Number, value: int, most: int, after: Any) -> Any:
        """That a term has at least this value, or at most if its weight is negative, and what must follow."""
        if after is False:
            return False
        trivial = value == (0 if weight > 0 else most)
        if trivial:
            return after
        least = value if weight > 0 else value + 1
        sentence = one.fields[0] if isinstance(one, fo.Indicator) else fo.Compare(one, least - 1)
        literal = sentence if weight > 0 else fo.Not(sentence)
        return literal if after is True else fo.And(literal, after)


def _known(known: dict[int, Any], rest: int) -> Any:
    """Whether the terms after some exceed what remains; after the last there are none."""
    return known.get(rest, rest < 0)


def _either(cases: list[Any]) -> Any:
    if any(case is True for case in cases):
        return True
    found = [case for case in cases if case is not False]
    return fo.Or(*found) if found else False
