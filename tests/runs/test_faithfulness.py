"""Faithfulness: shares of variance, disputes and who is right, on hand-made cases and on a run."""

import json
import shutil

import numpy as np
import pytest
import torch

from distill.common import InputError
from distill.distillation import TreeWithFormulas
from distill.evaluation import compare_choices, compare_values, measure_layer_r2, merge_disagreements
from distill.evaluation.layer_r2 import leaf_columns, weighted_r2
from distill.jobs import do_job
from distill.logic import Evaluator, parse
from distill.networks import RGNN, Architecture, Checkpoint, evaluate
from distill.planning import expand, problem_class
from distill.runs import Run, measure_faithfulness
from distill.runs.faithfulness import agreement
from distill.structures import Structures
from distill.trees import fit_tree
from tests.support.commands import distill
from tests.support.small_jobs import small_config

RANDOM = np.random.default_rng(3)


def least_squares(columns, targets, weights):
    """R² by another way: numpy's least squares on rows scaled by the roots of their weights."""
    rows = np.column_stack([columns, np.ones(len(columns))]) * np.sqrt(weights)[:, None]
    aim = targets * np.sqrt(weights)[:, None]
    left = aim - rows @ np.linalg.lstsq(rows, aim, rcond=None)[0]
    mean = np.average(targets, axis=0, weights=weights)
    return 1 - (left**2).sum() / (weights[:, None] * (targets - mean) ** 2).sum()


def test_an_embedding_that_is_a_set_is_explained_wholly():
    columns = RANDOM.random((200, 5)) < 0.4
    targets = columns[:, [1, 3]] * np.array([2.0, -7.0]) + 1
    weights = RANDOM.integers(1, 9, 200).astype(float)
    assert weighted_r2(columns, [targets], weights)[0] == pytest.approx(1.0)
    assert weighted_r2(columns[:, [0, 2, 4]], [targets], weights)[0] < 0.2


def test_random_embeddings_are_explained_by_chance_only():
    columns = RANDOM.random((5_000, 5)) < 0.5
    found = weighted_r2(columns, [RANDOM.normal(size=(5_000, 3))], np.ones(5_000))[0]
    # By chance five columns take five of 4999 degrees of freedom.
    assert 0 < found < 0.005


def test_shares_are_those_of_least_squares():
    columns = RANDOM.random((80, 12)) < 0.3
    columns[:, 7] = columns[:, 2]
    columns[:, 8] = ~columns[:, 3]
    targets, weights = RANDOM.normal(size=(80, 4)) + columns[:, :4], RANDOM.integers(1, 5, 80).astype(float)
    expected = least_squares(columns.astype(float), targets, weights)
    assert weighted_r2(columns, [targets], weights)[0] == pytest.approx(expected, abs=1e-9)
    assert weighted_r2(columns, [np.full((80, 2), 3.0)], weights) == [None]


@pytest.fixture(scope="module")
def data():
    return expand(problem_class("blocks-clear").make("train")[1], 1000)


def test_shares_on_classes_of_objects_are_those_on_all_objects(data):
    """The rows stand for objects that look alike, so nothing is lost: each counts as often as it occurs."""
    torch.manual_seed(1)
    network = RGNN(data.vocabulary, Architecture(layers=3, size=4))
    states: Structures = data.structures()
    asked = {0: parse("<on>clear"), 1: parse("<on^-1>clear_G"), 2: parse("holding")}
    evaluator = Evaluator(states)
    columns = np.stack([evaluator.holds(one) for one in asked.values()], axis=1)
    tree = fit_tree(columns, RANDOM.normal(size=(len(columns), 2)), np.ones(len(columns)), max_depth=3)
    grown = TreeWithFormulas(2, tree, asked)
    value = parse("#<on>clear - [#holding > 0]")
    found = {
        (one.layer, one.basis): one
        for one in measure_layer_r2(Checkpoint(network), data, [grown], value, draws=2)
    }
    with torch.no_grad():
        embeddings = [one.numpy().astype(float) for one in evaluate(network, states).embeddings]
    leaves = np.stack(leaf_columns(grown, evaluator.holds), axis=1)
    assert (leaves.sum(axis=1) == 1).all()
    everyone = np.ones(len(leaves))
    assert found[2, "layer"].trained == pytest.approx(
        least_squares(leaves, embeddings[2], everyone), abs=1e-5
    )
    assert found[3, "so far"].trained == pytest.approx(
        least_squares(leaves, embeddings[3], everyone), abs=1e-5
    )
    in_value = np.stack([evaluator.holds(parse(one)) for one in ("clear", "holding", "<on>clear")], axis=1)
    assert found[1, "in V"].trained == pytest.approx(
        least_squares(in_value, embeddings[1], everyone), abs=1e-5
    )
    assert (found[1, "layer"].columns, found[1, "layer"].trained) == (0, None)
    # The network is itself untrained, so that it is no better explained than others is all there is to see.
    assert found[2, "layer"].random < found[2, "layer"].trained


