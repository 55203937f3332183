"""A whole R-IDT fit, colouring included, against the same algorithm with scikit-learn's trees on raw objects.

Both get the embeddings of our checkpoints, take ten trees of depth 5 a layer, weigh states by the inverse
frequency of V*, cluster leaves by Ward's linkage and keep one of several features that hold of the same
objects. The first tree of a layer must reach the same error on both sides. Where the straightforward way
would take hours, one layer in the middle is timed, with the features that we found before it, and multiplied
by the number of layers; names of rows say so. Our time begins with the stored states: it includes encoding
them, which the other side gets for free, as it does its final trees where one layer is timed.

Beyond the training states of a class, states come from further instances of its generator, all of whose
states are taken; no state occurs twice in one of them, and no two of them have the same objects and goal.
"""

import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from comparing import Row, report
from sklearn.tree import DecisionTreeRegressor

from distill.jobs import build_quotient_of
from distill.logic import Evaluator
from distill.models import Checkpoint, Network, Replay, replay
from distill.planning import DataSet, prepare, problem_class
from distill.settings import Distillation, Labelling
from distill.structures import Quotient, Structures
from distill.symmetry import QuotientMap
from distill.trees import Learned, leaf_sets, learn
from distill.trees.pool import usable_relations

_SETTINGS = Distillation(inner_width=10, final_width=10, inner_depth=5, final_depth=5)
_CHECKPOINTS = Path(__file__).parents[1] / "artifacts" / "checkpoints"
# Objects and number of the further instances: enough for a million states.
_FURTHER = {"gripper": ([8, 13], 24), "blocks-clear": ([2, 8], 14)}
_CURVE = (10_000, 100_000, 1_000_000)
_MEMORY = 8.0


@cache
def network_of(name: str) -> Network:
    """The network that we ship for a problem class."""
    return Checkpoint.load(_CHECKPOINTS / f"{name}.safetensors").network


def training_states(name: str) -> DataSet:
    """All labelled states of the training instances."""
    return prepare(problem_class(name).split("train"), reduce="none", workers=2)[0]


def more_states(name: str) -> DataSet:
    """All states of further instances: more than a million."""
    known = problem_class(name)
    objects, instances = _FURTHER[name]
    wide = {**known.splits["train"], "objects": objects, "instances": instances}
    split = replace(known, splits={"train": wide}).split("train")
    different = {(instance.objects, instance.goals): instance for instance in split.instances}
    everything = Labelling(max_states=1_000_000, walks=0, time_limit=600.0)
    split = replace(split, instances=list(different.values()), labelling=everything)
    return prepare(split, reduce="none", workers=2)[0]


def drawn(data: DataSet, states: int) -> DataSet:
    """So many of the states, drawn with a fixed seed."""
    assert len(data) >= states
    return data.pick(np.sort(np.random.default_rng(0).choice(len(data), states, replace=False)))


def timed(run: Callable[[], Any], times: int = 1) -> tuple[float, Any]:
    """Seconds and result of a call, the fastest of some."""
    spent = []
    for _ in range(times):
        found = None  # formulas that are still around would be found and not made again
        begun = time.perf_counter()
        found = run()
        spent.append(time.perf_counter() - begun)
    return min(spent), found


def coloured(data: DataSet, network: Network) -> QuotientMap:
    """The quotient, as deep as the network."""
    return build_quotient_of({"train": data}, network.architecture.layers)


def ours(data: DataSet, name: str, times: int = 1) -> tuple[float, Learned]:
    """Seconds of colouring and learning, and what was learned; the network has run before."""
    network = network_of(name)
    known = replay(network, coloured(data, network).quotient)
    return timed(lambda: learn(coloured(data, network).quotient, known.embeddings, known.pooled, _SETTINGS), times)


@dataclass(frozen=True, eq=False)
class Raw:
    """What the baseline sees: every object of every state.

    Attributes
    ----------
    states : the structures.
    links : for each relation and direction a sparse matrix (n_objects, n_objects).
    weight : (n_states,) by inverse frequency of V*.
    quotient, known : where the embeddings are; `rows` leads to them.
    """

    states: Structures
    links: Sequence[Any]
    weight: np.ndarray
    built: QuotientMap
    known: Replay

    @staticmethod
    def of(data: DataSet, name: str) -> "Raw":
        """Encode states and run the network on them."""
        states, built = data.structures(), coloured(data, network_of(name))
        size = states.n_objects
        links = []
        for relation, source, target in (role.fields for role in usable_relations(states)):
            atoms = states.relations[relation]
            ends = (np.ones(len(atoms), dtype=np.float32), (atoms[:, source], atoms[:, target]))
            links.append(sp.csr_array(ends, shape=(size, size)))
        solvable = data.v_star >= 0
        weight = np.zeros(len(data))
        weight[solvable] = 1 / np.bincount(data.v_star[solvable])[data.v_star[solvable]]
        return Raw(states, links, weight, built, replay(network_of(name), built.quotient))

    @property
    def layers(self) -> int:
        """Of the network."""
        return len(self.known.embeddings) - 1

    def embeddings(self, depth: int) -> np.ndarray:
        """(n_objects, k) the network's embeddings after a layer."""
        found: np.ndarray = self.known.embeddings[depth][self.built.rows(self.states, depth)]
        return found

    def features_before(self, depth: int) -> np.ndarray:
        """(n_objects, n_features) where the features hold that we find before a layer."""
        if depth == 1:
            return first_features(self.states)
        settings = replace(_SETTINGS, features=("numerical",))
        before = self.known.embeddings[:depth]
        found = learn(self.built.quotient, before, self.known.pooled, settings).objects
        evaluator = Evaluator(self.states)
        return np.column_stack([evaluator.holds(formula) for formula in found])


