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
from distill.logic import Compare, Constant, Count, Modal, Top, Truth
from distill.structures import V_STAR, Quotient
from distill.trees import CountColumns, CountTree, fit_reference, leaf_sets, leaf_sets_of, reference_merges

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class _Feature:
    """A leaf set: its formula, its provenance, and where it holds (n_groups,)."""

    formula: Truth
    provenance: Provenance
    holds: Booleans


class ThesisLayers:
    """The layers of an R-IDT so far.

    Attributes
    ----------
    pool : the unary predicates and the concepts of all layers; of equal ones the first.
    concepts : the learned ones with their provenance.
    """

    def __init__(self, quotient: Quotient, settings: Distillation) -> None:
        self.quotient, self.settings = quotient, settings
        self.random = np.random.default_rng(settings.seed)
        self.draw = StateDraw.of(quotient, V_STAR)
        self.relations = usable_relations(quotient.states)
        self.pool = FeaturePool.unary(quotient)
        self.concepts: dict[Truth, Provenance] = {}
        self.tree_layers: list[list[TreeWithFormulas]] = []

    def add(self, depth: int, embeddings: Array) -> None:
        """Fit the trees of one layer to its embeddings (n_rows, k)."""
        pool, settings = self.pool, self.settings
        view = PoolView.of(pool, self.quotient, depth, self.relations)
        layer = self.quotient.layers[min(depth, self.quotient.depth)]
        objects = _Rows(layer.histogram, view.group, embeddings)
        n_formulas = len(pool.formulas)
        fitting = _Fitting(np.concatenate([view.own, *view.counts], axis=1), objects, settings, self.random)

        def formula(column: int, threshold: int) -> Truth:
            modal, number = divmod(column, n_formulas)
            operand = pool.formulas[number]
            return Modal(self.relations[modal - 1], operand, threshold) if modal else operand

        trees, features = [], []
        for number in range(settings.inner_width):
            states = self.draw.sample(settings.inner_sample, settings.sampling, self.random, objects.errors)
            fitted = fitting.fit(states, self.draw.weight, settings.inner_depth)
            trees.append(_with_formulas(depth, fitted, formula))
            features += fitting.leaf_set_features(fitted, trees[-1], number)
        self.tree_layers.append(trees)
        self._extend(features, view, depth)

    def _extend(self, features: list[_Feature], view: PoolView, depth: int) -> None:
        """Add the features whose denotation is new; a learned one may equal an earlier one."""
        formulas, columns = list(self.pool.formulas), [view.own]
        known = dict(zip(column_keys(view.own), formulas, strict=True))
        for feature in features:
            key = column_keys(feature.holds[:, None])[0]
            if key not in known:
                known[key] = feature.formula
                formulas.append(feature.formula)
                columns.append(feature.holds[:, None])
            self.concepts.setdefault(known[key], feature.provenance)
        self.pool = FeaturePool.of(formulas, np.concatenate(columns, axis=1), view.group, depth)

    def state_features(self, pooled: Array) -> RidtFeatures:
        """Fit the final trees to the embeddings of states (n_state_rows, k)."""
        settings = self.settings
        learned = [number for number, formula in enumerate(self.pool.formulas) if formula in self.concepts]
        counts = self.pool.counts(self.quotient)[:, learned]
        formulas = [self.pool.formulas[number] for number in learned]
        n_states = len(counts)
        states = _Rows(sp.eye_array(n_states, dtype=np.int64, format="csr"), np.arange(n_states), pooled)
        seen = counts if settings.pooling == "sum" else (counts > 0).astype(np.int64)
        fitting = _Fitting(seen, states, settings, self.random)
        trees, features = [], []
        for number in range(settings.final_width):
            chosen = self.draw.sample(settings.final_sample, settings.sampling, self.random, states.errors)
            fitted = fitting.fit(chosen, self.draw.weight, settings.final_depth)
            trees.append(_with_formulas(-1, fitted, lambda c, t: Compare(Count(formulas[c]), t)))
            features += fitting.leaf_set_features(fitted, trees[-1], number)
        distinct: dict[bytes, _Feature] = {}
        for feature in features:
            distinct.setdefault(feature.holds.tobytes(), feature)
        combined = list(distinct.values())
        return RidtFeatures(
            {formula: self.concepts[formula] for formula in formulas},
            counts,
            [(_of_states(feature.formula), feature.provenance) for feature in combined],
            np.array([feature.holds for feature in combined], dtype=bool).T.reshape(n_states, -1),
            [*self.tree_layers, trees],
            settings.features,
            distinct=False,
        )


@dataclass(frozen=True, eq=False)
class _Rows:
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

    def errors(self) -> Array:
        """(n_state_rows,) squared differences of a state's rows from the means of their groups."""
        members = one_hot_rows(self.group, int(self.group.max()) + 1)
        mean = (members.T @ self.targets) / members.sum(axis=0)[:, None]
        return np.asarray(self.histogram @ ((self.targets - mean[self.group]) ** 2).sum(axis=1))


class _Fitting:
    """Fits trees to counts (n_groups, n_columns) with the engine of the settings."""

    def __init__(
        self, counts: NDArray[np.integer], rows: _Rows, settings: Distillation, random: np.random.Generator
    ) -> None:
        self.counts = counts.astype(np.min_scalar_type(int(counts.max(initial=0))))
        self.rows, self.settings, self.random = rows, settings, random
        self.columns = CountColumns.of(self.counts) if settings.engine == "quotient" else None

    def fit(self, states: Integers, weight: Array, depth: int) -> CountTree:
        """Fit a tree to sampled states.

        Parameters
        ----------
        states : (n_state_rows,) how often each state row was drawn.
        weight : (n_state_rows,) of a state.
        """
        rows = self.rows
        if self.columns is None:
            single = sp.coo_array(rows.histogram)
            copies = states[single.row] * single.data
            state, row = np.repeat(single.row, copies), np.repeat(single.col, copies)
            seed = int(self.random.integers(2**31))
            return fit_reference(
                self.counts[rows.group[row]], rows.targets[row], weight[state], max_depth=depth, seed=seed
            )
        share = rows.histogram.T @ (states * weight)
        groups = one_hot_rows(rows.group, len(self.counts)).T
        total = groups @ share
        mean = (groups @ (rows.targets * share[:, None])) / np.where(total > 0, total, 1)[:, None]
        return self.columns.fit(mean, total, max_depth=depth, random=self.random)

    def leaf_set_features(
        self, fitted: CountTree, with_formulas: TreeWithFormulas, number: int
    ) -> list[_Feature]:
        """The 2l - 1 leaf sets of a tree with l leaves; the last one holds everywhere."""
        values, leaf = fitted.tree.leaf_values, fitted.apply(self.counts)
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


def _with_formulas(layer: int, fitted: CountTree, formula: Callable[[int, int], Truth]) -> TreeWithFormulas:
    splits = dict(enumerate(fitted.splits.tolist()))
    return TreeWithFormulas(layer, fitted.tree, {n: formula(*split) for n, split in splits.items()})
