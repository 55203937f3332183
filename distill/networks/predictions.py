"""The values of a network, and its embeddings in two dimensions."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from distill.common import content_of, rank_within
from distill.networks.checkpoint import Checkpoint
from distill.networks.execution import evaluate
from distill.networks.state_values import predict
from distill.structures import DataSet, read_archive, write_archive

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
KIND = "outlook"
_DRAWN = 150  # states of each split whose embeddings are drawn


@dataclass(frozen=True, eq=False)
class Predictions:
    """The values of all states, and the embeddings of some objects in two dimensions.

    Attributes
    ----------
    values : for each split (n_states,) the network's V.
    drawn : for each split (n,) the states whose objects are drawn.
    points : for each split (n_layers + 1, n_objects, 2) the objects of these states, in order, along the
        two principal axes of a layer's embeddings. The axes are the same for all splits.
    shares : (n_layers + 1, 2) the share of the variance along each axis.
    """

    values: Mapping[str, Array]
    drawn: Mapping[str, Integers]
    points: Mapping[str, Array]
    shares: Array

    def save(self, path: Path, *, compressed: bool = False) -> None:
        """Write it to one file (see `distill.structures.archive`)."""
        parts = {"values": self.values, "drawn": self.drawn, "points": self.points}
        arrays = {f"{part}/{name}": array for part, table in parts.items() for name, array in table.items()}
        metadata = {"kind": KIND, "splits": list(self.values)}
        write_archive(path, {**arrays, "shares": self.shares}, metadata, compressed=compressed)

    @staticmethod
    def load(path: Path) -> "Predictions":
        """Read what `save` wrote."""
        arrays, metadata = read_archive(path, KIND)
        with content_of(path):
            values, drawn, points = (
                {name: arrays[f"{part}/{name}"] for name in metadata["splits"]}
                for part in ("values", "drawn", "points")
            )
            shares = arrays["shares"]
            shapes = [one.shape[::2] for one in points.values()]
            if shares.ndim != 2 or any(one.ndim != 1 for one in drawn.values()):
                raise ValueError("an array has another shape")
            if any(shape != shares.shape for shape in shapes):
                raise ValueError("the points of a split do not fit the layers")
            return Predictions(values, drawn, points, shares)


def compute_predictions(checkpoint: Checkpoint, sets: Mapping[str, DataSet]) -> Predictions:
    """Run a network on all states, and project its embeddings on a sample of states."""
    network = checkpoint.network
    drawn = {name: _balanced_sample(data.v_star) for name, data in sets.items()}
    with torch.no_grad():
        embedded = [
            evaluate(network, network.encoding.structures(data, drawn[name])).embeddings
            for name, data in sets.items()
        ]
    ends = np.cumsum([len(layers[0]) for layers in embedded])[:-1]
    layers = [
        _project(np.concatenate([table.numpy().astype(np.float64) for table in tables]))
        for tables in zip(*embedded, strict=True)
    ]
    points = np.split(np.stack([flat for flat, _ in layers]), ends, axis=1)
    shares = np.stack([share for _, share in layers])
    return Predictions(predict(network, sets), drawn, dict(zip(sets, points, strict=True)), shares)


def _balanced_sample(v_star: NDArray[np.integer]) -> Integers:
    """Numbers of states, ascending, balanced over V* and drawn at random."""
    random = np.random.default_rng(0).permutation(len(v_star))
    rank = rank_within(v_star.astype(np.int64), random)
    return np.sort(np.lexsort((random, rank))[:_DRAWN])


def _project(embeddings: Array) -> tuple[Array, Array]:
    """The objects (n, k) along the two principal axes (n, 2), and the share of each axis (2,)."""
    axes = PCA(min(2, *embeddings.shape), svd_solver="full")
    with np.errstate(invalid="ignore"):  # embeddings that are all equal have no variance to share
        points = axes.fit_transform(embeddings)
    share = np.nan_to_num(axes.explained_variance_ratio_)
    missing = (0, 2 - len(share))
    return np.pad(points, ((0, 0), missing)), np.pad(share, missing)