def first_features(states: Structures) -> np.ndarray:
    """(n_objects, n_features) where unary and nullary predicates hold, and one that always does."""
    columns = [np.ones(states.n_objects, dtype=bool)]
    for predicate in states.vocabulary:
        atoms = states.relations[predicate.name][:, 0]
        if predicate.arity < 2:
            mine = states.state_of_object if predicate.arity == 0 else np.arange(states.n_objects)
            columns.append(np.isin(mine, atoms))
    return distinct(np.column_stack(columns))


def distinct(features: np.ndarray) -> np.ndarray:
    """Of equal columns the first."""
    packed = np.packbits(features.T, axis=1) if features.dtype == bool else np.ascontiguousarray(features.T)
    first: dict[bytes, int] = {}
    for number, column in enumerate(packed):
        first.setdefault(column.tobytes(), number)
    return features[:, list(first.values())]


def seen(features: np.ndarray, links: Sequence[Any]) -> np.ndarray:
    """(n_objects, n_columns) the features of an object, and how many neighbours have them.

    Larger counts than we compare with are cut, so that there are the same splits.
    """
    n_objects, width = features.shape
    table = np.empty((n_objects, width * (1 + len(links))), dtype=np.float32)
    table[:, :width] = features
    for number, link in enumerate(links, 1):
        here = slice(number * width, (number + 1) * width)
        table[:, here] = np.minimum(link @ features.astype(np.float32), _SETTINGS.thresholds + 1)
    return table


def fitted(table: np.ndarray, targets: np.ndarray, weights: np.ndarray, depth: int) -> DecisionTreeRegressor:
    """A tree of scikit-learn."""
    return DecisionTreeRegressor(max_depth=depth, random_state=0).fit(table, targets, weights)


def leaf_features(tree: DecisionTreeRegressor, table: np.ndarray) -> list[np.ndarray]:
    """For each leaf set (n_rows,) where it holds; not the set of all leaves."""
    leaves = np.flatnonzero(tree.tree_.children_left < 0)
    if len(leaves) < 2:
        return []
    here = tree.apply(table)
    sets = leaf_sets(tree.tree_.value[leaves, :, 0]).sets
    return [np.isin(here, leaves[list(chosen)]) for chosen in sets if len(chosen) < len(leaves)]


def reweighted(weight: np.ndarray, width: int) -> list[np.ndarray]:
    """The weights of states for each of the trees: the Bayesian bootstrap, but for the first."""
    random = np.random.default_rng(0)
    return [weight if not number else weight * random.exponential(size=len(weight)) for number in range(width)]


def plain_layer(raw: Raw, features: np.ndarray, embeddings: np.ndarray) -> np.ndarray:
    """The features after a layer."""
    table = seen(features, raw.links)
    found = [features]
    for weight in reweighted(raw.weight, _SETTINGS.inner_width):
        tree = fitted(table, embeddings, weight[raw.states.state_of_object], _SETTINGS.inner_depth)
        found += [column[:, None] for column in leaf_features(tree, table)]
    return distinct(np.concatenate(found, axis=1))


def plain_fit(raw: Raw, embeddings: Sequence[np.ndarray], pooled: np.ndarray) -> np.ndarray:
    """(n_states, n_features) the whole algorithm."""
    features = first_features(raw.states)
    for targets in embeddings:
        features = plain_layer(raw, features, targets)
    counts = np.add.reduceat(features.astype(np.int64), raw.states.object_offsets[:-1], axis=0)
    table = np.minimum(counts, _SETTINGS.thresholds + 1).astype(np.float32)
    found = [counts, (counts > 0).astype(np.int64)]
    for weight in reweighted(raw.weight, _SETTINGS.final_width):
        tree = fitted(table, pooled, weight, _SETTINGS.final_depth)
        found += [column[:, None].astype(np.int64) for column in leaf_features(tree, table)]
    return distinct(np.concatenate(found, axis=1))


def same_objective(raw: Raw, learned: Learned, depths: Sequence[int]) -> None:
    """Check that the first trees of some layers have the error that scikit-learn's have on raw objects."""
    for depth in depths:
        table = seen(raw.features_before(depth), raw.links)
        weight = raw.weight[raw.states.state_of_object]
        theirs = fitted(table, raw.embeddings(depth), weight, _SETTINGS.inner_depth).tree_
        leaves = theirs.children_left < 0
        # the mean over the numbers of an embedding, of which we take the sum
        error = (theirs.impurity * theirs.weighted_n_node_samples)[leaves].sum() * theirs.n_outputs
        tree = learned.trees[depth - 1][0]
        mine, other = tree.objective / tree.weights[0], error / theirs.weighted_n_node_samples[0]
        assert abs(mine - other) <= 1e-6 * other, (depth, mine, other)


def compared(data: DataSet, name: str, *, whole: bool) -> Row:
    """Both ways on the same states."""
    mine, learned = ours(data, name, 3)
    raw = Raw.of(data, name)
    if whole:
        same_objective(raw, learned, (1, 2))
        embeddings = [raw.embeddings(depth) for depth in range(1, raw.layers + 1)]
        pooled = raw.known.pooled[raw.built.state_row]
        theirs, _ = timed(lambda: plain_fit(raw, embeddings, pooled))
        return Row(f"{name}, {len(data)} states, the whole fit", mine, theirs)
    middle = (raw.layers + 1) // 2
    features, targets = raw.features_before(middle), raw.embeddings(middle)
    one, _ = timed(lambda: plain_layer(raw, features, targets))
    title = f"{name}, {len(data)} states / {raw.layers} times layer {middle} of scikit-learn"
    return Row(title, mine, one * raw.layers)
