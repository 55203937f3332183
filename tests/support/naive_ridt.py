"""Algorithm 2 with chapter 4 of the thesis, with explicit loops over objects, and scikit-learn."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from sklearn.cluster import AgglomerativeClustering
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from distill.structures import Structures

Column = tuple[int, ...]


@dataclass
class NaiveRidt:
    """An R-IDT fitted to all states: the columns of its concepts by layer, and of its state features."""

    concepts: list[list[Column]] = field(default_factory=list)
    combined: list[Column] = field(default_factory=list)
    counts: list[Column] = field(default_factory=list)


def relations_of(batch: Structures) -> list[set[tuple[int, int]]]:
    """The pairs of each binary predicate, then of its inverse unless it is symmetric; no empty ones."""
    found = []
    for predicate in batch.vocabulary:
        pairs = (
            {(int(a), int(b)) for a, b in batch.relations[predicate.name]} if predicate.arity == 2 else set()
        )
        inverse = {(b, a) for a, b in pairs}
        found += [pairs] * bool(pairs) + [inverse] * (inverse != pairs)
    return found


def without_copies(columns: list[Column]) -> list[Column]:
    """The first occurrence of each column (thesis 4.3)."""
    return list(dict.fromkeys(columns))


def leaf_set_columns(
    columns: list[Column], targets: np.ndarray, weights: np.ndarray, depth: int, seed: int, **clustering: str
) -> list[Column]:
    """Fit a tree and cluster its leaves; for each of the 2l - 1 leaf sets the rows in it."""
    table = np.array(columns).T
    tree = DecisionTreeRegressor(max_depth=depth, random_state=seed).fit(table, targets, weights)
    leaf = tree.apply(table).tolist()
    leaves = sorted(set(leaf))
    sets = [{one} for one in leaves]
    if len(leaves) > 1:
        values = [tree.tree_.value[one, :, 0] for one in leaves]
        merged = AgglomerativeClustering(n_clusters=None, distance_threshold=0.0, **clustering).fit(values)
        for left, right in merged.children_:
            sets.append(sets[left] | sets[right])
    return [tuple(int(one in inside) for one in leaf) for inside in sets]


def unary_columns(batch: Structures, names: list[str]) -> list[Column]:
    """For each unary predicate the objects of which it holds."""
    held = [{int(x) for (x,) in batch.relations[name]} for name in names]
    return [tuple(int(x in holds) for x in range(batch.n_objects)) for holds in held]


def naive_layers(
    batch: Structures,
    features: list[Column],
    embeddings: list[np.ndarray],
    weights: np.ndarray,
    seeds: Iterator[int],
    inner: tuple[int, int],
    **clustering: str,
) -> tuple[list[list[Column]], list[Column]]:
    """The leaf sets of each layer, and all features: trees predict embeddings from [U, A U, …].

    Parameters
    ----------
    features : U of the first layer.
    weights : (n_objects,).
    inner : the depth of trees, and their number.
    """
    relations = [
        [[b for a, b in pairs if a == x] for x in range(batch.n_objects)] for pairs in relations_of(batch)
    ]
    layers = []
    for embedding in embeddings:
        features = without_copies(features)
        columns = list(features)
        for neighbours in relations:
            columns += [tuple(sum(f[y] for y in ends) for ends in neighbours) for f in features]
        new: list[Column] = []
        for _ in range(inner[1]):
            new += leaf_set_columns(columns, embedding, weights, inner[0], next(seeds), **clustering)
        layers.append(new)
        features = features + new
    return layers, without_copies(features)


def counted(batch: Structures, concepts: list[Column]) -> list[Column]:
    """For each concept the number of objects of each state that satisfy it."""
    counts = [[0] * len(batch) for _ in concepts]
    for concept, count in zip(concepts, counts, strict=True):
        for state, holds in zip(batch.state_of_object.tolist(), concept, strict=True):
            count[state] += holds
    return [tuple(count) for count in counts]


def naive_idt(
    batch: Structures,
    classes: np.ndarray,
    embeddings: list[np.ndarray],
    seeds: Iterator[int],
    *,
    inner: tuple[int, int],
    final_depth: int,
) -> tuple[list[Column], float]:
    """An IDT (thesis Algorithm 2): all its features, and the Gini impurity of its final tree."""
    names = [p.name for p in batch.vocabulary if p.arity == 1]
    first = [(1,) * batch.n_objects, *unary_columns(batch, names)]
    ones = np.ones(batch.n_objects)
    _, features = naive_layers(
        batch, first, embeddings, ones, seeds, inner, metric="euclidean", linkage="ward"
    )
    table = np.array(counted(batch, features)).T
    tree = DecisionTreeClassifier(max_depth=final_depth, random_state=next(seeds)).fit(table, classes).tree_
    leaf = tree.children_left < 0
    return features, float((tree.impurity * tree.weighted_n_node_samples)[leaf].sum())


def naive_ridt(
    batch: Structures,
    v_star: np.ndarray,
    embeddings: list[np.ndarray],
    pooled: np.ndarray,
    seeds: Iterator[int],
    *,
    inner: tuple[int, int],
    final: tuple[int, int],
    pooling: str,
    **clustering: str,
) -> NaiveRidt:
    """Learn layers from embeddings (n_objects, k) and pooled embeddings (n_states, k).

    Parameters
    ----------
    seeds : of the trees.
    inner, final : the depth of trees, and their number.
    """
    state = batch.state_of_object.tolist()
    frequency = {value: v_star.tolist().count(value) for value in set(v_star.tolist())}
    weights = np.array([1 / frequency[value] for value in v_star.tolist()])
    names = sorted(p.name for p in batch.vocabulary if p.arity == 1)
    found = NaiveRidt()
    found.concepts, _ = naive_layers(
        batch, unary_columns(batch, names), embeddings, weights[state], seeds, inner, **clustering
    )
    concepts = without_copies([column for layer in found.concepts for column in layer])
    found.counts = counted(batch, concepts)
    seen = [tuple(min(n, 1) for n in count) if pooling == "max" else count for count in found.counts]
    for _ in range(final[1]):
        found.combined += leaf_set_columns(seen, pooled, weights, final[0], next(seeds), **clustering)
    found.combined = without_copies(found.combined)
    return found


def naive_weights(
    columns: list[Column], v_star: np.ndarray, *, intercept: bool, positive: bool
) -> np.ndarray:
    """The weights of state features, the constant last."""
    model = LinearRegression(fit_intercept=intercept, positive=positive).fit(np.array(columns).T, v_star)
    return np.append(model.coef_, model.intercept_)