def test_too_many_sets_explain_nothing(data):
    network = RGNN(data.vocabulary, Architecture(layers=1, size=4))
    found = measure_layer_r2(
        Checkpoint(network), data, [], parse(" + ".join(f"#{'<on>' * k}clear" for k in range(1, 12)))
    )
    assert {one.trained for one in found if one.basis == "layer"} == {None}
    with pytest.raises(InputError, match="At least one state"):
        measure_layer_r2(Checkpoint(network), data, [], parse("#clear"), states=0)


def test_choices_and_who_is_right(data):
    v_star = data.v_star.astype(float)
    moving = int((v_star > 0).sum())
    choices, dispute = compare_choices("train", data, v_star + 0.3, v_star)
    assert (choices.states, choices.meet, choices.same, dispute.disagreements) == (moving, moving, moving, 0)
    choices, dispute = compare_choices("train", data, v_star, -v_star)
    assert dispute.counts["network right"] == dispute.disagreements == moving - choices.meet
    assert dispute.disagreements > 0
    _, dispute = compare_choices("train", data, -v_star, v_star)
    assert dispute.counts["formulas right"] == dispute.disagreements > 0
    assert len(dispute.examples) == 3
    example = dispute.examples[0]
    assert example.v_star == data.v_star[example.state] == -example.network
    assert example.atoms == tuple(data.atom_names(example.state))


def test_two_optimal_choices_may_differ(data):
    """Each side prefers other states, by a little: both stay optimal."""
    v_star = data.v_star.astype(float)
    number = np.arange(len(v_star))
    choices, dispute = compare_choices("train", data, v_star + number / 100, v_star - number / 100)
    assert dispute.counts["both right"] == dispute.disagreements == choices.states - choices.meet
    assert dispute.disagreements > 0


def test_values_and_who_is_right(data):
    v_star = data.v_star.astype(float)
    network, formulas = v_star.copy(), v_star.copy()
    network[:3] += 1
    formulas[2:5] -= 2
    formulas[5] += 0.4
    found = compare_values("test", data, network, formulas)
    expected = {"network right": 2, "formulas right": 2, "both right": 0, "neither right": 1}
    assert (found.compared, found.counts) == (len(data), expected)
    both = merge_disagreements([found, found])
    assert (both.compared, both.counts["network right"]) == (2 * len(data), 4)
    assert sum(one.verdict == "network right" for one in both.examples) == 3


def test_agreement_of_none_and_of_equal_values():
    from distill.evaluation import ChoiceAgreement

    none = ChoiceAgreement(0, 0, 0)
    assert agreement(np.zeros(0), np.zeros(0), none).states == 0
    same = agreement(np.ones(3), np.ones(3), none)
    assert (same.mae, same.share, same.within_half) == (0.0, None, 1.0)


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Run:
    folder = tmp_path_factory.mktemp("faithful")
    return do_job(small_config(folder / "source", target="model"), folder / "runs", cache=folder / "cache")


def test_a_run_fitted_to_the_network(run, tmp_path):
    found = measure_faithfulness(run, states=50, draws=1)
    assert found.target.name == "model"
    assert found.sentence.startswith("The formulas were fitted to the network's values.")
    total = sum(one.mae * one.states for one in found.splits.values())
    assert total / sum(one.states for one in found.splits.values()) == pytest.approx(
        run.metrics["fidelity"]["mae"]
    )
    assert {one.layer for one in found.layers} == {1, 2}
    known = [
        share
        for one in found.layers
        for share in (one.trained, one.untrained, one.random)
        if share is not None
    ]
    assert known
    assert all(0 <= share <= 1 for share in known)
    again = measure_faithfulness(run, states=50, draws=1)
    assert json.dumps(again.to_json()) == json.dumps(found.to_json())
    found.draw(tmp_path / "layers.svg")
    assert "untrained" in (tmp_path / "layers.svg").read_text()


def test_the_command(run, tmp_path):
    figure = tmp_path / "layers.png"
    options = ("--states", 30, "--draws", 1)
    told = distill("faithfulness", run.folder, *options, "--figure", figure)
    assert told.returncode == 0, told.stderr
    assert figure.exists()
    assert "leaf sets of the layer" in told.stdout
    answer = json.loads(distill("faithfulness", run.folder, *options, "--json").stdout)
    assert list(answer["splits"]) == run.splits
    assert {row["what"] for row in answer["disputes"]} == {"value", "greedy choice"}


def test_bad_input(run, tmp_path):
    bare = tmp_path / "bare"
    shutil.copytree(run.folder, bare)
    (bare / "network.safetensors").unlink()
    told = distill("faithfulness", bare)
    assert told.returncode == 2
    assert "has no network" in " ".join(told.stderr.split())
    assert distill("faithfulness", run.folder, "--figure", tmp_path / "a.txt").returncode == 2
    assert distill("faithfulness", tmp_path / "nothing").returncode == 2
