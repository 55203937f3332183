"""The features that rankings are chosen from, and their values on situations and their successors."""

from collections.abc import Callable
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from distill.distillation.chains import distances
from distill.distillation.readable_extractor import ReadableExtractor
from distill.distillation.settings import Distillation
from distill.explanations import Provenance, StateFeature
from distill.logic import Distance, Evaluator, RowRelation
from distill.networks import Network, replay
from distill.structures import Quotient
from distill.symmetry import LabelledBatch, build_quotient

Integers = NDArray[np.int64]
Progress = Callable[[str, int, int], None]

_DISTANCES = 20_000  # features at most
_END_COST = 3  # largest cost of the ends of distances


class RankingPool:
    """Features of states in the names of the domain, and their values on growing sets of states.

    Parameters
    ----------
    whole : the stable quotient, with joint messages, of all known states.
    rows : the state rows that features are found on.
    network : that trees are fitted to; None if formulas are only enumerated.

    Attributes
    ----------
    features : no two have equal values on these rows.
    sizes : (n_features,) their symbols.
    """

    def __init__(
        self,
        whole: Quotient,
        rows: Integers,
        network: Network | None,
        settings: Distillation,
        progress: Progress,
    ) -> None:
        self._whole = whole
        labels = {name: label[rows] for name, label in whole.labels.items()}
        states = whole.states[whole.chosen[rows]]
        batch = LabelledBatch(states, labels, np.zeros_like(rows), whole.multiplicity[rows])
        built = build_quotient([batch], None, whole.options)
        extractor = ReadableExtractor(built.quotient, settings)
        if network is not None and settings.pool != "enumerate":
            found = replay(network, built.quotient)
            extractor.extract(found.embeddings, progress=lambda done, total: progress("layers", done, total))
            extractor.extract_states(found.pooled)
        if settings.pool in ("enumerate", "both"):
            extractor.enumerate()
        features, values = extractor.features()
        more, columns = _far_distances(extractor)
        self.features = [extractor.named(feature) for feature in [*features, *more]]
        self.sizes = [feature.number.size for feature in self.features]
        self._place = np.full(whole.n_state_rows, -1)
        self._place[rows] = np.arange(len(rows))
        self._values = np.concatenate([values, columns], axis=1)[built.state_row].astype(np.int32)

    def __len__(self) -> int:
        return len(self.features)

    def keep(self, chosen: list[int]) -> None:
        """Drop all other features."""
        self.features = [self.features[column] for column in chosen]
        self.sizes = [self.sizes[column] for column in chosen]
        self._values = self._values[:, chosen]

    def values(self, rows: Integers) -> NDArray[np.int32]:
        """(n_rows, n_features) the values on state rows of all known states."""
        new = np.unique(rows[self._place[rows] < 0])
        if len(new):
            evaluator = Evaluator(self._whole.states[self._whole.chosen[new]])
            columns = [evaluator.number(feature.number) for feature in self.features]
            self._place[new] = len(self._values) + np.arange(len(new))
            self._values = np.concatenate([self._values, np.stack(columns, axis=1).astype(np.int32)])
        found: NDArray[np.int32] = self._values[self._place[rows]]
        return found


def _far_distances(extractor: ReadableExtractor) -> tuple[list[StateFeature], NDArray[np.int32]]:
    """Distances between the cheapest concepts, along relations of which two steps lead further than one."""
    relations: list[RowRelation] = []
    for one in extractor.language.relations:
        # A distance along the inverse is one along the relation, with its ends exchanged.
        if not one.is_transitive and one.relation.inverse() not in [other.relation for other in relations]:
            relations.append(one)
    cost = np.array(extractor.objects.cost)
    most = isqrt(_DISTANCES // max(1, len(relations)))
    ends = [one for one in np.argsort(cost, kind="stable").tolist() if cost[one] <= _END_COST][:most]
    holds = extractor.objects.holds[:, ends]
    formulas = [extractor.objects.formulas[one] for one in ends]
    origin = Provenance(0, pool="enumerate")
    features: list[StateFeature] = []
    columns = [np.zeros((extractor.histogram.shape[0], 0), dtype=np.int32)]
    for one in relations:
        found = distances(one, holds, holds, extractor.histogram)
        columns.append(found.reshape(len(found), -1).astype(np.int32))
        features += [
            StateFeature(Distance(first, one.relation, last), "distance", origin)
            for first in formulas
            for last in formulas
        ]
    return features, np.concatenate(columns, axis=1)
