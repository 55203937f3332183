"""What readable features are made of: concepts and relations of the domain, on the rows of a quotient.

Besides the predicates there are, for each goal predicate p_G, what is achieved (p_G ∧ p) and what is missing
(p_G ∧ ¬p), of properties and of relations alike, and all relations backwards. Each of these costs one symbol.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from distill.logic import (
    And,
    Atom,
    Closure,
    Modal,
    Not,
    QuotientEvaluator,
    Relation,
    RelationAnd,
    Role,
    Truth,
)
from distill.logic.evaluation import meant_by
from distill.logic.steps import properties, steps
from distill.structures import Quotient

Booleans = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Way:
    """A relation between rows.

    Attributes
    ----------
    relation : what it is.
    counts : sparse (n_rows, n_rows) how many objects of the other row it leads to.
    """

    relation: Relation
    counts: Any

    def leads_to(self, inside: Booleans, threshold: int = 0) -> Booleans:
        """(n_rows, m) which rows have more than `threshold` steps into each of m sets (n_rows, m)."""
        found: Booleans = self.counts @ inside.astype(np.int32) > threshold
        return found

    def comes_to(self, inside: Booleans) -> Booleans:
        """(n_rows, m) which rows come into each of m sets (n_rows, m) by one or more steps."""
        # All rows of a strongly connected component reach the same; between components steps do not return.
        between, members = self._components
        reached = members.T @ inside.astype(np.int32) > 0
        while True:
            more = reached | (between @ reached.astype(np.int32) > 0)
            if np.array_equal(more, reached):
                return self.leads_to(members @ reached.astype(np.int32) > 0)
            reached = more

    @cached_property
    def _components(self) -> tuple[Any, Any]:
        """Steps between components (n, n), and which rows are their members (n_rows, n)."""
        n, label = connected_components(self.counts, directed=True, connection="strong")
        rows = np.arange(len(label))
        members = sp.csr_array((np.ones(len(label), dtype=np.int32), (rows, label)), shape=(len(label), n))
        return sp.csr_array(members.T @ self.counts @ members > 0).astype(np.int32), members

    @property
    def is_transitive(self) -> bool:
        """Whether more steps lead nowhere else."""
        once = sp.csr_array(self.counts > 0).astype(np.int32)
        twice = sp.csr_array(once @ once > 0).astype(np.int32)
        return bool(twice.multiply(once).nnz == twice.nnz)


@dataclass(frozen=True, eq=False)
class Modality:
    """How a formula about neighbours is made of one about objects.

    Attributes
    ----------
    relation : along which one looks.
    threshold : more than so many neighbours must have it.
    cost : symbols that it adds.
    apply : from (n_rows, m), where formulas hold, to where those about neighbours do.
    """

    relation: Relation
    threshold: int
    cost: int
    apply: Callable[[Booleans], Booleans]

    def of(self, operand: Truth) -> Truth:
        """The formula about neighbours."""
        return Modal(self.relation, operand, self.threshold)


@dataclass(frozen=True, eq=False)
class Language:
    """Concepts and ways on the rows of a quotient.

    Attributes
    ----------
    concepts : ⊤, the properties, and of goals what is achieved and what is missing.
    holds : (n_rows, n_concepts) where they hold.
    ways : the relations, forwards and backwards.
    modalities : <r>, <r> more than once, <r+>.
    """

    concepts: tuple[Truth, ...]
    holds: Booleans
    ways: tuple[Way, ...]
    modalities: tuple[Modality, ...]

    @staticmethod
    def of(quotient: Quotient, *, closures: bool = True, derived: bool = True) -> "Language":
        """The language of a stable quotient with joint messages.

        Parameters
        ----------
        closures : whether it has <r+>.
        derived : whether it has what is achieved and what is missing of goals.

        Examples
        --------
        >>> from distill.structures import Options, Predicate, Structures, Vocabulary
        >>> from distill.symmetry import Labelled, build_quotient
        >>> words = Vocabulary([Predicate("on", 2), Predicate("clear", 1), Predicate("clear_G", 1, "goal")])
        >>> atoms = {"on": [[0, 1], [1, 2]], "clear": [[0]], "clear_G": [[2]]}
        >>> tower = Structures(words, 1, [0, 0, 0], atoms)
        >>> quotient = build_quotient([Labelled(tower, [3], [0])], None, Options(joint=True)).quotient
        >>> language = Language.of(quotient)
        >>> language.concepts
        (top, clear, clear_G, clear_G & ~clear, clear & clear_G)
        >>> [modality.of(language.concepts[1]) for modality in language.modalities]
        [<on>clear, <on+>clear, <on^-1>clear, <on^-1+>clear]
        """
        evaluator = QuotientEvaluator(quotient)
        concepts = properties(evaluator)
        for predicate in sorted(quotient.vocabulary, key=lambda one: one.name):
            now = predicate.base
            if derived and predicate.role == "goal" and predicate.arity == 1 and now in quotient.vocabulary:
                goal = Atom(predicate.name)
                concepts += [And(goal, Not(Atom(now))), And(goal, Atom(now))]
        taken = steps(evaluator, closures=False)
        if not derived:
            taken = [step for step in taken if not isinstance(step.relation, RelationAnd)]
        ways = tuple(Way(step.relation, step.counts) for step in taken)
        modalities = []
        for way in ways:
            most = int(way.counts.sum(axis=1).max())
            for threshold in range(min(2, most)):
                leads_to = partial(way.leads_to, threshold=threshold)
                modalities.append(Modality(way.relation, threshold, 1 + threshold, leads_to))
            if closures and _is_binary(way.relation, quotient) and not way.is_transitive:
                modalities.append(Modality(Closure(way.relation, False), 0, 2, way.comes_to))
        holds = np.column_stack([evaluator.holds(concept) for concept in concepts])
        return Language(tuple(concepts), holds, ways, tuple(modalities))


def _is_binary(relation: Relation, quotient: Quotient) -> bool:
    """Whether its steps are between two arguments of atoms that have no more."""
    return not isinstance(relation, Role) or meant_by(quotient.vocabulary, relation.fields[0])[0].arity == 2
