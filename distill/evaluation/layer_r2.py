"""The share of the variance of a network's embeddings, layer by layer, that leaf sets of trees explain.

A high R² alone is weak evidence: in any network equivalent objects have equal embeddings, and many columns
explain anything. So there are two controls: networks with random weights and the same sets, and sets of the
same sizes with permuted rows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.common import InputError
from distill.distillation import TreeWithFormulas, known_rows
from distill.evaluation.inspection import subformulas
from distill.logic import Evaluator, Number, Truth
from distill.networks import Checkpoint, replay
from distill.structures import UNSOLVABLE, DataSet

Array = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Progress = Callable[[int, int], None]
BASES = ("layer", "so far", "in V")
_RANK = 1e-10  # smaller relative eigenvalues count as 0
_MOST_COLUMNS = 0.5  # as a share of the rows; more columns explain any target


@dataclass(frozen=True)
class LayerR2:
    """R² of a layer's embeddings, explained by sets of objects.

    Attributes
    ----------
    layer : of the network, from 1.
    basis : which sets: the leaves of the layer's trees (`layer`), those of all layers so far (`so far`), or
        all formulas about objects that occur in the value function (`in V`).
    columns : the number of distinct sets.
    trained, untrained, random : R² of least squares on the network, on networks with random weights, and with
        permuted rows of the sets; None if there are too many sets, or if the targets are constant.
    """

    layer: int
    basis: str
    columns: int
    trained: float | None
    untrained: float | None
    random: float | None

    def to_json(self) -> dict[str, Any]:
        """The scores as plain data."""
        return asdict(self)


def weighted_r2(columns: Booleans, targets: Iterable[Array], weights: Array) -> list[float | None]:
    """R² of the weighted least-squares regression of each target on 0/1 columns and a constant.

    Parameters
    ----------
    columns : (n_rows, n_columns).
    targets : (n_rows, k) each.
    weights : (n_rows,) multiplicity of each row.

    Returns
    -------
    For each target the explained share of its total variance; None if it is constant.

    Examples
    --------
    >>> holds = np.array([[True], [True], [False], [False]])
    >>> targets = np.array([[[3.0], [3.0], [1.0], [1.0]], [[3.0], [1.0], [3.0], [1.0]]])
    >>> weighted_r2(holds, targets, np.ones(4))
    [1.0, 0.0]
    """
    root = np.sqrt(weights / weights.sum())[:, None]
    inputs = _centre(columns.astype(np.float64), weights) * root
    values, axes = np.linalg.eigh(inputs.T @ inputs)
    significant = values > _RANK * max(float(values.max(initial=0.0)), np.finfo(float).tiny)
    shares: list[float | None] = []
    for target in targets:
        aim = _centre(target.astype(np.float64), weights) * root
        total = float((aim**2).sum())
        scale = float((target.astype(np.float64) ** 2).max(initial=0.0))
        if total <= 1e-12 * max(scale, np.finfo(float).tiny):
            shares.append(None)
            continue
        along = (axes[:, significant].T @ (inputs.T @ aim)) / np.sqrt(values[significant])[:, None]
        shares.append(round(min(1.0, float((along**2).sum()) / total), 12))
    return shares


def _centre(table: Array, weights: Array) -> Array:
    return table - np.average(table, axis=0, weights=weights)


def measure_layer_r2(
    checkpoint: Checkpoint,
    data: DataSet,
    trees: Sequence[TreeWithFormulas],
    value: Number,
    *,
    states: int = 500,
    draws: int = 3,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[LayerR2]:
    """Measure R² of all layers on a sample of the training states.

    The rows are equivalence classes of objects that no formula distinguishes, weighted by multiplicity.

    Parameters
    ----------
    data : labelled training states.
    trees : those of a run.
    value : its value function.
    states : the size of the sample.
    draws : the number of untrained networks, and of permutations, to average over.
    progress : called with the layers done and to do.
    """
    if states < 1 or draws < 1:
        raise InputError(f"At least one state and one draw are needed, not {states} and {draws}.")
    random = np.random.default_rng(seed)
    solvable = np.flatnonzero(data.v_star != UNSOLVABLE)
    few = data.pick(np.sort(random.choice(solvable, min(len(solvable), states), replace=False)))
    network = checkpoint.network
    quotient = known_rows({"train": few}, goal_marking=network.encoding.goal_marking)
    rows = quotient.layers[-1]
    weights = np.asarray(quotient.multiplicity @ rows.histogram, dtype=np.float64).reshape(-1)
    networks = [network, *(network.untrained(seed + number) for number in range(draws))]
    embeddings = [replay(one, quotient).embeddings for one in networks]
    evaluator = Evaluator(quotient.states)

    def holds(formula: Truth) -> Booleans:
        return evaluator.holds(formula)[rows.representative]

    in_value = _distinct([holds(formula) for formula in subformulas(value)], len(rows))
    so_far = np.zeros((len(rows), 0), dtype=bool)
    scores = []
    n_layers = len(embeddings[0]) - 1
    for layer in range(1, n_layers + 1):
        if progress:
            progress(layer - 1, n_layers)
        own = _distinct(
            [c for tree in trees if tree.layer == layer for c in leaf_columns(tree, holds)], len(rows)
        )
        so_far = _distinct([*so_far.T, *own.T], len(rows))
        targets = [one[layer].astype(np.float64) for one in embeddings]
        for basis, columns in zip(BASES, (own, so_far, in_value), strict=True):
            scores.append(_compare(layer, basis, columns, targets, weights, draws, random))
    return scores


def _compare(
    layer: int,
    basis: str,
    columns: Booleans,
    targets: Sequence[Array],
    weights: Array,
    draws: int,
    random: np.random.Generator,
) -> LayerR2:
    """One R² with its two controls; the first target is that of the trained network."""
    n_rows, width = columns.shape
    if width == 0 or width > _MOST_COLUMNS * n_rows:
        return LayerR2(layer, basis, width, None, None, None)
    trained, *untrained = weighted_r2(columns, targets, weights)
    by_chance = [
        weighted_r2(columns[random.permutation(n_rows)], targets[:1], weights)[0] for _ in range(draws)
    ]
    return LayerR2(layer, basis, width, trained, _mean(untrained), _mean(by_chance))


def _mean(shares: Sequence[float | None]) -> float | None:
    known = [share for share in shares if share is not None]
    return float(np.mean(known)) if known else None


def leaf_columns(tree: TreeWithFormulas, holds: Callable[[Truth], Booleans]) -> list[Booleans]:
    """For each leaf of a tree about objects (n_rows,) whether a row reaches it.

    Parameters
    ----------
    holds : maps a formula to (n_rows,) truth values.
    """
    splits: Mapping[int, Booleans] = {column: holds(formula) for column, formula in tree.formulas.items()}
    return [
        np.all([splits[column] == outcome for column, outcome in path], axis=0)
        for path in tree.tree.paths
        if path
    ]


def _distinct(columns: Sequence[Booleans], n_rows: int) -> Booleans:
    """(n_rows, n) the distinct columns that are not constant; complements count as equal."""
    distinct: dict[bytes, Booleans] = {}
    for column in columns:
        if column.any() and not column.all():
            distinct.setdefault((column ^ column[0]).tobytes(), column)
    return np.stack(list(distinct.values()), axis=1) if distinct else np.zeros((n_rows, 0), dtype=bool)
