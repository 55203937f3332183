"""What a network says of every state, and what its embeddings look like."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from distill.jobs.evaluation import predict
from distill.jobs.fitting import rank_within
from distill.models import Checkpoint, evaluate
from distill.planning import DataSet
from distill.structures import read_archive, write_archive

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
KIND = "outlook"
_DRAWN = 150  # states of each split whose embeddings are drawn


@dataclass(frozen=True, eq=False)
class Outlook:
    """The values of all states, and embeddings of some objects in two dimensions.

    Attributes
    ----------
    values : for each split (n_states,) the network's V.
    drawn : for each split (n,) the states whose objects are drawn.
    points : for each split (n_layers + 1, n_objects, 2) where the objects of these states lie, one state
        after the other, along the two axes in which the embeddings of a layer vary most, in all splits alike.
    shares : (n_layers + 1, 2) the share of the variance along each axis.
    """

    values: Mapping[str, Array]
    drawn: Mapping[str, Integers]
    points: Mapping[str, Array]
    shares: Array

    def save(self, path: Path, *, compressed: bool = False) -> None:
        """Write it to one file (see `distill.structures.archive`)."""
        parts = {"values": self.values, "drawn": self.drawn, "points": self.points}
        arrays = {f"{part}/{name}": array for part, found in parts.items() for name, array in found.items()}
        metadata = {"kind": KIND, "splits": list(self.values)}
        write_archive(path, {**arrays, "shares": self.shares}, metadata, compressed=compressed)

    @staticmethod
    def load(path: Path) -> "Outlook":
        """Read what `save` wrote."""
        arrays, metadata = read_archive(path, KIND)
        values, drawn, points = (
            {name: arrays[f"{part}/{name}"] for name in metadata["splits"]}
            for part in ("values", "drawn", "points")
        )
        return Outlook(values, drawn, points, arrays["shares"])


def look(checkpoint: Checkpoint, sets: Mapping[str, DataSet]) -> Outlook:
    """Run a network on all states, and project its embeddings on some of each V*."""
    network = checkpoint.network
    drawn = {name: _some_of_each(data.v_star) for name, data in sets.items()}
    marking = network.architecture.goal_marking
    embedded = []
    for name, data in sets.items():
        with torch.no_grad():
            found = evaluate(network, data.structures(drawn[name], goal_marking=marking))
        embedded.append(np.stack([layer.numpy() for layer in found.embeddings]).astype(np.float64))
    ends = np.cumsum([one.shape[1] for one in embedded])[:-1]
    layers = [_projected(layer) for layer in np.concatenate(embedded, axis=1)]
    points = np.split(np.stack([flat for flat, _ in layers]), ends, axis=1)
    shares = np.stack([share for _, share in layers])
    return Outlook(predict(network, sets), drawn, dict(zip(sets, points, strict=True)), shares)


def _some_of_each(v_star: NDArray[np.integer]) -> Integers:
    """Numbers of states, ascending, as many of each V* as there may be, spread over the data."""
    random = np.random.default_rng(0).permutation(len(v_star))
    rank = rank_within(v_star.astype(np.int64), random)
    return np.sort(np.lexsort((random, rank))[:_DRAWN])


def _projected(embeddings: Array) -> tuple[Array, Array]:
    """The objects (n, k) along the two axes of most variance (n, 2), and the share of each axis (2,)."""
    centred = embeddings - embeddings.mean(axis=0)
    variance, axes = np.linalg.eigh(centred.T @ centred)
    # An axis has no direction of its own: its largest part points up.
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(len(axes))])
    last = axes[:, ::-1][:, :2]
    share = np.maximum(variance[::-1][:2], 0) / max(variance.sum(), np.finfo(float).tiny)
    flat = np.zeros((len(embeddings), 2))
    flat[:, : last.shape[1]] = centred @ last
    both = np.zeros(2)
    both[: len(share)] = share
    return flat, both
