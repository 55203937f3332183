"""From states and transitions to a ranking: features, levels, and counterexamples until none is left."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.common import InputError, rank_within, scramble
from distill.distillation.ranking_pool import RankingPool
from distill.distillation.readable_distillation import shown_state
from distill.distillation.settings import Distillation
from distill.distillation.situations import Situations, find_situations
from distill.distillation.teachers import Teacher, allowed_transitions
from distill.explanations import Ranking, descends
from distill.logic import Number, QuotientEvaluator, Scaled
from distill.networks import Network, values
from distill.regression import LevelFit, distinct_changes, fit_levels
from distill.structures import V_STAR, DataSet, Options, Quotient
from distill.symmetry import build_quotient_of, signatures

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]
Progress = Callable[[str, int, int], None]

_SAMPLE = 600  # situations that levels are fitted to at first, spread over V*
_SMALLEST = 200  # situations of the smallest instances, which exclude accidental lists
_ADDED = 150  # counterexamples of a round
_ROUNDS = 12
_SHOWN = 4


@dataclass(frozen=True, eq=False)
class PolicyResult:
    """A ranking, and the situations in which it is wrong.

    Attributes
    ----------
    ranking : the tuple of levels.
    situations : the number of situations, and `states` the number of states that they represent.
    violations : the number of states in which no transition descends, or one into a dead end does.
    blocking : some states without a descending transition in the last fit, as text.
    pool_size : the number of features that it was chosen from.
    rounds : how often levels were fitted.
    """

    ranking: Ranking
    situations: int
    states: int
    violations: int
    blocking: tuple[Mapping[str, Any], ...]
    pool_size: int
    rounds: int


def distil_policy(
    network: Network | None,
    data: DataSet,
    settings: Distillation | None = None,
    *,
    teacher: Teacher = "optimal",
    progress: Progress | None = None,
) -> PolicyResult:
    """Distil a ranking that descends in all states of fully expanded instances.

    Parameters
    ----------
    network : that trees, or the teacher `model`, learn from; None for the pool `enumerate`.
    data : all states of the training instances, prepared without a reduction.
    teacher : the transitions that the ranking may use; see `allowed_transitions`.
    progress : called with the part and the steps done and to do.

    Examples
    --------
    >>> from distill.planning import expand, problem_class
    >>> data = expand(problem_class("blocks-clear").make("train")[1], 1000)
    >>> found = distil_policy(None, data, Distillation(pool="enumerate"))
    >>> found.states, found.violations
    (11, 0)
    """
    settings = settings or Distillation()
    report = progress or (lambda part, done, total: None)
    if network is None and settings.pool != "enumerate":
        raise InputError(f"Pool {settings.pool} needs a network; give a checkpoint, or pool enumerate.")
    if not (data.v_star > 0).any():
        raise InputError("No state with a path to a goal is left to learn from, other than goals.")
    marking = network is not None and network.encoding.goal_marking
    built = build_quotient_of({"train": data}, None, Options(joint=True), goal_marking=marking)
    whole = built.quotient.fixpoint()
    situations = find_situations({"train": data}, built)
    known = None if network is None else values(network, whole.states[whole.chosen])
    allowed = allowed_transitions(situations, teacher, known)
    fitter = _Fitter(whole, situations, allowed, network, settings, report)
    return fitter.fit()


class _Fitter:
    """Fits levels to a growing sample of situations.

    Parameters
    ----------
    whole : the stable quotient of all states.
    allowed : (n_transitions,) of all situations.
    """

    def __init__(
        self,
        whole: Quotient,
        situations: Situations,
        allowed: Booleans,
        network: Network | None,
        settings: Distillation,
        progress: Progress,
    ) -> None:
        self.whole, self.situations, self.allowed = whole, situations, allowed
        self.settings, self.progress = settings, progress
        states = whole.states
        self._code = scramble(signatures(states)[1][whole.chosen] + np.uint64(settings.seed))[
            situations.state
        ]
        self._objects = np.diff(states.object_offsets)[whole.chosen][situations.state]
        self._v_star = whole.labels[V_STAR][situations.state]
        self.chosen = np.union1d(
            self._spread(np.arange(len(situations)))[:_SAMPLE],
            np.lexsort((self._code, self._objects))[:_SMALLEST],
        )
        some = situations.take(self.chosen)
        rows = np.union1d(some.state, some.target)
        progress("features", 0, 1)
        self.pool = RankingPool(whole, rows, network, settings, progress)
        self.pool.keep(distinct_changes(self._changes(some), self.pool.sizes))

    def fit(self) -> PolicyResult:
        """Fit levels, test them on all situations, add counterexamples, and repeat."""
        for number in range(1, _ROUNDS + 1):
            self.progress("levels", number - 1, _ROUNDS)
            fit = self._levels()
            ranking = self._ranking(fit)
            wrong = self.violations(ranking)
            if not fit.complete or not len(wrong):
                break
            self.chosen = np.union1d(self.chosen, self._spread(wrong)[:_ADDED])
        blocked = self.situations.state[self.chosen[list(fit.remaining)]][:_SHOWN]
        return PolicyResult(
            ranking,
            len(self.situations),
            int(self.situations.count.sum()),
            int(self.situations.count[wrong].sum()),
            tuple(shown_state(self.whole, int(row)) for row in blocked),
            len(self.pool),
            number,
        )

    def violations(self, ranking: Ranking) -> Integers:
        """Situations in which no transition descends, or one into a dead end does."""
        evaluator, situations = QuotientEvaluator(self.whole), self.situations
        keys = np.zeros((self.whole.n_state_rows, 0))
        if ranking.levels:
            keys = np.stack([evaluator.number(level) for level in ranking.levels], axis=1)
        falls = descends(keys[situations.state[situations.source]], keys[situations.target])
        begin = situations.first[:-1]
        solved = np.logical_or.reduceat(falls & ~situations.dead, begin)
        lost = np.logical_or.reduceat(falls & situations.dead, begin)
        return np.flatnonzero(~solved | lost)

    def _spread(self, chosen: Integers) -> Integers:
        """Situations in an order that takes all values of V* in turn."""
        rank = rank_within(self._v_star[chosen], self._code[chosen])
        return chosen[np.lexsort((self._code[chosen], rank))]

    def _levels(self) -> LevelFit:
        some = self.situations.take(self.chosen)
        moves = np.isin(self.situations.source, self.chosen)
        return fit_levels(self._changes(some), self.pool.sizes, some.source, self.allowed[moves], some.dead)

    def _changes(self, some: Situations) -> NDArray[np.int32]:
        """(n_transitions, n_features) the change of each feature."""
        found: NDArray[np.int32] = self.pool.values(some.target) - self.pool.values(some.state)[some.source]
        return found

    def _ranking(self, fit: LevelFit) -> Ranking:
        features = self.pool.features
        levels: list[Number] = []
        for column, sign in fit.levels:
            number = features[column].number
            levels.append(number if sign > 0 else Scaled(sign, number))
        return Ranking(tuple(levels), tuple(features), self.whole.vocabulary.is_marked, self.settings.pool)
