"""The language of readable formulas: concepts and relations of a domain, on the rows of a quotient.

For each goal predicate p_G the language also has the achieved goals (p_G ∧ p) and the missing goals
(p_G ∧ ¬p), of unary and of binary predicates. It has the inverse of each relation. Each costs one symbol.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from distill.logic.search.row_relations import RowRelation, properties, row_relations
from distill.logic.semantics.evaluation import resolve_predicate
from distill.logic.semantics.quotients import QuotientEvaluator
from distill.logic.syntax.formulas import And, Atom, Modal, Not, Truth
from distill.logic.syntax.relations import Closure, Relation, RelationAnd, Role
from distill.structures import Quotient

Booleans = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Modality:
    """An operator <R> with a threshold, and the Boolean columns it gives.

    Attributes
    ----------
    relation : the relation R.
    threshold : more than so many neighbours must satisfy the operand.
    cost : symbols that it adds.
    apply : from the columns of m operands (n_rows, m) to the columns of their modal formulas (n_rows, m).
    """

    relation: Relation
    threshold: int
    cost: int
    apply: Callable[[Booleans], Booleans]

    def of(self, operand: Truth) -> Truth:
        """The modal formula of an operand."""
        return Modal(self.relation, operand, self.threshold)


@dataclass(frozen=True, eq=False)
class Language:
    """Concepts and relations on the rows of a quotient.

    Attributes
    ----------
    concepts : ⊤, the predicates, and the achieved and missing goals.
    holds : (n_rows, n_concepts) where they hold.
    relations : the relations and their inverses.
    modalities : <R>, <R> with threshold 1, <R+>.
    """

    concepts: tuple[Truth, ...]
    holds: Booleans
    relations: tuple[RowRelation, ...]
    modalities: tuple[Modality, ...]

    @staticmethod
    def of(quotient: Quotient, *, closures: bool = True, derived: bool = True) -> "Language":
        """The language of a stable quotient with joint messages.

        Parameters
        ----------
        closures : whether it has <R+>.
        derived : whether it has the achieved and missing goals.

        Examples
        --------
        >>> from distill.structures import Options, Predicate, Structures, Vocabulary
        >>> from distill.symmetry import LabelledBatch, build_quotient
        >>> words = Vocabulary([Predicate("on", 2), Predicate("clear", 1), Predicate("clear_G", 1, "goal")])
        >>> atoms = {"on": [[0, 1], [1, 2]], "clear": [[0]], "clear_G": [[2]]}
        >>> tower = Structures(words, 1, [0, 0, 0], atoms)
        >>> quotient = build_quotient([LabelledBatch(tower, {}, [0])], None, Options(joint=True)).quotient
        >>> language = Language.of(quotient)
        >>> language.concepts
        (top, clear, clear_G, clear_G & ~clear, clear & clear_G)
        >>> [modality.of(language.concepts[1]) for modality in language.modalities]
        [<on>clear, <on+>clear, <on^-1>clear, <on^-1+>clear]
        """
        evaluator = QuotientEvaluator(quotient)
        concepts = properties(evaluator)
        for predicate in sorted(quotient.vocabulary, key=lambda predicate: predicate.name):
            now = predicate.base
            if derived and predicate.role == "goal" and predicate.arity == 1 and now in quotient.vocabulary:
                goal = Atom(predicate.name)
                concepts += [And(goal, Not(Atom(now))), And(goal, Atom(now))]
        relations = tuple(
            one
            for one in row_relations(evaluator, closures=False)
            if derived or not isinstance(one.relation, RelationAnd)
        )
        modalities = []
        for one in relations:
            most = int(one.counts.sum(axis=1).max())
            for threshold in range(min(2, most)):
                apply = partial(one.steps_into, threshold=threshold)
                modalities.append(Modality(one.relation, threshold, 1 + threshold, apply))
            if closures and _is_binary(one.relation, quotient) and not one.is_transitive:
                modalities.append(Modality(Closure(one.relation, False), 0, 2, one.reaches))
        holds = np.column_stack([evaluator.holds(concept) for concept in concepts])
        return Language(tuple(concepts), holds, relations, tuple(modalities))


def _is_binary(relation: Relation, quotient: Quotient) -> bool:
    """Whether its steps are atoms with exactly two arguments."""
    return (
        not isinstance(relation, Role)
        or resolve_predicate(quotient.vocabulary, relation.fields[0])[0].arity == 2
    )
