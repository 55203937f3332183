"""Short disjunctive normal forms; combinations that do not occur in the data are don't-cares."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from distill.common import InputError
from distill.logic.rewriting.entailment import complement, constant
from distill.logic.rewriting.simplification import simplify
from distill.logic.syntax.formulas import And, Or, Truth

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]

_ALL_CUBES = 8  # largest number of columns for which all conjunctions are enumerated
_CHEAP = 200  # with more columns: rows for which the cheapest conjunction is tried too
_EXACT = 20_000  # largest conjunctions × rows for which the cover is optimised
_NODES = 200  # of that search; a limit in seconds would not be reproducible


@dataclass(frozen=True)
class MinimisationResult:
    """A short formula, and the number of rows it was compared on.

    Attributes
    ----------
    formula : true of the wanted rows and false of the others.
    classes : number of distinct rows.
    """

    formula: Truth
    classes: int

    @property
    def sentence(self) -> str:
        """One sentence on the equivalence."""
        return f"equivalent on {self.classes} classes"


def minimise(columns: Sequence[Truth], rows: ArrayLike, wanted: ArrayLike) -> MinimisationResult:
    """A short Boolean combination of formulas that is true of the wanted rows and false of the others.

    Parameters
    ----------
    columns : formulas, all about objects or all about states.
    rows : (n_rows, n_columns) whether each of them is true.
    wanted : (n_rows,) whether the result must be true.

    Examples
    --------
    >>> from distill.logic import parse
    >>> columns = [parse("a"), parse("b"), parse("c")]
    >>> found = minimise(columns, [[0, 0, 1], [0, 1, 1], [1, 1, 0], [1, 0, 0]], [1, 0, 1, 1])
    >>> found.formula, found.sentence
    (~(b & c), 'equivalent on 4 classes')
    """
    table, truth = np.asarray(rows, dtype=bool), np.asarray(wanted, dtype=bool)
    if not columns or table.shape != (len(truth), len(columns)):
        raise InputError(
            f"{len(columns)} formulas and {len(truth)} wanted values need a table of that shape, with at "
            f"least one formula, not {table.shape}."
        )
    distinct, number = np.unique(table, axis=0, return_inverse=True)
    number = number.reshape(-1)
    true_of, false_of = (
        np.bincount(number[truth == value], minlength=len(distinct)) > 0 for value in (True, False)
    )
    if (true_of & false_of).any():
        raise InputError("Two rows are equal and only one of them is wanted; add a formula that differs.")
    if true_of.all() or false_of.all():
        return MinimisationResult(cast(Truth, constant(bool(true_of.all()), columns[0])), len(distinct))
    literals, truths = _literals(columns, distinct)
    found = _disjunction(literals, truths[true_of], truths[false_of])
    denied = cast(Truth, simplify(~_disjunction(literals, truths[false_of], truths[true_of])))
    return MinimisationResult(min(found, denied), len(distinct))


def _literals(columns: Sequence[Truth], rows: Booleans) -> tuple[list[tuple[Truth, Truth]], Booleans]:
    """The shortest formulas of each column and of its negation, and the distinct columns (n_rows, n)."""
    shortest: dict[bytes, Truth] = {}
    vectors: dict[bytes, Booleans] = {}
    for column, formula in enumerate(columns):
        for literal, truth in (
            (formula, rows[:, column]),
            (cast(Truth, complement(formula)), ~rows[:, column]),
        ):
            key = truth.tobytes()
            if key not in shortest or literal < shortest[key]:
                shortest[key], vectors[key] = literal, truth
    pairs = []
    for key, literal in shortest.items():
        opposite = shortest[(~vectors[key]).tobytes()]
        if (literal < opposite or literal is opposite) and not vectors[key].all() and vectors[key].any():
            pairs.append((literal, opposite, vectors[key]))
    pairs.sort(key=lambda pair: pair[0].order)
    return [pair[:2] for pair in pairs], np.column_stack([pair[2] for pair in pairs])


def _disjunction(literals: list[tuple[Truth, Truth]], on: Booleans, off: Booleans) -> Truth:
    """A short disjunctive normal form, true of the rows `on` (n_on, k) and false of `off` (n_off, k)."""
    costs = np.array([[one.size + 1 for one in pair] for pair in literals])
    # A cube has for each column 0 (free), 1 (must be true) or 2 (must be false).
    cubes = _primes(on, off) if len(literals) <= _ALL_CUBES else _expanded(on, off, costs)
    price = (costs[:, 0] * (cubes == 1) + costs[:, 1] * (cubes == 2)).sum(axis=1)
    order = np.lexsort((*cubes.T[::-1], price))
    chosen = cubes[order][_cover(_covers(cubes[order], on), price[order])]
    terms = [And(*(literals[column][cube[column] - 1] for column in np.flatnonzero(cube))) for cube in chosen]
    return cast(Truth, simplify(Or(*terms)))


def _covers(cubes: Integers, rows: Booleans) -> Booleans:
    """(n_cubes, n_rows) which rows are inside which cubes."""
    wrong = (cubes == 1).astype(np.int32) @ (~rows.T).astype(np.int32)
    wrong += (cubes == 2).astype(np.int32) @ rows.T.astype(np.int32)
    found: Booleans = wrong == 0
    return found


def _primes(on: Booleans, off: Booleans) -> Integers:
    """All maximal cubes with a row of `on` and none of `off`."""
    width = on.shape[1]
    powers = 3 ** np.arange(width)
    cubes = np.arange(3**width)[:, None] // powers % 3
    allowed: Booleans = np.logical_not(_covers(cubes, off).any(axis=1))
    prime = allowed & _covers(cubes, on).any(axis=1)
    for column in range(width):
        wider = np.arange(len(cubes)) - cubes[:, column] * powers[column]
        prime &= ~((cubes[:, column] > 0) & allowed[wider])
    return cubes[prime]


def _expanded(on: Booleans, off: Booleans, costs: Integers) -> Integers:
    """Large cubes around the rows of `on`: general ones until each row is in one, then some cheap ones."""
    found: dict[bytes, Integers] = {}
    inside = np.zeros(len(on), dtype=bool)
    for number, row in enumerate(on):
        if inside[number]:
            continue
        cheap_first = np.argsort(np.where(row, costs[:, 0], costs[:, 1]), kind="stable")
        orders = [_separating(row, on[~inside], off, costs)]
        if len(found) < 2 * _CHEAP:
            orders.append(cheap_first)
        for order in orders:
            needed = np.zeros(len(row), dtype=bool)
            needed[order[_expand(off[:, order] != row[order])]] = True
            cube = np.where(needed, np.where(row, 1, 2), 0)
            found[cube.tobytes()] = cube
            inside |= (on[:, needed] == row[needed]).all(axis=1) & (order is orders[0])
    return np.array(list(found.values()))


def _separating(row: Booleans, on: Booleans, off: Booleans, costs: Integers) -> Integers:
    """Columns that separate a row from all of `off`; first those that keep many rows of `on`."""
    chosen: list[int] = []
    price = np.where(row, costs[:, 0], costs[:, 1])
    while len(off):
        kept, wrong = (np.where(row, rows.sum(axis=0), len(rows) - rows.sum(axis=0)) for rows in (on, off))
        # The gain of rule learners: the increase in purity times the number of rows kept.
        purer = np.log(kept / (kept + wrong)) - np.log(len(on) / (len(on) + len(off)))
        gain = np.where(wrong < len(off), kept * purer - 1e-6 * price, -np.inf)
        best = int(np.argmax(gain))
        chosen.append(best)
        on, off = (rows[rows[:, best] == row[best]] for rows in (on, off))
    return np.array(chosen)


def _expand(differs: Booleans) -> Integers:
    """Numbers of the columns needed to separate a row from all others; the last are dropped first.

    Parameters
    ----------
    differs : (n_others, n_columns) where each of the others differs from the row.
    """
    columns = np.asfortranarray(differs)
    left, needed = columns.sum(axis=1), []
    for number in reversed(range(columns.shape[1])):
        without = left - columns[:, number]
        if without.all():
            left = without
        else:
            needed.append(number)
    return np.array(needed[::-1])


def _cover(inside: Booleans, price: Integers) -> Integers:
    """Numbers of cheap cubes that together contain all rows.

    Parameters
    ----------
    inside : (n_cubes, n_rows) which rows are in which cubes.
    price : (n_cubes,) the cost of each.
    """
    chosen, left = [], np.ones(inside.shape[1], dtype=bool)
    gain = inside.sum(axis=1)
    while left.any():
        best = int(np.argmax(gain / price))
        chosen.append(best)
        gain -= inside[:, left & inside[best]].sum(axis=1)
        left &= ~inside[best]
    times = inside[chosen].sum(axis=0)
    for one in sorted(chosen, key=lambda cube: -price[cube]):
        if (times > inside[one]).all():
            times = times - inside[one]
            chosen.remove(one)
    greedy = np.sort(np.array(chosen))
    if inside.size > _EXACT:
        return greedy
    # Ties go to the first: ranks add up to a hundredth of a symbol.
    rank = np.arange(len(price)) / (100 * len(price) ** 2)
    found = milp(
        price + rank,
        integrality=np.ones(len(price)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(csr_array(inside.T.astype(float)), lb=1),
        options={"node_limit": _NODES, "mip_rel_gap": 0},
    )
    if found.x is None:
        return greedy
    exact = np.flatnonzero(found.x > 0.5)
    complete = inside[exact].any(axis=0).all()
    return exact if complete and price[exact].sum() <= price[greedy].sum() else greedy
