"""IDTs for graphs (Pluska et al. 2024): a network is trained on labels, and the formula behind them found."""

from functools import cache

import numpy as np
import pytest

from distill.errors import InputError
from distill.logic import And, Atom, Compare, Count, Evaluator, Modal, Not, Role
from distill.models import Architecture, Examples, Training, replay, train
from distill.settings import Distillation
from distill.structures import Predicate, Structures, Vocabulary
from distill.symmetry import Labelled, build_quotient
from distill.trees import learn_classifier

COLOURS = ["red", "blue", "green"]
WORDS = Vocabulary([Predicate("E", 2), *(Predicate(colour, 1) for colour in COLOURS)])
NETWORK = Architecture(
    layers=2,
    size=8,
    aggregation="sum",
    pooling="max",
    activation="relu",
    message_residual=False,
    update_residual=False,
)
TRAINING = Training(
    epochs=25, batches=30, batch_size=64, loss="mse", learning_rate=0.01, weight_decay=1e-4, patience=25
)


def random_graphs(random, n):
    """Undirected graphs of three to seven nodes, each of one colour."""
    sizes = random.integers(3, 8, n)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    edges = [
        np.argwhere(np.triu(random.random((size, size)) < 0.45, 1)) + start
        for size, start in zip(sizes, starts, strict=False)
    ]
    one_way = np.concatenate(edges)
    colour = random.integers(3, size=starts[-1])
    nodes = {name: np.flatnonzero(colour == number)[:, None] for number, name in enumerate(COLOURS)}
    both_ways = np.concatenate([one_way, one_way[:, ::-1]])
    both_ways = both_ways[np.argsort(both_ways[:, 0], kind="stable")]
    return Structures(WORDS, n, np.repeat(np.arange(n), sizes), {"E": both_ways, **nodes})


def random_formula(random):
    """Two modals, one in the other: [#(c & <E>(c' & <E>c'' > t) > t') > 0], where colours may be negated."""

    def colour():
        atom = Atom(COLOURS[random.integers(3)])
        return Not(atom) if random.random() < 0.3 else atom

    inner = And(colour(), Modal(Role("E"), colour(), int(random.integers(2))))
    return Compare(Count(And(colour(), Modal(Role("E"), inner, int(random.integers(2))))))


@cache
def problem(seed):
    """Graphs to learn from, others to test on, and a formula that holds of a quarter to three quarters."""
    random = np.random.default_rng(seed)
    seen, unseen = random_graphs(random, 1000), random_graphs(random, 1000)
    while True:
        formula = random_formula(random)
        share = Evaluator(seen).holds(formula).mean()
        if 0.25 <= share <= 0.75:
            return seen, unseen, formula


@cache
def distilled_from(seed):
    """The quotient of the labelled graphs, and what a network trained on them computes."""
    seen, _, formula = problem(seed)
    labels = Evaluator(seen).holds(formula).astype(int)
    quotient = build_quotient([Labelled(seen, labels, 0 * labels)]).quotient
    examples = Examples.of_quotient(quotient, WORDS, 0)
    network = train(WORDS, NETWORK, examples, examples, TRAINING, seed=seed).network
    assert np.array_equal(examples.values(network) > 0.5, examples.v_star > 0.5), "trained too briefly"
    return quotient, replay(network, quotient).embeddings


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_labels_of_unseen_graphs_follow_from_the_formulas(seed):
    _, unseen, formula = problem(seed)
    found = learn_classifier(*distilled_from(seed), Distillation())
    evaluator = Evaluator(unseen)
    labels = evaluator.holds(formula)
    assert set(found) == {0, 1}
    assert (evaluator.holds(found[1]) == labels).mean() == 1.0
    assert (evaluator.holds(found[0]) == ~labels).mean() == 1.0
