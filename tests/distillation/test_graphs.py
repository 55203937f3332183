"""IDTs for graphs (Pluska et al. 2024): a network is trained on labels, and the formula behind them found."""

from functools import cache

import numpy as np
import pytest
import torch

from distill.common import InputError
from distill.distillation import Distillation, ThesisLayers, fit_idt, fit_ridt, label_embeddings
from distill.distillation.feature_pool import FeaturePool
from distill.distillation.state_draw import StateDraw
from distill.logic import And, Atom, Compare, Count, Evaluator, Modal, Not, Role
from distill.networks import RGNN, Architecture, Examples, Training, replay, train
from distill.structures import Predicate, Structures, Vocabulary
from distill.symmetry import LabelledBatch, build_quotient
from tests.support.learned_trees import SINGLE, built_from, described, plain_states
from tests.support.naive_ridt import naive_idt

CLASS = "class"
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
    quotient = build_quotient([LabelledBatch(seen, {CLASS: labels}, 0 * labels)]).quotient
    form = RGNN(WORDS, NETWORK)
    examples = Examples.of_quotient(form, quotient, 0, CLASS)
    network = train(form, examples, examples, TRAINING, seed=seed).network
    assert np.array_equal(examples.values(network) > 0.5, examples.label > 0.5), "trained too briefly"
    return quotient, replay(network, quotient).embeddings, CLASS


# Of the formulas of seeds 0 to 7, the networks of 1, 2, 4, 6 and 7 are perfect after this short training, and
# then the formulas found are perfect too. The others have a negated colour in the middle: there the network
# needs longer, if it becomes perfect at all, and the formulas then reach 98 to 100 %.
@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 6])
def test_the_labels_of_unseen_graphs_follow_from_the_formulas(seed):
    _, unseen, formula = problem(seed)
    found = fit_idt(*distilled_from(seed), Distillation())
    evaluator = Evaluator(unseen)
    labels = evaluator.holds(formula)
    assert set(found) == {0, 1}
    assert (evaluator.holds(found[1]) == labels).mean() == 1.0
    assert (evaluator.holds(found[0]) == ~labels).mean() == 1.0


def unexplained(graphs, labels):
    """Labelled graphs whose embeddings say nothing, so that only colours are left to be counted."""
    quotient = build_quotient([LabelledBatch(graphs, {CLASS: labels}, 0 * labels)], 1).quotient
    return quotient, [np.zeros((len(layer), 2)) for layer in quotient.layers], CLASS


def test_every_one_of_several_labels_gets_its_formula():
    seen, unseen, _ = problem(1)

    def labels(graphs):
        return np.minimum(Evaluator(graphs).number(Count(Atom("red"))), 3)

    found = fit_idt(*unexplained(seen, labels(seen)))
    assert set(found) == {0, 1, 2, 3}
    for label, formula in found.items():
        assert formula.of_state
        assert np.array_equal(Evaluator(unseen).holds(formula), labels(unseen) == label)


def test_a_label_that_all_graphs_share_gets_a_formula_about_graphs():
    seen, *_ = problem(1)
    [(label, formula)] = fit_idt(*unexplained(seen, np.full(len(seen), 5))).items()
    assert label == 5
    assert formula.of_state
    assert Evaluator(seen).holds(formula).tolist() == [True] * len(seen)


def test_labels_below_zero_are_refused():
    seen, *_ = problem(1)
    labels = np.arange(len(seen)) % 3 - 1
    for some in (labels, 0 * labels - 1):
        with pytest.raises(InputError):
            fit_idt(*unexplained(seen, some))


def test_a_classifier_may_ask_for_no_more_than_its_depth():
    seen, *_ = problem(1)
    labels = np.minimum(Evaluator(seen).number(Count(Atom("red"))), 3)
    found = fit_idt(*unexplained(seen, labels), Distillation(final_depth=1))
    assert len(found) == 2
    for formula in found.values():
        assert sum(isinstance(part, Compare) for part in formula.walk()) == 1


