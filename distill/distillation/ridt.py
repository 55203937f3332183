"""R-IDTs: layers of relational decision trees that turn a network's embeddings into formulas.

For each layer of the network, trees predict its embeddings from the features of an object and of its
neighbours. Clusters of their leaves are the features of the next layer. Trees that predict the pooled
embedding give features of states.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from distill.common import InputError
from distill.distillation.candidates import Candidates, object_candidates, state_candidates
from distill.distillation.feature_pool import FeaturePool, PoolView, one_hot_rows, usable_relations
from distill.distillation.ridt_features import RidtFeatures
from distill.distillation.settings import Distillation
from distill.distillation.thesis_ridt import ThesisLayers
from distill.distillation.tree_with_formulas import TreeWithFormulas
from distill.explanations import Provenance
from distill.logic import Truth
from distill.structures import V_STAR, Quotient, inverse_frequency
from distill.trees import Tree, check_clustering, fit_tree, leaf_sets

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Progress = Callable[[int, int], None]


def fit_ridt(
    quotient: Quotient,
    embeddings: Sequence[NDArray[np.floating]],
    pooled: NDArray[np.floating],
    settings: Distillation | None = None,
    *,
    progress: Progress | None = None,
) -> RidtFeatures:
    """Fit an R-IDT to the activations of a network.

    Parameters
    ----------
    quotient : of the training states, with multisets.
    embeddings : for depth 0, 1, … L (n_rows at that depth, k); see `Replay`.
    pooled : (n_state_rows, k) the embedding of states.
    """
    n_rows = quotient.n_state_rows
    if len(pooled) != n_rows:
        raise InputError(f"There are {len(pooled)} pooled embeddings for {n_rows} state rows.")
    settings = settings or Distillation()
    if settings.mode == "thesis":
        layers: _Layers | ThesisLayers = ThesisLayers(quotient, settings)
    else:
        layers = _Layers(quotient, settings)
    fit_layers(layers, embeddings, progress)
    return layers.state_features(_finite(pooled))


def fit_layers(
    layers: "_Layers | ThesisLayers", embeddings: Sequence[NDArray[np.floating]], progress: Progress | None
) -> None:
    """Fit trees to all layers of the network."""
    check_clustering(layers.settings.distance, layers.settings.linkage)
    _check(layers.quotient, embeddings)
    for depth in range(1, len(embeddings)):
        layers.add(depth, _finite(embeddings[depth]))
        if progress is not None:
            progress(depth, len(embeddings) - 1)


class _Layers:
    """The layers of an R-IDT so far: their trees, and the pool of features."""

    def __init__(self, quotient: Quotient, settings: Distillation) -> None:
        self.quotient = quotient
        self.settings = settings
        self.random = np.random.default_rng(settings.seed)
        self.relations = usable_relations(quotient.states)
        self.pool = FeaturePool.first(quotient)
        self.provenances = {formula: Provenance(0) for formula in self.pool.formulas}
        self.tree_layers: list[list[TreeWithFormulas]] = []
        label = quotient.labels[V_STAR]
        weight = inverse_frequency(label, label >= 0, quotient.multiplicity)
        if not weight.any():
            raise InputError("No state with a path to the goal is left to learn from; label others.")
        self.weight: Array = weight / weight.max()

    def add(self, depth: int, targets: Array) -> None:
        settings, pool = self.settings, self.pool
        view = PoolView.of(pool, self.quotient, depth, self.relations)
        candidates = object_candidates(
            view.own, view.counts, pool.formulas, self.relations, settings.thresholds
        )
        layer = self.quotient.layers[min(depth, self.quotient.depth)]
        sums = one_hot_rows(view.group, len(view.own)).T.tocsr()
        formulas, holds = list(pool.formulas), [view.own]
        trees = []
        for number in range(settings.inner_width):
            rows = layer.histogram.T @ self.weights(number)
            tree = self.tree(candidates, sums, rows, targets, settings.inner_depth)
            trees.append(_with_formulas(depth, tree, candidates))
            for leaves, formula, where in _features(trees[-1], candidates, settings):
                formulas.append(formula)
                holds.append(where[:, None])
                self.provenances.setdefault(formula, Provenance(depth, number, leaves))
        self.tree_layers.append(trees)
        self.pool = FeaturePool.of(formulas, np.concatenate(holds, axis=1), view.group, depth)

    def state_features(self, pooled: Array) -> RidtFeatures:
        settings, pool, counts = self.settings, self.pool, self.pool.counts(self.quotient)
        seen = counts if settings.pooling == "sum" else (counts > 0).astype(np.int64)
        candidates = state_candidates(seen, pool.formulas, settings.thresholds)
        combined: list[tuple[Truth, Provenance]] = []
        columns = [np.zeros((len(counts), 0), dtype=bool)]
        every = sp.eye_array(len(counts), format="csr")
        final = []
        for number in range(settings.final_width):
            tree = self.tree(candidates, every, self.weights(number), pooled, settings.final_depth)
            final.append(_with_formulas(-1, tree, candidates))
            for leaves, formula, where in _features(final[-1], candidates, settings):
                combined.append((formula, Provenance(-1, number, leaves)))
                columns.append(where[:, None])
        objects = {formula: self.provenances[formula] for formula in pool.formulas}
        holds = np.concatenate(columns, axis=1)
        return RidtFeatures(objects, counts, combined, holds, [*self.tree_layers, final], settings.features)

    def weights(self, number: int) -> Array:
        """(n_state_rows,) the weights of states for one tree."""
        if number == 0:
            return self.weight
        return self.weight * self.random.exponential(size=len(self.weight))

    def tree(self, candidates: Candidates, sums: Any, weights: Array, targets: Array, depth: int) -> Tree:
        """Fit a tree on groups of rows: their weights, and the mean of their targets."""
        weighted = sp.csr_array((weights[sums.indices], sums.indices, sums.indptr), shape=sums.shape)
        total = weighted.sum(axis=1)
        kept = np.flatnonzero(total > 0)
        mean = (weighted @ targets)[kept] / total[kept][:, None]
        return fit_tree(
            candidates.holds[kept], mean, total[kept], max_depth=depth, preference=candidates.order
        )


def _with_formulas(layer: int, tree: Tree, candidates: Candidates) -> TreeWithFormulas:
    return TreeWithFormulas(
        layer, tree, {column: candidates.formula(column) for column in tree.used.tolist()}
    )


def _features(
    fitted: TreeWithFormulas, candidates: Candidates, settings: Distillation
) -> list[tuple[tuple[int, ...], Truth, NDArray[np.bool_]]]:
    """The leaf sets of a tree but that of all leaves: leaves, formula, and the groups where it holds."""
    tree, n_leaves = fitted.tree, len(fitted.tree.leaves)
    if n_leaves < 2:
        return []
    leaf = tree.apply(candidates.holds)
    sets = leaf_sets(tree.leaf_values, distance=settings.distance, linkage=settings.linkage).sets
    features = []
    for leaves in sets:
        if len(leaves) < n_leaves:
            inside = np.zeros(n_leaves, dtype=bool)
            inside[list(leaves)] = True
            features.append((leaves, fitted.leaf_set(leaves), inside[leaf]))
    return features


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
    for depth, embedding in enumerate(embeddings):
        expected = len(quotient.layers[min(depth, quotient.depth)])
        if len(embedding) != expected:
            raise InputError(f"At depth {depth} there are {len(embedding)} embeddings for {expected} rows.")


def _finite(values: NDArray[np.floating]) -> Array:
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise InputError("The embeddings hold NaN or infinity; check the network with `distill evaluate`.")
    return array
