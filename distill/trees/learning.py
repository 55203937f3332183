"""R-IDTs: layers of relational decision trees that turn a network's embeddings into formulas.

For each layer of the network, trees predict its embeddings from the features found so far, seen on an object
and on its neighbours. Their leaves, clustered by what they predict, become new features. At the end, trees on
the pooled embedding find features of states.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from distill.errors import InputError
from distill.logic import BOTTOM, And, Compare, Constant, Not, Or, Top, Truth
from distill.settings import Distillation
from distill.structures import Quotient
from distill.trees.candidates import Candidates, object_candidates, state_candidates
from distill.trees.clustering import check_clustering, leaf_sets
from distill.trees.grown import Grown
from distill.trees.learned import Learned
from distill.trees.origin import Origin
from distill.trees.pool import Pool, View, one_hot_rows, usable_relations
from distill.trees.tree import Tree, fit_classifier, fit_tree

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Progress = Callable[[int, int], None]


def learn(
    quotient: Quotient,
    embeddings: Sequence[NDArray[np.floating]],
    pooled: NDArray[np.floating],
    settings: Distillation | None = None,
    *,
    progress: Progress | None = None,
) -> Learned:
    """Learn an R-IDT from a network's activations.

    Parameters
    ----------
    quotient : of the training states, with multisets.
    embeddings : for depth 0, 1, … L (n_rows at that depth, k); see `Replay`.
    pooled : (n_state_rows, k) the embedding of states.
    """
    if len(pooled) != len(quotient.v_star):
        raise InputError(f"There are {len(pooled)} pooled embeddings for {len(quotient.v_star)} state rows.")
    return _after_layers(quotient, embeddings, settings, progress).finish(_finite(pooled))


def learn_classifier(
    quotient: Quotient,
    embeddings: Sequence[NDArray[np.floating]],
    settings: Distillation | None = None,
    *,
    progress: Progress | None = None,
) -> dict[int, Truth]:
    """Learn an IDT that classifies states (or graphs): the same layers, and one tree for the labels.

    Parameters
    ----------
    quotient : its `v_star` are the labels.
    embeddings : as in `learn`.

    Returns
    -------
    For each label the formula that a state with this label satisfies.
    """
    return _after_layers(quotient, embeddings, settings, progress).classified()


def _after_layers(
    quotient: Quotient,
    embeddings: Sequence[NDArray[np.floating]],
    settings: Distillation | None,
    progress: Progress | None,
) -> "_Learner":
    """A learner that has seen all layers of the network."""
    settings = settings or Distillation()
    check_clustering(settings.distance, settings.linkage)
    _check(quotient, embeddings)
    learner = _Learner(quotient, settings)
    for depth in range(1, len(embeddings)):
        learner.add_layer(depth, _finite(embeddings[depth]))
        if progress is not None:
            progress(depth, len(embeddings) - 1)
    return learner


class _Learner:
    def __init__(self, quotient: Quotient, settings: Distillation) -> None:
        self.quotient = quotient
        self.settings = settings
        self.random = np.random.default_rng(settings.seed)
        self.relations = usable_relations(quotient.states)
        self.pool = Pool.first(quotient)
        self.born = {formula: Origin(0) for formula in self.pool.formulas}
        self.grown: list[list[Grown]] = []
        self.weight = _state_weights(quotient)

    def add_layer(self, depth: int, targets: Array) -> None:
        settings, pool = self.settings, self.pool
        view = View.of(pool, self.quotient, depth, self.relations)
        candidates = object_candidates(
            view.own, view.counts, pool.formulas, self.relations, settings.thresholds
        )
        layer = self.quotient.layers[min(depth, self.quotient.depth)]
        sums = one_hot_rows(view.group, len(view.own)).T.tocsr()
        formulas, holds = list(pool.formulas), [view.own]
        trees = []
        for number in range(settings.inner_width):
            rows = layer.histogram.T @ self.sampled(number, settings.inner_sample)
            tree = self.tree(candidates, sums, rows, targets, settings.inner_depth)
            trees.append(_grown(depth, tree, candidates))
            for leaves, formula, where in _features(tree, candidates, settings):
                formulas.append(formula)
                holds.append(where[:, None])
                self.born.setdefault(formula, Origin(depth, number, leaves))
        self.grown.append(trees)
        self.pool = Pool.of(formulas, np.concatenate(holds, axis=1), view.group, depth)

    def finish(self, pooled: Array) -> Learned:
        settings, pool, counts = self.settings, self.pool, self.counts()
        seen = counts if settings.pooling == "sum" else (counts > 0).astype(np.int64)
        candidates = state_candidates(seen, pool.formulas, settings.thresholds)
        combined: list[tuple[Truth, Origin]] = []
        columns = [np.zeros((len(counts), 0), dtype=bool)]
        every = sp.eye_array(len(counts), format="csr")
        final = []
        for number in range(settings.final_width):
            weights = self.sampled(number, settings.final_sample)
            tree = self.tree(candidates, every, weights, pooled, settings.final_depth)
            final.append(_grown(-1, tree, candidates))
            for leaves, formula, where in _features(tree, candidates, settings):
                combined.append((formula, Origin(-1, number, leaves)))
                columns.append(where[:, None])
        objects = {formula: self.born[formula] for formula in pool.formulas}
        holds = np.concatenate(columns, axis=1)
        return Learned(objects, counts, combined, holds, [*self.grown, final], settings.features)

    def counts(self) -> Integers:
        """(n_state_rows, n_formulas) how many objects of a state have each feature."""
        pool = self.pool
        kinds = one_hot_rows(pool.kind, len(pool.holds))
        layer = self.quotient.layers[min(pool.depth, self.quotient.depth)]
        return np.asarray((layer.histogram @ kinds) @ pool.holds.astype(np.int64))

    def classified(self) -> dict[int, Truth]:
        """For each label a formula."""
        candidates = state_candidates(self.counts(), self.pool.formulas, self.settings.thresholds)
        tree = fit_classifier(
            candidates.holds,
            self.quotient.v_star,
            self.weight,
            max_depth=self.settings.final_depth,
            preference=candidates.order,
        )
        label = tree.leaf_values.argmax(axis=1)
        if len(np.unique(label)) == 1:
            return {int(label[0]): Compare(Constant(1), 0)}
        formulas = {column: candidates.formula(column) for path in tree.paths for column, _ in path}
        return {
            int(own): set_formula(tree.paths, frozenset(np.flatnonzero(label == own).tolist()), formulas)
            for own in np.unique(label)
        }

    def sampled(self, number: int, sample: int) -> Array:
        """(n_state_rows,) the weights of states for one tree."""
        if self.settings.mode == "thesis":
            chosen = self.random.multinomial(sample, self.weight / self.weight.sum())
            return chosen.astype(np.float64)
        if number == 0:
            return self.weight
        return self.weight * self.random.exponential(size=len(self.weight))

    def tree(self, candidates: Candidates, sums: Any, weights: Array, targets: Array, depth: int) -> Tree:
        """Fit a tree on groups of rows: their weights, and the mean of their targets."""
        weighted = sp.csr_array((weights[sums.indices], sums.indices, sums.indptr), shape=sums.shape)
        total = weighted.sum(axis=1)
        kept = np.flatnonzero(total > 0)
        mean = (weighted @ targets)[kept] / total[kept][:, None]
        ties = self.random if self.settings.mode == "thesis" else None
        return fit_tree(
            candidates.holds[kept],
            mean,
            total[kept],
            max_depth=depth,
            preference=candidates.order,
            random=ties,
        )


def _grown(layer: int, tree: Tree, candidates: Candidates) -> Grown:
    return Grown(layer, tree, {column: candidates.formula(column) for column in tree.used.tolist()})


def _features(
    tree: Tree, candidates: Candidates, settings: Distillation
) -> list[tuple[tuple[int, ...], Truth, NDArray[np.bool_]]]:
    """The leaf sets of a tree: leaves, formula, and the groups where it holds; not the set of all leaves."""
    paths = tree.paths
    if len(paths) < 2:
        return []
    leaf = tree.apply(candidates.holds)
    formulas = {column: candidates.formula(column) for path in paths for column, _ in path}
    sets = leaf_sets(tree.leaf_values, distance=settings.distance, linkage=settings.linkage).sets
    found = []
    for leaves in sets:
        if len(leaves) < len(paths):
            inside = np.zeros(len(paths), dtype=bool)
            inside[list(leaves)] = True
            found.append((leaves, set_formula(paths, frozenset(leaves), formulas), inside[leaf]))
    return found


def set_formula(
    paths: Sequence[Sequence[tuple[int, bool]]], leaves: frozenset[int], formulas: dict[int, Truth]
) -> Truth:
    """The formula of a leaf set: what leads to one of its leaves.

    Parameters
    ----------
    paths : for each leaf the splits on its way, and whether they hold.
    formulas : of the splits.

    Examples
    --------
    >>> from distill.logic import parse
    >>> paths = [[(0, True)], [(0, False), (1, True)], [(0, False), (1, False)]]
    >>> set_formula(paths, frozenset([0, 2]), {0: parse("clear"), 1: parse("holding")})
    clear | ~holding
    """

    def below(members: list[int], level: int) -> Truth:
        inside = [member in leaves for member in members]
        if all(inside) or not any(inside):
            return Top() if inside[0] else BOTTOM
        column = paths[members[0]][level][0]
        parts = [[m for m in members if paths[m][level][1] == outcome] for outcome in (True, False)]
        yes, no = (below(part, level + 1) for part in parts)
        return _branch(formulas[column], yes, no)

    return below(list(range(len(paths))), 0)


def _branch(split: Truth, yes: Truth, no: Truth) -> Truth:
    """(split ∧ yes) ∨ (¬split ∧ no), as short as it can be said."""
    if isinstance(yes, Top):
        return split if no is BOTTOM else Or(split, no)
    if isinstance(no, Top):
        return Not(split) if yes is BOTTOM else Or(Not(split), yes)
    if yes is BOTTOM:
        return And(Not(split), no)
    if no is BOTTOM:
        return And(split, yes)
    return Or(And(split, yes), And(Not(split), no))


def _state_weights(quotient: Quotient) -> Array:
    """(n_state_rows,) how many states each stands for, by inverse frequency of V*; none for dead ends."""
    solvable = quotient.v_star >= 0
    total = np.bincount(quotient.v_star[solvable], quotient.multiplicity[solvable])
    weights: Array = np.zeros(len(solvable))
    weights[solvable] = quotient.multiplicity[solvable] / total[quotient.v_star[solvable]]
    if not weights.any():
        raise InputError("No state with a way to the goal is left to learn from; label others.")
    found: Array = weights / weights.max()
    return found


def _check(quotient: Quotient, embeddings: Sequence[Any]) -> None:
    if quotient.options.sets:
        raise InputError("A quotient with sets forgets counts; build one with multisets.")
    layers = len(embeddings) - 1
    if layers < 1:
        raise InputError("The network has no layers, so there is nothing to distil.")
    if layers > quotient.depth and not quotient.stable:
        raise InputError(
            f"The network has {layers} layers and the quotient only {quotient.depth}; build it deeper."
        )
    for depth, found in enumerate(embeddings):
        expected = len(quotient.layers[min(depth, quotient.depth)])
        if len(found) != expected:
            raise InputError(f"At depth {depth} there are {len(found)} embeddings for {expected} rows.")


def _finite(values: NDArray[np.floating]) -> Array:
    found = np.asarray(values, dtype=np.float64)
    if not np.isfinite(found).all():
        raise InputError("The embeddings hold NaN or infinity; check the network with `distill evaluate`.")
    return found
