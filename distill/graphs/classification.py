"""Classification of graphs by IDTs, with cross-validation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distill.common import InputError
from distill.distillation import Distillation, fit_idt, label_embeddings
from distill.graphs.graph_set import GraphSet
from distill.graphs.settings import Classification
from distill.logic import Evaluator, Truth, simplify
from distill.networks import RGNN, Architecture, Examples, Network, Training, replay, train, values
from distill.structures import Structures
from distill.symmetry import LabelledBatch, build_quotient

Integers = NDArray[np.int64]
CLASS = "class"
_VALIDATION = 10  # every tenth training graph selects the epoch of the network


@dataclass(frozen=True)
class FoldScore:
    """Accuracies on the graphs of one fold, which were not used otherwise.

    Attributes
    ----------
    graphs : their number.
    constant : the accuracy of the most frequent class of the other graphs.
    formulas : that of the formulas.
    network : that of the network; None without one.
    agreement : the share of graphs with the same class by network and formulas; None without a network.
    """

    graphs: int
    constant: float
    formulas: float
    network: float | None
    agreement: float | None


@dataclass(frozen=True, eq=False)
class Validation:
    """The result of a cross-validation.

    Attributes
    ----------
    seed : of folds, networks and samples.
    folds : the scores of all folds.
    formulas : the formula of each class, fitted to all graphs; classes that are never predicted have none.
    """

    seed: int
    folds: tuple[FoldScore, ...]
    formulas: Mapping[str, Truth]

    def mean(self, score: str) -> float | None:
        """The mean of a score over the folds; None if it is unknown."""
        found = [getattr(fold, score) for fold in self.folds]
        return None if None in found else float(np.mean(found))

    def deviation(self, score: str) -> float | None:
        """The standard deviation of a score over the folds; None if it is unknown."""
        found = [getattr(fold, score) for fold in self.folds]
        return None if None in found else float(np.std(found))


def cross_validate(
    data: GraphSet,
    settings: Classification | None = None,
    *,
    network: bool = True,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Validation:
    """Fit an IDT to all folds but one and test it on that one, in turn; then fit one to all graphs.

    Parameters
    ----------
    network : whether a network is trained and distilled. Without one, the embedding of a node is the class of
        its graph.
    seed : of folds, networks and samples.
    progress : called with the number of finished fits and of all fits.
    """
    settings = settings or Classification()
    if len(data) < 2 * settings.folds:
        raise InputError(
            f"{data.name} has {len(data)} graphs, and {settings.folds} folds need {2 * settings.folds}; give "
            "more graphs, or fewer folds."
        )
    if len(np.unique(data.label)) < 2:
        raise InputError(f"All graphs of {data.name} have one class; a classifier needs at least two.")
    fold = spread_folds(data.label, settings.folds, seed)
    scores = []
    for number in range(settings.folds):
        if progress:
            progress(number, settings.folds + 1)
        held_out = fold == number
        fitted = _Fitted.of(data, np.flatnonzero(~held_out), settings, network, seed)
        scores.append(fitted.score(data.graphs[held_out], data.label[held_out]))
    if progress:
        progress(settings.folds, settings.folds + 1)
    final = _Fitted.of(data, np.arange(len(data)), settings, network, seed)
    named = {data.classes[number]: formula for number, formula in sorted(final.formulas.items())}
    return Validation(seed, tuple(scores), named)


def spread_folds(label: Integers, folds: int, seed: int) -> Integers:
    """(n_graphs,) a random fold for each graph, with each class (n_graphs,) spread evenly over the folds.

    Examples
    --------
    >>> spread_folds(np.array([0, 0, 1, 1]), 2, seed=0)
    array([0, 1, 0, 1])
    """
    random = np.random.default_rng(seed).permutation(len(label))
    order = random[np.argsort(label[random], kind="stable")]
    found = np.empty(len(label), dtype=np.int64)
    found[order] = np.arange(len(label)) % folds
    return found


def predict_classes(formulas: Mapping[int, Truth], graphs: Structures) -> Integers:
    """(n_graphs,) the class whose formula holds of each graph.

    Examples
    --------
    >>> from distill.graphs import synthetic_graphs
    >>> from distill.logic import parse
    >>> some = synthetic_graphs("emlc0", 5, seed=0)
    >>> found = predict_classes({0: parse("~[#u > 6]"), 1: parse("[#u > 6]")}, some.graphs)
    >>> bool((found == some.label).all())
    True
    """
    evaluator = Evaluator(graphs)
    holds = np.array([evaluator.holds(formula) for formula in formulas.values()])
    found: Integers = np.array(list(formulas), dtype=np.int64)[holds.argmax(axis=0)]
    return found


@dataclass(frozen=True, eq=False)
class _Fitted:
    """A network, unless there is none, and the formulas of an IDT.

    Attributes
    ----------
    most_frequent : class of the graphs it was fitted to.
    classes : the number of classes.
    """

    network: Network | None
    formulas: Mapping[int, Truth]
    most_frequent: int
    classes: int

    @staticmethod
    def of(data: GraphSet, chosen: Integers, settings: Classification, network: bool, seed: int) -> "_Fitted":
        """Fit to some graphs of a set."""
        graphs, label = data.graphs[chosen], data.label[chosen]
        split = (spread_folds(label, _VALIDATION, seed) == 0).astype(np.int64)
        quotient = build_quotient([LabelledBatch(graphs, {CLASS: label}, split)]).quotient
        trained = None
        if network:
            form = RGNN(graphs.vocabulary, _architecture(settings))
            training, validation = (Examples.of_quotient(form, quotient, part, CLASS) for part in (0, 1))
            trained = train(form, training, validation, _training(settings), seed=seed).network
        embeddings: Any = (
            label_embeddings(quotient, CLASS, settings.layers)
            if trained is None
            else replay(trained, quotient).embeddings
        )
        found = fit_idt(quotient, embeddings, CLASS, _distillation(settings, seed))
        formulas: dict[int, Any] = {number: simplify(formula) for number, formula in found.items()}
        return _Fitted(trained, formulas, int(np.bincount(label).argmax()), len(data.classes))

    def score(self, graphs: Structures, label: Integers) -> FoldScore:
        """The accuracies on other graphs."""
        by_formulas = predict_classes(self.formulas, graphs)
        constant, formulas = (label == self.most_frequent).mean(), (label == by_formulas).mean()
        if self.network is None:
            return FoldScore(len(label), float(constant), float(formulas), None, None)
        # The network is trained to compute the number of the class.
        nearest = np.rint(values(self.network, graphs)).clip(0, self.classes - 1).astype(np.int64)
        network, agreement = (nearest == label).mean(), (nearest == by_formulas).mean()
        return FoldScore(len(label), float(constant), float(formulas), float(network), float(agreement))


def _architecture(settings: Classification) -> Architecture:
    return Architecture(
        layers=settings.layers,
        size=settings.size,
        aggregation="sum",
        pooling="sum",
        activation="relu",
        message_residual=False,
        update_residual=False,
    )


def _training(settings: Classification) -> Training:
    return Training(
        epochs=settings.epochs,
        batches=30,
        batch_size=64,
        loss="mse",
        learning_rate=0.01,
        weight_decay=1e-4,
        multiplicity=True,
        patience=settings.epochs,
    )


def _distillation(settings: Classification, seed: int) -> Distillation:
    return Distillation(
        mode="thesis",
        inner_width=settings.width,
        inner_sample=settings.sample,
        inner_depth=settings.depth,
        final_depth=settings.final_depth,
        seed=seed,
    )
