"""R-IDTs as in the thesis: Algorithm 2 with the changes of its chapter 4.

Each tree is fitted to a sample of states, all objects of a state together. Two engines fit the same trees:
`quotient` to merged rows with weights, `sklearn` to single objects with scikit-learn, as the thesis did.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from distill.distillation.feature_pool import FeaturePool, PoolView, one_hot_rows, usable_relations
from distill.distillation.feature_set import column_keys
from distill.distillation.ridt_features import RidtFeatures
from distill.distillation.settings import Distillation
from distill.distillation.state_draw import StateDraw
from distill.distillation.tree_with_formulas import TreeWithFormulas
from distill.explanations import Provenance
from distill.logic import Closure, Compare, Constant, Count, Modal, Relation, Top, Truth
from distill.structures import V_STAR, Quotient
from distill.trees import CountColumns, CountTree, fit_reference, leaf_sets, leaf_sets_of, reference_merges

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
_DIGITS = 12  # of the values of leaves that are clustered, relative to the largest


@dataclass(frozen=True, eq=False)
class _Feature:
    """A leaf set: its formula, its provenance, and where it holds (n_groups,)."""

    formula: Truth
    provenance: Provenance
    holds: Booleans


class ThesisLayers:
    """The layers of an R-IDT so far.

    Parameters
    ----------
    draw : of the samples; by default of states with V*, weighted.
    pool : the features of the first layer; by default the unary predicates.

    Attributes
    ----------
    pool : the unary predicates and the leaf sets of all layers; of equal columns the first.
    learned : for each column of the pool that is a leaf set its formula and provenance. A leaf set may equal
        a predicate on the training states: trees then split on the predicate, and state features count the
        leaf set.
    """

    def __init__(
        self,
        quotient: Quotient,
        settings: Distillation,
        draw: StateDraw | None = None,
        pool: FeaturePool | None = None,
    ) -> None:
        self.quotient, self.settings = quotient, settings
        self.draws, self.ties = np.random.default_rng(settings.seed).spawn(2)
        self.draw = draw or StateDraw.of(quotient, V_STAR)
        self.relations = usable_relations(quotient.states)
        self.pool = pool or FeaturePool.unary(quotient)
        self.learned: dict[int, tuple[Truth, Provenance]] = {}
        self.tree_layers: list[list[TreeWithFormulas]] = []

    def add(self, depth: int, embeddings: Array) -> None:
        """Fit the trees of one layer to its embeddings (n_rows, k)."""
        pool, settings = self.pool, self.settings
        counts, rows, view = self.layer(depth, embeddings)
        fitting = TreeFitter(counts, rows, settings, self.ties)
        modals: list[Relation] = [*self.relations, *(Closure(relation) for relation in self.relations)]

        def formula(column: int, threshold: int) -> Truth:
            modal, number = divmod(column, len(pool.formulas))
            operand = pool.formulas[number]
            return Modal(modals[modal - 1], operand, threshold) if modal else operand

        trees, features = [], []
        for number in range(settings.inner_width):
            fitted = fitting.fit(
                self._sample(settings.inner_sample, fitting), self.draw, settings.inner_depth
            )
            trees.append(with_formulas(depth, fitted, formula))
            features += fitting.leaf_set_features(fitted, trees[-1], number)
        self.tree_layers.append(trees)
        self._extend(features, view, depth)

    def layer(self, depth: int, embeddings: Array) -> tuple[Integers, "LayerRows", PoolView]:
        """The columns [U, A_R U, …] of a layer (n_groups, n_columns), its rows, and the view of the pool."""
        closures = self.relations if self.settings.closures else []
        view = PoolView.of(self.pool, self.quotient, depth, self.relations, closures)
        histogram = self.quotient.layers[min(depth, self.quotient.depth)].histogram
        counts = np.concatenate([view.own, *view.counts], axis=1).astype(np.int64)
        return counts, LayerRows(histogram, view.group, embeddings), view

    def _sample(self, size: int, fitting: "TreeFitter") -> Integers:
        """(n_state_rows,) how many states of each row the next tree is fitted to."""
        return self.draw.sample(size, self.settings.sampling, self.draws, fitting.errors)

    def _extend(self, features: list[_Feature], view: PoolView, depth: int) -> None:
        """Add the features whose columns are new (thesis 4.3)."""
        formulas, columns = list(self.pool.formulas), [view.own]
        place = {key: number for number, key in enumerate(column_keys(view.own))}
        for feature in features:
            key = column_keys(feature.holds[:, None])[0]
            if key not in place:
                place[key] = len(formulas)
                formulas.append(feature.formula)
                columns.append(feature.holds[:, None])
            self.learned.setdefault(place[key], (feature.formula, feature.provenance))
        self.pool = FeaturePool.in_order(formulas, np.concatenate(columns, axis=1), view.group, depth)

    def state_features(self, pooled: Array) -> RidtFeatures:
        """Fit the final trees to the embeddings of states (n_state_rows, k)."""
        settings, learned = self.settings, sorted(self.learned)
        counts = self.pool.counts(self.quotient)[:, learned]
        objects = dict(self.learned[number] for number in learned)
        formulas, n_states = list(objects), len(counts)
        states = LayerRows(sp.eye_array(n_states, dtype=np.int64, format="csr"), np.arange(n_states), pooled)
        seen = counts if settings.pooling == "sum" else (counts > 0).astype(np.int64)
        fitting = TreeFitter(seen, states, settings, self.ties)
        trees, distinct = [], dict[bytes, _Feature]()
        for number in range(settings.final_width):
            fitted = fitting.fit(
                self._sample(settings.final_sample, fitting), self.draw, settings.final_depth
            )
            trees.append(with_formulas(-1, fitted, lambda c, t: Compare(Count(formulas[c]), t)))
            for feature in fitting.leaf_set_features(fitted, trees[-1], number):
                distinct.setdefault(feature.holds.tobytes(), feature)
        combined = list(distinct.values())
        return RidtFeatures(
            objects,
            counts,
            [(_of_states(feature.formula), feature.provenance) for feature in combined],
            np.array([feature.holds for feature in combined], dtype=bool).T.reshape(n_states, -1),
            [*self.tree_layers, trees],
            settings.features,
            distinct=False,
        )


@dataclass(frozen=True, eq=False)
class LayerRows:
    """Rows with targets, and the states they occur in.

    Attributes
    ----------
    histogram : (n_state_rows, n_rows) the number of objects of a state in each row.
    group : (n_rows,) rows of one group have the same counts.
    targets : (n_rows, k).
    """

    histogram: sp.csr_array
    group: Integers
    targets: Array


class TreeFitter:
    """Fits the trees of a layer to counts (n_groups, n_columns) with the engine of the settings."""

    def __init__(
        self, counts: NDArray[np.integer], rows: LayerRows, settings: Distillation, ties: np.random.Generator
    ) -> None:
        self.counts = counts.astype(np.min_scalar_type(int(counts.max(initial=0))))
        self.rows, self.settings, self.ties = rows, settings, ties
        self.columns = CountColumns.of(self.counts) if settings.engine == "quotient" else None
        self._predicted: list[Array] = []  # for each tree the means of its leaves (n_groups, k)

    def errors(self) -> Array | None:
        """(n_state_rows,) squared errors of the mean prediction of the trees so far; None without a tree."""
        if not self._predicted:
            return None
        rows = self.rows
        mean = np.mean(self._predicted, axis=0)[rows.group]
        return np.asarray(rows.histogram @ ((rows.targets - mean) ** 2).sum(axis=1))

    def fit(self, states: Integers, draw: StateDraw, depth: int) -> CountTree:
        """Fit a tree to a sample.

        Parameters
        ----------
        states : (n_state_rows,) how many states of each row are in the sample.
        """
        if self.columns is None:
            fitted = self._single(states, draw.weight, depth)
        else:
            fitted = self._merged(self.columns, states, draw.weight, depth)
        if self.settings.sampling == "informed":
            self._predicted.append(fitted.tree.leaf_values[fitted.apply(self.counts)])
        return fitted

    def _single(self, states: Integers, weight: Array, depth: int) -> CountTree:
        """Fit to a row for each object of each state in the sample."""
        rows, cells = self.rows, sp.coo_array(self.rows.histogram)
        copies = states[cells.row] * cells.data
        state, row = np.repeat(cells.row, copies), np.repeat(cells.col, copies)
        counts = self.counts[rows.group[row]]
        seed = int(self.ties.integers(2**31))
        return fit_reference(counts, rows.targets[row], weight[state], max_depth=depth, seed=seed)

    def _merged(self, columns: CountColumns, states: Integers, weight: Array, depth: int) -> CountTree:
        """Fit to a row for each group, with the weight of its objects in the sample and their mean."""
        rows = self.rows
        share = rows.histogram.T @ (states * weight)
        groups = one_hot_rows(rows.group, len(self.counts)).T
        total = groups @ share
        mean = (groups @ (rows.targets * share[:, None])) / np.where(total > 0, total, 1)[:, None]
        return columns.fit(mean, total, max_depth=depth, random=self.ties)

    def leaf_set_features(
        self, fitted: CountTree, with_formulas: TreeWithFormulas, number: int
    ) -> list[_Feature]:
        """The 2l - 1 leaf sets of a tree with l leaves; the last one holds everywhere."""
        # Values that differ by rounding errors only must not decide which leaves are merged first.
        scale = float(np.abs(fitted.tree.leaf_values).max()) or 1.0
        values, leaf = np.round(fitted.tree.leaf_values / scale, _DIGITS), fitted.apply(self.counts)
        distance, linkage = self.settings.distance, self.settings.linkage
        if self.columns is None:
            sets = leaf_sets_of(reference_merges(values, distance=distance, linkage=linkage))
        else:
            sets = leaf_sets(values, distance=distance, linkage=linkage).sets
        features = []
        for leaves in sets:
            inside = np.isin(np.arange(len(values)), leaves)
            provenance = Provenance(with_formulas.layer, number, leaves)
            features.append(_Feature(with_formulas.leaf_set(leaves), provenance, inside[leaf]))
        return features


def _of_states(formula: Truth) -> Truth:
    """The same formula; ⊤, which is about objects, as one about states."""
    return Compare(Constant(1), 0) if isinstance(formula, Top) else formula


def with_formulas(layer: int, fitted: CountTree, formula: Callable[[int, int], Truth]) -> TreeWithFormulas:
    """A tree with the formulas of its splits, which are made from a column and a threshold."""
    splits = dict(enumerate(fitted.splits.tolist()))
    return TreeWithFormulas(layer, fitted.tree, {n: formula(*split) for n, split in splits.items()})