def test_a_relation_may_be_symmetric_in_the_state_that_stands_for_others():
    """Two cycles of two and one of four look the same, and only the first is symmetric."""
    words = Vocabulary([Predicate("next", 2), Predicate("red", 1)])
    pairs = [[0, 1], [1, 0], [2, 3], [3, 2], [4, 5], [5, 6], [6, 7], [7, 4], [8, 9]]
    batch = Structures(words, 3, [0] * 4 + [1] * 4 + [2] * 2, {"next": pairs, "red": [[8]]})
    v_star = np.array([1, 1, 2])
    for order in ([0, 1, 2], [1, 0, 2]):
        built = built_from(batch[order], v_star, 2)
        assert len(built.quotient.chosen) == 2
        torch.manual_seed(0)
        found = replay(RGNN(words, Architecture(layers=2, size=4)), built.quotient)
        one = fit_ridt(built.quotient, found.embeddings, found.pooled, SINGLE)
        other = fit_ridt(*plain_states(batch[order], v_star, built, found), SINGLE)
        assert described(one) == described(other)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("engine", ["sklearn", "quotient"])
def test_layers_and_final_tree_are_those_of_algorithm_2(seed, engine):
    """Random numbers at each node are its embeddings; the naive IDT is told the same seeds."""
    random = np.random.default_rng(seed)
    graphs, labels = random_graphs(random, 25), random.integers(3, size=25)
    built = build_quotient([LabelledBatch(graphs, {CLASS: labels}, 0 * labels)])
    tables = [random.normal(size=(len(layer), 2)) for layer in built.quotient.layers][:3]
    settings = Distillation(
        mode="thesis",
        engine=engine,
        inner_width=2,
        inner_depth=2,
        final_depth=2,
        inner_sample=10**6,
        seed=seed,
    )
    ties = np.random.default_rng(seed).spawn(2)[1]
    features, impurity = naive_idt(
        graphs,
        labels,
        [table[built.rows(graphs, depth)] for depth, table in enumerate(tables)][1:],
        iter(lambda: int(ties.integers(2**31)), None),
        inner=(2, 2),
        final_depth=2,
    )
    found = fit_idt(built.quotient, tables, CLASS, settings)
    evaluator = Evaluator(graphs)
    holds = np.array([evaluator.holds(formula) for formula in found.values()])
    assert (holds.sum(axis=0) == 1).all()
    if engine == "quotient":  # it breaks ties otherwise
        return
    layers = ThesisLayers(
        built.quotient,
        settings,
        StateDraw(built.quotient.multiplicity, np.ones(built.quotient.n_state_rows)),
        FeaturePool.first(built.quotient),
    )
    for depth in (1, 2):
        layers.add(depth, tables[depth])
    own = {tuple(evaluator.holds(formula).astype(int)) for formula in layers.pool.formulas}
    assert own == set(features)
    predicted = np.array(list(found))[holds.argmax(axis=0)]
    groups = [labels[predicted == one] for one in np.unique(predicted)]
    # Leaves of one class are merged in its formula, so its impurity is at least that of the leaves.
    merged = sum(len(g) * (1 - (np.bincount(g) ** 2).sum() / len(g) ** 2) for g in groups)
    assert merged >= impurity - 1e-9


def test_a_sample_of_graphs_is_drawn_for_each_tree():
    seen, _, formula = problem(1)
    labels = Evaluator(seen).holds(formula).astype(int)
    quotient = build_quotient([LabelledBatch(seen, {CLASS: labels}, 0 * labels)]).quotient
    embeddings = label_embeddings(quotient, CLASS, 2)
    found = [
        fit_idt(quotient, embeddings, CLASS, Distillation(inner_sample=5, inner_width=2, seed=seed))
        for seed in (0, 0, 1)
    ]
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_without_a_network_nodes_have_the_classes_of_their_graphs():
    words = Vocabulary([Predicate("E", 2), Predicate("red", 1)])
    batch = Structures(words, 3, [0, 0, 1, 1, 2], {"E": [[0, 1], [1, 0]], "red": [[2]]})
    labels = np.array([0, 1, 1])
    built = build_quotient([LabelledBatch(batch, {CLASS: labels}, 0 * labels)])
    tables = label_embeddings(built.quotient, CLASS, 4)
    assert len(tables) == 5
    by_node = [table[built.rows(batch, depth)].tolist() for depth, table in enumerate(tables)]
    # At first all nodes but the red one look the same: two of class 0 and two of class 1.
    assert by_node[0] == [[0.5, 0.5], [0.5, 0.5], [0.0, 1.0], [0.5, 0.5], [0.5, 0.5]]
    assert by_node[1] == by_node[4] == [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]
