"""IDTs: classifiers of graphs by iterated decision trees (Pluska et al. 2024; thesis Algorithm 2).

In each layer, `inner_width` trees predict the embeddings of nodes from [U, A·U], each on the nodes of
`inner_sample` graphs. Their leaf sets become further columns of U for the next layer. The final tree predicts
the labels of graphs from 1·U. Neither samples nor labels have weights.

The pool U also has ⊤, which is a formula of depth 0, so that A⊤ > t is a split of the first layer.
"""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from distill.distillation.feature_pool import FeaturePool
from distill.distillation.ridt import Progress, fit_layers
from distill.distillation.settings import Distillation
from distill.distillation.state_draw import StateDraw
from distill.distillation.thesis_ridt import LayerRows, ThesisLayers, TreeFitter, with_formulas
from distill.logic import Compare, Constant, Count, Truth
from distill.structures import Quotient
from distill.trees import one_hot

Array = NDArray[np.float64]


def fit_idt(
    quotient: Quotient,
    embeddings: Sequence[NDArray[np.floating]],
    label: str,
    settings: Distillation | None = None,
    *,
    progress: Progress | None = None,
) -> dict[int, Truth]:
    """Fit an IDT that classifies graphs.

    Parameters
    ----------
    quotient : of the labelled graphs, with multisets.
    embeddings : for depth 0, 1, … L (n_rows at that depth, k); see `Replay` and `label_embeddings`.
    label : the name of the label that holds the class of each graph, a number of at least 0.

    Returns
    -------
    For each class that is predicted the formula of its graphs. Of each graph exactly one formula holds.
    """
    settings = settings or Distillation()
    classes = one_hot(quotient.labels[label])
    draw = StateDraw(quotient.multiplicity, np.ones(len(classes)))
    layers = ThesisLayers(quotient, settings, draw, FeaturePool.first(quotient))
    fit_layers(layers, embeddings, progress)
    return _classifier(layers, classes)


def label_embeddings(quotient: Quotient, label: str, layers: int) -> list[Array]:
    """Embeddings for an IDT without a network: each node has the class of its graph, one-hot.

    A row of nodes in graphs of several classes has their shares.

    Parameters
    ----------
    layers : the number of layers L.

    Returns
    -------
    For depth 0, 1, … L (n_rows at that depth, n_classes).
    """
    classes = one_hot(quotient.labels[label]) * quotient.multiplicity[:, None]
    found = []
    for depth in range(layers + 1):
        histogram = quotient.layers[min(depth, quotient.depth)].histogram
        total = np.asarray(histogram.T @ classes, dtype=np.float64)
        found.append(total / total.sum(axis=1, keepdims=True))
    return found


def _classifier(layers: ThesisLayers, classes: Array) -> dict[int, Truth]:
    """The formula of each class, by a tree on the numbers of nodes with each feature.

    The Gini impurity is the squared error of one-hot targets (n_graphs, n_classes).
    """
    n_graphs, formulas = len(classes), layers.pool.formulas
    rows = LayerRows(sp.eye_array(n_graphs, dtype=np.int64, format="csr"), np.arange(n_graphs), classes)
    fitting = TreeFitter(layers.pool.counts(layers.quotient), rows, layers.settings, layers.ties)
    fitted = fitting.fit(layers.draw.number, layers.draw, layers.settings.final_depth)
    predicted = fitted.tree.leaf_values.argmax(axis=1)
    if len(np.unique(predicted)) == 1:
        return {int(predicted[0]): Compare(Constant(1), 0)}
    tree = with_formulas(-1, fitted, lambda column, t: Compare(Count(formulas[column]), t))
    return {
        int(own): tree.leaf_set(np.flatnonzero(predicted == own).tolist()) for own in np.unique(predicted)
    }
