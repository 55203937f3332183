"""The predicates of given data as concepts and as relations between its rows.

A row is an object of structures, or a class of objects of a quotient.
"""

import itertools
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from distill.common import InputError
from distill.logic.semantics.denotations import Words, pack, unpack
from distill.logic.semantics.evaluation import Evaluator
from distill.logic.semantics.quotients import QuotientEvaluator
from distill.logic.syntax.formulas import Atom, Top, Truth
from distill.logic.syntax.relations import Closure, Relation, RelationAnd, RelationNot, Role
from distill.structures import ACHIEVED, Predicate

Booleans = NDArray[np.bool_]


class RowRelation:
    """A relation as a matrix between rows.

    Parameters
    ----------
    relation : the relation.
    counts : sparse (n_rows, n_rows) how many atoms link an object of a row to objects of a column; for a
        closure, 1 if there is a path.

    Examples
    --------
    >>> tower = RowRelation(Role("on"), sp.csr_array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]))
    >>> bottom = np.array([[False], [False], [True]])
    >>> tower.steps_into(bottom).T, tower.reaches(bottom).T, tower.is_transitive
    (array([[False,  True, False]]), array([[ True,  True, False]]), False)
    """

    def __init__(self, relation: Relation, counts: Any) -> None:
        self.relation = relation
        self.counts = counts
        self._some = (counts > 0).astype(bool).tocsr()

    @property
    def is_closure(self) -> bool:
        """Whether `counts` is 1 for a path, and does not count objects."""
        return isinstance(self.relation, Closure)

    def steps_into(self, sets: Booleans, threshold: int = 0) -> Booleans:
        """(n_rows, m) which rows have more than `threshold` steps into each of m sets (n_rows, m)."""
        columns = np.ascontiguousarray(sets)
        if threshold == 0:
            return self._some @ columns  # type: ignore[no-any-return]
        return self.counts @ columns.astype(np.int32) > threshold  # type: ignore[no-any-return]

    def reaches(self, sets: Booleans) -> Booleans:
        """(n_rows, m) from which rows a path of one or more steps ends in each of m sets (n_rows, m)."""
        # All rows of a strongly connected component reach the same rows.
        between, members = self._components
        reached = members.T @ np.ascontiguousarray(sets)
        while True:
            more = reached | (between @ reached)
            if np.array_equal(more, reached):
                return self.steps_into(members @ reached)
            reached = more

    @cached_property
    def _components(self) -> tuple[Any, Any]:
        """Boolean: steps between components (n, n), and which rows are their members (n_rows, n)."""
        n, label = connected_components(self.counts, directed=True, connection="strong")
        rows = np.arange(len(label))
        members = sp.csr_array((np.ones(len(label), dtype=bool), (rows, label)), shape=(len(label), n))
        return sp.csr_array(members.T @ self._some @ members), members

    @property
    def is_transitive(self) -> bool:
        """Whether two steps lead only where one step leads."""
        once = self._some.astype(np.int32)
        twice = sp.csr_array(once @ once > 0).astype(np.int32)
        return bool(twice.multiply(once).nnz == twice.nnz)

    def has_steps(self, rows: Booleans, threshold: int) -> bool:
        """Whether each of the rows (n_rows,) has more than `threshold` steps."""
        return bool((self._total[rows] > threshold).all())

    @cached_property
    def _total(self) -> NDArray[np.int64]:
        """(n_rows,) the number of steps from each row."""
        return np.asarray(self.counts.sum(axis=1)).reshape(-1)

    def find_set(self, columns: Words, n_sets: int, wanted: Booleans, threshold: int) -> int | None:
        """The first of many sets into which exactly the wanted rows have more than `threshold` steps.

        Parameters
        ----------
        columns : (n_rows, ⌈n_sets / 64⌉) the sets that contain each row, as bits.
        wanted : (n_rows,).
        """
        left = pack(np.ones((1, n_sets), dtype=bool))[0]
        begins, ends, counts = self.counts.indptr, self.counts.indices, self.counts.data
        for row in range(len(wanted)):
            steps = slice(begins[row], begins[row + 1])
            if threshold == 0:
                enough = np.bitwise_or.reduce(columns[ends[steps]], axis=0)
            else:
                # Level k has a bit for each set: whether more than k steps have led into it so far.
                levels = [np.zeros_like(left) for _ in range(threshold + 1)]
                times = np.minimum(counts[steps], threshold + 1)
                for end in np.repeat(ends[steps], times):
                    for level in range(threshold, 0, -1):
                        levels[level] |= levels[level - 1] & columns[end]
                    levels[0] |= columns[end]
                enough = levels[threshold]
            left = left & enough if wanted[row] else left & ~enough
            if not left.any():
                return None
        return int(np.flatnonzero(unpack(left[None], n_sets)[0])[0])


