"""A whole R-IDT fit, colouring included, against the same algorithm with scikit-learn's trees on raw objects.

Both get the embeddings of our checkpoints, fit ten trees of depth 5 a layer, weigh states by the inverse
frequency of V* and by the same draws, cluster leaves by Ward's linkage, and keep one of several features that
hold of the same objects and one of several equal columns to split on. The first trees of some layers must
reach the same squared error on both sides, and in the end the numbers of features may differ by a tenth.

Where the plain algorithm would take hours, one of its trees is timed, in the middle layer and with the
features that we find before it, and multiplied by the number of all inner trees; names of rows show this. We
encode the stored states within our time; the other side gets that for free, and where one tree is timed all
that is not a tree.

Comparisons on 10 000 and fewer states take training states of the class. The others, and the curve of our
cost, take states of further instances of its generator, of which all states are known; no two of them have
the same objects and goal, so that no state occurs twice. Making them takes some minutes once; they are kept
in the cache.

All runs on one processor, and its time is what counts, so that other work on the machine matters less.
"""

import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from comparing import Row, report
from sklearn.tree import DecisionTreeRegressor
from threadpoolctl import threadpool_limits

from distill.distillation import Distillation, RidtFeatures, fit_ridt, usable_relations
from distill.logic import Evaluator
from distill.networks import Checkpoint, Network, Replay, replay
from distill.planning import Labelling, prepare, problem_class
from distill.structures import DataSet, Structures, inverse_frequency
from distill.symmetry import QuotientMap, build_quotient_of
from distill.trees import Tree, leaf_sets

_SETTINGS = Distillation(inner_width=10, final_width=10, inner_depth=5, final_depth=5)
_CHECKPOINTS = Path(__file__).parents[1] / "artifacts" / "checkpoints"
# Objects and number of the further instances: enough for a million states.
_FURTHER = {"gripper": ([8, 13], 18), "blocks-clear": ([2, 8], 14)}
_CURVE = (10_000, 100_000, 1_000_000)
_FEW_ALIKE = {"miconic": 2_000, "visitall": 500}
_QUICK = 5.0


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


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds and result of a call, the fastest of three if it is quick."""
    spent: list[float] = []
    while len(spent) < 3 and sum(spent) < _QUICK:
        found = None  # formulas that are still around would be found and not made again
        begun = time.process_time()
        found = run()
        spent.append(time.process_time() - begun)
    return min(spent), found


def coloured(data: DataSet, network: Network) -> QuotientMap:
    """The quotient, as deep as the network."""
    return build_quotient_of({"train": data}, network.layers)


def ours(data: DataSet, name: str) -> tuple[float, RidtFeatures]:
    """Seconds of colouring and learning, and what was learned; the network has run before."""
    network = network_of(name)
    known = replay(network, coloured(data, network).quotient)

    def run() -> RidtFeatures:
        return fit_ridt(coloured(data, network).quotient, known.embeddings, known.pooled, _SETTINGS)

    return timed(run)


@dataclass(frozen=True, eq=False)
class Raw:
    """What the baseline sees: every object of every state.

    Attributes
    ----------
    states : the structures.
    links : for each relation and direction a sparse matrix (n_objects, n_objects).
    weight : (n_states,) by inverse frequency of V*.
    built, known : the quotient with the map to its rows, and the embeddings there.
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
        weight = inverse_frequency(data.v_star, data.v_star >= 0)
        return Raw(states, links, weight, built, replay(network_of(name), built.quotient))

    @property
    def layers(self) -> int:
        """Of the network."""
        return len(self.known.embeddings) - 1

    def weights(self, trees: int, random: np.random.Generator) -> list[np.ndarray]:
        """The weights of states for each of the trees: the same that ours get, alike states alike."""
        rows, n_rows = self.built.state_row, self.built.quotient.n_state_rows
        return [self.weight, *(self.weight * random.exponential(size=n_rows)[rows] for _ in range(trees - 1))]

    def embeddings(self, depth: int) -> np.ndarray:
        """(n_objects, k) the network's embeddings after a layer."""
        found: np.ndarray = self.known.embeddings[depth][self.built.rows(self.states, depth)]
        return found

    def features_before(self, depth: int) -> np.ndarray:
        """(n_objects, n_features) where the features hold that we find before a layer."""
        if depth == 1:
            return first_features(self.states)
        settings = _SETTINGS.replace(features=("numerical",))
        before = self.known.embeddings[:depth]
        found = fit_ridt(self.built.quotient, before, self.known.pooled, settings).objects
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
    """(n_objects, n_columns) the features of an object, and how many neighbours have them; no two alike.

    Larger counts than we compare with are cut, so that there are the same splits.
    """
    counts = [np.minimum(link @ features.astype(np.float32), _SETTINGS.thresholds + 1) for link in links]
    table = np.concatenate([features.astype(np.uint8), *(count.astype(np.uint8) for count in counts)], axis=1)
    return distinct(table).astype(np.float32)


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


def plain_tree(
    raw: Raw, table: np.ndarray, targets: np.ndarray, weight: np.ndarray
) -> tuple[DecisionTreeRegressor, list[np.ndarray]]:
    """A tree about objects, and its leaf sets."""
    tree = fitted(table, targets, weight[raw.states.state_of_object], _SETTINGS.inner_depth)
    return tree, leaf_features(tree, table)


