"""Explicit feature testing (thesis 3.2): linear probes on each layer, with an untrained control."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import QuantileRegressor

from distill.networks.activations import replay
from distill.networks.bags import Bags
from distill.networks.checkpoint import Checkpoint
from distill.networks.execution import check_finite
from distill.networks.network import INNER, POOLED, VALUE, Network
from distill.networks.state_values import quotient_for
from distill.structures import UNSOLVABLE, DataSet, Options, Quotient

Array = NDArray[np.float64]
KNOWN = 0.95  # score from which on a network knows a feature
_MOST_STATES = 1_500  # more make the linear programmes slow and change little
_ROUNDING = 1e-6  # activations that vary less, relative to all of them, vary by rounding errors


@dataclass(frozen=True)
class ProbeScore:
    """The accuracy of a linear probe.

    Attributes
    ----------
    train_mae : mean absolute error on the states it was fitted to.
    mae : mean absolute error on held-out states.
    share : 1 − mae / error of the best constant. 1 is perfect; 0 is no better than a constant. None if the
        constant has no error.
    """

    train_mae: float
    mae: float
    share: float | None


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
    # Rotated inputs have the same linear maps, and the programme has no numerical difficulties.
    centre = inputs.mean(axis=0)
    _, sizes, right = np.linalg.svd(inputs - centre, full_matrices=False)
    kept = sizes > _ROUNDING * np.linalg.norm(inputs)
    if not kept.any():
        return np.append(np.zeros(inputs.shape[1]), np.median(target))
    stretch = np.sqrt(len(inputs)) / sizes[kept]
    rotated = (inputs - centre) @ (right[kept].T * stretch)
    model = QuantileRegressor(quantile=0.5, alpha=0.0, solver="highs").fit(rotated, target)
    weights = (right[kept].T * stretch) @ model.coef_
    return np.append(weights, model.intercept_ - centre @ weights)


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
    error = np.abs(inputs @ weights[:-1] + weights[-1] - target)
    mae, baseline = float(error[held_out].mean()), constant_error(target, held_out)
    return ProbeScore(float(error[~held_out].mean()), mae, 1 - mae / baseline if baseline else None)


def constant_error(target: Array, held_out: NDArray[np.bool_]) -> float:
    """The mean absolute error on held-out states of the best constant for the others; see `probe`."""
    return float(np.abs(target[held_out] - np.median(target[~held_out])).mean())


@dataclass(frozen=True)
class ProbeRow:
    """The probe scores of one feature at one place.

    Attributes
    ----------
    feature : its name.
    place : `layer 1`, …: the pooled embedding of a layer; `readout`: the readout's inner values; `pool
        vector`: the pooled embedding, the readout's inner values and V together (p of thesis 3.2).
    constant_mae : mean absolute error of the best constant on held-out states.
    trained, untrained : scores on the network, and on one of the same form with random weights.
    """

    feature: str
    place: str
    constant_mae: float
    trained: ProbeScore
    untrained: ProbeScore

    def to_json(self) -> dict[str, Any]:
        """The row as plain data."""
        scores = {"trained": self.trained, "untrained": self.untrained}
        columns = {f"{name}_{key}": x for name, score in scores.items() for key, x in asdict(score).items()}
        constant = {"constant_mae": self.constant_mae}
        return {"feature": self.feature, "place": self.place, **constant, **columns}

    @staticmethod
    def from_json(row: Mapping[str, Any]) -> "ProbeRow":
        """Undo `to_json`.

        Examples
        --------
        >>> score = ProbeScore(0.0, 0.25, 0.5)
        >>> row = ProbeRow("#clear", "layer 1", 0.5, score, score)
        >>> ProbeRow.from_json(row.to_json()) == row
        True
        """
        names = [field.name for field in fields(ProbeScore)]
        scores = [
            ProbeScore(**{name: row[f"{network}_{name}"] for name in names})
            for network in ("trained", "untrained")
        ]
        return ProbeRow(row["feature"], row["place"], row["constant_mae"], *scores)


@dataclass(frozen=True)
class Knowledge:
    """Where a network knows a feature: the first place at which its probe scores at least `KNOWN`.

    Attributes
    ----------
    feature : its name.
    constant_mae : mean absolute error of the best constant on held-out states.
    trained, untrained : the place in the network, and in the untrained one; None if there is none.
    """

    feature: str
    constant_mae: float
    trained: str | None
    untrained: str | None


def known_places(rows: Sequence[ProbeRow]) -> list[Knowledge]:
    """Where each feature is known.

    Examples
    --------
    >>> good, bad = ProbeScore(0.0, 0.0, 1.0), ProbeScore(0.5, 0.5, 0.0)
    >>> rows = [ProbeRow("#clear", "layer 1", 0.5, bad, bad), ProbeRow("#clear", "layer 2", 0.5, good, bad)]
    >>> known_places(rows)
    [Knowledge(feature='#clear', constant_mae=0.5, trained='layer 2', untrained=None)]
    """

    def first(scores: Iterable[tuple[str, ProbeScore]]) -> str | None:
        return next((place for place, one in scores if one.share is not None and one.share >= KNOWN), None)

    by_feature: dict[str, list[ProbeRow]] = {}
    for row in rows:
        by_feature.setdefault(row.feature, []).append(row)
    return [
        Knowledge(
            feature,
            own[0].constant_mae,
            first((row.place, row.trained) for row in own),
            first((row.place, row.untrained) for row in own),
        )
        for feature, own in by_feature.items()
    ]


def probe_checkpoint(
    checkpoint: Checkpoint,
    data: DataSet,
    features: Mapping[str, Array] | None = None,
    *,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> list[ProbeRow]:
    """Probe features in the pooled embedding of each layer, the readout's inner values and the pool vector.

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
            rows.append(ProbeRow(name, place, constant_error(target, held_out), *scores))
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
    """The activations at each place, see `ProbeRow`: (n_state_rows, size)."""
    sites = replay(network, quotient).sites
    places, about_states = {}, {}
    for site, table in sites.items():
        if site.about == "states":
            about_states[site.name] = table.reshape(len(table), -1).astype(np.float64)
        elif site.depth:
            bags = Bags.of_matrix(quotient.layers[min(site.depth, quotient.depth)].histogram)
            pooled = bags.reduce(torch.from_numpy(table), network.pooling)
            check_finite(network, {f"the pooled {site.name}": pooled})
            places[site.name] = pooled.numpy().astype(np.float64)
    if INNER in about_states:
        places["readout"] = about_states[INNER]
    vector = [about_states[name] for name in (POOLED, INNER, VALUE) if name in about_states]
    return {**places, "pool vector": np.concatenate(vector, axis=1)}
