"""What formulas about the data at hand can be made of: predicates, and steps along relations."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from distill.errors import InputError
from distill.logic.denotations import Words, packed, unpacked
from distill.logic.evaluation import Evaluator
from distill.logic.formulas import Atom, Top, Truth
from distill.logic.quotients import QuotientEvaluator
from distill.logic.relations import Closure, Relation, RelationAnd, RelationNot, Role
from distill.structures import Predicate
from distill.structures.vocabulary import ACHIEVED

Booleans = NDArray[np.bool_]


class Step:
    """A relation between the objects (or rows) of the data.

    Attributes
    ----------
    relation : what it is.
    counts : sparse (n_rows, n_rows) how many atoms lead from row to column; of a closure, 1 for a way.
    is_closure : then only whether there is a way is known, not how many objects it leads to.
    """

    def __init__(self, relation: Relation, counts: Any) -> None:
        self.relation = relation
        self.is_closure = isinstance(relation, Closure)
        self.counts = counts
        self._some = (counts > 0).astype(bool).tocsr()
        self._total = np.asarray(counts.sum(axis=1)).reshape(-1)

    def leads_to(self, inside: Booleans, threshold: int) -> Booleans:
        """(m, n_rows) which rows have more than `threshold` steps into each of m sets (m, n_rows)."""
        columns = np.ascontiguousarray(inside.T)
        if threshold == 0:
            return (self._some @ columns).T  # type: ignore[no-any-return]
        return (self.counts @ columns.astype(np.int32) > threshold).T  # type: ignore[no-any-return]

    def may_lead(self, wanted: Booleans, threshold: int) -> bool:
        """Whether all wanted rows have enough steps at all."""
        return bool((self._total[wanted] > threshold).all())

    def which_leads(self, columns: Words, n_sets: int, wanted: Booleans, threshold: int) -> int | None:
        """The first of many sets into which exactly the wanted rows have more than `threshold` steps.

        Parameters
        ----------
        columns : (n_rows, ⌈n_sets / 64⌉) for each row the sets it is in.
        """
        left = packed(np.ones((1, n_sets), dtype=bool))[0]
        begins, ends, often = self.counts.indptr, self.counts.indices, self.counts.data
        for row in range(len(wanted)):
            along = slice(begins[row], begins[row + 1])
            if threshold == 0:
                enough = np.bitwise_or.reduce(columns[ends[along]], axis=0)
            else:
                # Bit by bit: level k says of each set whether more than k steps have led into it.
                levels = [np.zeros_like(left) for _ in range(threshold + 1)]
                times = np.minimum(often[along], threshold + 1)
                for end in np.repeat(ends[along], times):
                    for level in range(threshold, 0, -1):
                        levels[level] |= levels[level - 1] & columns[end]
                    levels[0] |= columns[end]
                enough = levels[threshold]
            left = left & enough if wanted[row] else left & ~enough
            if not left.any():
                return None
        return int(np.flatnonzero(unpacked(left[None], n_sets)[0])[0])


def properties(evaluator: Evaluator | QuotientEvaluator) -> list[Truth]:
    """⊤ and the predicates of objects and states; without those that never hold, as ⊥ is clearer."""
    atoms = sorted(Atom(predicate.name) for predicate in _predicates(evaluator) if predicate.arity < 2)
    return [Top(), *(atom for atom in atoms if evaluator.holds(atom).any())]


def steps(evaluator: Evaluator | QuotientEvaluator, closures: bool) -> list[Step]:
    """All steps the evaluator can take, in canonical order; of those that are the same the first."""
    wanted: set[Relation] = set()
    for predicate in _predicates(evaluator):
        own = list(_relations(predicate))
        wanted.update(own)
        if closures and predicate.arity == 2:
            wanted.update(Closure(one, stays) for one in own for stays in (False, True))
    found: list[Step] = []
    to_itself = sp.csr_array(sp.eye_array(len(evaluator.holds(Top())), dtype=np.int64))
    seen = set(_keys(to_itself))
    for relation in sorted(wanted):
        try:
            counts = _counts(evaluator, relation)
        except InputError:
            continue  # the evaluator cannot take this step
        ways, often = _keys(counts)
        if counts.nnz and (ways if isinstance(relation, Closure) else often) not in seen:
            found.append(Step(relation, counts))
        seen |= {ways, often}
    return found


def _keys(counts: Any) -> tuple[bytes, bytes]:
    """What is the same for the same ways, and for ways that lead as often."""
    ends = (counts.indptr.astype(np.int64), counts.indices.astype(np.int64))
    ways = b"".join(part.tobytes() for part in ends)
    return ways, ways + counts.data.tobytes()


def _predicates(evaluator: Evaluator | QuotientEvaluator) -> list[Predicate]:
    """Those of the vocabulary; where goals are marked as achieved or missing, also both together."""
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
        # With no step allowed, squaring once more doubles the longest way.
        ways = steps + sp.eye_array(size, dtype=np.int64)
        known = -1
        while ways.nnz != known:
            known = ways.nnz
            ways = ((ways @ ways) > 0).astype(np.int64)
        counts = ways if relation.fields[1] else ((steps @ ways) > 0).astype(np.int64)
    else:
        counts = evaluator.counts(relation)
    counts = sp.csr_array(counts).astype(np.int64)
    counts.sum_duplicates()
    counts.eliminate_zeros()
    counts.sort_indices()
    return counts
