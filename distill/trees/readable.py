"""Readable R-IDTs: every feature becomes a short formula before the next layer sees it.

For each layer of the network several trees predict its embeddings, with other weights of states, other
depths, and more or less preference for cheap splits. Their leaf sets under all linkages, and the splits
themselves, become the shortest formulas that hold of the same rows; what cannot be said shortly is dropped.

Nothing here depends on the names of predicates or on the order of states and objects.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from distill.errors import InputError
from distill.logic import (
    Compare,
    Count,
    Distance,
    Indicator,
    Node,
    NodeTable,
    Number,
    Relation,
    Truth,
    read_nodes,
)
from distill.logic.renaming import Formula, renamed
from distill.settings import Distillation
from distill.structures import Quotient, read_archive, write_archive
from distill.trees.anonymity import anonymous
from distill.trees.chains import Chain, distances, find_chain, key_of
from distill.trees.enumeration import short_formulas
from distill.trees.forest import Bounds, grow_forest
from distill.trees.found import Found, Splits, distinct_columns
from distill.trees.grown import Grown, pack_trees, unpack_trees
from distill.trees.language import Language, Modality
from distill.trees.learned import distinct_features
from distill.trees.origin import Origin, StateFeature
from distill.trees.tree import Tree

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Progress = Callable[[int, int], None]

KIND = "reader"
TRAIN = 0  # the split that trees learn from
_CELLS = 1 << 29  # rows times splits that are kept
_ENUMERATED = 3000  # formulas that are made without a network
_CHEAP = 2  # cost of the concepts between which distances are measured
_STATE_COST = 4  # of saying something about a state, more than about an object


class Reader:
    """Reads a network layer by layer and keeps the features found.

    Parameters
    ----------
    quotient : of states with joint messages, stable; split 0 is learnt from, others break ties.
    """

    def __init__(self, quotient: Quotient, settings: Distillation) -> None:
        if not (quotient.stable and quotient.options.joint) or quotient.options.sets:
            raise InputError("Readable features need a stable quotient with joint messages and multisets.")
        self.settings = settings
        self.quotient, self._names, codes = anonymous(quotient)
        without = settings.without
        self.language = Language.of(
            self.quotient, closures="closures" not in without, derived="derived" not in without
        )
        self.histogram = self.quotient.layers[-1].histogram
        usable = (quotient.split == TRAIN) & (quotient.v_star >= 0)
        if not usable.any():
            raise InputError("No state with a way to the goal is left to learn from; label others.")
        self.weight = _balanced(quotient.v_star, usable)
        self.train: Booleans = self.histogram.T @ usable.astype(np.int64) > 0
        self.states: Booleans = usable
        self._order = np.lexsort((codes, quotient.split, quotient.v_star))
        self._random = np.random.default_rng(settings.seed)
        self.objects = self._first()
        self.combined = Found([], [], [], np.zeros((len(usable), 0), dtype=bool))
        self.grown: list[list[Grown]] = []
        self.chains: list[Chain] = []
        self._born: dict[bytes, int] = {}
        self._renamed: dict[Node, Any] = {}
        self._given = False  # whether distances are given, not earned by chains

    @property
    def trees(self) -> list[list[Tree]]:
        """The trees of each layer, without what they ask for."""
        return [[grown.tree for grown in layer] for layer in self.grown]

    def save(self, path: Path) -> None:
        """Write all that was found so far to one file, to go on from it with `load`."""
        table = NodeTable()
        parts = {"objects": self.objects, "combined": self.combined}
        trees, grown = pack_trees([one for layer in self.grown for one in layer], table)
        metadata = {
            "kind": KIND,
            **{name: found.to_json(table) for name, found in parts.items()},
            "grown": grown,
            "layers": [len(layer) for layer in self.grown],
            "random": self._random.bit_generator.state,
            "given": self._given,
            "nodes": table.rows,
        }
        arrays = {name: np.packbits(found.holds, axis=0) for name, found in parts.items()}
        keys = [np.frombuffer(key, dtype=np.uint8) for key in self._born]
        arrays["born"] = np.stack(keys) if keys else np.zeros((0, 0), dtype=np.uint8)
        arrays["born_in"] = np.array(list(self._born.values()), dtype=np.int64)
        write_archive(path, {**arrays, **trees}, metadata)

    @staticmethod
    def load(path: Path, quotient: Quotient, settings: Distillation) -> "Reader":
        """The reader that `save` wrote, on the same quotient; settings may differ in what comes later."""
        arrays, metadata = read_archive(path, KIND)
        reader = Reader(quotient, settings)
        nodes = read_nodes(metadata["nodes"])
        rows = {"objects": len(reader.train), "combined": len(reader.states)}
        reader.objects, reader.combined = (
            Found.from_json(metadata[name], nodes, np.unpackbits(arrays[name], axis=0, count=n).astype(bool))
            for name, n in rows.items()
        )
        trees = iter(unpack_trees(arrays, metadata["grown"], nodes))
        reader.grown = [[next(trees) for _ in range(count)] for count in metadata["layers"]]
        reader._random.bit_generator.state = metadata["random"]
        reader._given = bool(metadata["given"])
        born = zip(arrays["born"], arrays["born_in"].tolist(), strict=True)
        reader._born = {key.tobytes(): layer for key, layer in born}
        return reader

    def read(
        self,
        embeddings: Sequence[NDArray[np.floating]],
        weight: Floats | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Fit trees to all layers of the network.

        Parameters
        ----------
        embeddings : for depth 0, 1, … L (n_rows at that depth, k); see `Replay`.
        weight : (n_state_rows,) how much states count; by inverse frequency of V* if left out.
        """
        settings = self.settings
        bounds = Bounds(settings.inner_depth, settings.feature_size, settings.chain_size)
        place = self.quotient.layers[-1].representative
        for depth in range(1, len(embeddings)):
            row = self.quotient.layers[min(depth, self.quotient.depth)].row[place]
            targets = np.asarray(embeddings[depth], dtype=np.float64)[row]
            weights = (self.histogram.T @ own for own in self._weights(settings.inner_width, weight))
            forest = grow_forest(
                self._object_splits(), self.train, targets, weights, bounds, depth, settings.without
            )
            self.objects = self.objects.extended(forest.found, self.train)
            self.grown.append(forest.trees)
            for holds in forest.born:
                self._born.setdefault(key_of(holds[self.train]), depth)
            if progress is not None:
                progress(depth, len(embeddings) - 1)

    def read_states(self, targets: ArrayLike, weight: Floats | None = None) -> None:
        """Fit trees about states to targets (n_state_rows, k): the pooled embedding, or what is wrong."""
        limit = self.settings.feature_size + _STATE_COST
        bounds = Bounds(self.settings.final_depth, limit, limit)
        weights = self._weights(self.settings.final_width, weight)
        given = np.asarray(targets, dtype=np.float64)
        without = self.settings.without
        forest = grow_forest(self._state_splits(), self.states, given, weights, bounds, -1, without)
        self.combined = self.combined.extended(forest.found, self.states)
        self.grown.append(forest.trees)

    def enumerate(self) -> None:
        """Add all short formulas, and distances along all relations, without looking at a network."""
        formulas, cost, holds = short_formulas(
            self.language, self.train, self.settings.feature_size, _ENUMERATED
        )
        origins = [Origin(0, pool="enumerate")] * len(cost)
        self.objects = self.objects.extended(Found(formulas, cost, origins, holds), self.train)
        self._given = True

    def features(self) -> tuple[list[StateFeature], Integers]:
        """All features of states found so far, and their values (n_state_rows, n_features)."""
        self._find_chains()
        objects, combined = self.objects, self.combined
        counts = self.histogram @ objects.holds.astype(np.int64)
        found: list[StateFeature] = []
        columns: list[Integers] = []
        for formula, origin, count in zip(objects.formulas, objects.origins, counts.T, strict=True):
            found.append(StateFeature(Count(formula), "numerical", origin))
            found.append(StateFeature(Indicator(Compare(Count(formula), 0)), "boolean", origin))
            columns += [count, (count > 0).astype(np.int64)]
        for formula, origin, holds in zip(combined.formulas, combined.origins, combined.holds.T, strict=True):
            found.append(StateFeature(Indicator(formula), "combined", origin))
            columns.append(holds.astype(np.int64))
        for chain in self.chains:
            for distance, column in self._distances(chain.relation):
                found.append(StateFeature(distance, "distance", Origin(max(chain.layers), chain=chain)))
                columns.append(column)
        for way in self.language.ways if self._given else ():
            for distance, column in self._distances(way.relation):
                found.append(StateFeature(distance, "distance", Origin(0, pool="enumerate")))
                columns.append(column)
        chosen = distinct_features(found, [column[self.states] for column in columns])
        chosen.sort(key=lambda number: found[number].number.order)
        return [found[number] for number in chosen], np.stack(columns, axis=1)[:, chosen]

    def named(self, feature: StateFeature) -> StateFeature:
        """A feature with the names of the domain."""
        origin = feature.origin
        if origin.formula is not None:
            origin = replace(origin, formula=self.renamed(origin.formula))
        if origin.chain is not None:
            relation, concept = self.renamed(origin.chain.relation), self.renamed(origin.chain.concept)
            origin = replace(origin, chain=replace(origin.chain, relation=relation, concept=concept))
        return StateFeature(self.renamed(feature.number), feature.kind, origin)

    def named_tree(self, grown: Grown) -> Grown:
        """A tree that asks in the names of the domain."""
        asked = {column: self.renamed(formula) for column, formula in grown.asked.items()}
        return replace(grown, asked=asked)

    def renamed(self, formula: Formula) -> Formula:
        """A formula with the names of the domain."""
        return renamed(formula, self._names, self._renamed)

    def hidden(self, formula: Formula) -> Formula:
        """Undo `renamed`."""
        return renamed(formula, {name: own for own, name in self._names.items()}, {})

    def _first(self) -> Found:
        language = self.language
        n = len(language.concepts)
        origin = Origin(0, pool="enumerate" if self.settings.pool == "enumerate" else "ridt")
        none = Found([], [], [], np.zeros((len(language.holds), 0), dtype=bool))
        whole = Found(list(language.concepts), [1] * n, [origin] * n, language.holds)
        return none.extended(whole, self.train)

    def _weights(self, trees: int, weight: Floats | None) -> Iterable[Floats]:
        """For each tree the weights of states (n_state_rows,), the first as given."""
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
        """Each formula, and what modalities make of it."""
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
        """Look for steps that trees bear in a row."""
        if not self.settings.chain_steps:
            return
        cheap = [number for number, cost in enumerate(self.objects.cost) if cost <= _CHEAP]
        concepts = [self.objects.formulas[number] for number in cheap]
        self.chains = []
        for way in self.language.ways:
            chain = find_chain(
                way,
                concepts,
                self.objects.holds[:, cheap],
                self.train,
                self._born,
                self.settings.chain_steps,
            )
            if chain is not None:
                self.chains.append(chain)

    def _distances(self, relation: Relation) -> Iterable[tuple[Number, Integers]]:
        """Distances between cheap concepts along a relation."""
        cheap = [number for number, cost in enumerate(self.objects.cost) if cost <= _CHEAP]
        way = next(way for way in self.language.ways if way.relation is relation)
        holds = self.objects.holds[:, cheap]
        values = distances(way, holds, holds, self.histogram)
        for one, first in enumerate(cheap):
            for other, last in enumerate(cheap):
                formulas = self.objects.formulas
                yield Distance(formulas[first], relation, formulas[last]), values[:, one, other]


def _balanced(v_star: Integers, usable: Booleans) -> Floats:
    """(n_state_rows,) weights by inverse frequency of V*; none for those that are not used."""
    often = np.bincount(v_star[usable])
    weights = np.zeros(len(v_star))
    weights[usable] = 1 / often[v_star[usable]]
    return weights
