"""Which features of a state can be read from a network, layer by layer, beside an untrained one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from distill.jobs.quotient import build_quotient_of
from distill.models import Bags, Checkpoint, Network, check_vocabulary, replay
from distill.models.probe import Reading, probe
from distill.planning import UNSOLVABLE, DataSet
from distill.structures import Quotient

Array = NDArray[np.float64]
_MOST_STATES = 1_500  # more make the linear programmes slow and change little


@dataclass(frozen=True)
class ProbeRow:
    """How well one feature is read at one place.

    Attributes
    ----------
    feature : its name.
    place : `layer 1`, …: the pooled embedding of a layer; `readout`: the readout's inner values.
    trained, untrained : on the network, and on one with the same architecture and random weights.
    """

    feature: str
    place: str
    trained: Reading
    untrained: Reading

    def to_json(self) -> dict[str, Any]:
        """The row as plain data."""
        readings = {"trained": self.trained, "untrained": self.untrained}
        scores = {
            f"{name}_{key}": getattr(r, key) for name, r in readings.items() for key in ("mae", "share")
        }
        return {"feature": self.feature, "place": self.place, **scores}


def probe_checkpoint(
    checkpoint: Checkpoint,
    data: DataSet,
    features: Mapping[str, Array] | None = None,
    *,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> list[ProbeRow]:
    """Read features from the pooled embedding of each layer and from the readout's inner values.

    Half of the states are fitted and half are measured, at random. Probes alone are weak evidence, so each
    stands beside the same probe on an untrained network.

    Parameters
    ----------
    data : labelled states.
    features : by name (n_states,) values; `state_features` if left out.
    seed : of the untrained network and of the halves.
    """
    check_vocabulary(checkpoint.network, data.vocabulary)
    wanted = features if features is not None else state_features(data)
    rng = np.random.default_rng(seed)
    solvable = np.flatnonzero(data.v_star != UNSOLVABLE)
    chosen = np.sort(rng.choice(solvable, min(len(solvable), _MOST_STATES), replace=False))
    held_out = rng.random(len(chosen)) < 0.5
    few = data.pick(chosen)
    marking = checkpoint.network.architecture.goal_marking
    depth = checkpoint.network.architecture.layers
    built = build_quotient_of({"all": few}, depth, goal_marking=marking)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        untrained = Network(checkpoint.network.vocabulary, checkpoint.network.architecture)
    places = [_places(network, built.quotient) for network in (checkpoint.network, untrained)]
    rows = []
    for number, (name, values) in enumerate(wanted.items()):
        if progress:
            progress(number, len(wanted))
        target = np.asarray(values, dtype=np.float64)[chosen]
        for place in places[0]:
            readings = [probe(found[place][built.state_row], target, held_out) for found in places]
            rows.append(ProbeRow(name, place, *readings))
    return rows


def state_features(data: DataSet) -> dict[str, Array]:
    """Features that every state has: V*, and how many atoms of each predicate hold."""
    features: dict[str, Array] = {"V*": data.v_star.astype(np.float64)}
    states = data.structures(goal_marking=True)
    for predicate in states.vocabulary:
        if predicate.role in ("type", "constant"):
            continue
        counts = np.bincount(states.states_of_atoms(predicate.name), minlength=len(data))
        if len(np.unique(counts)) > 1:
            features[f"#{predicate.name}"] = counts.astype(np.float64)
    return features


def _places(network: Network, quotient: Quotient) -> dict[str, Array]:
    """What each layer pools to, and the readout's inner values: (n_state_rows, size)."""
    found = replay(network, quotient)
    places = {}
    for depth in range(1, len(found.embeddings)):
        bags = Bags.of_matrix(quotient.layers[min(depth, quotient.depth)].histogram)
        table = torch.from_numpy(found.embeddings[depth])
        places[f"layer {depth}"] = bags.reduce(table, network.architecture.pooling).numpy().astype(np.float64)
    return {**places, "readout": found.inner.astype(np.float64)}
