"""Families by distance: terms that depend on a distance, and possibly on side conditions.

A term of a tree rarely describes one level: it describes the states of one value, which lie on several
levels separated by side conditions. The sum of the terms may still be linear in the distance for each case
of the side conditions.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.explanations.families.family import (
    CLOSE,
    LEAST,
    Array,
    Term,
    TermFamily,
    WeightLine,
    line_from,
    nearest_whole,
    values_of,
)
from distill.explanations.families.levels import StateSample, distinct, levels
from distill.logic import (
    And,
    Compare,
    Constant as Fixed,
    Count,
    Distance,
    Indicator,
    Number,
    Product,
    Scaled,
    Sum,
    Truth,
    write,
)
from distill.structures import Structures

Integers = NDArray[np.int64]
Case = tuple[bool, ...]
Sides = tuple[Truth, ...]
_CANDIDATES = 12  # checked on all states
_HEAD = 2  # largest number of levels before a line begins, without side conditions
_SIDES = 2  # side conditions at a time
_LIKELY = 40  # distances tried with side conditions
_NONE = np.iinfo(np.int64).max


def distances(sample: StateSample) -> Iterator[tuple[Distance, Integers]]:
    """All distances between concepts with their values (n_states,); of equal ones the first."""
    seen: set[bytes] = set()
    for paths in sorted(sample.paths, key=lambda one: (one.end.size, one.relation.order, one.end.order)):
        steps = levels(sample.evaluator, paths.relation, paths.end)
        if steps.max(initial=0) < LEAST:
            continue
        for begin in sample.ends:
            there = sample.evaluator.holds(begin) & (steps >= 0)
            far = np.full(sample.n_states, _NONE)
            np.minimum.at(far, sample.state[there], steps[there])
            far[far == _NONE] = 0
            if far.max(initial=0) >= LEAST and far.tobytes() not in seen:
                seen.add(far.tobytes())
                yield Distance(begin, paths.relation, paths.end), far


def find_distances(
    terms: Sequence[Term], values: Array, sample: StateSample, states: Structures
) -> list[TermFamily]:
    """Families of terms that depend on one distance, and whose sum is linear in it.

    Parameters
    ----------
    terms : weights and features.
    values : (n_states, n_terms) the features' values.
    sample : some of the states, with the same terms.
    states : all of them.
    """
    weights = np.array([weight for weight, _ in terms])
    chosen = _likely(sample, weights)
    if not chosen:
        return []
    places: dict[Number, int] = {}
    for distance, sides, _ in chosen:
        for feature in (distance, *map(Indicator, sides)):
            places.setdefault(feature, len(places))
    table = values_of(list(places), states).astype(np.int64)
    found = []
    for distance, sides, together in chosen:
        columns = table[:, [places[distance], *(places[Indicator(one)] for one in sides)]]
        family = _family(terms, weights, values, columns, distance, sides, together)
        if family is not None:
            found.append(family)
    return found


def _likely(sample: StateSample, weights: Array) -> list[tuple[Distance, Sides, bool]]:
    """Distances, side conditions, and whether only the sum of the terms depends on them; most terms first."""
    total = sample.numbers @ weights
    every = sorted(distances(sample), key=lambda pair: pair[0].order)
    found: list[tuple[int, int, Any, Any, tuple[Distance, Sides, bool]]] = []
    for distance, far in every:
        alone = len(_dependent(far[:, None], sample.numbers))
        if alone >= LEAST:
            found.append((-alone, 0, distance.order, (), (distance, (), False)))
        if len(weights) >= LEAST and alone < len(weights) and _depends(far[:, None], total):
            found.append((-len(weights), 0, distance.order, (), (distance, (), True)))
    # The conditions that a concept is not empty.
    conditions = distinct((Compare(Count(end), 0) for end in sample.ends), sample.evaluator).items()
    for distance, far in every[:_LIKELY]:
        for count in range(1, _SIDES + 1):
            for some in itertools.combinations(conditions, count):
                columns = np.column_stack([far, *(holds for _, holds in some)])
                if len(weights) >= LEAST and _depends(columns, total):
                    sides = tuple(truth for truth, _ in some)
                    orders = tuple(side.order for side in sides)
                    found.append((-len(weights), count, distance.order, orders, (distance, sides, True)))
    return [row[-1] for row in sorted(found, key=lambda row: row[:-1])[:_CANDIDATES]]


def _groups(columns: Integers) -> tuple[Integers, Integers]:
    """The first state of each distinct row of columns (n_states, m), and the row of each state."""
    _, first, group = np.unique(columns, axis=0, return_index=True, return_inverse=True)
    return first, group.reshape(-1)


def _depends(columns: Integers, total: Array) -> bool:
    first, group = _groups(columns)
    return bool((np.abs(total[first][group] - total) <= CLOSE).all())


def _varying(values: NDArray[np.generic]) -> Integers:
    """The terms that are not constant on the states."""
    return np.flatnonzero((values != values[0]).any(axis=0))


def _dependent(columns: Integers, values: NDArray[np.generic]) -> Integers:
    """The terms that are a function of the columns, but not constant."""
    first, group = _groups(columns)
    varying = _varying(values)
    same = np.asarray(values[first][group] == values)
    return varying[same[:, varying].all(axis=0)]


@dataclass(frozen=True)
class _CaseLine:
    """The sum of terms by distance, in one case of the side conditions; None if no state determines it."""

    at_none: float | None
    line: tuple[float, float] | None  # offset and slope


def _family(
    terms: Sequence[Term],
    weights: Array,
    values: Array,
    columns: Integers,
    distance: Distance,
    sides: Sides,
    together: bool,
) -> TermFamily | None:
    mine = _varying(values) if together else _dependent(columns, values)
    total = values[:, mine] @ weights[mine]
    first, _ = _groups(columns)
    if len(mine) < LEAST or not _depends(columns, total):
        return None
    known = np.unique(columns[:, 0])
    if not np.array_equal(known, np.arange(len(known))):
        return None
    members = tuple(terms[place] for place in mine)
    if not sides:
        by_distance = [float(one) for one in total[first]]
        lines = (line_from(by_distance, begin, by_distance[0]) for begin in range(1, _HEAD + 2))
        line = next((one for one in lines if one is not None), None)
        closed = None if line is None else _closed_plain(distance, by_distance, line)
    else:
        cases = _cases(columns[first], total[first])
        line, closed = (
            (None, None) if cases is None else _closed_cases(distance, sides, cases, int(known[-1]))
        )
    if line is None or closed is None or not _is_family(line, len(members), together):
        return None
    beyond = Indicator(Compare(distance, line.last))
    alone = len(_dependent(columns, values)) if together else None
    notation = _notation(distance, sides, line, len(members), alone)
    return TermFamily("together" if together else "distance", members, line, closed, True, beyond, notation)


def _is_family(line: WeightLine, members: int, together: bool) -> bool:
    """Whether there are about as many terms as levels."""
    n_levels = line.last - line.first + 1
    return members >= n_levels and line.slope != 0 if together else 2 * members >= n_levels


def _notation(distance: Distance, sides: Sides, line: WeightLine, count: int, alone: int | None) -> str:
    which = " and on ".join([f"d = {write(distance)}", *map(write, sides)])
    how = "depend" if alone is None else "together"
    also = "" if alone is None else f" ({alone} of them also each by itself) depend"
    more = ", other lines in other cases" if sides else ""
    levels_sum = f"sum over k={line.first}..{line.last} of {line} * [d = k]{more}"
    return f"{count} terms that {how}{also} on {which} alone: {levels_sum}"


def _closed_plain(distance: Distance, total: Sequence[float], line: WeightLine) -> Number:
    """The sum over the levels, with the line continued."""

    def more_than(k: int) -> Number:
        return Indicator(Compare(distance, k))

    none = nearest_whole(total[0])
    parts: list[Number] = [Fixed(none)]
    for k in range(1, line.first):
        here = nearest_whole(total[k]) - none
        parts += [Scaled(here, more_than(k - 1)), Scaled(-here, more_than(k))]
    parts.append(Scaled(line.offset - none, more_than(line.first - 1)))
    gone = distance if line.first == 1 else Product(distance, more_than(line.first - 1))
    return Sum(*parts, Scaled(line.slope, gone))


def _cases(rows: Integers, total: Array) -> Mapping[Case, _CaseLine] | None:
    """The line of each case; None if a case has no line, or no case has three levels."""
    by_case: dict[Case, dict[int, float]] = {}
    for row, value in zip(rows.tolist(), total.tolist(), strict=True):
        by_case.setdefault(tuple(map(bool, row[1:])), {})[row[0]] = value
    slopes: dict[Case, tuple[float, float]] = {}
    for case, found in by_case.items():
        far = sorted(k for k in found if k > 0)
        if len(far) >= LEAST:
            slope, offset = np.polyfit(far, [found[k] for k in far], 1)
            slopes[case] = nearest_whole(float(offset)), nearest_whole(float(slope))
    if not slopes:
        return None
    usual = slopes[min(slopes)][1]
    made = {}
    for case, found in by_case.items():
        far = sorted(k for k in found if k > 0)
        line = slopes.get(case)
        if line is None and far:
            # One or two levels do not determine the slope, so the slope of the others is taken.
            line = nearest_whole(found[far[0]] - usual * far[0]), usual
        if line is not None and any(abs(line[0] + line[1] * k - found[k]) > CLOSE for k in far):
            return None
        made[case] = _CaseLine(nearest_whole(found[0]) if 0 in found else None, line)
    return made


def _closed_cases(
    distance: Distance, sides: Sides, cases: Mapping[Case, _CaseLine], last: int
) -> tuple[WeightLine, Number]:
    """A sum over the side conditions and their conjunctions; free values are chosen to make it short."""
    found = []
    for none_below, line_below in itertools.product((True, False), repeat=2):
        none = _filled({case: (one.at_none,) for case, one in cases.items()}, len(sides), none_below)
        lines = _filled({case: one.line or (None,) for case, one in cases.items()}, len(sides), line_below)
        offsets = {case: (lines[case][0] - none[case][0],) for case in none}
        parts = [
            *_summed(none, 0, sides, Fixed(1)),
            *_summed(offsets, 0, sides, Indicator(Compare(distance, 0))),
            *_summed(lines, 1, sides, distance),
        ]
        found.append(Sum(*parts))
    closed = min(found, key=lambda number: number.order)
    main = min(case for case, one in cases.items() if one.line is not None)
    offset, slope = cases[main].line or (0.0, 0.0)
    return WeightLine(1, last, offset, slope), closed


def _filled(
    known: Mapping[Case, tuple[float | None, ...]], width: int, below: bool
) -> dict[Case, tuple[float, ...]]:
    """Numbers for all cases: an unknown one is taken from a case with fewer or with more conditions."""
    every = sorted(itertools.product((False, True), repeat=width), key=lambda case: (sum(case), case))
    determined = {case: numbers for case, numbers in known.items() if numbers[0] is not None}
    found: dict[Case, tuple[float, ...]] = {}
    for case in every:
        smaller = [one for one in reversed(every) if one != case and _within(one, case) and one in found]
        larger = [one for one in every if one != case and _within(case, one) and one in determined]
        if case in determined:
            source = determined[case]
        elif below and smaller:
            source = found[smaller[0]]
        elif larger:
            source = determined[larger[0]]
        else:
            source = found[smaller[0]] if smaller else next(iter(determined.values()), (0.0, 0.0))
        found[case] = tuple(float(number or 0) for number in source)
    return found


def _within(one: Case, other: Case) -> bool:
    return all(mine <= theirs for mine, theirs in zip(one, other, strict=True))


def _summed(
    numbers: Mapping[Case, tuple[float, ...]], place: int, sides: Sides, times: Number
) -> Iterator[Number]:
    """A number given by cases as a sum over conjunctions of the sides, by inclusion and exclusion."""
    left: dict[Case, float] = {}
    for case in sorted(numbers, key=lambda case: (sum(case), case)):
        below = sum(own for other, own in left.items() if other != case and _within(other, case))
        left[case] = nearest_whole(numbers[case][place] - below)
        if left[case]:
            yield Scaled(left[case], _times(case, sides, times))


def _times(case: Case, sides: Sides, times: Number) -> Number:
    truths = [side for side, wanted in zip(sides, case, strict=True) if wanted]
    if not truths:
        return times
    if isinstance(times, Indicator):
        return Indicator(And(*truths, times.fields[0]))
    return Product(Indicator(And(*truths)), times)
