"""The pool of features of the layers so far, and the rows that satisfy them.

Rows of the quotient on which all features agree form one *kind*; everything is computed once for each kind.
The cost of a layer thus depends on what its features separate, not on what the network separates.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from distill.distillation.feature_set import column_keys
from distill.logic import Atom, Role, RowRelation, Top, Truth
from distill.structures import Quotient, Structures
from distill.symmetry import Interner
from distill.trees import merge_rows

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FeaturePool:
    """Formulas about objects at one depth of a quotient.

    Attributes
    ----------
    formulas : no two have the same denotation.
    holds : (n_kinds, n_formulas) the formulas that hold of each kind.
    kind : (n_rows,) the kind of each row at this depth.
    depth : of the quotient.
    """

    formulas: tuple[Truth, ...]
    holds: Booleans
    kind: Integers
    depth: int

    @staticmethod
    def first(quotient: Quotient) -> "FeaturePool":
        """The unary predicates and ⊤ at depth 0."""
        least = 0 if quotient.options.nullary else 1
        names = [p.name for p in quotient.vocabulary if least <= p.arity < 2]
        formulas: list[Truth] = [Top(), *(Atom(name) for name in names)]
        columns = [np.ones(len(quotient.layers[0]), dtype=bool), *(quotient.holds(name, 0) for name in names)]
        return FeaturePool.of(formulas, np.column_stack(columns), np.arange(len(quotient.layers[0])), 0)

    @staticmethod
    def unary(quotient: Quotient) -> "FeaturePool":
        """The unary predicates at depth 0, sorted by name, as in thesis Algorithm 3."""
        names = sorted(p.name for p in quotient.vocabulary if p.arity == 1)
        group = np.arange(len(quotient.layers[0]))
        holds = np.array([quotient.holds(name, 0) for name in names], dtype=bool).T.reshape(len(group), -1)
        return FeaturePool.in_order([Atom(name) for name in names], holds, group, 0)

    @staticmethod
    def of(formulas: Sequence[Truth], holds: Booleans, group: Integers, depth: int) -> "FeaturePool":
        """Keep the simplest of formulas with equal denotations, and number the kinds.

        Parameters
        ----------
        holds : (n_groups, n_formulas) which formulas hold of each group of rows.
        group : (n_rows,) the group of each row at `depth`; every group has rows.
        """
        kept: dict[bytes, int] = {}
        keys = column_keys(holds)
        for number in sorted(range(len(formulas)), key=lambda number: formulas[number].order):
            kept.setdefault(keys[number], number)
        chosen = sorted(kept.values())
        return FeaturePool.in_order([formulas[number] for number in chosen], holds[:, chosen], group, depth)

    @staticmethod
    def in_order(formulas: Sequence[Truth], holds: Booleans, group: Integers, depth: int) -> "FeaturePool":
        """Keep the first of formulas with equal denotations, and number the kinds; see `of`."""
        kept: dict[bytes, int] = {}
        for number, key in enumerate(column_keys(holds)):
            kept.setdefault(key, number)
        chosen = list(kept.values())
        table, kind = merge_rows(holds[:, chosen])
        return FeaturePool(tuple(formulas[number] for number in chosen), table, kind[group], depth)

    def counts(self, quotient: Quotient) -> Integers:
        """(n_state_rows, n_formulas) number of objects of a state that satisfy each formula."""
        layer = quotient.layers[min(self.depth, quotient.depth)]
        kinds = one_hot_rows(self.kind, len(self.holds))
        return np.asarray((layer.histogram @ kinds) @ self.holds.astype(np.int64))


@dataclass(frozen=True, eq=False)
class PoolView:
    """A pool at the rows one depth further: their own kinds, and the kinds of their neighbours.

    Rows with the same view form one group.

    Attributes
    ----------
    group : (n_rows,) the group of each row.
    own : (n_groups, n_formulas) the formulas that hold of a row itself.
    counts : for each relation (n_groups, n_formulas) number of neighbours that satisfy each formula; then
        for each closure 1 where a path leads to an object that satisfies it, else 0.
    """

    group: Integers
    own: Booleans
    counts: list[Integers]

    @staticmethod
    def of(
        pool: FeaturePool,
        quotient: Quotient,
        depth: int,
        relations: Sequence[Role],
        closures: Sequence[Role] = (),
    ) -> "PoolView":
        """The view of the rows at `depth`; beyond the last depth of a stable quotient, of its last rows.

        Parameters
        ----------
        closures : relations whose transitive closures are included; the rows from depth 1 on must be stable.
        """
        level = min(depth, quotient.depth)
        layer = quotient.layers[level]
        own = pool.kind[layer.parent] if depth <= quotient.depth else pool.kind
        kinds = one_hot_rows(pool.kind, len(pool.holds))
        seen = [
            sp.csr_array(quotient.link(name, level, source, target) @ kinds)
            for name, source, target in (role.fields for role in relations)
        ]
        reached = [_reaches(quotient, role, pool.holds[own]) for role in closures]
        ends, end = merge_rows(np.concatenate([np.zeros((len(own), 0), dtype=bool), *reached], axis=1))
        group, first = _alike(own * len(ends) + end, seen)
        table = pool.holds.astype(np.int64)
        counts = [np.asarray(matrix[first] @ table) for matrix in seen]
        counts += [column[first].astype(np.int64) for column in reached]
        return PoolView(group, pool.holds[own[first]], counts)


def _reaches(quotient: Quotient, role: Role, holds: Booleans) -> Booleans:
    """(n_rows, n_formulas) from which stable rows a path along a relation leads to each formula."""
    name, source, target = role.fields
    steps = RowRelation(role, quotient.link(name, quotient.depth, source, target))
    return steps.reaches(holds)


def one_hot_rows(number: Integers, width: int) -> sp.csr_array:
    """A sparse matrix (n_rows, width) with a 1 in each row, at the number of the row."""
    ones = np.ones(len(number), dtype=np.int64)
    return sp.csr_array((ones, (np.arange(len(number)), number)), shape=(len(number), width))


def _alike(own: Integers, seen: list[sp.csr_array]) -> tuple[Integers, Integers]:
    """Number rows by their views, and return the first row of each number."""
    n_rows = len(own)
    if seen:
        joined = sp.csr_array(sp.hstack(seen, format="csr"))
        joined.sum_duplicates()
    else:
        joined = sp.csr_array((n_rows, 1), dtype=np.int64)
    numbers = Interner()
    group = np.empty(n_rows, dtype=np.int64)
    length = np.diff(joined.indptr)
    for size in np.flatnonzero(np.bincount(length)):
        rows = np.flatnonzero(length == size)
        places = joined.indptr[rows][:, None] + np.arange(size)
        group[rows] = numbers(np.column_stack([own[rows], joined.indices[places], joined.data[places]]))
    first = np.empty(len(numbers), dtype=np.int64)
    first[group[::-1]] = np.arange(n_rows)[::-1]
    return group, first


def usable_relations(states: Structures) -> list[Role]:
    """The relations and their inverses, without empty ones; a symmetric relation comes once.

    Examples
    --------
    >>> from distill.structures import Predicate, Vocabulary
    >>> words = Vocabulary([Predicate("on", 2), Predicate("near", 2), Predicate("under", 2)])
    >>> pairs = {"on": [[0, 1]], "near": [[0, 1], [1, 0]]}
    >>> usable_relations(Structures(words, 1, [0, 0], pairs))
    [on, on^-1, near]
    """
    found: list[Role] = []
    for predicate in states.vocabulary:
        atoms = states.relations[predicate.name]
        if predicate.arity < 2 or not len(atoms):
            continue
        mirrored = predicate.arity == 2 and np.array_equal(
            np.unique(atoms, axis=0), np.unique(atoms[:, ::-1], axis=0)
        )
        places = permutations(range(predicate.arity), 2)
        found += [Role(predicate.name, *two) for two in places if not (mirrored and two[0] > two[1])]
    return found