def properties(evaluator: Evaluator | QuotientEvaluator) -> list[Truth]:
    """⊤ and the unary and nullary predicates that hold somewhere, in canonical order."""
    atoms = sorted(Atom(predicate.name) for predicate in _predicates(evaluator) if predicate.arity < 2)
    return [Top(), *(atom for atom in atoms if evaluator.holds(atom).any())]


def row_relations(evaluator: Evaluator | QuotientEvaluator, closures: bool) -> list[RowRelation]:
    """All relations that the evaluator supports, in canonical order; of equal matrices the first."""
    wanted: set[Relation] = set()
    for predicate in _predicates(evaluator):
        own = list(_relations(predicate))
        wanted.update(own)
        if closures and predicate.arity == 2:
            wanted.update(Closure(one, stays) for one in own for stays in (False, True))
    found: list[RowRelation] = []
    to_itself = sp.csr_array(sp.eye_array(len(evaluator.holds(Top())), dtype=np.int64))
    seen = set(_keys(to_itself))
    for relation in sorted(wanted):
        try:
            counts = _counts(evaluator, relation)
        except InputError:
            continue  # the evaluator does not support this relation
        pattern, whole = _keys(counts)
        if counts.nnz and (pattern if isinstance(relation, Closure) else whole) not in seen:
            found.append(RowRelation(relation, counts))
        seen |= {pattern, whole}
    return found


def _keys(counts: Any) -> tuple[bytes, bytes]:
    """Keys of the sparsity pattern, and of the pattern with its counts."""
    ends = (counts.indptr.astype(np.int64), counts.indices.astype(np.int64))
    pattern = b"".join(part.tobytes() for part in ends)
    return pattern, pattern + counts.data.tobytes()


def _predicates(evaluator: Evaluator | QuotientEvaluator) -> list[Predicate]:
    """The predicates of the vocabulary; with goal marking also the union of achieved and missing goals."""
    data = evaluator.batch if isinstance(evaluator, Evaluator) else evaluator.quotient
    found = list(data.vocabulary)
    marked = [one for one in found if one.name.endswith(ACHIEVED)]
    return found + [Predicate(one.name.removesuffix(ACHIEVED), one.arity, one.role) for one in marked]


def _relations(predicate: Predicate) -> Iterator[Relation]:
    for source, target in itertools.permutations(range(predicate.arity), 2):
        yield Role(predicate.name, source, target)
    if predicate.role == "goal" and predicate.arity == 2:
        goal, now = Role(predicate.name), Role(predicate.base)
        for relation in (RelationAnd(goal, now), RelationAnd(goal, RelationNot(now))):
            yield relation
            yield relation.inverse()


def _counts(evaluator: Evaluator | QuotientEvaluator, relation: Relation) -> Any:
    """(n_rows, n_rows) sparse, in canonical form."""
    if isinstance(relation, Closure):
        steps = (_counts(evaluator, relation.fields[0]) > 0).astype(np.int64)
        size = steps.shape[0]
        # With paths of length 0 included, squaring doubles the length of the longest path.
        paths = steps + sp.eye_array(size, dtype=np.int64)
        known = -1
        while paths.nnz != known:
            known = paths.nnz
            paths = ((paths @ paths) > 0).astype(np.int64)
        counts = paths if relation.fields[1] else ((steps @ paths) > 0).astype(np.int64)
    else:
        counts = evaluator.counts(relation)
    counts = sp.csr_array(counts).astype(np.int64)
    counts.sum_duplicates()
    counts.eliminate_zeros()
    counts.sort_indices()
    return counts
