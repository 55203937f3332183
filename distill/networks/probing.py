"""Explicit feature testing (thesis 3.2): linear probes on each layer, with an untrained control."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import QuantileRegressor

from distill.networks.activations import replay
from distill.networks.bags import Bags
from distill.networks.checkpoint import Checkpoint
from distill.networks.execution import check_finite
from distill.networks.network import INNER, Network
from distill.networks.state_values import quotient_for
from distill.structures import UNSOLVABLE, DataSet, Options, Quotient

Array = NDArray[np.float64]
_MOST_STATES = 1_500  # more make the linear programmes slow and change little


@dataclass(frozen=True)
class ProbeScore:
    """The accuracy of a linear probe.

    Attributes
    ----------
    mae : mean absolute error on held-out states.
    share : 1 − mae / error of the best constant. 1 is perfect; 0 is no better than a constant. It is 0 for
        a constant feature.
    """

    mae: float
    share: float


def fit_l1(inputs: Array, target: Array) -> NDArray[np.float64]:
    """The linear map with constant of least mean absolute error, exactly, by linear programming.

    Parameters
    ----------
    inputs : (n, k).
    target : (n,).

    Returns
    -------
    (k + 1,) weights, the constant last.

    Examples
    --------
    >>> fit_l1(np.arange(5.0)[:, None], np.array([1.0, 3.0, 5.0, 7.0, 100.0])).round(6)
    array([2., 1.])
    """
    scale = np.maximum(np.abs(inputs).max(axis=0, initial=0.0), 1e-12)
    model = QuantileRegressor(quantile=0.5, alpha=0.0, solver="highs").fit(inputs / scale, target)
    return np.append(model.coef_ / scale, model.intercept_)


def probe(inputs: Array, target: Array, held_out: NDArray[np.bool_]) -> ProbeScore:
    """Fit a linear map on some states and evaluate it on the others.

    Parameters
    ----------
    inputs : (n_states, k) activations.
    target : (n_states,) the feature.
    held_out : (n_states,) which states are held out for evaluation.

    Examples
    --------
    >>> inputs = np.arange(12.0).reshape(6, 2) ** 2
    >>> probe(inputs, 2 * inputs[:, 0] + 1, np.arange(6) > 3).mae < 1e-6
    True
    """
    weights = fit_l1(inputs[~held_out], target[~held_out])
    error = np.abs(inputs[held_out] @ weights[:-1] + weights[-1] - target[held_out])
    best_constant = np.median(target[~held_out])
    baseline = float(np.abs(target[held_out] - best_constant).mean())
    mae = float(error.mean())
    return ProbeScore(mae, 1 - mae / baseline if baseline else 0.0)


@dataclass(frozen=True)
class ProbeRow:
    """The probe scores of one feature at one place.

    Attributes
    ----------
    feature : its name.
    place : `layer 1`, …: the pooled embedding of a layer; `readout`: the readout's inner values.
    trained, untrained : scores on the network, and on one of the same form with random weights.
    """

    feature: str
    place: str
    trained: ProbeScore
    untrained: ProbeScore

    def to_json(self) -> dict[str, Any]:
        """The row as plain data."""
        scores = {"trained": self.trained, "untrained": self.untrained}
        columns = {f"{name}_{key}": x for name, score in scores.items() for key, x in asdict(score).items()}
        return {"feature": self.feature, "place": self.place, **columns}


def probe_checkpoint(
    checkpoint: Checkpoint,
    data: DataSet,
    features: Mapping[str, Array] | None = None,
    *,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> list[ProbeRow]:
    """Probe features in the pooled embedding of each layer and in the readout's inner values.

    A random half of the states is held out. Probes alone are weak evidence, so the same probe is fitted on an
    untrained network.

    Parameters
    ----------
    data : labelled states.
    features : by name (n_states,) values; `state_features` if left out.
    seed : of the untrained network and of the held-out half.
    """
    targets = state_features(data) if features is None else features
    rng = np.random.default_rng(seed)
    solvable = np.flatnonzero(data.v_star != UNSOLVABLE)
    chosen = np.sort(rng.choice(solvable, min(len(solvable), _MOST_STATES), replace=False))
    held_out = rng.random(len(chosen)) < 0.5
    few = data.pick(chosen)
    built = quotient_for(checkpoint.network, {"all": few}, Options())
    networks = (checkpoint.network, checkpoint.network.untrained(seed))
    places = [_places(network, built.quotient) for network in networks]
    rows = []
    for number, (name, values) in enumerate(targets.items()):
        if progress:
            progress(number, len(targets))
        target = np.asarray(values, dtype=np.float64)[chosen]
        for place in places[0]:
            scores = [probe(tables[place][built.state_row], target, held_out) for tables in places]
            rows.append(ProbeRow(name, place, *scores))
    return rows


def state_features(data: DataSet) -> dict[str, Array]:
    """Features of every state: V*, and the number of atoms of each predicate."""
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
    """The pooled embeddings of each layer, and the readout's inner values: (n_state_rows, size)."""
    places = {}
    for site, table in replay(network, quotient).sites.items():
        if site.about == "objects" and site.depth:
            bags = Bags.of_matrix(quotient.layers[min(site.depth, quotient.depth)].histogram)
            pooled = bags.reduce(torch.from_numpy(table), network.pooling)
            check_finite(network, {f"the pooled {site.name}": pooled})
            places[site.name] = pooled.numpy().astype(np.float64)
        elif site.name == INNER:
            places["readout"] = table.astype(np.float64)
    return places
