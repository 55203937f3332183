"""Readable R-IDTs: every feature is replaced by a short formula before the next layer is fitted.

For each layer of the network several trees predict its embeddings, with different weights of states,
depths, and preferences for cheap splits. Their leaf sets under all linkages, and the splits themselves, are
replaced by the shortest formulas with the same denotation; those without a short formula are dropped.

Results do not depend on the names of predicates or on the order of states and objects.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from distill.common import InputError
from distill.distillation.anonymity import anonymise
from distill.distillation.chains import distances, find_chain, key_of
from distill.distillation.feature_set import FeatureSet, Splits, distinct_columns
from distill.distillation.forest import ForestLimits, grow_forest
from distill.distillation.ridt_features import distinct_features
from distill.distillation.settings import Distillation
from distill.distillation.tree_with_formulas import TreeWithFormulas, pack_trees, unpack_trees
from distill.explanations import Chain, Provenance, StateFeature
from distill.logic import (
    Compare,
    Count,
    Distance,
    Formula,
    Indicator,
    Language,
    Modality,
    Node,
    NodeTable,
    Number,
    Relation,
    Truth,
    read_nodes,
    renamed,
    short_formulas,
)
from distill.structures import UNSOLVABLE, V_STAR, Quotient, inverse_frequency, read_archive, write_archive

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Progress = Callable[[int, int], None]

KIND = "reader"
TRAIN = 0  # the split that trees are fitted to
_CELLS = 1 << 29  # largest number of rows times splits
_ENUMERATED = 3000  # formulas of the enumerated pool
_CHEAP = 2  # largest cost of the ends of distances
_STATE_COST = 4  # by which formulas about states may exceed those about objects


class ReadableExtractor:
    """Extracts features from a network, layer by layer.

    Parameters
    ----------
    quotient : stable, with joint messages; trees are fitted to split 0, other splits break ties.
    """

    def __init__(self, quotient: Quotient, settings: Distillation) -> None:
        if not (quotient.stable and quotient.options.joint) or quotient.options.sets:
            raise InputError("Readable features need a stable quotient with joint messages and multisets.")
        self.settings = settings
        self.quotient, self._names, codes = anonymise(quotient)
        without = settings.without
        self.language = Language.of(
            self.quotient, closures="closures" not in without, derived="derived" not in without
        )
        self.histogram = self.quotient.layers[-1].histogram
        v_star = quotient.labels[V_STAR]
        usable = (quotient.split == TRAIN) & (v_star != UNSOLVABLE)
        if not usable.any():
            raise InputError("No state with a path to the goal is left to learn from; label others.")
        self.weight = inverse_frequency(v_star, usable)
        self.train: Booleans = self.histogram.T @ usable.astype(np.int64) > 0
        self.states: Booleans = usable
        self._order = np.lexsort((codes, quotient.split, v_star))
        self._random = np.random.default_rng(settings.seed)
        self.objects = self._first()
        self.combined = FeatureSet([], [], [], np.zeros((len(usable), 0), dtype=bool))
        self.tree_layers: list[list[TreeWithFormulas]] = []
        self.chains: list[Chain] = []
        self._leaf_sets: dict[bytes, int] = {}  # the first layer of each leaf set and split
        self._renamed: dict[Node, Any] = {}
        self._all_distances = False  # whether distances are features without a chain

    def save(self, path: Path) -> None:
        """Write the state of the extraction to one file; `load` continues from it."""
        table = NodeTable()
        parts = {"objects": self.objects, "combined": self.combined}
        arrays, trees = pack_trees([one for layer in self.tree_layers for one in layer], table)
        metadata = {
            "kind": KIND,
            **{name: part.to_json(table) for name, part in parts.items()},
            "grown": trees,
            "layers": [len(layer) for layer in self.tree_layers],
            "random": self._random.bit_generator.state,
            "given": self._all_distances,
            "nodes": table.rows,
        }
        holds = {name: np.packbits(part.holds, axis=0) for name, part in parts.items()}
        keys = [np.frombuffer(key, dtype=np.uint8) for key in self._leaf_sets]
        holds["born"] = np.stack(keys) if keys else np.zeros((0, 0), dtype=np.uint8)
        holds["born_in"] = np.array(list(self._leaf_sets.values()), dtype=np.int64)
        write_archive(path, {**holds, **arrays}, metadata)

    @staticmethod
    def load(path: Path, quotient: Quotient, settings: Distillation) -> "ReadableExtractor":
        """Undo `save`, on the same quotient; settings of later stages may differ."""
        arrays, metadata = read_archive(path, KIND)
        loaded = ReadableExtractor(quotient, settings)
        nodes = read_nodes(metadata["nodes"])
        rows = {"objects": len(loaded.train), "combined": len(loaded.states)}
        loaded.objects, loaded.combined = (
            FeatureSet.from_json(
                metadata[name], nodes, np.unpackbits(arrays[name], axis=0, count=n).astype(bool)
            )
            for name, n in rows.items()
        )
        trees = iter(unpack_trees(arrays, metadata["grown"], nodes))
        loaded.tree_layers = [[next(trees) for _ in range(count)] for count in metadata["layers"]]
        loaded._random.bit_generator.state = metadata["random"]
        loaded._all_distances = bool(metadata["given"])
        layers = zip(arrays["born"], arrays["born_in"].tolist(), strict=True)
        loaded._leaf_sets = {key.tobytes(): layer for key, layer in layers}
        return loaded

    def extract(
        self,
        embeddings: Sequence[NDArray[np.floating]],
        weight: Floats | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Fit trees to all layers of the network.

        Parameters
        ----------
        embeddings : for depth 0, 1, … L (n_rows at that depth, k); see `Replay`.
        weight : (n_state_rows,) of states; by default the inverse frequency of V*.
        """
        settings = self.settings
        bounds = ForestLimits(settings.inner_depth, settings.feature_size, settings.chain_size)
        place = self.quotient.layers[-1].representative
        for depth in range(1, len(embeddings)):
            row = self.quotient.layers[min(depth, self.quotient.depth)].row[place]
            targets = np.asarray(embeddings[depth], dtype=np.float64)[row]
            weights = (self.histogram.T @ own for own in self._weights(settings.inner_width, weight))
            forest = grow_forest(
                self._object_splits(), self.train, targets, weights, bounds, depth, settings.without
            )
            self.objects = self.objects.extended(forest.features, self.train)
            self.tree_layers.append(forest.trees)
            for holds in forest.sets:
                self._leaf_sets.setdefault(key_of(holds[self.train]), depth)
            if progress is not None:
                progress(depth, len(embeddings) - 1)

    def extract_states(self, targets: ArrayLike, weight: Floats | None = None) -> None:
        """Fit trees about states to targets (n_state_rows, k): the pooled embedding, or remaining errors."""
        limit = self.settings.feature_size + _STATE_COST
        bounds = ForestLimits(self.settings.final_depth, limit, limit)
        weights = self._weights(self.settings.final_width, weight)
        given = np.asarray(targets, dtype=np.float64)
        without = self.settings.without
        forest = grow_forest(self._state_splits(), self.states, given, weights, bounds, -1, without)
        self.combined = self.combined.extended(forest.features, self.states)
        self.tree_layers.append(forest.trees)

    def enumerate(self) -> None:
        """Add all short formulas, and distances along all relations, without a network."""
        formulas, cost, holds = short_formulas(
            self.language, self.train, self.settings.feature_size, _ENUMERATED
        )
        origins = [Provenance(0, pool="enumerate")] * len(cost)
        self.objects = self.objects.extended(FeatureSet(formulas, cost, origins, holds), self.train)
        self._all_distances = True

    def features(self) -> tuple[list[StateFeature], Integers]:
        """All features of states so far, and their values (n_state_rows, n_features)."""
        self._find_chains()
        objects, combined = self.objects, self.combined
        counts = self.histogram @ objects.holds.astype(np.int64)
        features: list[StateFeature] = []
        columns: list[Integers] = []
        for formula, origin, count in zip(objects.formulas, objects.origins, counts.T, strict=True):
            features.append(StateFeature(Count(formula), "numerical", origin))
            features.append(StateFeature(Indicator(Compare(Count(formula), 0)), "boolean", origin))
            columns += [count, (count > 0).astype(np.int64)]
        for formula, origin, holds in zip(combined.formulas, combined.origins, combined.holds.T, strict=True):
            features.append(StateFeature(Indicator(formula), "combined", origin))
            columns.append(holds.astype(np.int64))
        along = [(chain.relation, Provenance(max(chain.layers), chain=chain)) for chain in self.chains]
        if self._all_distances:
            given = Provenance(0, pool="enumerate")
            along += [(one.relation, given) for one in self.language.relations]
        for relation, origin in along:
            for distance, column in self._distances(relation):
                features.append(StateFeature(distance, "distance", origin))
                columns.append(column)
        chosen = distinct_features(features, [column[self.states] for column in columns])
        chosen.sort(key=lambda number: features[number].number.order)
        return [features[number] for number in chosen], np.stack(columns, axis=1)[:, chosen]

    def named(self, feature: StateFeature) -> StateFeature:
        """The feature with the predicate names of the domain."""
        origin = feature.provenance
        if origin.formula is not None:
            origin = replace(origin, formula=self.renamed(origin.formula))
        if origin.chain is not None:
            relation, concept = self.renamed(origin.chain.relation), self.renamed(origin.chain.concept)
            origin = replace(origin, chain=replace(origin.chain, relation=relation, concept=concept))
        return StateFeature(self.renamed(feature.number), feature.kind, origin)

    def named_tree(self, tree: TreeWithFormulas) -> TreeWithFormulas:
        """The tree with the predicate names of the domain."""
        formulas = {column: self.renamed(formula) for column, formula in tree.formulas.items()}
        return replace(tree, formulas=formulas)

    def renamed(self, formula: Formula) -> Formula:
        """The formula with the predicate names of the domain."""
        return renamed(formula, self._names, self._renamed)

    def hidden(self, formula: Formula) -> Formula:
        """Undo `renamed`."""
        return renamed(formula, {name: own for own, name in self._names.items()}, {})

    def _first(self) -> FeatureSet:
        language = self.language
        n = len(language.concepts)
        origin = Provenance(0, pool="enumerate" if self.settings.pool == "enumerate" else "ridt")
        none = FeatureSet([], [], [], np.zeros((len(language.holds), 0), dtype=bool))
        whole = FeatureSet(list(language.concepts), [1] * n, [origin] * n, language.holds)
        return none.extended(whole, self.train)

    def _weights(self, trees: int, weight: Floats | None) -> Iterable[Floats]:
        """The weights of states (n_state_rows,) for each tree; the first tree has the given ones."""
        own = self.weight if weight is None else weight
        yield own
        for _ in range(trees - 1):
            if "bootstrap" in self.settings.without:
                yield own
                continue
            drawn = np.empty(len(own))
            drawn[self._order] = self._random.exponential(size=len(own))
            yield own * drawn

    def _object_splits(self) -> Splits:
        """Each formula, and each modality of it."""
        objects, longest = self.objects, self.settings.chain_size
        cost = np.array(objects.cost)
        room = max(1, _CELLS // len(objects.holds) // (1 + len(self.language.modalities)))
        operands = np.sort(np.argsort(cost, kind="stable")[:room])
        blocks, costs = [objects.holds], [cost]
        recipes: list[tuple[Modality | None, int]] = [(None, number) for number in range(len(cost))]
        for modality in self.language.modalities:
            some = operands[cost[operands] + modality.cost <= longest]
            blocks.append(modality.apply(objects.holds[:, some]))
            costs.append(cost[some] + modality.cost)
            recipes += [(modality, number) for number in some.tolist()]
        holds, whole = np.concatenate(blocks, axis=1), np.concatenate(costs)
        chosen = distinct_columns(holds, whole, self.train)

        def make(number: int) -> Truth:
            modality, operand = recipes[chosen[number]]
            formula: Truth = objects.formulas[operand]
            return formula if modality is None else modality.of(formula)

        return Splits(holds[:, chosen], whole[chosen], make)

    def _state_splits(self) -> Splits:
        """[#φ > t]."""
        objects = self.objects
        counts = self.histogram @ objects.holds.astype(np.int64)
        n = len(objects.cost)
        most = min(self.settings.thresholds, 2)
        holds = np.concatenate([counts > threshold for threshold in range(most + 1)], axis=1)
        cost = np.concatenate([np.array(objects.cost) + 2 + (threshold > 0) for threshold in range(most + 1)])
        chosen = distinct_columns(holds, cost, self.states)

        def make(number: int) -> Truth:
            threshold, formula = divmod(int(chosen[number]), n)
            return Compare(Count(objects.formulas[formula]), threshold)

        return Splits(holds[:, chosen], cost[chosen], make)

    def _find_chains(self) -> None:
        """Find consecutive steps among the leaf sets."""
        if not self.settings.chain_steps:
            return
        cheap = [number for number, cost in enumerate(self.objects.cost) if cost <= _CHEAP]
        concepts = [self.objects.formulas[number] for number in cheap]
        holds, least = self.objects.holds[:, cheap], self.settings.chain_steps
        found = (
            find_chain(relation, concepts, holds, self.train, self._leaf_sets, least)
            for relation in self.language.relations
        )
        self.chains = [chain for chain in found if chain is not None]

    def _distances(self, relation: Relation) -> Iterable[tuple[Number, Integers]]:
        """Distances between cheap concepts along a relation."""
        cheap = [number for number, cost in enumerate(self.objects.cost) if cost <= _CHEAP]
        matrix = next(one for one in self.language.relations if one.relation is relation)
        holds = self.objects.holds[:, cheap]
        values = distances(matrix, holds, holds, self.histogram)
        for one, first in enumerate(cheap):
            for other, last in enumerate(cheap):
                formulas = self.objects.formulas
                yield Distance(formulas[first], relation, formulas[last]), values[:, one, other]