def plain_layer(
    raw: Raw, features: np.ndarray, targets: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """(n_objects, n_features) the features after a layer."""
    table = seen(features, raw.links)
    found = [features]
    for weight in raw.weights(_SETTINGS.inner_width, random):
        found += [column[:, None] for column in plain_tree(raw, table, targets, weight)[1]]
    return distinct(np.concatenate(found, axis=1))


def plain_fit(raw: Raw, embeddings: Sequence[np.ndarray], pooled: np.ndarray) -> tuple[int, int]:
    """The whole algorithm; returns how many features of objects and of states it finds."""
    random = np.random.default_rng(_SETTINGS.seed)
    features = first_features(raw.states)
    for targets in embeddings:
        features = plain_layer(raw, features, targets, random)
    counts = np.add.reduceat(features.astype(np.int64), raw.states.object_offsets[:-1], axis=0)
    table = np.minimum(counts, _SETTINGS.thresholds + 1).astype(np.float32)
    found = [counts, (counts > 0).astype(np.int64)]
    for weight in raw.weights(_SETTINGS.final_width, random):
        tree = fitted(table, pooled, weight, _SETTINGS.final_depth)
        found += [column[:, None].astype(np.int64) for column in leaf_features(tree, table)]
    values = distinct(np.concatenate(found, axis=1))
    return features.shape[1], int((values != values[0]).any(axis=0).sum())


def check_objective(theirs: DecisionTreeRegressor, tree: Tree) -> None:
    """Check that a tree of ours and one of scikit-learn, on raw objects, have the same squared error."""
    nodes = theirs.tree_
    # scikit-learn takes the mean over the numbers of an embedding, we take the sum
    errors = (
        nodes.impurity * nodes.weighted_n_node_samples / nodes.weighted_n_node_samples[0] * nodes.n_outputs
    )
    objective = errors[nodes.children_left < 0].sum()
    # objects in one group of ours have one target, their mean: what it hides is in the error before any split
    mine = errors[0] - tree.gains.sum() / tree.weights[0]
    assert abs(mine - objective) <= 1e-6 * objective + 1e-9 * errors[0], (mine, objective)


def first_tree(raw: Raw, depth: int) -> tuple[float, DecisionTreeRegressor]:
    """Processor seconds for the first tree of a layer, with the features that we find before it."""
    table, targets = seen(raw.features_before(depth), raw.links), raw.embeddings(depth)
    begun = time.process_time()
    tree, _ = plain_tree(raw, table, targets, raw.weight)
    return time.process_time() - begun, tree


def against_whole(data: DataSet, name: str) -> Row:
    """The whole algorithm on both sides."""
    mine, learned = ours(data, name)
    raw = Raw.of(data, name)
    for depth in (1, 2, 3):
        check_objective(first_tree(raw, depth)[1], learned.tree_layers[depth - 1][0].tree)
    embeddings = [raw.embeddings(depth) for depth in range(1, raw.layers + 1)]
    pooled = raw.known.pooled[raw.built.state_row]
    begun = time.process_time()
    found = plain_fit(raw, embeddings, pooled)
    theirs = time.process_time() - begun
    assert np.allclose(found, [len(learned.objects), len(learned.states)], rtol=0.1), found
    return Row(f"{name}, {len(data)} states / scikit-learn", mine, theirs)


def against_one_tree(data: DataSet, name: str) -> Row:
    """The whole algorithm, and one tree of scikit-learn as often as there are trees about objects."""
    mine, learned = ours(data, name)
    raw = Raw.of(data, name)
    middle, trees = (raw.layers + 1) // 2, raw.layers * _SETTINGS.inner_width
    one, tree = first_tree(raw, middle)
    check_objective(tree, learned.tree_layers[middle - 1][0].tree)
    title = f"{name}, {len(data)} states / {trees} times one tree of scikit-learn in layer {middle}"
    return Row(title, mine, one * trees)


def curve(data: DataSet, name: str) -> list[Row]:
    """Our time for more and more states, against that for the fewest."""
    spent = {states: ours(drawn(data, states), name)[0] for states in _CURVE}
    return [
        Row(f"{name}, {states} states / {_CURVE[0]}", spent[states], spent[_CURVE[0]]) for states in _CURVE
    ]


def main() -> None:
    """Compare; ratios below 1 mean that we are faster."""
    torch.set_num_threads(1)
    with threadpool_limits(1):
        more = {name: more_states(name) for name in _FURTHER}
        rows = [row for name, data in more.items() for row in curve(data, name)]
        report("our fit as states grow, time / time with the fewest", rows, _CURVE[-1] / _CURVE[0])
        # in KiB; before the other side takes any
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        report("memory of a fit", [Row(f"peak with {_CURVE[-1]} states, in GiB / 8 GiB", peak, 8.0)], 1)
        rows = [against_one_tree(drawn(data, 100_000), name) for name, data in more.items()]
        report("R-IDT of 100 000 states, ours / the straightforward way", rows, 1 / 100)
        rows = [against_whole(drawn(training_states(name), 10_000), name) for name in _FURTHER]
        report("R-IDT of 10 000 states, ours / the straightforward way", rows, 1 / 30)
        rows = [against_one_tree(drawn(training_states(name), n), name) for name, n in _FEW_ALIKE.items()]
        report("R-IDT where few objects look alike, ours / the straightforward way", rows, 1 / 2)


if __name__ == "__main__":
    main()
