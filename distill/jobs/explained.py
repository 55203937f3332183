"""How much of what a network computes, layer by layer, the sets that trees tell apart explain.

A high share alone says little: embeddings of objects that look alike are alike in any network, and many
columns explain anything. So each share stands beside that of networks with random weights and the same sets,
and beside that of sets of the same sizes whose rows were drawn at random.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from distill.errors import InputError
from distill.jobs.sample import known_rows
from distill.logic import Evaluator, Number, Truth
from distill.models import Checkpoint, Network, replay
from distill.planning import UNSOLVABLE, DataSet
from distill.trees import Grown

Array = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Progress = Callable[[int, int], None]
BASES = ("layer", "so far", "in V")
_RANK = 1e-10  # directions with less than this part of the largest are none
_MOST_COLUMNS = 0.5  # of the rows: with more columns, any sets explain a lot


@dataclass(frozen=True)
class Shares:
    """How much of the variance of a layer's embeddings some sets explain.

    Attributes
    ----------
    layer : of the network, from 1.
    basis : which sets: the leaves of the layer's trees (`layer`), those of all layers so far (`so far`), or
        all formulas about objects that occur in the value function (`in V`).
    columns : how many different sets.
    trained, untrained, random : R² of least squares on the network, on networks with random weights, and with
        the rows of the sets drawn at random; None where there are too many sets, or where nothing varies.
    """

    layer: int
    basis: str
    columns: int
    trained: float | None
    untrained: float | None
    random: float | None

    def to_json(self) -> dict[str, Any]:
        """The shares as plain data."""
        return asdict(self)


def explained_share(columns: Booleans, targets: Array, weights: Array) -> float | None:
    """R² of the weighted least-squares regression of all targets on 0/1 columns and a constant.

    Parameters
    ----------
    columns : (n_rows, n_columns).
    targets : (n_rows, k).
    weights : (n_rows,) how often a row counts.

    Returns
    -------
    The share of the total variance of the targets; None if they do not vary.

    Examples
    --------
    >>> holds = np.array([[True], [True], [False], [False]])
    >>> explained_share(holds, np.array([[3.0], [3.0], [1.0], [1.0]]), np.ones(4))
    1.0
    >>> explained_share(holds, np.array([[3.0], [1.0], [3.0], [1.0]]), np.ones(4))
    0.0
    """
    return _shares(columns, [targets], weights)[0]


def _shares(columns: Booleans, targets: Sequence[Array], weights: Array) -> list[float | None]:
    """`explained_share` of several targets."""
    root = np.sqrt(weights / weights.sum())[:, None]
    inputs = _centred(columns.astype(np.float64), weights) * root
    values, axes = np.linalg.eigh(inputs.T @ inputs)
    kept = values > _RANK * max(float(values.max(initial=0.0)), np.finfo(float).tiny)
    found: list[float | None] = []
    for target in targets:
        aim = _centred(target.astype(np.float64), weights) * root
        total = float((aim**2).sum())
        scale = float((target.astype(np.float64) ** 2).max(initial=0.0))
        if total <= 1e-12 * max(scale, np.finfo(float).tiny):
            found.append(None)
            continue
        along = (axes[:, kept].T @ (inputs.T @ aim)) / np.sqrt(values[kept])[:, None]
        found.append(round(min(1.0, float((along**2).sum()) / total), 12))
    return found


def _centred(table: Array, weights: Array) -> Array:
    return table - np.average(table, axis=0, weights=weights)


def explained(
    checkpoint: Checkpoint,
    data: DataSet,
    trees: Sequence[Grown],
    value: Number,
    *,
    states: int = 500,
    draws: int = 3,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[Shares]:
    """The shares of all layers, on some of the states that trees learned from.

    The rows are classes of objects that no formula tells apart; each counts as often as it occurs.

    Parameters
    ----------
    data : labelled training states.
    trees : those of a run.
    value : its value function.
    states : so many states are drawn.
    draws : untrained networks, and random sets, of which the mean is taken.
    progress : called with the layers done and to do.
    """
    if states < 1 or draws < 1:
        raise InputError(f"At least one state and one draw are needed, not {states} and {draws}.")
    random = np.random.default_rng(seed)
    solvable = np.flatnonzero(data.v_star != UNSOLVABLE)
    few = data.pick(np.sort(random.choice(solvable, min(len(solvable), states), replace=False)))
    network = checkpoint.network
    quotient = known_rows({"train": few}, goal_marking=network.architecture.goal_marking)
    rows = quotient.layers[-1]
    weights = np.asarray(quotient.multiplicity @ rows.histogram, dtype=np.float64).reshape(-1)
    networks = [network, *untrained_networks(network, draws, seed)]
    embeddings = [replay(one, quotient).embeddings for one in networks]
    evaluator = Evaluator(quotient.states)

    def holds(formula: Truth) -> Booleans:
        return evaluator.holds(formula)[rows.representative]

    in_value = _distinct([holds(formula) for formula in object_formulas(value)], len(rows))
    so_far = np.zeros((len(rows), 0), dtype=bool)
    found = []
    n_layers = network.architecture.layers
    for layer in range(1, n_layers + 1):
        if progress:
            progress(layer - 1, n_layers)
        own = _distinct(
            [c for grown in trees if grown.layer == layer for c in leaf_columns(grown, holds)], len(rows)
        )
        so_far = _distinct([*so_far.T, *own.T], len(rows))
        targets = [one[layer].astype(np.float64) for one in embeddings]
        for basis, columns in zip(BASES, (own, so_far, in_value), strict=True):
            found.append(_compared(layer, basis, columns, targets, weights, draws, random))
    return found


def _compared(
    layer: int,
    basis: str,
    columns: Booleans,
    targets: Sequence[Array],
    weights: Array,
    draws: int,
    random: np.random.Generator,
) -> Shares:
    """One share beside its two controls; the first of the targets is that of the trained network."""
    n_rows, width = columns.shape
    if width == 0 or width > _MOST_COLUMNS * n_rows:
        return Shares(layer, basis, width, None, None, None)
    trained, *untrained = _shares(columns, targets, weights)
    by_chance = [_shares(columns[random.permutation(n_rows)], targets[:1], weights)[0] for _ in range(draws)]
    return Shares(layer, basis, width, trained, _mean(untrained), _mean(by_chance))


def _mean(shares: Sequence[float | None]) -> float | None:
    known = [share for share in shares if share is not None]
    return float(np.mean(known)) if known else None


def untrained_networks(network: Network, count: int, seed: int = 0) -> Iterator[Network]:
    """Networks of the same architecture with random weights."""
    for number in range(count):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed + number)
            yield Network(network.vocabulary, network.architecture)


def leaf_columns(grown: Grown, holds: Callable[[Truth], Booleans]) -> list[Booleans]:
    """For each leaf of a tree about objects (n_rows,) where it is reached.

    Parameters
    ----------
    holds : from a formula to (n_rows,) where it holds.
    """
    asked: Mapping[int, Booleans] = {column: holds(formula) for column, formula in grown.asked.items()}
    return [
        np.all([asked[column] == outcome for column, outcome in path], axis=0)
        for path in grown.tree.paths
        if path
    ]


def object_formulas(value: Number) -> list[Truth]:
    """All formulas about objects that occur in a value function, small ones first.

    Examples
    --------
    >>> from distill.logic import parse
    >>> object_formulas(parse("2*#<on>clear - [#holding > 0]"))
    [clear, holding, <on>clear]
    """
    return sorted(node for node in value.walk() if isinstance(node, Truth) and not node.of_state)


def _distinct(columns: Sequence[Booleans], n_rows: int) -> Booleans:
    """(n_rows, n) the columns that vary, each once; one that holds where another does not is no other."""
    kept: dict[bytes, Booleans] = {}
    for column in columns:
        if column.any() and not column.all():
            kept.setdefault((column ^ column[0]).tobytes(), column)
    return np.stack(list(kept.values()), axis=1) if kept else np.zeros((n_rows, 0), dtype=bool)
